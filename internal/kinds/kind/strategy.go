// Package kind holds what the packages of the API groups share: the Strategy from
// which the resource.Strategy of a built-in resource is built, conversions between
// versions, and helpers for fields.
package kind

import (
	"slices"
	"sync"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/selector"
	"github.com/kubefake/kubefake/internal/table"
	"github.com/kubefake/kubefake/internal/validation"
)

// A Strategy describes a built-in resource. [Strategy.Build] returns its
// resource.Strategy.
type Strategy struct {
	// Strategy is copied by Build, which only adds to it: the status subresource,
	// what follows from it, and the fields below. A nil Name means
	// validation.SubdomainName. Generation, Scale and the "status" entry of
	// SubresourceStrategies must not be set.
	resource.Strategy

	// GenerationFields are the fields of the object, and "annotations" and "labels"
	// of its metadata, whose change increments metadata.generation. None means that
	// the resource has no generation.
	GenerationFields []string
	// GenerationSince is the behavior of releases that have the generation.
	GenerationSince behavior.Behavior
	// GenerationGate, if not "", is the feature gate of the generation.
	GenerationGate string
	// GenerationExact compares GenerationFields with object.Equal, which distinguishes
	// an absent list from an empty one, instead of validation.Equal.
	GenerationExact bool

	// Cells returns the cells of an object in a Table, one for each of the kind's
	// [release.Release.Columns]. If it is nil, the kind has the columns of table.Default.
	Cells func(r table.Row) []any
	// CellsSince is the behavior of releases that have other columns than those of
	// table.Default.
	CellsSince behavior.Behavior
	// NullRows is that of [table.Layout].
	NullRows bool
	// RowConditions, if not nil, returns the conditions of an object's row.
	RowConditions func(obj map[string]any) []table.Condition
	// CompareRows, if not nil, orders the rows of a list.
	CompareRows func(a, b map[string]any) int
	// MarkedRow, if not nil, is [table.Layout.Marked].
	MarkedRow func(objs []object.View) int

	// Status describes the status subresource, where the resource has one.
	Status Status

	// Released, if not nil, changes the strategy that Build returns for a release: the
	// rules that depend on the release or its feature gates.
	Released func(r *release.Release, s *resource.Strategy)

	// Warnings, if not nil, is WarningsOnWrite by the rules of a release.
	Warnings func(r validation.Release, obj map[string]any, old object.View) []string
	// MetadataWarnings, if not nil, is WarningsOnMetadata by the rules of a release.
	MetadataWarnings func(r validation.Release, obj map[string]any) []string

	// ValidatedAsNewUntil is the behavior of releases that do not validate an update as a new
	// object too.
	ValidatedAsNewUntil behavior.Behavior

	// Versioned, if not nil, changes the strategy that Build returns for an API version.
	Versioned func(version string, s *resource.Strategy)
	// FieldLabelErrorFor, if not nil, returns FieldLabelError for a version.
	FieldLabelErrorFor func(t *resource.Type) func(label string) string
}

// Build returns the strategy of t in a release; nil is the newest one. Resources with a status subresource get a
// Prepare that resets status first, unless Status.OwnedByPrepare is set, and the
// field "status" among the ResetFields, in releases with Status.ResetSince. Resources with a scale subresource get
// spec.replicas and status.replicas for it.
func (k *Strategy) Build(r *release.Release, t *resource.Type) *resource.Strategy {
	s := k.Strategy
	gates := r
	if gates == nil {
		gates = newestRelease()
	}
	if k.Released != nil {
		k.Released(gates, &s)
	}
	if k.Warnings != nil {
		s.WarningsOnWrite = func(obj map[string]any, old object.View) []string { return k.Warnings(gates, obj, old) }
	}
	if k.MetadataWarnings != nil {
		s.WarningsOnMetadata = func(obj map[string]any) []string { return k.MetadataWarnings(gates, obj) }
	}
	s.UpdatesValidatedAsNew = !gates.Has(k.ValidatedAsNewUntil)
	if s.Name == nil {
		s.Name = validation.SubdomainName
	}
	if len(k.GenerationFields) > 0 && gates.Has(k.GenerationSince) && (k.GenerationGate == "" || gates.Enabled(k.GenerationGate)) {
		s.Generation = k.generationChanged
	}
	if k.Versioned != nil {
		k.Versioned(t.GroupVersion.Version, &s)
	}
	if k.FieldLabelErrorFor != nil {
		s.FieldLabelError = k.FieldLabelErrorFor(t)
	}
	if s.Prepare == nil && s.PrepareWithAuthor == nil {
		s.PrepareIgnoresMetadata = IgnoresMetadata
	}
	s.Prepare = dropGated(gates, t, s.Prepare)
	if len(s.SubresourceStrategies) > 0 {
		subresources := make(map[string]resource.SubresourceStrategy, len(s.SubresourceStrategies))
		for name, sub := range s.SubresourceStrategies {
			sub.Prepare = dropGated(gates, t, sub.Prepare)
			subresources[name] = sub
		}
		s.SubresourceStrategies = subresources
	}
	if t.Subresource("status") != nil {
		resets := k.Status.ResetGate == "" || gates.Enabled(k.Status.ResetGate)
		if resets && !k.Status.OwnedByPrepare {
			s.Prepare = resetStatus(t.Codec, s.Prepare)
		}
		if resets && gates.Has(k.Status.ResetSince) {
			s.ResetFields = append([]string{"status"}, s.ResetFields...)
		}
		status := k.Status.build(gates)
		status.Prepare = dropGatedStatus(gates, t, status.Prepare)
		subresources := map[string]resource.SubresourceStrategy{"status": status}
		for name, sub := range s.SubresourceStrategies {
			subresources[name] = sub
		}
		s.SubresourceStrategies = subresources
	}
	if sub := t.Subresource("scale"); sub != nil {
		s.Scale = &resource.Scale{
			Spec:     []string{"spec", "replicas"},
			Status:   []string{"status", "replicas"},
			Selector: selectorText,
			Codec:    resource.BuiltinCodecIn(gates.Minor(), sub.Kind),
			Layout:   layout(gates, sub.Kind, table.Row.ScaleCells),
		}
	}
	released(&s, r, t)
	return &s
}

// newestRelease returns the newest release with the default gates.
var newestRelease = sync.OnceValue(func() *release.Release {
	r, err := release.Open(release.Newest)
	if err != nil {
		panic("kind: " + err.Error()) // unreachable: the release is embedded
	}
	return r
})

// released makes the validation of s return the errors of a release, nil for the newest.
func released(s *resource.Strategy, r *release.Release, t *resource.Type) {
	var rules validation.Release
	if r != nil {
		rules = r
	}
	in := func(validate func(obj map[string]any, old object.View) validation.List) func(obj map[string]any, old object.View) validation.List {
		if validate == nil {
			return nil
		}
		list := validation.List.In
		if s.RepeatsErrors {
			list = validation.List.Repeated
		}
		return func(obj map[string]any, old object.View) validation.List {
			return list(validate(obj, old), rules, t.Group, t.Kind)
		}
	}
	s.Validate, s.ValidateMetadata, s.BesideTemplate.Validate = in(s.Validate), in(s.ValidateMetadata), in(s.BesideTemplate.Validate)
	subresources := make(map[string]resource.SubresourceStrategy, len(s.SubresourceStrategies))
	for name, sub := range s.SubresourceStrategies {
		sub.Validate = in(sub.Validate)
		subresources[name] = sub
	}
	s.SubresourceStrategies = subresources
}

// Layout returns how a release, nil for the newest, prints the objects of t in Tables. It
// returns nil for the columns of [table.Default].
func (k *Strategy) Layout(r *release.Release, t *resource.Type) *table.Layout {
	if k.Cells == nil {
		return nil
	}
	if r == nil {
		r = newestRelease()
	}
	if !r.Has(k.CellsSince) {
		return nil
	}
	out := layout(r, resource.Kind{GroupVersion: t.GroupVersion, Kind: t.Kind}, k.Cells)
	out.Stored, out.NullRows, out.Conditions, out.Compare, out.Marked = true, k.NullRows, k.RowConditions, k.CompareRows, k.MarkedRow
	return out
}

func layout(r *release.Release, kind resource.Kind, cells func(table.Row) []any) *table.Layout {
	minor := r.Minor()
	return &table.Layout{
		Columns: func() []table.Column { return r.Columns(kind.Group, kind.Kind) },
		Cells: func(row table.Row) []any {
			row.Minor = minor
			return cells(row)
		},
	}
}

// resetStatus returns a Prepare that sets the status of a new object to the empty
// one and that of an update to the old one. It then calls prepare, which may be nil.
func resetStatus(codec resource.Codec, prepare func(obj map[string]any, old object.View)) func(obj map[string]any, old object.View) {
	newStatus := emptyStatus(codec)
	return func(obj map[string]any, old object.View) {
		if !old.IsNil() {
			object.Keep(obj, old, "status")
		} else {
			object.Keep(obj, object.ViewOf(newStatus()), "status")
		}
		if prepare != nil {
			prepare(obj, old)
		}
	}
}

// emptyStatus returns a function that returns {"status": s}, where s is the status
// of an empty object of the codec's kind, or an empty map if the kind has no status.
func emptyStatus(c resource.Codec) func() map[string]any {
	status := sync.OnceValue(func() map[string]any {
		empty, _, err := c.Normalize(map[string]any{}, false)
		if err != nil {
			panic("kind: an empty object does not decode: " + err.Error()) // unreachable: every field may be absent
		}
		out := map[string]any{}
		if status := empty["status"]; status != nil {
			out["status"] = status
		}
		return out
	})
	return func() map[string]any { return object.Copy(status()) }
}

// selectorText returns spec.selector as text. The field is a label selector or, in a
// ReplicationController, a map of labels.
func selectorText(obj object.View) string {
	spec := obj.At("spec", "selector").SharedMembers()
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

// generationChanged reports whether one of the GenerationFields differs.
func (k *Strategy) generationChanged(obj map[string]any, old object.View) bool {
	equal := validation.Equal
	if k.GenerationExact {
		equal = object.Equal
	}
	return slices.ContainsFunc(k.GenerationFields, func(field string) bool {
		if field == "annotations" || field == "labels" {
			return !equal(object.Value(obj, "metadata", field), old.At("metadata", field).Shared())
		}
		return !equal(obj[field], old.At(field).Shared())
	})
}
