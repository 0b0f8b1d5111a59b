package fieldmanager

import (
	"context"
	"errors"
	"maps"
	"time"

	"github.com/kubefake/kubefake/internal/object"
	"sigs.k8s.io/structured-merge-diff/v4/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v4/typed"
)

// Options describe a write.
type Options struct {
	// Manager is the name of the field manager; "" means "unknown".
	Manager string
	// Subresource is the subresource that is written, "" for the object itself.
	Subresource string
	// Now is the time of the write.
	Now time.Time
	// Fields selects the fields that the request can change; nil selects all.
	Fields *Filter
	// Force makes Apply take fields from other managers. Update ignores it.
	Force bool
	// Context ends the write: Apply fails with its error, and the result of Update
	// has no managedFields. nil does not end.
	Context context.Context
}

// unknownManager is the manager of writes that do not name one.
const unknownManager = "unknown"

func (o *Options) entry(operation, apiVersion string) *entry {
	e := &entry{manager: o.Manager, operation: operation, apiVersion: apiVersion, subresource: o.Subresource}
	if e.manager == "" {
		e.manager = unknownManager
	}
	return e
}

// The fields that are never owned.
var (
	strippedFields   = []string{"apiVersion", "kind", "metadata"}
	strippedMetadata = []string{
		"name", "namespace", "creationTimestamp", "selfLink", "uid", "clusterName", "generation", "managedFields", "resourceVersion",
	}
)

// stripped is the set of the fields that are never owned.
var stripped = func() *fieldpath.Set {
	set := fieldpath.NewSet()
	for _, name := range strippedFields {
		set.Insert(fieldpath.MakePathOrDie(name))
	}
	for _, name := range strippedMetadata {
		set.Insert(fieldpath.MakePathOrDie("metadata", name))
	}
	return set
}()

// strip removes the fields that are never owned from a tree.
func strip(tree *fieldTree) {
	var meta fieldTree
	if i := tree.index("f:metadata"); i >= 0 {
		meta = (*tree)[i].below
	}
	for _, name := range strippedFields {
		tree.remove("f:" + name)
	}
	for _, name := range strippedMetadata {
		meta.remove("f:" + name)
	}
	tree.add("f:metadata", false, meta)
}

// Update returns obj with its managedFields after a write that is not an apply.
// A nil live, or one without a uid, means that the write creates the object.
//
// A write to the object itself may change managedFields: a readable list in obj
// replaces that of live, and an empty list or a list of one empty entry clears
// it. An object without managed fields stays without them. If an object does
// not match the schema, or the objects cannot be compared, the result has no
// managedFields.
func (t *Type) Update(live, obj map[string]any, o Options) map[string]any {
	m := t.managedBefore(live, obj, o.Subresource != "", &pacer{ctx: o.Context})
	if live == nil {
		live = t.zero
	} else {
		live = withoutManagedFields(live)
	}
	out := withoutManagedFields(obj)
	switch {
	case !t.matchesSchema(live) || !t.matchesSchema(out):
	case m != nil:
		if t.update(live, out, m, o) == nil {
			setManagedFields(out, m.format())
		}
	case object.String(live, "metadata", "uid") == "":
		setManagedFields(out, t.firstEntry(live, out, o))
	}
	return out
}

// matchesSchema reports whether an object matches the schema. Objects of
// built-in kinds do: they were decoded into their type.
func (t *Type) matchesSchema(obj map[string]any) bool {
	return t.kind.Zero != nil || t.compiled().types.matches(obj)
}

// firstEntry returns the managedFields of an object that nobody has written
// before; nil if the write owns no field. Neither obj nor live, with which obj
// is compared, has managedFields.
func (t *Type) firstEntry(live, obj map[string]any, o Options) []any {
	w := write{to: t, before: live, after: obj, fields: o.Fields, pacer: pacer{ctx: o.Context}}
	own, err := w.in(t.apiVersion)
	if err != nil {
		return nil
	}
	strip(&own.changed)
	if len(own.changed) == 0 {
		return nil
	}
	e := o.entry(opUpdate, t.apiVersion)
	e.time, e.text = formatTime(o.Now), own.changed.encode()
	return []any{e.format()}
}

// update changes m to the managed fields after a write that replaced live by
// obj. Neither object has managedFields. If update fails, m is invalid.
func (t *Type) update(live, obj map[string]any, m *managed, o Options) error {
	w := write{to: t, before: live, after: obj, fields: o.Fields, pacer: pacer{ctx: o.Context}}
	own, err := w.in(t.apiVersion)
	if err != nil {
		return err
	}
	for id, vs := range m.sets {
		v, err := w.in(string(vs.APIVersion()))
		if errors.Is(err, ErrNoVersion) {
			delete(m.sets, id)
			continue
		} else if err != nil {
			return err
		}
		if err := m.removeOwned(id, v); err != nil {
			return err
		}
		if err := w.pacer.end(); err != nil {
			return err
		}
	}
	if set := own.sets()[0].Difference(stripped); !set.Empty() {
		id, e := m.entry(o.entry(opUpdate, t.apiVersion))
		if previous, ok := m.sets[id]; !ok {
			m.sets[id] = fieldpath.NewVersionedSet(set, fieldpath.APIVersion(t.apiVersion), false)
		} else if !set.Difference(previous.Set()).Empty() {
			m.sets[id] = fieldpath.NewVersionedSet(set.Union(previous.Set()), fieldpath.APIVersion(t.apiVersion), false)
		}
		e.time = formatTime(o.Now)
	}
	m.limit()
	return nil
}

// A write is an update, which can be compared in each version of its objects.
type write struct {
	to            *Type
	before, after map[string]any
	fields        *Filter
	pacer         pacer
	versions      []*versionedDiff
}

// A versionedDiff is the diff of a write in one version of its objects.
type versionedDiff struct {
	*Type
	*diff
	lost []*fieldpath.Set // set by the first call of sets
}

// sets returns the changed and the removed field set.
func (v *versionedDiff) sets() []*fieldpath.Set {
	if v.lost == nil {
		for _, tree := range []fieldTree{v.changed, v.removed} {
			set, err := v.compiled().names.set(tree)
			if err != nil {
				panic("fieldmanager: " + err.Error()) // unreachable: diff makes steps that parse
			}
			v.lost = append(v.lost, set)
		}
	}
	return v.lost
}

// in returns the diff of the write in a version.
//
// It fails if Kind.Convert fails, if a converted object does not match the schema of
// the version, or if the objects cannot be compared.
func (w *write) in(apiVersion string) (*versionedDiff, error) {
	for _, v := range w.versions {
		if v.apiVersion == apiVersion {
			return v, nil
		}
	}
	t, before, after := w.to, w.before, w.after
	if apiVersion != t.apiVersion {
		var err error
		if before, t, err = w.to.convert(before, apiVersion); err != nil {
			return nil, err
		}
		if after, _, err = w.to.convert(after, apiVersion); err != nil {
			return nil, err
		}
		for _, obj := range []map[string]any{before, after} {
			if err := t.validate(obj, &w.pacer); err != nil {
				return nil, err
			}
		}
	}
	d, err := t.diff(before, after, &w.pacer)
	if err != nil {
		return nil, err
	}
	f := w.fields.at(apiVersion)
	f.prune(&d.changed)
	f.prune(&d.removed)
	v := &versionedDiff{Type: t, diff: d}
	w.versions = append(w.versions, v)
	return v, nil
}

// removeOwned removes the fields that a write changed or removed from an entry.
func (m *managed) removeOwned(id string, v *versionedDiff) error {
	vs := m.sets[id]
	set := vs.Set()
	if now, err := typed.ReconcileFieldSetWithSchema(set, v.compiled().null); err != nil {
		return err
	} else if now != nil {
		set = now
	}
	for _, lost := range v.sets() {
		if !set.Intersection(lost).Empty() {
			set = set.Difference(lost)
		}
	}
	if set.Empty() {
		delete(m.sets, id)
	} else if set != vs.Set() {
		m.sets[id] = fieldpath.NewVersionedSet(set, vs.APIVersion(), vs.Applied())
	}
	return nil
}

// managedBefore returns the managed fields before an update: those of obj,
// where the request may set them, else those of the live object. It returns nil if
// there are none.
func (t *Type) managedBefore(live, obj map[string]any, readOnly bool, p *pacer) *managed {
	lists := make([][]any, 0, 2)
	if !readOnly {
		list, present := managedFields(obj)
		if present && clears(list) {
			return nil
		}
		lists = append(lists, list)
	}
	list, _ := managedFields(live)
	for _, list := range append(lists, list) {
		if len(list) == 0 {
			continue
		}
		if m, err := t.compiled().names.parseManaged(list, p); err == nil && len(m.sets) > 0 {
			return m
		}
	}
	return nil
}

// clears reports whether list, in a request, clears managedFields.
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

// managedFields returns the list of an object. present is false if it has none;
// an empty list is present.
func managedFields(obj map[string]any) (list []any, present bool) {
	list, present = metadata(obj)["managedFields"].([]any)
	return list, present && list != nil
}

// withoutManagedFields returns obj without its managedFields. The result and
// its metadata are copies that may be changed.
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

// setManagedFields sets the managedFields of obj unless list is empty. The
// caller must own obj's metadata.
func setManagedFields(obj map[string]any, list []any) {
	if len(list) == 0 {
		return
	}
	meta := metadata(obj)
	if meta == nil {
		meta = map[string]any{}
		obj["metadata"] = meta
	}
	meta["managedFields"] = list
}
