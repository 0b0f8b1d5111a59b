package fieldmanager

import (
	"errors"
	"maps"
	"time"

	"github.com/kubefake/kubefake/internal/object"
	"sigs.k8s.io/structured-merge-diff/v4/fieldpath"
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

func (o *Options) entry(operation, apiVersion string) *entry {
	e := &entry{manager: o.Manager, operation: operation, apiVersion: apiVersion, subresource: o.Subresource}
	if e.manager == "" {
		e.manager = unknownManager
	}
	return e
}

// The fields that nobody owns.
var (
	strippedFields   = []string{"apiVersion", "kind", "metadata"}
	strippedMetadata = []string{
		"name", "namespace", "creationTimestamp", "selfLink", "uid", "clusterName", "generation", "managedFields", "resourceVersion",
	}
)

// stripped are the fields that nobody owns, as a set.
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

// strip takes the fields that nobody owns from a tree.
func strip(tree map[string]any) {
	meta, _ := tree["f:metadata"].(map[string]any)
	for _, name := range strippedFields {
		delete(tree, "f:"+name)
	}
	if len(meta) == 0 {
		return
	}
	delete(meta, self)
	for _, name := range strippedMetadata {
		delete(meta, "f:"+name)
	}
	if len(meta) > 0 {
		tree["f:metadata"] = meta
	}
}

// Update returns obj with the managedFields it has after a request wrote it in
// place of live by other means than an apply. A nil live is a creation; one that
// has no uid counts as none, too.
//
// The managedFields that obj brings count: those of a write to the object itself
// take the place of the live ones, unless they are absent or cannot be read, and
// an empty list or a list of one empty entry clears them. An object that lives
// without managed fields stays so. If an object does not have the form that the
// schema tells, or the objects cannot be compared, the result has none.
func (t *Type) Update(live, obj map[string]any, o Options) map[string]any {
	m := t.requested(live, obj, o.Subresource != "")
	if live == nil {
		live = t.zero
	} else {
		live = withoutManagedFields(live)
	}
	out := withoutManagedFields(obj)
	switch {
	case !t.shapes(live) || !t.shapes(out):
	case len(m.sets) > 0:
		if t.update(live, out, m, o) == nil {
			setManagedFields(out, m.format())
		}
	case object.String(live, "metadata", "uid") == "":
		setManagedFields(out, t.first(live, out, o))
	}
	return out
}

// shapes reports whether an object has the form that the schema tells. One of a
// built-in kind has: it was decoded to its type.
func (t *Type) shapes(obj map[string]any) bool {
	return t.kind.Zero != nil || t.compiled().shape.has(obj)
}

// first are the managedFields of an object that nobody has written before; nil if
// there are none. Neither obj nor live, which it is compared with, has any.
func (t *Type) first(live, obj map[string]any, o Options) []any {
	w := write{to: t, before: live, after: obj, fields: o.Fields}
	own, err := w.in(t.apiVersion)
	if err != nil {
		return nil
	}
	strip(own.changed)
	if len(own.changed) == 0 {
		return nil
	}
	e := o.entry(opUpdate, t.apiVersion)
	e.time, e.tree = formatTime(o.Now), own.changed
	return []any{e.format()}
}

// update makes m what it is after a request wrote obj in place of live. Neither
// has managedFields. If it fails, m is of no use any more.
func (t *Type) update(live, obj map[string]any, m *managed, o Options) error {
	w := write{to: t, before: live, after: obj, fields: o.Fields}
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
		if err := m.lose(id, v); err != nil {
			return err
		}
	}
	if set := own.sets()[0].Difference(stripped); !set.Empty() {
		id, e := m.entry(o.entry(opUpdate, t.apiVersion))
		if previous, ok := m.sets[id]; ok {
			set = set.Union(previous.Set())
		}
		m.sets[id] = fieldpath.NewVersionedSet(set, fieldpath.APIVersion(t.apiVersion), false)
		e.time = formatTime(o.Now)
	}
	m.limit()
	return nil
}

// A write is an update as the entries of each version see it.
type write struct {
	to            *Type
	before, after map[string]any
	fields        *Filter
	versions      []*version
}

// A version is a write in one version of its objects.
type version struct {
	*Type
	*diff
	lost []*fieldpath.Set // made by sets when it is first called
}

// sets are what the write has changed and what it has removed.
func (v *version) sets() []*fieldpath.Set {
	if v.lost == nil {
		for _, tree := range []map[string]any{v.changed, v.removed} {
			set, err := v.compiled().names.parseFields(tree)
			if err != nil {
				panic("fieldmanager: " + err.Error()) // unreachable: a comparison makes steps that can be read
			}
			v.lost = append(v.lost, set)
		}
	}
	return v.lost
}

// in returns the write in a version.
//
// Errors: those of Kind.Convert; the objects cannot be compared.
func (w *write) in(apiVersion string) (*version, error) {
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
	}
	d, err := t.diff(before, after)
	if err != nil {
		return nil, err
	}
	w.fields.prune(d.changed)
	w.fields.prune(d.removed)
	v := &version{Type: t, diff: d}
	w.versions = append(w.versions, v)
	return v, nil
}

// lose takes from an entry what a write has changed and removed.
func (m *managed) lose(id string, v *version) error {
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

// requested is what managedFields are before an update: those of the live object
// or, where they can be written, those that the request brings.
func (t *Type) requested(live, obj map[string]any, readOnly bool) *managed {
	n := t.compiled().names
	if !readOnly {
		list, present := managedFields(obj)
		if present && clears(list) {
			return newManaged(n, 0)
		}
		if m, err := n.parseManaged(list); err == nil && len(m.sets) > 0 {
			return m
		}
	}
	list, _ := managedFields(live)
	m, err := n.parseManaged(list)
	if err != nil {
		return newManaged(n, 0)
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

// setManagedFields gives obj, whose metadata is its own, managedFields, if there
// are any.
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
