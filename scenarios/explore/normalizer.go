package explore

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/journal"
	"github.com/kubefake/kubefake/internal/object"
)

// A normalizer removes from objects what differs from run to run: generated names, UIDs,
// versions, times and allocated addresses. At the end of a run it also removes what the
// controllers of the cluster have written as history.
type normalizer struct {
	classes   map[objectKey]objectKey
	names     *strings.Replacer      // of generated names; nil if there are none
	hashes    map[string]bool        // which the controllers of the cluster append to names
	managers  map[string]bool        // field managers that only the controllers of the cluster have
	addresses map[string]bool        // of Pods, which EndpointSlices have too
	given     func() map[string]bool // see outcome.givenPEM
}

func newNormalizer(changes []change) *normalizer {
	n := &normalizer{classes: map[objectKey]objectKey{}, hashes: map[string]bool{}, managers: map[string]bool{}, addresses: map[string]bool{}}
	generated := map[string]string{}
	classOf := map[string]string{} // names of classes by UID
	dependent := map[objectKey]bool{}
	others := map[string]bool{}
	for i := range changes {
		c := &changes[i]
		if c.cluster {
			n.managers[c.manager] = true
		} else {
			others[c.manager] = true
		}
		if c.object == nil {
			continue
		}
		for ip := range object.Each(object.Value(c.object, "status", "podIPs")) {
			n.addresses[object.String(ip, "ip")] = true
		}
		key := c.key()
		if c.what.Type == journal.Added {
			dependent[key] = c.cluster
		}
		name := n.nameUnderOwner(c.object, stableName(c.object), classOf, dependent[key])
		classOf[object.String(c.object, "metadata", "uid")] = name
		if name != c.what.Name {
			class := key
			class.name = name
			n.classes[key] = class
			generated[c.what.Name] = name
		}
	}
	maps.DeleteFunc(n.managers, func(manager string, _ bool) bool { return others[manager] })
	var pairs []string
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(generated))) { // longer ones first
		pairs = append(pairs, name, generated[name])
	}
	if pairs != nil {
		n.names = strings.NewReplacer(pairs...)
	}
	return n
}

// nameUnderOwner returns the name of the class of an object. stable is its name, with * for what was
// generated. If that begins with the name of the controlling owner, the name of the owner's class
// replaces it. The hash that a controller of the cluster has appended to it becomes *.
//
//	RayJob train, RayCluster train-x2x4z, Pod train-x2x4z-head: train, train-*, train-*-head
//
// Created by controllers of the cluster:
//
//	Deployment web, ReplicaSet web-5d4f8c7b9d, Pod web-5d4f8c7b9d-x2x4z: web, web-*, web-*
//	StatefulSet db, Pod db-0: db, db-0
func (n *normalizer) nameUnderOwner(o fakeapi.Object, stable string, classOf map[string]string, dependent bool) string {
	owner := controllerRef(o)
	name := object.String(owner, "name")
	rest, ok := strings.CutPrefix(stable, name)
	if owner == nil || !ok || rest != "" && rest[0] != '-' {
		return stable
	}
	class := classOf[object.String(owner, "uid")]
	if class == "" {
		class = name
	}
	if !dependent {
		return class + rest
	}
	if hash := strings.TrimPrefix(rest, "-"); isHash(hash) {
		n.hashes[hash] = true
		rest = "-*"
	}
	return strings.TrimSuffix(class, "-*") + rest
}

// controllerRef returns the owner reference of the controller of an object, nil if it has none.
func controllerRef(o fakeapi.Object) map[string]any {
	for ref := range object.Each(object.Value(o, "metadata", "ownerReferences")) {
		if ref["controller"] == true {
			return ref
		}
	}
	return nil
}

// isHash reports whether a text can be a hash of 32 bits as controllers append it to names.
func isHash(text string) bool {
	return len(text) >= randomLength && len(text) <= len("4294967295") && strings.Trim(text, randomCharacters) == ""
}

// class returns the key that objects have which should be equal in all runs.
func (n *normalizer) class(key objectKey) objectKey {
	if class, ok := n.classes[key]; ok {
		return class
	}
	return key
}

// lasting returns what of an object counts at the end of a run, nil if nothing does. The
// controllers of the cluster write more than that: revisions, old ReplicaSets, and statuses, which
// depend on what the objects were before, so a system that skips an intermediate spec has others.
// What counts is what runs, which is the Pods, and what the system and its users have written.
func (n *normalizer) lasting(l *life) fakeapi.Object {
	o := l.change.object
	switch {
	case !l.shared && (l.before || l.dependent && !asks(o)):
		return nil
	case l.node != "" || slices.ContainsFunc(managersOf(o), n.isOfCluster):
		return n.withoutHistory(l)
	}
	return o
}

// isOfCluster reports whether an entry of managed fields is one of the controllers of the cluster.
func (n *normalizer) isOfCluster(entry map[string]any) bool {
	return n.managers[object.String(entry, "manager")]
}

// withoutHistory returns an object without what only the controllers of the cluster have written,
// apart from the specs and from what says that a Pod runs.
func (n *normalizer) withoutHistory(l *life) fakeapi.Object {
	o := l.change.object
	var kept map[string]any // the fields of other managers
	for _, m := range managersOf(o) {
		if !n.isOfCluster(m) {
			kept = union(kept, object.Map(m, "fieldsV1"))
		}
	}
	out := maps.Clone(o)
	if annotations := object.Map(o, "metadata", "annotations"); annotations != nil {
		of := object.Map(kept, "f:metadata", "f:annotations")
		annotations = maps.Clone(annotations)
		maps.DeleteFunc(annotations, func(key string, _ any) bool { return isReserved(key) && of["f:"+key] == nil })
		meta := maps.Clone(object.Map(o, "metadata"))
		set(meta, "annotations", annotations)
		out["metadata"] = meta
	}
	if status := object.Map(o, "status"); status != nil {
		rest := map[string]any{}
		if of, ok := kept["f:status"]; ok {
			rest = maps.Clone(fieldsOf(restrict(status, fieldsOf(of))))
		}
		if l.change.what.Resource == "pods" {
			rest["phase"], rest["ready"] = status["phase"], conditionStatus(status, "Ready")
		}
		set(out, "status", rest)
	}
	if spec := object.Map(o, "spec"); l.node != "" && spec["nodeName"] == l.node {
		spec = maps.Clone(spec)
		spec["nodeName"] = "<node>"
		out["spec"] = spec
	}
	return out
}

// set sets a field, or removes it if the value is empty.
func set(o map[string]any, field string, value map[string]any) {
	if o[field] = value; len(value) == 0 {
		delete(o, field)
	}
}

// asks reports whether an object of a controller asks for something: it has a spec, and that has
// not 0 replicas.
func asks(o fakeapi.Object) bool {
	replicas, scaled := object.Int(o, "spec", "replicas")
	return object.Map(o, "spec") != nil && (!scaled || replicas > 0)
}

// conditionStatus returns the status of a condition.
func conditionStatus(status map[string]any, typ string) any {
	for c := range object.Each(status["conditions"]) {
		if c["type"] == typ {
			return c["status"]
		}
	}
	return nil
}

// isReserved reports whether the key of an annotation is one of Kubernetes itself.
func isReserved(key string) bool {
	domain, _, qualified := strings.Cut(key, "/")
	domain = "." + domain
	return qualified && (strings.HasSuffix(domain, ".kubernetes.io") || strings.HasSuffix(domain, ".k8s.io"))
}

// managersOf returns the managed fields of an object.
func managersOf(o fakeapi.Object) []map[string]any {
	return slices.Collect(object.Each(object.Value(o, "metadata", "managedFields")))
}

// fieldsOf returns a value that is an object, nil if it is something else.
func fieldsOf(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

// union returns the fields of two sets in the form of fieldsV1. A set without elements is a whole
// field.
func union(a, b map[string]any) map[string]any {
	out := make(map[string]any, len(a)+len(b))
	maps.Copy(out, a)
	for k, v := range b {
		before, known := out[k]
		if child, below := fieldsOf(before), fieldsOf(v); known && len(child) > 0 && len(below) > 0 {
			out[k] = union(child, below)
		} else if !known || len(below) == 0 {
			out[k] = v
		}
	}
	return out
}

// restrict returns the fields of a value that are in a set in the form of fieldsV1, nil if there
// are none.
func restrict(value any, set map[string]any) any {
	if _, itself := set["."]; len(set) == 0 || itself && len(set) == 1 {
		return value
	}
	switch v := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, e := range v {
			if below, ok := set["f:"+name]; ok {
				out[name] = restrict(e, fieldsOf(below))
			}
		}
		return out
	case []any:
		out := []any{}
		for _, e := range v {
			for path, below := range set {
				if selects(path, e) {
					out = append(out, restrict(e, fieldsOf(below)))
				}
			}
		}
		return out
	}
	return value
}

// selects reports whether an element of a path, such as k:{"type":"Ready"} or v:"a", is that of an
// item of a list.
func selects(path string, item any) bool {
	kind, text, _ := strings.Cut(path, ":")
	var want any
	if json.Unmarshal([]byte(text), &want) != nil {
		return false
	}
	switch kind {
	case "v":
		return compact(want) == compact(item)
	case "k":
		for k, v := range fieldsOf(want) {
			if compact(fieldsOf(item)[k]) != compact(v) {
				return false
			}
		}
		return true
	}
	return false
}

// text returns the normalized object as JSON.
func (n *normalizer) text(o fakeapi.Object) string {
	generation := any(nil)
	out := make(map[string]any, len(o))
	for k, v := range o {
		if k != "metadata" {
			out[k] = v
			continue
		}
		meta, _ := v.(map[string]any)
		kept := make(map[string]any, len(meta))
		for k, v := range meta {
			switch k {
			case "uid", "resourceVersion", "creationTimestamp", "managedFields", "selfLink":
			case "annotations":
				set(kept, k, withoutMeasures(fieldsOf(v)))
			case "generation":
				generation = v
			default:
				kept[k] = v
			}
		}
		out[k] = kept
	}
	b, err := json.Marshal(n.value("", out, generation))
	if err != nil {
		return err.Error() // unreachable: the object was decoded from JSON
	}
	return string(b)
}

// withoutMeasures returns annotations without the one that measures how long an object takes to follow
// a change. Its writers do not always know when that was, and leave it out then.
func withoutMeasures(annotations map[string]any) map[string]any {
	const changed = "endpoints.kubernetes.io/last-change-trigger-time" // of Endpoints and EndpointSlices
	if annotations[changed] == nil {
		return annotations
	}
	annotations = maps.Clone(annotations)
	delete(annotations, changed)
	return annotations
}

// uidLength is the length of a UID.
const uidLength = 36

var (
	uidPattern  = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)
	timePattern = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})$`)
)

// value returns a normalized value of the field with a name.
func (n *normalizer) value(field string, v any, generation any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = n.value(k, e, generation)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = n.value(field, e, generation)
		}
		if field == "conditions" { // a map by type, in the order of its changes
			slices.SortStableFunc(out, func(a, b any) int {
				return strings.Compare(object.String(fieldsOf(a), "type"), object.String(fieldsOf(b), "type"))
			})
		}
		return out
	case string:
		switch field {
		case "clusterIP", "clusterIPs", "podIP", "ip":
			if v != "None" && v != "" {
				return "<ip>"
			}
		case "containerID":
			return "<id>"
		case "resourceVersion":
			return "<version>"
		}
		if len(v) >= len("2006-01-02T15:04:05Z") && v[4] == '-' && timePattern.MatchString(v) {
			return "<time>"
		}
		if len(v) == uidLength && uidPattern.MatchString(v) {
			return "<uid>"
		}
		if n.hashes[v] {
			return "<hash>"
		}
		if n.addresses[v] {
			return "<ip>"
		}
		if blocks := pemBlocks(v); blocks != nil {
			return n.kinds(blocks)
		}
		if n.names != nil {
			return n.names.Replace(v)
		}
		return v
	}
	switch field {
	case "observedGeneration":
		if v == generation {
			return "<current>"
		}
		return "<old>"
	case "nodePort", "healthCheckNodePort":
		return "<port>"
	}
	return v
}
