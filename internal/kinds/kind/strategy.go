package kind

import (
	"sync"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/selector"
	"github.com/kubefake/kubefake/internal/validation"
)

// A Strategy is a resource's row in the table of strategies.
type Strategy struct {
	resource.Strategy
	// generation are the members that raise metadata.generation, and raises how
	// it does.
	GenerationFields []string
	GenerationRule   GenerationRule
	// status is how a write to the status subresource treats metadata.
	StatusMetadata StatusMetadata
	// ownStatus leaves it to Prepare what becomes of the status that a write of
	// the object brings. Else a new object has an empty one, and an update
	// leaves it alone.
	OwnStatus bool
	// unknownField, if not nil, makes UnknownField for a version.
	UnknownFieldFor func(t *resource.Type) func(label string) string
	// anyFinalizer takes unqualified finalizers.
	UnqualifiedFinalizers bool
}

// A GenerationRule is when the difference of a member raises metadata.generation.
type GenerationRule int

const (
	GenerationSemantic      GenerationRule = iota // none and an empty list are the same
	GenerationExact                               // they are not
	GenerationBeforePrepare                       // as raiseMeant, of what the request brings before it is prepared
)

// PrepareObject is the whole preparation of an object: its status, and what the rule
// itself prepares.
func (r *Strategy) PrepareObject(t *resource.Type) func(obj, old map[string]any) {
	hasStatus := t.Subresource("status") != nil && !r.OwnStatus
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

// SelectorText is spec.selector as text: a label selector, or in the oldest
// kinds a map of labels.
func SelectorText(obj map[string]any) string {
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

// GenerationChanged reports whether one of the members differs: of the object, or
// metadata.annotations or metadata.labels.
func (r Strategy) GenerationChanged() func(obj, old map[string]any) bool {
	same := validation.Equal
	if r.GenerationRule == GenerationExact {
		same = object.Equal
	}
	return func(obj, old map[string]any) bool {
		for _, m := range r.GenerationFields {
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
