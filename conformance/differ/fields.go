package main

import (
	"net/http"
	"strings"
)

// A sharedType is a type of objects that several managers write in several versions.
type sharedType struct {
	versions     []sharedVersion
	subresources []string
	steps        []Step // that make the servers serve the type
	changes      []Step // that a story may have once; each is a change of the type and what waits for it
}

// A sharedVersion is a version of a sharedType.
type sharedVersion struct {
	collection string
	body       object // whose strings and numbers may be oneOf values
}

// oneOf are the values that a field of a body may have.
type oneOf []any

var podBody = object{
	"containers": list{
		object{
			"name": "c", "image": oneOf{"i:1", "i:2"}, "args": list{"x", oneOf{"y", "z"}}, "resources": object{"limits": object{"cpu": oneOf{"1", "1000m", "2"}}, "requests": object{"cpu": "500m"}},
			"ports": list{object{"containerPort": 80, "name": oneOf{"http", "web"}}, object{"containerPort": 53, "protocol": oneOf{"UDP", "TCP"}}, object{"containerPort": 53, "protocol": "TCP"}},
			"env":   list{object{"name": "A", "value": oneOf{"1", "2", ""}}, object{"name": "B", "valueFrom": object{"fieldRef": object{"fieldPath": "metadata.name"}}}},
		},
		object{"name": "d", "image": oneOf{"i:1", "i:3"}, "volumeMounts": list{object{"name": "v", "mountPath": "/v"}}, "securityContext": object{"runAsUser": oneOf{0, 7}}},
	},
	"volumes":     list{object{"name": "v", "emptyDir": object{}}, object{"name": "w", "projected": object{"sources": list{object{"configMap": object{"name": oneOf{"c", "e"}}}}}}},
	"tolerations": list{object{"key": "k", "operator": "Exists", "effect": oneOf{"", "NoExecute"}}}, "nodeSelector": object{"a": oneOf{"b", "c"}}, "imagePullSecrets": list{object{"name": "s"}, object{"name": oneOf{"t", "s"}}},
	"hostAliases": list{object{"ip": "10.1.1.1", "hostnames": list{"h", oneOf{"i", "j"}}}}, "terminationGracePeriodSeconds": oneOf{5, 30}, "topologySpreadConstraints": list{
		object{"maxSkew": oneOf{1, 2}, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": object{"matchLabels": object{"a": "b"}}},
	},
}

var templateBody = object{"metadata": object{"labels": object{"app": "a", "tier": oneOf{"x", "y"}}}, "spec": podBody}

func built(group, version, plural, kind string, body object) sharedVersion {
	path, apiVersion := "/apis/"+group+"/"+version, group+"/"+version
	if group == "" {
		path, apiVersion = "/api/"+version, version
	}
	body["apiVersion"], body["kind"] = apiVersion, kind
	return sharedVersion{path + "/namespaces/{id}/" + plural, body}
}

// sharedTypes are built-in types with lists, maps and structs that apply merges in each of its ways.
var sharedTypes = []sharedType{
	{subresources: []string{"/status"}, versions: []sharedVersion{
		built("autoscaling", "v1", "horizontalpodautoscalers", "HorizontalPodAutoscaler", object{
			"spec":   object{"maxReplicas": oneOf{3, 4}, "minReplicas": oneOf{1, 2}, "targetCPUUtilizationPercentage": oneOf{50, 60}, "scaleTargetRef": object{"apiVersion": "apps/v1", "kind": "Deployment", "name": oneOf{"d", "e"}}},
			"status": object{"currentReplicas": oneOf{1, 2}, "desiredReplicas": 2, "currentCPUUtilizationPercentage": oneOf{10, 20}},
		}),
		built("autoscaling", "v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler", object{
			"spec": object{
				"maxReplicas": oneOf{3, 4}, "minReplicas": oneOf{1, 2}, "scaleTargetRef": object{"apiVersion": "apps/v1", "kind": "Deployment", "name": oneOf{"d", "e"}},
				"metrics":  list{object{"type": "Resource", "resource": object{"name": "cpu", "target": object{"type": "Utilization", "averageUtilization": oneOf{50, 60}}}}, object{"type": "Resource", "resource": object{"name": "memory", "target": object{"type": "AverageValue", "averageValue": oneOf{"1Mi", "1024Ki"}}}}},
				"behavior": object{"scaleDown": object{"stabilizationWindowSeconds": oneOf{5, 300}, "policies": list{object{"type": "Pods", "value": 4, "periodSeconds": oneOf{15, 60}}}}},
			},
			"status": object{"currentReplicas": oneOf{1, 2}, "desiredReplicas": 2, "conditions": list{object{"type": "AbleToScale", "status": oneOf{"True", "False"}}}},
		}),
	}},
	{subresources: []string{"/status"}, versions: []sharedVersion{built("", "v1", "services", "Service", object{
		"spec": object{
			"selector": object{"app": oneOf{"a", "b"}}, "type": "ClusterIP", "clusterIP": "None", "externalIPs": list{"192.0.2.1", oneOf{"192.0.2.2", "192.0.2.3"}}, "sessionAffinity": oneOf{"None", "ClientIP"},
			"ports": list{object{"name": "a", "port": 80, "targetPort": oneOf{"http", 80, 8080}}, object{"name": "b", "port": 53, "protocol": oneOf{"UDP", "TCP"}}, object{"name": oneOf{"c", "d"}, "port": 53, "protocol": "TCP"}},
		},
		"status": object{"loadBalancer": object{"ingress": list{object{"ip": oneOf{"192.0.2.7", "192.0.2.8"}}}}, "conditions": list{object{"type": "a/b", "status": oneOf{"True", "False"}, "reason": "R", "message": "", "lastTransitionTime": "2024-05-06T07:08:09Z"}}},
	})}},
	{subresources: []string{"/status"}, versions: []sharedVersion{built("", "v1", "pods", "Pod", object{
		"spec": podBody, "status": object{"phase": oneOf{"Running", "Pending"}, "conditions": list{object{"type": "Ready", "status": oneOf{"True", "False"}}}, "podIPs": list{object{"ip": "10.1.1.1"}}},
	})}},
	{versions: []sharedVersion{built("", "v1", "limitranges", "LimitRange", object{
		"spec": object{"limits": list{object{"type": "Container", "max": object{"cpu": oneOf{"1", "1000m"}, "memory": oneOf{"1Gi", "1024Mi"}}, "default": object{"cpu": "500m"}}, object{"type": oneOf{"Pod", "PersistentVolumeClaim"}, "max": object{"storage": "1Gi"}}}},
	})}},
	{versions: []sharedVersion{built("networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy", object{
		"spec": object{
			"podSelector": object{"matchLabels": object{"a": oneOf{"b", "c"}}}, "policyTypes": list{"Ingress", oneOf{"Egress", "Ingress"}},
			"ingress": list{object{"from": list{object{"podSelector": object{}}}, "ports": list{object{"port": oneOf{80, "http"}}}}}, "egress": list{object{"to": list{object{"ipBlock": object{"cidr": "10.1.0.0/16", "except": list{oneOf{"10.1.1.0/24", "10.1.2.0/24"}}}}}}},
		},
	})}},
	{subresources: []string{"/status", "/scale"}, versions: []sharedVersion{built("apps", "v1", "deployments", "Deployment", object{
		"spec": object{
			"replicas": oneOf{1, 2, 0}, "minReadySeconds": oneOf{0, 5}, "selector": object{"matchLabels": object{"app": "a"}}, "template": templateBody, "paused": oneOf{true, false},
			"strategy": object{"type": oneOf{"RollingUpdate", "Recreate"}, "rollingUpdate": object{"maxSurge": oneOf{"25%", 1}, "maxUnavailable": 1}},
		},
		"status": object{"replicas": oneOf{1, 2}, "observedGeneration": oneOf{1, 2}, "conditions": list{object{"type": "Available", "status": oneOf{"True", "False"}}, object{"type": "Progressing", "status": "True"}}},
	})}},
	{subresources: []string{"/status", "/scale"}, versions: []sharedVersion{built("apps", "v1", "statefulsets", "StatefulSet", object{
		"spec": object{
			"replicas": oneOf{1, 2}, "serviceName": "s", "selector": object{"matchLabels": object{"app": "a"}}, "template": templateBody, "podManagementPolicy": oneOf{"Parallel", "OrderedReady"}, "ordinals": object{"start": oneOf{1, 2}},
			"volumeClaimTemplates": list{object{"metadata": object{"name": "v", "labels": object{"a": "b"}}, "spec": object{"accessModes": list{"ReadWriteOnce"}, "resources": object{"requests": object{"storage": oneOf{"1Gi", "1024Mi"}}}}, "status": object{"phase": "Pending"}}},
			"updateStrategy":       object{"type": "RollingUpdate", "rollingUpdate": object{"partition": oneOf{0, 1}}}, "persistentVolumeClaimRetentionPolicy": object{"whenDeleted": oneOf{"Retain", "Delete"}},
		},
		"status": object{"replicas": oneOf{1, 2}, "conditions": list{object{"type": "X", "status": oneOf{"True", "False"}}}},
	})}},
	{versions: []sharedVersion{built("", "v1", "secrets", "Secret", object{
		"data": object{"k1": oneOf{"YQ==", "Yg==", ""}, "k2": oneOf{"YQ==", "", nil}, "k3": "Yw=="}, "stringData": object{"k1": oneOf{"a", "b"}, "k2": oneOf{"a", "", nil}, "k4": "d"}, "type": oneOf{"Opaque", "Opaque", "Opaque", "example.com/t"}, "immutable": oneOf{false, false, false, true},
	})}},
	{versions: []sharedVersion{built("", "v1", "configmaps", "ConfigMap", object{
		"data": object{"a": oneOf{"1", "2", ""}, "b": oneOf{"1", nil}, "c": "3"}, "binaryData": object{"d": oneOf{"eA==", "", nil}, "e": "eQ=="},
	})}},
	{versions: []sharedVersion{built("", "v1", "podtemplates", "PodTemplate", object{"template": templateBody})}},
}

// managedFields returns a story about many managers that write one object in several versions.
func managedFields(r *source) []Step {
	t := pick(r, sharedTypes...)
	if r.chance(4) {
		t = customType(r)
	}
	w := &fieldWriter{source: r, sharedType: t}
	w.managers = []string{"m1", "m2", "m3", "m4", "m5", "m6"}[:3+r.IntN(4)]
	w.managers = append(w.managers, "kubectl", "kubectl-client-side-apply")
	w.oddity = pick(r, 0, 40, 25, 12)
	steps := t.steps
	for range 8 + r.IntN(12) {
		if len(w.changes) > 0 && r.chance(10) {
			steps, w.changes = append(steps, w.changes...), nil
		}
		steps = append(steps, w.step())
	}
	return append(steps, get(w.version().collection+"/x"))
}

// A fieldWriter makes the requests of the managers of one object.
type fieldWriter struct {
	*source
	sharedType
	managers []string
	oddity   int // one of so many values is null or empty, none if it is 0
}

func (w *fieldWriter) version() sharedVersion { return pick(w.source, w.versions...) }

// step returns a request of a manager.
func (w *fieldWriter) step() Step {
	v, manager := w.version(), pick(w.source, w.managers...)
	path := v.collection + "/x"
	if len(w.subresources) > 0 && w.chance(6) {
		path += pick(w.source, w.subresources...)
	}
	query := "?fieldManager=" + manager
	if w.chance(10) {
		query += "&dryRun=All"
	}
	part := w.part(v)
	switch w.IntN(14) {
	case 0, 1, 2, 3, 4, 5:
		if w.chance(12) {
			w.odd(part)
		}
		return patch(path+query+pick(w.source, "", "", "&force=true"), applyPatch, part)
	case 6, 7:
		return patch(path+query, mergePatch, w.patchOf(part))
	case 8:
		return patch(path+query, strategicPatch, w.patchOf(part))
	case 9:
		var operations list
		for range 1 + w.IntN(2) {
			operations = append(operations, w.operation(v))
		}
		return patch(path+query, jsonPatch, operations)
	case 10, 11, 12:
		if w.chance(2) {
			w.migrate(v, part)
		}
		if w.chance(3) {
			part["metadata"].(object)["resourceVersion"] = "{rv " + v.collection + "/x}"
		}
		return put(path+query, part)
	}
	switch w.IntN(5) {
	case 0:
		return Step{Method: http.MethodDelete, Path: v.collection + "/x"}
	case 1:
		return post(v.collection+query, part)
	}
	return get(path)
}

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// part returns an object with some of the fields of a version.
func (w *fieldWriter) part(v sharedVersion) object {
	o := w.varied(v, 4+w.IntN(8))
	o["apiVersion"], o["kind"] = v.body["apiVersion"], v.body["kind"]
	meta := object{"name": "x"}
	if w.chance(3) {
		meta[pick(w.source, "labels", "annotations")] = w.vary(object{"a": oneOf{"1", "2"}, "b": oneOf{"1", ""}}, 3)
	}
	if w.chance(20) {
		meta["finalizers"] = pick(w.source, list{"example.com/a"}, list{"example.com/a", "example.com/b"}, list{})
	}
	if w.chance(8) {
		meta["annotations"] = object{lastApplied: textOf(w.vary(v.body, 3))}
	}
	o["metadata"] = meta
	return o
}

// patchOf returns the patch of an object without, most often, what says which one it is.
func (w *fieldWriter) patchOf(part object) object {
	if !w.chance(4) {
		for _, name := range []string{"apiVersion", "kind"} {
			delete(part, name)
		}
		delete(part["metadata"].(object), "name")
	}
	if w.chance(10) {
		part["metadata"].(object)["managedFields"] = pick[any](w.source, list{}, list{object{}}, nil)
	}
	return part
}

// migrate gives the body of a PUT managedFields: those that clear them, or those of managers that own
// fields of the body.
func (w *fieldWriter) migrate(v sharedVersion, body object) {
	meta := body["metadata"].(object)
	if w.chance(3) {
		meta["managedFields"] = pick[any](w.source, list{}, list{object{}}, nil)
		return
	}
	if w.chance(2) {
		meta["annotations"] = object{lastApplied: textOf(w.vary(v.body, 6))}
	}
	entries := list{}
	for range 1 + w.IntN(3) {
		of := w.version()
		owned := w.varied(of, 3)
		delete(owned, "apiVersion")
		delete(owned, "kind")
		entry := object{
			"manager": pick(w.source, w.managers...), "operation": pick(w.source, "Apply", "Apply", "Update"), "apiVersion": of.body["apiVersion"],
			"fieldsType": "FieldsV1", "fieldsV1": ownership(owned),
		}
		if w.chance(2) {
			entry["time"] = "2024-05-06T07:08:09Z"
		}
		if w.chance(8) {
			entry["subresource"] = pick(w.source, "status", "scale")
		}
		entries = append(entries, entry)
	}
	meta["managedFields"] = entries
}

// ownership returns the field set of the members of an object. Lists are owned as a whole.
func ownership(o object) object {
	out := object{}
	for name, v := range o {
		below := object{}
		if members, ok := v.(object); ok {
			below = ownership(members)
		}
		out["f:"+name] = below
	}
	return out
}

// odd makes a configuration wrong in one or two ways.
func (w *fieldWriter) odd(o object) {
	for range 1 + w.IntN(2) {
		at := o
		if spec, ok := o["spec"].(object); ok && len(spec) > 0 && w.chance(2) {
			at = spec
		}
		switch names := sortedKeys(at); w.IntN(3) {
		case 0:
			at[pick(w.source, "unknown", "other")] = 1
		case 1:
			at[pick(w.source, names...)] = pick[any](w.source, 1, "x", true, list{"x", "x"}, object{"y": "z"})
		case 2:
			for _, name := range names {
				if l, ok := at[name].(list); ok && len(l) > 0 {
					at[name] = append(l, l[0])
				}
			}
		}
	}
}

// operation returns an operation of a JSON patch at a field of a version.
func (w *fieldWriter) operation(v sharedVersion) object {
	op := object{"op": pick(w.source, "add", "replace", "remove", "test"), "path": "", "value": nil}
	if w.chance(6) {
		op["path"] = pick(w.source, "/metadata/labels", "/metadata/annotations", "/metadata/managedFields", "/metadata/managedFields/0", "/metadata/finalizers")
		op["value"] = pick[any](w.source, nil, object{}, list{}, list{object{}}, object{"a": "1"})
		return op
	}
	var at any = v.body
	for depth := 0; depth == 0 || w.chance(2); depth++ {
		switch t := at.(type) {
		case object:
			if len(t) == 0 {
				return op
			}
			name := pick(w.source, sortedKeys(t)...)
			op["path"], at = op["path"].(string)+"/"+strings.ReplaceAll(name, "/", "~1"), t[name]
		case list:
			i := w.IntN(len(t))
			op["path"], at = op["path"].(string)+pick(w.source, "/0", "/0", "/-", "/1"), t[i]
		}
		op["value"] = w.vary(at, 5)
	}
	if w.chance(5) {
		op["value"] = pick[any](w.source, nil, object{}, list{})
	}
	return op
}

// varied returns an object of a version as vary returns it.
func (w *fieldWriter) varied(v sharedVersion, omit int) object {
	if o, ok := w.vary(v.body, omit).(object); ok {
		return o
	}
	return object{}
}

// vary returns a value without one of omit of its members and elements, each oneOf chosen, and some
// values null or empty.
func (w *fieldWriter) vary(v any, omit int) any {
	if w.oddity > 0 && w.chance(w.oddity) {
		switch v.(type) {
		case object:
			return pick[any](w.source, object{}, nil)
		case list:
			return pick[any](w.source, list{}, nil)
		}
		return nil
	}
	switch t := v.(type) {
	case oneOf:
		return pick(w.source, t...)
	case object:
		out := object{}
		for _, name := range sortedKeys(t) {
			switch name {
			case "apiVersion", "kind", "name", "type", "selector", "matchLabels", "app", "maxReplicas", "scaleTargetRef", "podSelector", "port", "containerPort": // without which few objects are valid
				out[name] = w.vary(t[name], omit*5)
			default:
				if !w.chance(omit) {
					out[name] = w.vary(t[name], omit)
				}
			}
		}
		return out
	case list:
		out := list{}
		for _, e := range t {
			if !w.chance(omit) {
				out = append(out, w.vary(e, omit))
			}
		}
		if len(out) > 1 && w.chance(8) {
			out[0], out[1] = out[1], out[0]
		}
		return out
	}
	return v
}

// customType returns a custom resource in two or three versions.
func customType(r *source) sharedType {
	names := []string{"v1", "v1beta1", "v1alpha1"}[:2+r.IntN(2)]
	hook := r.chance(2)
	status, scale := !r.chance(4), r.chance(3)
	t := sharedType{}
	version := func(name, listType string) object {
		out := object{"name": name, "served": true, "storage": name == "v1", "schema": object{"openAPIV3Schema": customSchema(r, listType, hook && name != "v1")}}
		sub := object{}
		if status {
			sub["status"] = object{}
		}
		if scale && name != "v1alpha1" {
			sub["scale"] = object{"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}
		}
		if len(sub) > 0 {
			out["subresources"] = sub
		}
		return out
	}
	var versions list
	listType := pick(r, "map", "atomic")
	for _, name := range names {
		versions = append(versions, version(name, listType))
		body := object{
			"apiVersion": "{id}.example.com/" + name, "kind": "Shared",
			"spec": object{
				"a": oneOf{"1", "2", nil}, "b": oneOf{"1", "2"}, "replicas": oneOf{1, 2}, "m": object{"x": oneOf{"1", "2"}, "y": oneOf{"1", nil}}, "atomic": object{"x": oneOf{"1", "2"}, "y": "1"},
				"l": list{object{"name": "a", "port": oneOf{1, 2}, "v": oneOf{"1", "2"}}, object{"name": "b", "v": oneOf{"1", "2"}}}, "set": list{"a", oneOf{"b", "c"}}, "al": list{object{"q": oneOf{"1", "1024Ki"}}},
				"any": object{"x": oneOf{1, "1", nil}, "l": list{oneOf{1, 2}}}, "o": object{"x": oneOf{1, 2}, "d": oneOf{"e", "f"}},
			},
			"status": object{"phase": oneOf{"A", "B", nil}, "n": oneOf{"1", nil}, "replicas": oneOf{1, 2}, "conditions": list{object{"type": "Ready", "status": oneOf{"True", "False"}}}},
		}
		if hook && name != "v1" {
			spec := body["spec"].(object)
			spec["old"] = spec["b"]
			delete(spec, "b")
		}
		t.versions = append(t.versions, sharedVersion{"/apis/{id}.example.com/" + name + "/namespaces/{id}/shareds", body})
	}
	if status {
		t.subresources = append(t.subresources, "/status")
	}
	if scale {
		t.subresources = append(t.subresources, "/scale")
	}
	spec := object{
		"group": "{id}.example.com", "scope": "Namespaced", "versions": versions,
		"names": object{"plural": "shareds", "singular": "shared", "kind": "Shared", "listKind": "SharedList"},
	}
	if hook {
		spec["conversion"] = object{"strategy": "Webhook", "webhook": object{
			"conversionReviewVersions": list{"v1"}, "clientConfig": object{"url": "{hook}/convert/shared", "caBundle": "{ca}"},
		}}
	}
	const path = definitions + "/shareds.{id}.example.com"
	t.steps = []Step{post(definitions, object{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": object{"name": "shareds.{id}.example.com"}, "spec": spec})}
	for _, v := range t.versions {
		t.steps = append(t.steps, awaited(v.collection, http.StatusOK))
	}
	changed := clone(spec).(object)
	next := changed["versions"].(list)
	last := len(next) - 1
	if r.chance(3) { // a list becomes atomic, or is no longer
		for i, name := range names {
			next[i] = version(name, map[string]string{"map": "atomic", "atomic": "map"}[listType])
		}
	}
	if r.chance(2) {
		changed["versions"] = next[:last]
	} else {
		next[last].(object)["served"] = false
	}
	t.changes = []Step{patch(path, mergePatch, object{"spec": changed}), awaited(t.versions[last].collection, http.StatusNotFound)}
	return t
}

// awaited returns a step that waits for an answer to a GET.
func awaited(path string, status int) Step {
	s := get(path)
	s.Await = status
	return s
}

// customSchema returns the schema of a version. An old one has the field b under the name old.
func customSchema(r *source, listType string, old bool) object {
	text, number := object{"type": "string"}, object{"type": "integer"}
	element := object{"type": "object", "required": list{"name"}, "properties": object{"name": text, "port": number, "v": text}}
	elements := object{"type": "array", "items": element, "x-kubernetes-list-type": listType}
	if listType == "map" {
		elements["x-kubernetes-list-map-keys"] = list{"name"}
		if r.chance(2) {
			elements["x-kubernetes-list-map-keys"] = list{"name", "port"}
			element["required"] = list{"name"}
			element["properties"].(object)["port"] = object{"type": "integer", "default": 1}
		}
	}
	spec := object{
		"a": object{"type": "string", "nullable": r.chance(2)}, "b": text, "replicas": number, "m": object{"type": "object", "additionalProperties": object{"type": "string", "nullable": r.chance(2)}},
		"atomic": object{"type": "object", "x-kubernetes-map-type": "atomic", "additionalProperties": text}, "l": elements, "set": object{"type": "array", "x-kubernetes-list-type": "set", "items": text},
		"al":  object{"type": "array", "items": object{"type": "object", "properties": object{"q": text}}},
		"any": object{"type": "object", "x-kubernetes-preserve-unknown-fields": true}, "o": object{"type": "object", "properties": object{"x": number, "d": object{"type": "string", "default": "e"}}},
	}
	if old {
		spec["old"] = spec["b"]
		delete(spec, "b")
	}
	return object{"type": "object", "properties": object{
		"spec": object{"type": "object", "properties": spec},
		"status": object{"type": "object", "properties": object{
			"phase": object{"type": "string", "nullable": r.chance(2)}, "n": object{"type": "string", "nullable": true}, "replicas": number,
			"conditions": object{"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": list{"type"}, "items": object{"type": "object", "required": list{"type"}, "properties": object{"type": text, "status": text}}},
		}},
	}}
}

// convertShared answers a ConversionReview: the field spec.b of v1 is spec.old in other versions.
func convertShared(review object) object {
	request, _ := review["request"].(object)
	desired, _ := request["desiredAPIVersion"].(string)
	objects, _ := request["objects"].(list)
	from, to := "b", "old"
	if strings.HasSuffix(desired, "/v1") {
		from, to = to, from
	}
	for _, e := range objects {
		o := e.(object)
		if spec, ok := o["spec"].(object); ok {
			if v, ok := spec[from]; ok {
				delete(spec, from)
				spec[to] = v
			}
		}
		o["apiVersion"] = desired
	}
	return object{"apiVersion": review["apiVersion"], "kind": review["kind"], "response": object{
		"uid": request["uid"], "result": object{"status": "Success"}, "convertedObjects": objects,
	}}
}
