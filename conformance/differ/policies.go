package main

import (
	"fmt"
	"net/http"
)

const admission = "/apis/admissionregistration.k8s.io/v1/"

// A stage is the namespace of a story with admission that is not built in. Its probes show
// when a server follows it.
type stage struct {
	*source
	steps  []Step
	probes int
}

// probe returns the name of an object that the next change of admission refuses.
func (s *stage) probe() string {
	s.probes++
	return fmt.Sprintf("probe-%d", s.probes)
}

// await waits until a server refuses the object of a name.
func (s *stage) await(name string, status int) {
	step := post("/api/v1/namespaces/{id}/configmaps?dryRun=All", object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": object{"name": name}})
	step.Await = status
	s.steps = append(s.steps, step)
}

// here selects the namespace of the story.
func here() object { return object{"matchLabels": object{"kubernetes.io/metadata.name": "{id}"}} }

// configMapRule matches the probes.
func configMapRule() object {
	return object{"apiGroups": list{""}, "apiVersions": list{"v1"}, "resources": list{"configmaps"}, "operations": list{"CREATE", "UPDATE", "DELETE"}}
}

// rule returns a rule of random resources.
func (s *stage) rule() object {
	return object{
		"apiGroups":   pick(s.source, list{""}, list{"apps"}, list{"*"}, list{"", "apps"}),
		"apiVersions": pick(s.source, list{"v1"}, list{"*"}, list{"v1beta1"}),
		"resources":   pick(s.source, list{"pods"}, list{"*"}, list{"*/*"}, list{"deployments", "deployments/scale"}, list{"pods/*"}, list{"pods/status", "pods/eviction"}, list{"deployments/status"}),
		"operations":  pick(s.source, list{"CREATE"}, list{"*"}, list{"UPDATE"}, list{"CREATE", "UPDATE"}, list{"DELETE"}, list{"CONNECT", "CREATE"}),
		"scope":       pick(s.source, "*", "Namespaced", "Namespaced"),
	}
}

// policies returns a story about admission policies, and of writes that they admit, change or refuse.
func policies(r *source) []Step {
	s := &stage{source: r}
	for i := range 1 + r.IntN(2) {
		name := fmt.Sprintf("{id}-%d", i)
		if r.chance(3) {
			s.mutatingPolicy(name)
		} else {
			s.validatingPolicy(name)
		}
	}
	s.writes(5 + r.IntN(8))
	return s.steps
}

// checks are expressions of policies: true, false, with errors, or wrong.
var checks = []string{
	"true", "object.metadata.name != 'b'", "!has(object.data) || !('k' in object.data) || object.data.k != 'v1'", "object.data.k == 'v'", "has(oldObject.metadata)", "oldObject == null", "request.operation != 'DELETE'",
	"request.userInfo.username.startsWith('a')", "'system:masters' in request.userInfo.groups", "request.dryRun == false", "namespaceObject.metadata.name == request.namespace", "namespaceObject.metadata.labels.size() > 1",
	"authorizer.group('').resource('pods').namespace('x').check('get').allowed()", "authorizer.requestResource.check('create').allowed()", "authorizer.serviceAccount('{id}', 'default').group('').resource('pods').check('get').reason() == ''",
	"object.spec.replicas <= 2", "object.spec.containers.all(c, c.image.contains(':'))", "object.spec.containers.exists(c, has(c.resources.limits) && quantity(c.resources.limits.cpu).isGreaterThan(quantity('1')))",
	"object.metadata.labels.all(k, k.matches('^[a-z]+$'))", "has(object.metadata.labels) && 'app' in object.metadata.labels", "object.kind == 'ConfigMap'", "request.kind.kind in ['ConfigMap', 'Pod']", "request.resource.resource != 'pods' || request.subResource == ''",
	"object.metadata.annotations['n'].size() > 0", "int(object.data.k) > 3", "string(object.spec.replicas) == '1'", "duration('1h') > duration('1m')", "url('https://a.example.com/x').getHost() == 'a.example.com'", "ip('10.0.0.1').family() == 4", "semver('1.2.3').isLessThan(semver('1.3.0'))",
	"[1, 2].sum() == 3", "object.metadata.name.split('').size() < 10", "object.?data.?k.orValue('') != 'w'", "type(object) == map", "object.unknown == 1", "object.metadata.unknown == 'x'", "1", "'x'", "object.", "unknown", "params.x", "variables.v", "request.unknown",
	"object.spec == oldObject.spec", "object.metadata.creationTimestamp == null", "1 / (object.metadata.name.size() - 1) > 5", "format.dns1123Label().validate(object.metadata.name).hasValue()", "request.options.dryRun.size() == 0", "request.requestKind.version == 'v1'",
}

// messages are expressions of messages.
var messages = []string{"'name ' + object.metadata.name", "'x'", "''", "' '", "'line\\nbreak'", "object.data.k", "1", "object.", "request.userInfo.username + ' may not'", "string(request.userInfo.groups.size())", "params.data.limit"}

func (s *stage) conditions() list {
	var out list
	for i := range s.IntN(3) {
		out = append(out, object{"name": fmt.Sprintf("c%d", i), "expression": "request.name.startsWith('probe') || " + pick(s.source, checks...)})
	}
	return out
}

// constraints returns what a policy matches.
func (s *stage) constraints() object {
	out := object{"namespaceSelector": here(), "resourceRules": list{configMapRule()}}
	if s.chance(2) {
		out["resourceRules"] = list{configMapRule(), s.rule()}
	}
	if s.chance(6) {
		out["objectSelector"] = object{"matchExpressions": list{object{"key": pick(s.source, "app", "skip"), "operator": "DoesNotExist"}}}
	}
	if s.chance(6) {
		out["matchPolicy"] = pick(s.source, "Exact", "Equivalent")
	}
	if s.chance(6) {
		out["excludeResourceRules"] = list{object{"apiGroups": list{"*"}, "apiVersions": list{"*"}, "resources": list{pick(s.source, "pods", "pods/*", "*/scale")}, "operations": list{"*"}}}
	}
	return out
}

func (s *stage) variables() list {
	var out list
	for i := range s.IntN(2) {
		out = append(out, object{"name": pick(s.source, "v", "w"), "expression": pick(s.source, "object.metadata.name == 'a'", "true", "request.namespace", "variables.w", "[1, 2].map(x, x * 2)", fmt.Sprint(i))})
	}
	return out
}

// params makes the parameters of a policy, and returns its kind and the reference to it.
func (s *stage) params() (kind, ref object) {
	if !s.chance(3) {
		return nil, nil
	}
	for _, name := range []string{"p1", "p2"} {
		step := post("/api/v1/namespaces/{id}/configmaps", object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": object{"name": name, "labels": object{"params": "yes"}}, "data": object{"limit": name}})
		step.Pause = true
		s.steps = append(s.steps, step)
	}
	kind = object{"apiVersion": "v1", "kind": "ConfigMap"}
	ref = object{"parameterNotFoundAction": pick(s.source, "Deny", "Allow")}
	switch s.IntN(4) {
	case 0:
		ref["selector"] = object{"matchLabels": object{"params": pick(s.source, "yes", "no")}}
	case 1:
		ref["name"] = "missing"
	default:
		ref["name"] = "p1"
	}
	if s.chance(3) {
		ref["namespace"] = "{id}"
	}
	return kind, ref
}

// bind makes a policy that refuses the objects of a name, and its binding.
func (s *stage) bind(resource, kind, name, probe string, status int, spec, binding object) {
	paramKind, ref := s.params()
	if paramKind != nil {
		spec["paramKind"], binding["paramRef"] = paramKind, ref
	}
	binding["policyName"] = name
	s.steps = append(s.steps,
		post(admission+resource+"bindings", object{"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind + "Binding", "metadata": object{"name": name}, "spec": binding}),
		post(admission+resource, object{"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "metadata": object{"name": name}, "spec": spec}),
	)
	s.await(probe, status)
	if s.chance(3) {
		s.steps = append(s.steps, get(admission+resource+"/"+name))
	}
}

func (s *stage) validatingPolicy(name string) {
	probe := s.probe()
	validations := list{object{"expression": "object == null || object.metadata.name != '" + probe + "'"}}
	for range 1 + s.IntN(3) {
		v := object{"expression": pick(s.source, checks...)}
		if s.chance(3) {
			v["message"] = pick(s.source, "no", "line\nbreak", " ", "é")
		}
		if s.chance(3) {
			v["messageExpression"] = pick(s.source, messages...)
		}
		if s.chance(4) {
			v["reason"] = pick(s.source, "Forbidden", "Invalid", "Unauthorized", "RequestEntityTooLarge", "Unknown")
		}
		validations = append(validations, v)
	}
	spec := object{"matchConstraints": s.constraints(), "validations": validations}
	if conditions := s.conditions(); conditions != nil {
		spec["matchConditions"] = conditions
	}
	if variables := s.variables(); variables != nil {
		spec["variables"] = variables
	}
	if s.chance(3) {
		spec["failurePolicy"] = pick(s.source, "Fail", "Ignore", "x")
	}
	if s.chance(5) {
		spec["auditAnnotations"] = list{object{"key": pick(s.source, "k", "K/x"), "valueExpression": pick(s.source, messages...)}}
	}
	actions := pick(s.source, list{"Deny"}, list{"Deny"}, list{"Deny", "Audit"}, list{"Warn", "Deny"}, list{"Audit", "Deny", "Deny"})
	s.bind("validatingadmissionpolicies", "ValidatingAdmissionPolicy", name, probe, http.StatusUnprocessableEntity, spec, object{"validationActions": actions})
	if s.chance(3) { // another binding, which warns
		warns := object{"validationActions": pick(s.source, list{"Warn"}, list{"Warn", "Audit"}, list{"Audit"}), "policyName": name, "matchResources": object{"objectSelector": object{"matchLabels": object{"app": "a"}}}}
		step := post(admission+"validatingadmissionpolicybindings", object{"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding", "metadata": object{"name": name + "-warn"}, "spec": warns})
		s.steps = append(s.steps, step)
		again := s.probe() // a third, which is followed after the second
		last := object{"validationActions": list{"Deny"}, "policyName": name + "-last"}
		s.steps = append(s.steps,
			post(admission+"validatingadmissionpolicybindings", object{"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding", "metadata": object{"name": name + "-last"}, "spec": last}),
			post(admission+"validatingadmissionpolicies", object{"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy", "metadata": object{"name": name + "-last"}, "spec": object{
				"matchConstraints": object{"namespaceSelector": here(), "resourceRules": list{configMapRule()}}, "validations": list{object{"expression": "object == null || object.metadata.name != '" + again + "'"}},
			}}))
		s.await(again, http.StatusUnprocessableEntity)
	}
}

// mutations are expressions of mutating policies.
var mutations = []object{
	{"patchType": "ApplyConfiguration", "applyConfiguration": object{"expression": "Object{metadata: Object.metadata{labels: {'x': request.operation}}}"}},
	{"patchType": "ApplyConfiguration", "applyConfiguration": object{"expression": "Object{data: {'added': object.metadata.name}}"}},
	{"patchType": "ApplyConfiguration", "applyConfiguration": object{"expression": "Object{spec: Object.spec{replicas: 3}}"}},
	{"patchType": "ApplyConfiguration", "applyConfiguration": object{"expression": "has(object.data) ? Object{data: {'k': 'changed'}} : Object{}"}},
	{"patchType": "ApplyConfiguration", "applyConfiguration": object{"expression": "Object{metadata: Object.metadata{name: 'other'}}"}},
	{"patchType": "ApplyConfiguration", "applyConfiguration": object{"expression": "Object{unknown: 1}"}},
	{"patchType": "ApplyConfiguration", "applyConfiguration": object{"expression": "1"}},
	{"patchType": "JSONPatch", "jsonPatch": object{"expression": "[JSONPatch{op: 'add', path: '/metadata/annotations', value: {'n': 'v'}}]"}},
	{"patchType": "JSONPatch", "jsonPatch": object{"expression": "[JSONPatch{op: 'test', path: '/metadata/name', value: 'a'}, JSONPatch{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('a/b'), value: 'x'}]"}},
	{"patchType": "JSONPatch", "jsonPatch": object{"expression": "object.metadata.name == 'b' ? [JSONPatch{op: 'remove', path: '/data'}] : []"}},
	{"patchType": "JSONPatch", "jsonPatch": object{"expression": "[JSONPatch{op: 'replace', path: '/data/k', value: 1}]"}},
	{"patchType": "JSONPatch", "jsonPatch": object{"expression": "[JSONPatch{op: 'x', path: '/data'}]"}},
	{"patchType": "JSONPatch", "jsonPatch": object{"expression": "[JSONPatch{op: 'add', path: '/data', value: Object.data{k: 'v'}}]"}},
	{"patchType": "x"},
}

func (s *stage) mutatingPolicy(name string) {
	probe := s.probe()
	// The patch of the probe cannot be applied.
	all := list{object{"patchType": "JSONPatch", "jsonPatch": object{"expression": "object.metadata.name == '" + probe + "' ? [JSONPatch{op: 'remove', path: '/metadata/annotations/missing'}] : []"}}}
	for range 1 + s.IntN(2) {
		all = append(all, pick(s.source, mutations...))
	}
	constraints := s.constraints()
	for _, rule := range constraints["resourceRules"].(list) {
		if !s.chance(10) {
			rule.(object)["operations"] = list{"CREATE", "UPDATE"}
		}
	}
	spec := object{"matchConstraints": constraints, "mutations": all, "reinvocationPolicy": pick(s.source, "Never", "IfNeeded", "IfNeeded"), "failurePolicy": "Fail"}
	if conditions := s.conditions(); conditions != nil {
		spec["matchConditions"] = conditions
	}
	if variables := s.variables(); variables != nil {
		spec["variables"] = variables
	}
	s.bind("mutatingadmissionpolicies", "MutatingAdmissionPolicy", name, probe, http.StatusUnprocessableEntity, spec, object{})
}

// writes adds random writes of what admission is about.
func (s *stage) writes(n int) {
	type kind struct {
		path string
		body object
		subs []string
	}
	labels := object{"app": "a"}
	containers := list{object{"name": "c", "image": "i:1"}}
	kinds := []kind{
		{"/api/v1/namespaces/{id}/configmaps", object{"apiVersion": "v1", "kind": "ConfigMap", "data": object{"k": "v"}}, nil},
		{"/api/v1/namespaces/{id}/configmaps", object{"apiVersion": "v1", "kind": "ConfigMap"}, nil},
		{"/api/v1/namespaces/{id}/pods", object{"apiVersion": "v1", "kind": "Pod", "spec": object{"containers": containers}}, []string{"/status", "/ephemeralcontainers"}},
		{"/apis/apps/v1/namespaces/{id}/deployments", object{"apiVersion": "apps/v1", "kind": "Deployment", "spec": object{
			"replicas": 1, "selector": object{"matchLabels": labels}, "template": object{"metadata": object{"labels": labels}, "spec": object{"containers": containers}},
		}}, []string{"/status", "/scale"}},
	}
	for range n {
		k := pick(s.source, kinds...)
		name := pick(s.source, "a", "b", "c")
		body := object{}
		for field, v := range k.body {
			body[field] = v
		}
		meta := object{"name": name}
		if s.chance(3) {
			meta["labels"] = pick(s.source, object{"app": "a"}, object{"skip": "yes"}, object{"app": "b", "x": "y"})
		}
		if s.chance(6) {
			meta["annotations"] = object{"n": pick(s.source, "", "x")}
		}
		body["metadata"] = meta
		path := k.path + "/" + name
		sub := ""
		if len(k.subs) > 0 && s.chance(4) {
			sub = pick(s.source, k.subs...)
		}
		var step Step
		query := s.query(6, "dryRun=All", "fieldValidation=Strict", "fieldManager=m")
		switch s.IntN(10) {
		case 0, 1, 2, 3:
			step = post(k.path+query, body)
		case 4:
			step = put(path+sub+query, body)
		case 5:
			step = patch(path+sub+query, mergePatch, pick(s.source, object{"data": object{"k": pick(s.source, "v", "v1", "7")}}, object{"spec": object{"replicas": pick(s.source, 1, 3)}}, object{"metadata": object{"labels": object{"app": pick[any](s.source, "b", nil)}}}))
		case 6:
			step = patch(path+join("?fieldManager=m&force=true", query), applyPatch, body)
		case 7:
			step = patch(path+query, jsonPatch, list{object{"op": "add", "path": "/metadata/labels", "value": object{"l": pick(s.source, "1", "2")}}})
		case 8:
			step = Step{Method: http.MethodDelete, Path: pick(s.source, path, path, k.path) + s.query(2, "gracePeriodSeconds=0", "propagationPolicy=Background", "dryRun=All")}
		case 9:
			step = pick(s.source, get(path),
				post("/api/v1/namespaces/{id}/pods/"+name+"/eviction", object{"apiVersion": "policy/v1", "kind": "Eviction", "metadata": object{"name": name}}),
				post("/api/v1/namespaces/{id}/pods/"+name+"/binding", object{"apiVersion": "v1", "kind": "Binding", "metadata": object{"name": name}, "target": object{"kind": "Node", "name": "n"}}))
		}
		s.steps = append(s.steps, step)
	}
}
