// Package kinds is what is particular to each built-in resource: how its
// objects are named, completed, prepared, compared and selected. Everything
// that holds for every resource is elsewhere.
//
// The table rules lists the resources; what a row names is in the file of its
// family. A rule called default completes what a request brings, as
// k8s.io/kubernetes/pkg/apis does and its conversions do on the way; one called
// prepare makes of it what is stored, as pkg/registry does; one called stamp, what only the
// request knows. All change the object that they are given, which may come to
// share parts with the old one, and leave the old one as it is. They may be
// called concurrently for different objects.
package kinds

import (
	"slices"
	"sync"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/selector"
	"github.com/kubefake/kubefake/internal/validation"
)

// Types returns the profile's types ready to be served: with their codecs,
// strategies and places in the store.
func Types(profile []*resource.Type) []*resource.Type {
	isServed := make(map[served]bool, len(profile))
	for _, p := range profile {
		isServed[served{p.GroupVersion, p.Name}] = true
	}
	out := make([]*resource.Type, len(profile))
	for i, p := range profile {
		t := *p
		t.Codec = resource.BuiltinCodec(resource.Kind{GroupVersion: t.GroupVersion, Kind: t.Kind})
		if t.Group == "events.k8s.io" {
			t.Stored = resource.GroupVersion{Version: "v1"} // the only resource kept in another group
		}
		if !isServed[served{t.Stored, t.Name}] {
			t.Stored = t.GroupVersion
		}
		t.Prefix = "/" + qualified(t.Stored.Group, t.Name) + "/"
		if t.Allows("list") && t.Allows("create") {
			t.Strategy = strategyOf(&t)
		}
		out[i] = &t
	}
	link(out)
	return out
}

// served names a resource in a version.
type served struct {
	resource.GroupVersion
	name string
}

// qualified is a resource with its group: "deployments.apps", "pods".
func qualified(group, name string) string {
	if group == "" {
		return name
	}
	return name + "." + group
}

// A rule is a resource's row in the table of strategies.
type rule struct {
	resource.Strategy
	// generation are the members that raise metadata.generation, and raises how
	// it does.
	generation []string
	raises     raiseRule
	// status is how a write to the status subresource treats metadata.
	status statusRule
	// ownStatus leaves it to Prepare what becomes of the status that a write of
	// the object brings. Else a new object has an empty one, and an update
	// leaves it alone.
	ownStatus bool
	// unknownField, if not nil, makes UnknownField for a version.
	unknownField func(t *resource.Type) func(label string) string
	// anyFinalizer takes unqualified finalizers.
	anyFinalizer bool
}

// anyFinalizerGroups take unqualified finalizers in all their resources.
var anyFinalizerGroups = []string{
	"admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io", "coordination.k8s.io", "node.k8s.io",
}

// A raiseRule is when the difference of a member raises metadata.generation.
type raiseRule int

const (
	raiseMeant raiseRule = iota // none and an empty list are the same
	raiseExact                  // they are not
	raiseSent                   // as raiseMeant, of what the request brings before it is prepared
)

// A statusRule is what a write to a status subresource may do to metadata,
// besides the object's status.
type statusRule int

const (
	statusAndMeta   statusRule = iota // all that an update may
	statusOnly                        // nothing
	statusNotLabels                   // anything but labels
	statusNotOwners                   // anything but ownerReferences
)

func strategyOf(t *resource.Type) *resource.Strategy {
	r, ok := rules[qualified(t.Stored.Group, t.Name)]
	if !ok {
		r = rule{Strategy: resource.Strategy{UnconditionalUpdate: true}}
	}
	s := r.Strategy
	if s.Name == nil {
		s.Name = validation.SubdomainName
	}
	s.AnyFinalizer = r.anyFinalizer || slices.Contains(anyFinalizerGroups, t.Stored.Group)
	if len(r.generation) > 0 {
		s.Generation, s.GenerationFirst = r.raised(), r.raises == raiseSent
	}
	if r.unknownField != nil {
		s.UnknownField = r.unknownField(t)
	}
	s.Prepare = r.prepare(t)
	if t.Subresource("status") != nil {
		s.Reset = append([]string{"status"}, r.Reset...)
		s.StatusReset = slices.Concat([]string{"spec"}, r.status.reset(), r.StatusReset)
	}
	if sub := t.Subresource("scale"); sub != nil && s.Scale == nil {
		s.Scale = &resource.Scale{
			Spec:     []string{"spec", "replicas"},
			Status:   []string{"status", "replicas"},
			Selector: selectorText,
			Codec:    resource.BuiltinCodec(sub.Kind),
		}
	}
	if s.PrepareStatus == nil {
		s.PrepareStatus = r.status.prepare
	}
	return &s
}

// prepare is the whole preparation of an object: its status, and what the rule
// itself prepares.
func (r *rule) prepare(t *resource.Type) func(obj, old map[string]any) {
	hasStatus := t.Subresource("status") != nil && !r.ownStatus
	newStatus := emptyStatus(t.Codec)
	return func(obj, old map[string]any) {
		switch {
		case !hasStatus:
		case old != nil:
			object.Keep(obj, old, "status")
		default:
			object.Keep(obj, newStatus(), "status")
		}
		if r.Prepare != nil {
			r.Prepare(obj, old)
		}
	}
}

// emptyStatus returns what makes the status that an empty object of the codec's
// kind has, alone in a map; an empty map if it has none.
func emptyStatus(c resource.Codec) func() map[string]any {
	made := sync.OnceValue(func() map[string]any {
		empty, _, err := c.Normalize(map[string]any{}, false)
		if err != nil {
			panic("kinds: an empty object does not decode: " + err.Error()) // unreachable: every field may be left out
		}
		out := map[string]any{}
		if status := empty["status"]; status != nil {
			out["status"] = status
		}
		return out
	})
	return func() map[string]any { return object.Copy(made()) }
}

// reset are the paths of metadata that a write to the status leaves alone.
func (r statusRule) reset() []string {
	switch r {
	case statusOnly:
		return []string{"metadata"}
	case statusNotLabels:
		return []string{"metadata.labels"}
	case statusNotOwners:
		return []string{"metadata.deletionTimestamp", "metadata.ownerReferences"}
	}
	return nil
}

// prepare keeps of obj, written to the status subresource, what it may write.
func (r statusRule) prepare(obj, old map[string]any) {
	for name := range obj {
		switch name {
		case "kind", "apiVersion", "metadata", "status":
		default:
			object.Keep(obj, old, name)
		}
	}
	for name := range old {
		if _, ok := obj[name]; !ok && name != "status" {
			object.Keep(obj, old, name)
		}
	}
	meta, oldMeta := object.Meta(obj), object.Meta(old)
	switch r {
	case statusOnly:
		for _, name := range []string{"labels", "annotations", "ownerReferences", "finalizers", "deletionGracePeriodSeconds", "deletionTimestamp"} {
			object.Keep(meta, oldMeta, name)
		}
	case statusNotLabels:
		object.Keep(meta, oldMeta, "labels")
	case statusNotOwners:
		object.Keep(meta, oldMeta, "ownerReferences")
	}
}

// selectorText is spec.selector as text: a label selector, or in the oldest
// kinds a map of labels.
func selectorText(obj map[string]any) string {
	spec := object.Map(obj, "spec", "selector")
	_, labels := spec["matchLabels"].(map[string]any)
	_, expressions := spec["matchExpressions"].([]any)
	if !labels && !expressions {
		spec = map[string]any{"matchLabels": spec}
	}
	labelSelector, err := selector.FromMap(spec).Selector()
	if err != nil {
		return ""
	}
	return labelSelector.String()
}

// raised reports whether one of the members differs: of the object, or
// metadata.annotations or metadata.labels.
func (r rule) raised() func(obj, old map[string]any) bool {
	same := validation.Equal
	if r.raises == raiseExact {
		same = object.Equal
	}
	return func(obj, old map[string]any) bool {
		for _, m := range r.generation {
			a, b := obj[m], old[m]
			if m == "annotations" || m == "labels" {
				a, b = object.Value(obj, "metadata", m), object.Value(old, "metadata", m)
			}
			if !same(a, b) {
				return true
			}
		}
		return false
	}
}

// field is a selectable field that is read where its label says.
func field(label string, path ...string) resource.Field {
	return resource.Field{Label: label, Value: func(obj map[string]any) string { return object.Text(obj, path...) }}
}

// orElse is f with a value for what is not there.
func orElse(f resource.Field, absent string) resource.Field {
	value := f.Value
	f.Value = func(obj map[string]any) string {
		if s := value(obj); s != "" {
			return s
		}
		return absent
	}
	return f
}

func notSupported(label string) string { return "field label not supported: " + label }
