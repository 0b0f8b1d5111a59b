package main

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

// kinds returns a story about objects of one kind, which are generated from its schema.
func kinds(r *source) []Step {
	g := &generator{source: r, api: r.api, kind: pick(r, r.api.kinds...), density: pick(r, 2, 8, 8, 20, 40), odd: pick(r, 0, 0, 60, 25)}
	var steps []Step
	objects := map[string]object{}
	for _, name := range []string{"a", "b"} {
		objects[name] = g.object(name)
	}
	steps = append(steps, g.post("a", objects["a"]))
	if g.kind.created {
		for range 4 {
			steps = append(steps, g.post("a", g.object("a")))
		}
		return steps
	}
	for range 6 + r.IntN(6) {
		name := pick(r, "a", "a", "a", "b")
		steps = append(steps, g.step(name, objects))
	}
	for _, name := range []string{"a", "b"} {
		steps = append(steps, Step{Method: http.MethodDelete, Path: g.path(name)})
	}
	return steps
}

// dryRunKinds are not stored: they change what a server answers to other stories, or a
// controller of a real server writes their status.
var dryRunKinds = []string{
	"APIService", "CustomResourceDefinition", "FlowSchema", "MutatingAdmissionPolicyBinding", "MutatingWebhookConfiguration", "ServiceCIDR",
	"ValidatingAdmissionPolicyBinding", "ValidatingWebhookConfiguration",
}

// A generator makes objects of a kind.
type generator struct {
	*source
	api     *api
	kind    *servedKind
	density int // how many of 100 optional fields are set
	odd     int // one of so many values is wrong, none if it is 0
}

func (g *generator) namespaced() bool { return strings.Contains(g.kind.collection, "{id}") }

func (g *generator) name(name string) string {
	if g.namespaced() {
		return name
	}
	return "{id}-" + name
}

func (g *generator) path(name string) string { return g.kind.collection + "/" + g.name(name) }

// keep adds to a path what keeps a dangerous object from being stored.
func (g *generator) keep(path string) string {
	if slices.Contains(dryRunKinds, g.kind.kind) {
		return join(path, "?dryRun=All")
	}
	return path
}

var validations = []string{"fieldValidation=Strict", "fieldValidation=Warn", "fieldValidation=Ignore", "fieldManager=m", "dryRun=All"}

func (g *generator) post(name string, o object) Step {
	return post(g.keep(g.kind.collection+g.query(4, validations[:4]...)), o)
}

// step returns a request of a client.
func (g *generator) step(name string, objects map[string]object) Step {
	r := g.source
	path := g.path(name)
	if len(g.kind.subresources) > 0 && r.chance(4) {
		path += pick(r, g.kind.subresources...)
	}
	switch r.IntN(12) {
	case 0:
		objects[name] = g.object(name)
		return g.post(name, objects[name])
	case 1, 2, 3:
		o := clone(objects[name]).(object)
		objects[name] = g.revised(o)
		sent := clone(objects[name]).(object)
		if meta, ok := sent["metadata"].(object); ok && r.chance(2) {
			meta["resourceVersion"] = "{rv " + g.path(name) + "}"
		}
		return put(g.keep(path+g.query(4, validations...)), sent)
	case 4:
		return patch(g.keep(path+g.query(4, validations...)), mergePatch, g.part(objects[name]))
	case 5:
		return patch(g.keep(path+g.query(4, validations...)), strategicPatch, g.part(objects[name]))
	case 6, 7:
		o := g.part(objects[name])
		o["apiVersion"], o["kind"] = g.kind.apiVersion(), g.kind.kind
		o["metadata"] = object{"name": g.name(name)}
		return patch(g.keep(path+"?fieldManager="+pick(r, "m1", "m2")+pick(r, "", "&force=true")), applyPatch, o)
	case 8:
		query := r.query(4, "limit=1", "resourceVersion=0", "fieldSelector=metadata.name%3Da", "labelSelector=a%3Db")
		if !g.namespaced() { // other stories have objects of the kind
			query = "?fieldSelector=metadata.name%3D" + g.name(name)
		}
		return get(g.kind.collection+query).
			with("Accept", pick(r, "application/json", "application/json;as=Table;g=meta.k8s.io;v=v1", "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"))
	case 9:
		return get(path).with("Accept", "application/json;as=Table;g=meta.k8s.io;v=v1")
	case 10:
		return get(path).with("Accept", pick(r, "application/json", "application/yaml", protobufType))
	}
	if r.chance(2) {
		return get(path)
	}
	return Step{Method: http.MethodDelete, Path: g.keep(g.path(name) + r.query(3, "dryRun=All", "gracePeriodSeconds=0", "propagationPolicy=Background", "propagationPolicy=Foreground"))}
}

// object returns an object, most often a valid one.
func (g *generator) object(name string) object {
	o, _ := g.value("", g.kind.schema, 0).(object)
	if o == nil {
		o = object{}
	}
	o["apiVersion"], o["kind"] = g.kind.apiVersion(), g.kind.kind
	meta := object{"name": g.name(name)}
	if g.chance(4) {
		meta["labels"] = g.labels()
	}
	if g.chance(6) {
		meta["annotations"] = object{"a": "b"}
	}
	o["metadata"] = meta
	return o
}

func (g *generator) labels() object {
	return pick(g.source, object{"a": "b"}, object{"a": "b"}, object{"a": "b", "example.com/c": ""})
}

// revised returns an object with one of its fields generated again.
func (g *generator) revised(o object) object {
	f, _ := g.api.resolve(g.kind.schema)
	return g.revise(f, o, 0).(object)
}

func (g *generator) revise(f *definitionField, v any, depth int) any {
	f, _ = g.api.resolve(f)
	switch t := v.(type) {
	case object:
		names := slices.DeleteFunc(sortedKeys(f.Properties), func(n string) bool { return depth == 0 && (n == "apiVersion" || n == "kind" || n == "metadata") })
		if len(names) == 0 {
			return v
		}
		name := pick(g.source, names...)
		if set := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return t[n] == nil }); len(set) > 0 && !g.chance(3) {
			name = pick(g.source, set...)
			if !g.chance(4) {
				t[name] = g.revise(f.Properties[name], t[name], depth+1)
				return t
			}
		}
		if g.chance(4) {
			delete(t, name)
		} else {
			t[name] = g.value(name, f.Properties[name], depth+1)
		}
		return t
	case list:
		if len(t) == 0 || f.Items == nil || g.chance(5) { // a list of any JSON has no definition of its elements
			return g.value("", f, depth)
		}
		i := g.IntN(len(t))
		t[i] = g.revise(f.Items, t[i], depth+1)
		return t
	}
	return g.value("", f, depth)
}

// part returns some of the fields of an object, some of them generated again.
func (g *generator) part(o object) object {
	o = clone(o).(object)
	if !g.chance(3) {
		o = g.revised(o)
	}
	delete(o, "apiVersion")
	delete(o, "kind")
	delete(o, "metadata")
	var thin func(v any, depth int) any
	thin = func(v any, depth int) any {
		m, ok := v.(object)
		if !ok || depth > 3 {
			return v
		}
		for _, k := range sortedKeys(m) {
			if g.chance(3) && k != "name" {
				delete(m, k)
			} else {
				m[k] = thin(m[k], depth+1)
			}
		}
		return m
	}
	o, _ = thin(o, 0).(object)
	if g.chance(4) {
		o["metadata"] = object{"labels": g.labels()}
	}
	return o
}

func clone(v any) any {
	switch t := v.(type) {
	case object:
		out := object{}
		for k, e := range t {
			out[k] = clone(e)
		}
		return out
	case list:
		out := make(list, 0, len(t))
		for _, e := range t {
			out = append(out, clone(e))
		}
		return out
	}
	return v
}

// value returns a value of a field.
func (g *generator) value(name string, f *definitionField, depth int) any {
	f, definition := g.api.resolve(f)
	_, short, _ := cutLast(definition, ".")
	if g.odd > 0 && depth > 1 && g.chance(g.odd*4) {
		return anything(g.source)
	}
	switch {
	case short == "Quantity":
		return g.quantity()
	case short == "IntOrString":
		return pick[any](g.source, 1, 80, "50%", "http", "25%", 0)
	case short == "Time", short == "MicroTime":
		return pick(g.source, "2024-05-06T07:08:09Z", "2024-05-06T07:08:09.123456Z")
	case short == "ObjectMeta":
		return object{"labels": object{"a": "b"}}
	case short == "LabelSelector" && !g.chance(4):
		return object{"matchLabels": object{"a": "b"}}
	case short == "RawExtension":
		return object{"apiVersion": "example.com/v1", "kind": "X"}
	case short == "FieldsV1":
		return object{"f:a": object{}}
	case strings.HasPrefix(short, "JSON") && short != "JSONSchemaProps":
		return pick[any](g.source, true, object{"type": "string"})
	}
	switch f.Type {
	case "object":
		if f.Properties == nil {
			return g.mapOf(name, f.AdditionalProperties, depth)
		}
		return g.structure(short, f, depth)
	case "array":
		out := list{}
		for range pick(g.source, 1, 1, 1, 2, 2, 0) {
			out = append(out, g.value(name, f.Items, depth+1))
		}
		if len(out) == 2 && !g.chance(4) { // most lists have no two elements of one name
			for _, key := range []string{"name", "key", "type", "port", "containerPort", "mountPath"} {
				a, _ := out[0].(object)
				b, _ := out[1].(object)
				if a[key] != nil && textOf(a[key]) == textOf(b[key]) {
					return out[:1]
				}
			}
			if textOf(out[0]) == textOf(out[1]) {
				return out[:1]
			}
		}
		return out
	case "boolean":
		return name != "globalDefault" && g.chance(2)
	case "integer":
		return g.integer(name)
	case "number":
		return pick[any](g.source, 0, 1, 1.5)
	}
	if f.Enum != nil {
		if g.odd > 0 && g.chance(g.odd) {
			return "Unknown"
		}
		return pick(g.source, f.Enum...)
	}
	return g.text(name, f)
}

// structure returns an object of a definition. Of what looks like a union, it has one member.
func (g *generator) structure(short string, f *definitionField, depth int) any {
	o := object{}
	names := sortedKeys(f.Properties)
	var members []string
	for _, n := range names {
		if depth == 0 && (n == "apiVersion" || n == "kind" || n == "metadata") {
			names = slices.DeleteFunc(slices.Clone(names), func(m string) bool { return m == n })
			continue
		}
		if p, _ := g.api.resolve(f.Properties[n]); f.Properties[n].Ref != "" && p.Properties != nil {
			members = append(members, n)
		}
	}
	chosen := ""
	union := len(members) > 1 && unions[short] || len(members) > 3 && len(names)-len(members) <= 2
	if union {
		chosen = pick(g.source, members...)
		if (short == "Volume" || short == "PersistentVolumeSpec") && !g.chance(3) {
			chosen = pick(g.source, "hostPath", "csi", "nfs", "emptyDir", "projected", "configMap", "ephemeral")
			if f.Properties[chosen] == nil {
				chosen = "hostPath"
			}
		}
	}
	for _, n := range names {
		member := slices.Contains(members, n)
		set := slices.Contains(f.Required, n) || usual[n] || depth == 0 && (n == "spec" || n == "data")
		switch {
		case union && member:
			set = n == chosen || g.chance(40)
		case depth > 9:
		case !set:
			set = g.IntN(100) < g.density
		case g.odd > 0 && g.chance(g.odd):
			set = false
		}
		if set {
			o[n] = g.value(n, f.Properties[n], depth+1)
		}
	}
	if g.odd > 0 && g.chance(g.odd*6) {
		o["unknown"] = anything(g.source)
	}
	return o
}

// unions are definitions of which one field of a structure is set.
var unions = map[string]bool{
	"EnvVarSource": true, "LifecycleHandler": true, "MetricSpec": true, "MetricStatus": true, "NetworkPolicyPeer": true, "PersistentVolumeSpec": true, "Probe": true,
	"Volume": true, "VolumeProjection": true, "IngressBackend": true, "Subject": true,
}

// usual are optional fields without which few objects are valid.
var usual = map[string]bool{
	"containers": true, "image": true, "selector": true, "template": true, "matchLabels": true, "accessModes": true, "resources": true, "metrics": false,
	"capacity": true, "value": true, "verbs": true, "apiGroups": true, "operations": true, "apiVersions": true, "rules": true, "scope": false, "driver": true, "pool": true,
}

func (g *generator) mapOf(name string, values *definitionField, depth int) any {
	if values == nil {
		return object{"a": "b"}
	}
	keys := []string{"a", "a", "example.com/b"}
	if f, short := g.api.resolve(values); strings.HasSuffix(short, "Quantity") {
		keys = []string{"cpu", "memory", "storage", "example.com/x", "ephemeral-storage"}
	} else if f.Type == "string" && f.Format == "" {
		return pick(g.source, object{"a": "b"}, object{"a": "b"}, object{"a": "b"}, object{"example.com/b": "c"}, object{"a": ""}, object{})
	}
	o := object{}
	for range pick(g.source, 1, 1, 2, 0) {
		o[pick(g.source, keys...)] = g.value(name, values, depth+1)
	}
	return o
}

func (g *generator) quantity() string {
	if g.odd > 0 && g.chance(g.odd) {
		return pick(g.source, "-1", "x", "1.5m", "", "0.0001")
	}
	return pick(g.source, "1", "1", "2", "100m", "1Gi", "500M", "0", "1e3")
}

func (g *generator) integer(name string) any {
	if g.odd > 0 && g.chance(g.odd) {
		return pick[any](g.source, -1, 0, 65536, 3000000000, json.Number("1.5"), 100)
	}
	lower := strings.ToLower(name)
	switch {
	case strings.HasSuffix(lower, "port"):
		return pick(g.source, 80, 443, 8080)
	case lower == "nodeport":
		return 0
	case strings.Contains(lower, "mode"):
		return pick(g.source, 420, 256)
	}
	return pick(g.source, 1, 1, 2, 5, 30, 0, 700)
}

// text returns a string as fields of this name have it.
func (g *generator) text(name string, f *definitionField) string {
	if f.Format == "byte" {
		return pick(g.source, "YQ==", "AP8=", "")
	}
	if f.Format == "date-time" {
		return "2024-05-06T07:08:09Z"
	}
	if g.odd > 0 && g.chance(g.odd) {
		return pick(g.source, "", "A_b", "x/y/z", "a b", strings.Repeat("n", 64), "é", "../x", "1", "a.b")
	}
	if values := texts[name]; values != nil {
		return pick(g.source, values...)
	}
	lower := strings.ToLower(name)
	for _, t := range textEndings {
		if strings.HasSuffix(lower, t.ending) {
			return pick(g.source, t.values...)
		}
	}
	return pick(g.source, "a", "a", "b", "c", "")
}

var texts = map[string][]string{
	"accessModes": {"ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"}, "addressType": {"IPv4", "IPv6", "FQDN"}, "addresses": {"192.0.2.1", "10.1.2.3"},
	"apiGroup": {"", "apps", "rbac.authorization.k8s.io", "example.com"}, "apiGroups": {"", "apps", "*"}, "apiVersion": {"v1", "apps/v1"}, "apiVersions": {"v1", "*"}, "operations": {"CREATE", "UPDATE", "*"},
	"clusterIP": {"", "None"}, "clusterIPs": {"None"}, "concurrencyPolicy": {"Allow", "Forbid"}, "containerName": {"a"}, "controllerName": {"example.com/c"}, "devices": {"a"}, "dnsPolicy": {"ClusterFirst", "Default", "None"},
	"driver": {"d.example.com"}, "effect": {"NoSchedule", "NoExecute", "PreferNoSchedule"}, "expression": {"true", "object.metadata.name == 'a'", "device.driver == 'd'", "'x'", "1 +"},
	"finalizers": {"kubernetes", "example.com/f"}, "handler": {"h"}, "host": {"a.example.com", ""}, "hostname": {"h"}, "image": {"i"}, "ip": {"10.1.2.3"}, "hostIP": {"192.0.2.1"}, "podIP": {"10.1.2.3"},
	"key": {"a", "b", "example.com/k", "kubernetes.io/hostname"}, "kind": {"Pod", "ConfigMap", "User", "ClusterRole", "Deployment"}, "kinds": {"Pod"}, "limitResponse": {"Reject"}, "loadBalancerIP": {"192.0.2.1"},
	"matchPolicy": {"Exact", "Equivalent"}, "message": {"m"}, "messageExpression": {"'m'"}, "mountPath": {"/m", "/n"}, "namespace": {"{id}", "{id}", "other"}, "nodeName": {"n"}, "operator": {"In", "NotIn", "Exists", "DoesNotExist", "Equal", "Gt"},
	"path": {"/p", "p", "p/q"}, "pathType": {"Prefix", "Exact"}, "phase": {"Pending", "Active", "Running"}, "policyName": {"a"}, "preemptionPolicy": {"Never", "PreemptLowerPriority"}, "protocol": {"TCP", "UDP"}, "provisioner": {"example.com/p"},
	"attacher": {"example.com/a"}, "reason": {"Invalid", "Forbidden", "R"}, "reclaimPolicy": {"Delete", "Retain"}, "persistentVolumeReclaimPolicy": {"Delete", "Retain"}, "resource": {"pods", "cpu"}, "resources": {"pods", "*", "pods/status"},
	"restartPolicy": {"Always", "Never", "OnFailure"}, "roleRef": {"a"}, "schedule": {"* * * * *", "@daily"}, "scope": {"Namespaced", "*", "Cluster"}, "server": {"s.example.com"}, "service": {"s"}, "sideEffects": {"None", "NoneOnDryRun"},
	"admissionReviewVersions": {"v1", "v1beta1"}, "signerName": {"example.com/s"}, "status": {"True", "False", "Unknown"}, "strategy": {"RoundRobin"}, "subdomain": {"s"}, "timeZone": {"Etc/UTC"}, "topologyKey": {"a", "kubernetes.io/hostname"},
	"type": {"", "Ready", "Resource", "RollingUpdate", "Opaque", "Pod", "Limited"}, "uid": {"00000000-0000-0000-0000-000000000001"}, "unit": {"s"}, "url": {"https://a.example.com/p"}, "verbs": {"get", "list", "*"}, "volumeBindingMode": {"Immediate", "WaitForFirstConsumer"},
	"volumeMode": {"Filesystem", "Block"}, "whenUnsatisfiable": {"DoNotSchedule", "ScheduleAnyway"}, "nonResourceURLs": {"/healthz", "*"}, "usages": {"client auth", "digital signature"}, "conditionType": {"Ready"}, "nodeID": {"n"}, "topologyKeys": {"zone"},
	"allocationMode": {"ExactCount", "All"}, "deviceClassName": {"c.example.com"}, "pool": {"p"}, "request": {"a"}, "requests": {"a"}, "reportingController": {"example.com/c"}, "reportingInstance": {"i"}, "action": {"A"}, "mode": {"Shared"},
	"validationActions": {"Deny", "Warn", "Audit"}, "failurePolicy": {"Fail", "Ignore"}, "reinvocationPolicy": {"Never", "IfNeeded"}, "patchType": {"ApplyConfiguration", "JSONPatch"}, "paramKind": {"a"}, "parameterNotFoundAction": {"Allow", "Deny"},
}

// textEndings are values of fields by the end of their name, in lower case.
var textEndings = []struct {
	ending string
	values []string
}{
	{"cidrs", []string{"10.1.0.0/16", "10.1.2.0/24"}},
	{"cidr", []string{"10.1.0.0/16", "192.0.2.0/24"}},
	{"ips", []string{"192.0.2.1", "2001:db8::1"}},
	{"ip", []string{"192.0.2.1"}},
	{"path", []string{"/p", "p"}},
	{"policy", []string{"", "Always", "Never", "Retain", "Delete", "IfNeeded", "Foreground"}},
	{"name", []string{"a", "a", "a", "b", "a.example.com"}},
	{"version", []string{"v1", "1"}},
	{"kind", []string{"Pod", "ConfigMap"}},
	{"time", []string{"2024-05-06T07:08:09Z"}},
	{"type", []string{"", "Ready", "a"}},
	{"fields", []string{"a"}},
}

// cutLast cuts a text around the last separator.
func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return "", s, false
}
