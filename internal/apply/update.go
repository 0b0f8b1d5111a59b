package apply

import (
	"maps"
	"time"

	"sigs.k8s.io/structured-merge-diff/v4/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v4/merge"
	"sigs.k8s.io/structured-merge-diff/v4/typed"
)

// Options say who writes and how.
type Options struct {
	// Manager is the name of the field manager; "" is "unknown".
	Manager string
	// Subresource is what is written to, "" for the object itself.
	Subresource string
	// Now is the time of the write.
	Now time.Time
	// Fields are those that the request can change; nil is all.
	Fields *Filter
	// Force lets Apply take what others own. Update does not read it.
	Force bool
}

// unknownManager is the manager of writes that name none.
const unknownManager = "unknown"

func (o *Options) entry(operation, apiVersion string) entry {
	e := entry{manager: o.Manager, operation: operation, apiVersion: apiVersion, subresource: o.Subresource}
	if e.manager == "" {
		e.manager = unknownManager
	}
	return e
}

// current stands for the manager of an update while ownership is worked out, so
// that its earlier entry can lose fields to it like all others.
const current = "current-operation"

// stripped are the fields that nobody owns.
var stripped = fieldpath.NewSet(
	fieldpath.MakePathOrDie("apiVersion"),
	fieldpath.MakePathOrDie("kind"),
	fieldpath.MakePathOrDie("metadata"),
	fieldpath.MakePathOrDie("metadata", "name"),
	fieldpath.MakePathOrDie("metadata", "namespace"),
	fieldpath.MakePathOrDie("metadata", "creationTimestamp"),
	fieldpath.MakePathOrDie("metadata", "selfLink"),
	fieldpath.MakePathOrDie("metadata", "uid"),
	fieldpath.MakePathOrDie("metadata", "clusterName"),
	fieldpath.MakePathOrDie("metadata", "generation"),
	fieldpath.MakePathOrDie("metadata", "managedFields"),
	fieldpath.MakePathOrDie("metadata", "resourceVersion"),
)

// Update returns obj with the managedFields it has after a request wrote it in
// place of live by other means than an apply. A nil live is a creation.
//
// The managedFields that obj brings count: those of a write to the object itself
// take the place of the live ones, unless they are absent or cannot be read, and
// an empty list or a list of one empty entry clears them. An object that lives
// without managed fields stays so. If the objects cannot be compared, the result
// has none.
func (t *Type) Update(live, obj map[string]any, o Options) map[string]any {
	m := requested(live, obj, o.Subresource != "")
	created := live == nil
	if created {
		live = t.zero
	}
	out := withoutManagedFields(obj)
	if len(m.sets) > 0 || created || uid(live) == "" {
		if t.update(withoutManagedFields(live), out, m, o) != nil {
			return out
		}
	}
	setManagedFields(out, m)
	return out
}

// update makes m what it is after a request wrote obj in place of live. Neither
// has managedFields.
func (t *Type) update(live, obj map[string]any, m *managed, o Options) error {
	before, err := t.typed(live, typed.AllowDuplicates)
	if err != nil {
		return err
	}
	after, err := t.typed(obj, typed.AllowDuplicates)
	if err != nil {
		return err
	}
	version := fieldpath.APIVersion(t.apiVersion)
	_, m.sets, err = t.updater(m, o).Update(before, after, version, m.sets, current)
	if err != nil {
		return err
	}
	m.strip(current)
	if vs, changed := m.sets[current]; changed {
		delete(m.sets, current)
		id, e := m.entry(o.entry(opUpdate, t.apiVersion))
		if previous, ok := m.sets[id]; ok {
			vs = fieldpath.NewVersionedSet(vs.Set().Union(previous.Set()), version, false)
		}
		m.sets[id] = vs
		e.time = formatTime(o.Now)
	}
	m.limit()
	return nil
}

// updater is the engine for one request.
func (t *Type) updater(m *managed, o Options) *merge.Updater {
	b := merge.UpdaterBuilder{Converter: converter{t}}
	if o.Fields != nil {
		b.IgnoreFilter = map[fieldpath.APIVersion]fieldpath.Filter{
			fieldpath.APIVersion(t.apiVersion): o.Fields.fields,
		}
		for _, vs := range m.sets {
			b.IgnoreFilter[vs.APIVersion()] = o.Fields.fields
		}
	}
	return b.BuildUpdater()
}

// strip takes from an entry what nobody owns.
func (m *managed) strip(id string) {
	vs, ok := m.sets[id]
	if !ok {
		return
	}
	set := vs.Set().Difference(stripped)
	if set.Empty() {
		delete(m.sets, id)
		return
	}
	m.sets[id] = fieldpath.NewVersionedSet(set, vs.APIVersion(), vs.Applied())
}

// requested is what managedFields are before an update: those of the live object
// or, where they can be written, those that the request brings.
func requested(live, obj map[string]any, readOnly bool) *managed {
	if !readOnly {
		list, present := managedFields(obj)
		if present && clears(list) {
			return newManaged(0)
		}
		if m, err := parseManaged(list); err == nil && len(m.sets) > 0 {
			return m
		}
	}
	list, _ := managedFields(live)
	m, err := parseManaged(list)
	if err != nil {
		return newManaged(0)
	}
	return m
}

// clears reports whether a list that a request brings removes managedFields.
func clears(list []any) bool {
	if len(list) != 1 {
		return len(list) == 0
	}
	e, _ := list[0].(map[string]any)
	for _, v := range e {
		if v != nil && v != "" {
			return false
		}
	}
	return true
}

func metadata(obj map[string]any) map[string]any {
	meta, _ := obj["metadata"].(map[string]any)
	return meta
}

func uid(obj map[string]any) string {
	s, _ := metadata(obj)["uid"].(string)
	return s
}

// managedFields reads the list and tells an empty one from none.
func managedFields(obj map[string]any) (list []any, present bool) {
	list, present = metadata(obj)["managedFields"].([]any)
	return list, present && list != nil
}

// withoutManagedFields returns obj without its managedFields. The result and its
// metadata are copies that may be changed.
func withoutManagedFields(obj map[string]any) map[string]any {
	out := make(map[string]any, len(obj)+1)
	maps.Copy(out, obj)
	if meta := metadata(obj); meta != nil {
		own := make(map[string]any, len(meta)+1)
		maps.Copy(own, meta)
		delete(own, "managedFields")
		out["metadata"] = own
	}
	return out
}

// setManagedFields gives obj, whose metadata is its own, managedFields.
func setManagedFields(obj map[string]any, m *managed) {
	if len(m.sets) == 0 {
		return
	}
	meta := metadata(obj)
	if meta == nil {
		meta = map[string]any{}
		obj["metadata"] = meta
	}
	meta["managedFields"] = m.format()
}
