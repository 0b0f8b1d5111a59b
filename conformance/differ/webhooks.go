package main

import (
	"fmt"
	"net/http"
	"strings"
)

// webhooks returns a story about webhook configurations, and of writes that their webhooks admit,
// change or refuse.
func webhooks(r *source) []Step {
	s := &stage{source: r}
	// Validating webhooks are called at the same time, and the first answer counts. So one
	// of a story does more than to allow.
	s.configuration("{id}-0", false)
	if r.chance(2) {
		s.configuration("{id}-1", true)
	}
	s.writes(5 + r.IntN(8))
	return s.steps
}

// configuration makes a configuration of one or two webhooks.
func (s *stage) configuration(name string, mutating bool) {
	resource, kind := "validatingwebhookconfigurations", "ValidatingWebhookConfiguration"
	behaviors := validatingBehaviors
	if mutating {
		resource, kind = "mutatingwebhookconfigurations", "MutatingWebhookConfiguration"
		behaviors = append(behaviors, mutatingBehaviors...)
	}
	probe := s.probe()
	var all list
	for i := range 1 + s.IntN(2) {
		behavior := pick(s.source, behaviors...)
		if i > 0 && !mutating {
			behavior = "allow"
		}
		all = append(all, s.webhook(fmt.Sprintf("w%d.example.com", i), probe, behavior, mutating))
	}
	s.steps = append(s.steps, post(admission+resource, object{
		"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "metadata": object{"name": name}, "webhooks": all,
	}))
	s.await(probe, http.StatusForbidden)
	if s.chance(3) {
		s.steps = append(s.steps, get(admission+resource+"/"+name))
	}
}

func (s *stage) webhook(name, probe, behavior string, mutating bool) object {
	out := object{
		"name": name, "clientConfig": object{"url": "{hook}/" + probe + "/" + behavior, "caBundle": "{ca}"}, "namespaceSelector": here(),
		"rules": list{configMapRule()}, "sideEffects": "None", "admissionReviewVersions": list{"v1"}, "timeoutSeconds": 10,
	}
	if s.chance(2) {
		out["rules"] = list{configMapRule(), s.rule()}
	}
	if s.chance(4) {
		out["sideEffects"] = pick(s.source, "NoneOnDryRun", "None", "Some", "x")
	}
	if s.chance(4) {
		out["admissionReviewVersions"] = pick(s.source, list{"v1beta1", "v1"}, list{"v1beta1"}, list{"v1", "v1beta1"}, list{"v7", "v1"}, list{"v7"}, list{})
	}
	if s.chance(3) {
		out["failurePolicy"] = pick(s.source, "Fail", "Ignore", "x")
	}
	if s.chance(5) {
		out["matchPolicy"] = pick(s.source, "Exact", "Equivalent")
	}
	if s.chance(5) {
		out["objectSelector"] = object{"matchExpressions": list{object{"key": pick(s.source, "app", "skip"), "operator": "DoesNotExist"}}}
	}
	if s.chance(3) {
		if conditions := s.conditions(); conditions != nil {
			out["matchConditions"] = conditions
		}
	}
	if mutating && s.chance(2) {
		out["reinvocationPolicy"] = pick(s.source, "Never", "IfNeeded")
	}
	if s.chance(12) {
		out["timeoutSeconds"] = pick(s.source, 0, 31, 1)
	}
	if s.chance(15) {
		out["clientConfig"] = pick(s.source,
			object{"service": object{"namespace": "{id}", "name": "none", "path": "/x"}}, object{"url": "http://example.com"}, object{"url": "https://user@example.com/"},
			object{"url": "https://example.com/?x=y"}, object{}, object{"url": "{hook}/x", "service": object{"namespace": "a", "name": "b"}}, object{"url": "{hook}/" + probe + "/" + behavior, "caBundle": "eA=="})
	}
	return out
}

// validatingBehaviors are what a webhook of any kind does with a request that is no probe.
var validatingBehaviors = []string{
	"allow", "allow", "deny", "deny-with-code", "deny-without-message", "warn", "warn-much", "tell", "tell", "audit", "fail", "no-json", "no-response", "other-uid", "other-version", "status-success", "redirect", "patch-label",
}

var mutatingBehaviors = []string{
	"patch-label", "patch-label", "patch-data", "patch-replicas", "patch-name", "patch-missing", "patch-wrong", "patch-without-type", "patch-bad-type", "patch-empty", "patch-unknown-field", "patch-not-json", "patch-count",
}

// respond returns what a webhook answers to a request: a status, and a body as text or as
// an AdmissionReview.
func respond(behavior string, review object) (status int, body any) {
	request, _ := review["request"].(object)
	response := object{"uid": request["uid"], "allowed": true}
	answer := object{"apiVersion": review["apiVersion"], "kind": "AdmissionReview", "response": response}
	refuse := func(status object) {
		response["allowed"] = false
		if status != nil {
			response["status"] = status
		}
	}
	patch := func(text string) {
		if request["operation"] == "DELETE" {
			return
		}
		response["patchType"], response["patch"] = "JSONPatch", []byte(text)
	}
	switch behavior {
	case "probe":
		refuse(object{"message": "probe", "code": http.StatusForbidden})
	case "deny":
		refuse(object{"message": "not now"})
	case "deny-with-code":
		refuse(object{"message": "gone\nfor good", "code": 410, "reason": "Gone", "details": object{"name": "x", "causes": list{object{"reason": "r", "message": "m", "field": "f"}}}})
	case "deny-without-message":
		refuse(nil)
	case "warn":
		response["warnings"] = list{"first", "second: \"quoted\"", "first", "", "ünïcode", "line\nbreak"}
	case "warn-much":
		response["warnings"] = list{strings.Repeat("a", 300), strings.Repeat("b", 3000), strings.Repeat("c", 3000), "d"}
	case "tell":
		refuse(object{"message": textOf(request)})
	case "audit":
		response["auditAnnotations"] = object{"k": "v", "k/x": "w", "": "x"}
	case "fail":
		return http.StatusInternalServerError, "broken"
	case "no-json":
		return http.StatusOK, "{"
	case "no-response":
		delete(answer, "response")
	case "other-uid":
		response["uid"] = "x"
	case "other-version":
		answer["apiVersion"] = "admission.k8s.io/v7"
	case "status-success":
		refuse(object{"status": "Success", "code": 200, "message": "fine"})
	case "redirect":
		return http.StatusFound, ""
	case "patch-label":
		patch(`[{"op":"add","path":"/metadata/labels","value":{"hook":"yes"}}]`)
	case "patch-data":
		patch(`[{"op":"add","path":"/data","value":{"hook":"yes"}}]`)
	case "patch-replicas":
		patch(`[{"op":"replace","path":"/spec/replicas","value":3}]`)
	case "patch-name":
		patch(`[{"op":"replace","path":"/metadata/name","value":"other"}]`)
	case "patch-missing":
		patch(`[{"op":"remove","path":"/metadata/annotations/missing"}]`)
	case "patch-wrong":
		patch(`[{"op":"add","path":"/data","value":7}]`)
	case "patch-without-type":
		patch(`[{"op":"add","path":"/metadata/labels","value":{"hook":"yes"}}]`)
		delete(response, "patchType")
	case "patch-bad-type":
		patch(`[]`)
		response["patchType"] = "x"
	case "patch-empty":
		patch(`[]`)
	case "patch-unknown-field":
		patch(`[{"op":"add","path":"/unknown","value":7}]`)
	case "patch-not-json":
		patch(`x`)
	case "patch-count": // one more character at each call
		o, _ := request["object"].(object)
		meta, _ := o["metadata"].(object)
		annotations, _ := meta["annotations"].(object)
		count, _ := annotations["n"].(string)
		if annotations == nil {
			patch(`[{"op":"add","path":"/metadata/annotations","value":{"n":"x"}}]`)
		} else if len(count) < 3 {
			patch(`[{"op":"add","path":"/metadata/annotations/n","value":"x` + count + `"}]`)
		}
	}
	return http.StatusOK, answer
}
