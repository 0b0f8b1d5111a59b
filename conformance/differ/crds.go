package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// crds returns a story about a CustomResourceDefinition with a random schema in one or two versions, and
// of what clients do with its objects while it changes.
func crds(r *source) []Step {
	d := newDefinition(r)
	steps := []Step{post(definitions+r.query(8, "fieldValidation=Strict"), d.body())}
	steps = append(steps, d.served()...)
	for range 6 + r.IntN(14) {
		if r.chance(12) {
			d.change()
			steps = append(steps, patch(d.path(), mergePatch, object{"spec": d.spec()}))
			steps = append(steps, d.served()...)
			continue
		}
		steps = append(steps, d.step())
	}
	steps = append(steps, get(d.path()))
	return append(steps, Step{Method: http.MethodDelete, Path: d.path()})
}

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

// A definition is a CustomResourceDefinition that a story uses.
type definition struct {
	*source
	clustered bool
	versions  []*version
}

// A version is one of a definition.
type version struct {
	name    string
	schema  *schema
	status  bool
	scale   bool
	columns list
	selects list
}

func newDefinition(r *source) *definition {
	d := &definition{source: r, clustered: r.chance(4)}
	names := []string{"v1"}
	if r.chance(2) {
		names = []string{"v1", "v1beta1"}
	}
	status, scale := !r.chance(3), r.chance(4)
	for _, name := range names {
		v := &version{name: name, schema: root(r), status: status, scale: scale}
		if r.chance(4) {
			v.columns = list{object{"name": "Size", "type": pick(r, "integer", "string", "date", "boolean", "number"), "jsonPath": pick(r, ".spec.a", ".spec.b", ".spec.c.a", ".metadata.labels.a", ".metadata.creationTimestamp"), "priority": r.IntN(2)}}
		}
		if r.chance(6) {
			v.selects = list{object{"jsonPath": pick(r, ".spec.a", ".spec.b", ".spec.c")}}
		}
		d.versions = append(d.versions, v)
	}
	return d
}

// change changes the schema of a version.
func (d *definition) change() { pick(d.source, d.versions...).schema = root(d.source) }

func (d *definition) path() string { return definitions + "/things.{id}.example.com" }

func (d *definition) spec() object {
	scope := "Namespaced"
	if d.clustered {
		scope = "Cluster"
	}
	var versions list
	for i, v := range d.versions {
		o := object{"name": v.name, "served": true, "storage": i == 0, "schema": object{"openAPIV3Schema": v.schema.document()}}
		sub := object{}
		if v.status {
			sub["status"] = object{}
		}
		if v.scale {
			sub["scale"] = object{"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas", "labelSelectorPath": ".status.selector"}
		}
		if len(sub) > 0 {
			o["subresources"] = sub
		}
		if v.columns != nil {
			o["additionalPrinterColumns"] = v.columns
		}
		if v.selects != nil {
			o["selectableFields"] = v.selects
		}
		versions = append(versions, o)
	}
	return object{
		"group": "{id}.example.com", "scope": scope, "versions": versions,
		"names": object{"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"},
	}
}

func (d *definition) body() object {
	return object{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": object{"name": "things.{id}.example.com"}, "spec": d.spec(),
	}
}

// served returns steps that wait until the definition is served.
func (d *definition) served() []Step {
	var out []Step
	for _, v := range d.versions {
		s := get(d.collection(v))
		s.Await = http.StatusOK
		out = append(out, s)
	}
	return out
}

func (d *definition) collection(v *version) string {
	if d.clustered {
		return "/apis/{id}.example.com/" + v.name + "/things"
	}
	return "/apis/{id}.example.com/" + v.name + "/namespaces/{id}/things"
}

// object returns an object of a version, most often a valid one.
func (d *definition) object(v *version, name string) object {
	o, _ := v.schema.value(d.source).(object)
	if o == nil {
		o = object{}
	}
	o["apiVersion"], o["kind"] = "{id}.example.com/"+v.name, "Thing"
	meta := object{"name": name}
	if d.chance(3) {
		meta["labels"] = object{"a": pick(d.source, "x", "y", "")}
	}
	if d.chance(6) {
		meta[pick(d.source, "finalizers", "annotations", "ownerReferences", "generation", "unknown", "managedFields", "deletionTimestamp")] =
			pick[any](d.source, list{"example.com/a"}, object{"a": "b"}, list{}, 3, nil, "x")
	}
	o["metadata"] = meta
	return o
}

// step returns a request of a client.
func (d *definition) step() Step {
	r := d.source
	v := pick(r, d.versions...)
	name := pick(r, "a", "b")
	collection := d.collection(v)
	path := collection + "/" + name
	validation := []string{"fieldValidation=Strict", "fieldValidation=Ignore", "fieldManager=m", "dryRun=All"}
	sub := ""
	if r.chance(6) {
		sub = pick(r, "/status", "/scale", "/unknown")
	}
	switch r.IntN(14) {
	case 0, 1, 2:
		return post(collection+r.query(3, validation...), d.object(v, name))
	case 3, 4:
		o := d.object(v, name)
		if !r.chance(3) {
			o["metadata"].(object)["resourceVersion"] = "{rv " + path + "}"
		}
		return put(path+sub+r.query(3, validation...), o)
	case 5, 6:
		o := d.object(v, name)
		delete(o, pick(r, "spec", "status", "metadata"))
		if r.chance(3) {
			o = object{"spec": object{pick(r, "a", "b", "c"): nil}}
		}
		return patch(path+sub+r.query(3, validation...), mergePatch, o)
	case 7:
		at := "/" + pick(r, "spec", "status", "metadata") + pick(r, "", "/a", "/b", "/c", "/c/a", "/c/-", "/c/0", "/labels")
		op := object{"op": pick(r, "add", "remove", "replace", "test"), "path": at, "value": v.schema.at(at).value(r)}
		return patch(path+sub+r.query(3, validation...), jsonPatch, list{op})
	case 8, 9, 10:
		o := d.object(v, name)
		query := "?fieldManager=" + pick(r, "m1", "m2") + pick(r, "", "", "&force=true", "&dryRun=All")
		return patch(path+sub+query, applyPatch, o)
	case 11:
		return Step{Method: http.MethodDelete, Path: path + r.query(3, "dryRun=All", "propagationPolicy=Foreground", "propagationPolicy=Orphan")}
	case 12:
		return get(path+sub).with("Accept", pick(r, "application/json", "application/yaml", "application/json;as=Table;g=meta.k8s.io;v=v1", "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"))
	}
	query := r.query(2, "labelSelector=a%3Dx", "labelSelector=a", "fieldSelector=metadata.name%3Da", "fieldSelector=spec.a%3Dx", "limit=1", "resourceVersion=0")
	return get(collection+query).with("Accept", pick(r, "application/json", "application/json;as=Table;g=meta.k8s.io;v=v1", "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"))
}

// A schema is a structural schema.
type schema struct {
	typ        string // "" for any
	properties map[string]*schema
	items      *schema // of an array, or of the values of a map
	extra      object  // other keywords
}

// root returns the schema of a version.
func root(r *source) *schema {
	s := &schema{typ: "object", properties: map[string]*schema{"spec": fields(r, 2), "status": fields(r, 1)}, extra: object{}}
	s.properties["spec"].properties["replicas"] = &schema{typ: "integer", extra: object{}}
	s.properties["status"].properties["replicas"] = &schema{typ: "integer", extra: object{}}
	s.properties["status"].properties["selector"] = &schema{typ: "string", extra: object{}}
	if r.chance(8) {
		s.extra["x-kubernetes-validations"] = list{object{"rule": pick(r, "self.metadata.name != 'b'", "!has(self.status) || has(self.spec)", "oldSelf.spec == self.spec")}}
	}
	return s
}

// fields returns the schema of an object with the fields a, b and c.
func fields(r *source, depth int) *schema {
	s := &schema{typ: "object", properties: map[string]*schema{}, extra: object{}}
	for _, name := range []string{"a", "b", "c"} {
		if !r.chance(5) {
			s.properties[name] = randomSchema(r, depth-1)
		}
	}
	if r.chance(4) {
		s.extra["required"] = list{pick(r, "a", "b")}
	}
	if r.chance(6) {
		s.extra["x-kubernetes-preserve-unknown-fields"] = true
	}
	if r.chance(8) {
		s.extra["x-kubernetes-map-type"] = pick(r, "atomic", "granular")
	}
	if r.chance(5) {
		s.extra["x-kubernetes-validations"] = list{rule(r, "self == oldSelf", "!has(self.a) || has(self.b)", "has(self.a)", "self.a == self.b")}
	}
	return s
}

func rule(r *source, rules ...string) object {
	o := object{"rule": pick(r, rules...)}
	switch r.IntN(5) {
	case 0:
		o["message"] = "not so"
	case 1:
		o["messageExpression"] = "'is ' + string(1)"
	case 2:
		o["reason"] = pick(r, "FieldValueForbidden", "FieldValueDuplicate", "FieldValueRequired")
	case 3:
		o["optionalOldSelf"] = true
	}
	return o
}

func randomSchema(r *source, depth int) *schema {
	s := &schema{extra: object{}}
	kinds := []string{"string", "string", "integer", "boolean", "number", "intOrString", "any"}
	if depth > 0 {
		kinds = append(kinds, "object", "object", "map", "array", "array", "set", "mapList", "embedded")
	}
	kind := pick(r, kinds...)
	s.typ = kind
	switch kind {
	case "string":
		switch r.IntN(6) {
		case 0:
			s.extra["maxLength"] = 3
		case 1:
			s.extra["enum"] = list{"x", "y"}
		case 2:
			s.extra["pattern"] = "^[a-z]*$"
		case 3:
			s.extra["format"] = pick(r, "date-time", "date", "duration", "ipv4", "uuid", "byte", "email", "hostname")
		case 4:
			s.extra["x-kubernetes-validations"] = list{rule(r, "self.size() < 3", "self == oldSelf", "self.startsWith('x')", "oldSelf == '' || self >= oldSelf")}
		}
		if r.chance(5) {
			s.extra["default"] = pick(r, "x", "y")
		}
	case "integer":
		switch r.IntN(5) {
		case 0:
			s.extra["minimum"], s.extra["maximum"] = 0, 10
		case 1:
			s.extra["format"] = pick(r, "int32", "int64")
		case 2:
			s.extra["multipleOf"] = 2
		case 3:
			s.extra["x-kubernetes-validations"] = list{rule(r, "self > 0", "self >= oldSelf")}
		}
		if r.chance(5) {
			s.extra["default"] = 2
		}
	case "number":
		if r.chance(3) {
			s.extra["maximum"], s.extra["exclusiveMaximum"] = 2, r.chance(2)
		}
	case "intOrString":
		s.typ = ""
		s.extra["x-kubernetes-int-or-string"] = true
	case "any":
		s.typ = ""
		s.extra["x-kubernetes-preserve-unknown-fields"] = true
	case "embedded":
		s.typ = "object"
		s.extra["x-kubernetes-embedded-resource"] = true
		s.extra["x-kubernetes-preserve-unknown-fields"] = true
	case "object":
		s = fields(r, depth)
		if r.chance(4) {
			s.extra["default"] = object{}
		}
	case "map":
		s.typ, s.items = "object", randomSchema(r, depth-1)
		if r.chance(3) {
			s.extra["maxProperties"] = 1
		}
	case "array":
		s.items = randomSchema(r, depth-1)
		if r.chance(3) {
			s.extra["maxItems"] = 1
		}
		if r.chance(3) {
			s.extra["x-kubernetes-list-type"] = "atomic"
		}
	case "set":
		s.typ, s.items = "array", &schema{typ: pick(r, "string", "integer"), extra: object{}}
		s.extra["x-kubernetes-list-type"] = "set"
	case "mapList":
		s.typ, s.items = "array", fields(r, depth)
		s.items.properties["a"] = &schema{typ: pick(r, "string", "integer"), extra: object{}}
		s.items.extra = object{"required": list{"a"}}
		s.extra["x-kubernetes-list-type"] = "map"
		s.extra["x-kubernetes-list-map-keys"] = list{"a"}
	}
	if r.chance(8) {
		s.extra["nullable"] = true
	}
	return s
}

// document returns the schema as a definition has it.
func (s *schema) document() object {
	o := object{}
	for k, v := range s.extra {
		o[k] = v
	}
	switch s.typ {
	case "":
	case "set", "mapList":
		o["type"] = "array"
	default:
		o["type"] = s.typ
	}
	if s.properties != nil {
		p := object{}
		for k, v := range s.properties {
			p[k] = v.document()
		}
		o["properties"] = p
	}
	if s.items != nil {
		key := "items"
		if s.typ == "object" {
			key = "additionalProperties"
		}
		o[key] = s.items.document()
	}
	return o
}

// at returns the schema of a JSON pointer, that of any value if there is none.
func (s *schema) at(pointer string) *schema {
	for _, name := range strings.Split(pointer, "/")[1:] {
		switch {
		case s.properties[name] != nil:
			s = s.properties[name]
		case s.items != nil:
			s = s.items
		default:
			return &schema{}
		}
	}
	return s
}

// value returns a value that most often is valid.
func (s *schema) value(r *source) any {
	if r.chance(25) {
		return anything(r)
	}
	switch s.typ {
	case "string":
		return pick(r, "", "x", "y", "xy", "zzzz", "1", "2020-01-02T03:04:05Z", "1h", "10.1.2.3")
	case "integer":
		return pick(r, 0, 1, 2, 7, 12)
	case "boolean":
		return r.chance(2)
	case "number":
		return pick[any](r, 0, 1, 1.5, 2, json.Number("1e3"))
	case "array":
		out := list{}
		for range r.IntN(3) {
			out = append(out, s.items.value(r))
		}
		return out
	case "object":
		o := object{}
		if s.items != nil {
			for range r.IntN(3) {
				o[pick(r, "a", "b", "x.y/z")] = s.items.value(r)
			}
			return o
		}
		if s.extra["x-kubernetes-embedded-resource"] != nil {
			return object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": object{"name": pick(r, "a", "B_")}, "data": object{"a": "b"}}
		}
		for _, name := range sortedKeys(s.properties) {
			if !r.chance(3) {
				o[name] = s.properties[name].value(r)
			}
		}
		if r.chance(12) {
			o[pick(r, "unknown", "A")] = anything(r)
		}
		return o
	}
	return pick[any](r, 1, "x", "5%", object{"k": "v"})
}

// anything returns a value that may stand where it should not.
func anything(r *source) any {
	return pick[any](r, nil, "", "text", 0, -1, 1.5, true, list{}, object{}, list{"x", "x"}, object{"a": "b"}, list{nil}, json.Number("12345678901234567890"), fmt.Sprint(strings.Repeat("n", 70)))
}
