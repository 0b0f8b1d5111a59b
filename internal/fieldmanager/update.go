package fieldmanager

import (
	"context"
	"errors"
	"maps"
	"time"

	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/object"
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
	// KeepOnError keeps the managedFields of the live object if an update cannot compute the
	// new ones, as kube-apiserver v1.37 begins to do.
	KeepOnError bool
	// Context ends the write: Apply fails with its error, and the result of Update
	// has no managedFields. nil does not end.
	Context context.Context
	// Sent returns the body of an update as generic values, nil if there is none. It is called
	// where the texts of quantities and times matter, which objects have in canonical form. nil is a
	// function that returns nil.
	Sent func() any
	// Members, unless nil, is the same for new objects of the type that have the same members
	// beside their metadata: the search for their fields is limited to the metadata. It must be
	// comparable.
	Members any
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

// stripped are the fields that are never owned.
var stripped = func() fieldTree {
	var tree, meta fieldTree
	for _, name := range strippedMetadata {
		meta.add(pathStep{text: "f:" + name}, true, nil)
	}
	for _, name := range strippedFields {
		tree.add(pathStep{text: "f:" + name}, true, nil)
	}
	tree.add(pathStep{text: "f:metadata"}, false, meta)
	return tree.normalize()
}()

// Update sets the managedFields of obj after a write that is not an apply, and returns
// obj. An old that is nothing, or has no uid, means that the write creates the object.
// Only obj and its metadata are changed; if old has the same metadata, obj gets a copy.
//
// A write to the object itself may change managedFields: a readable list in obj
// replaces that of old, and a list of one empty entry clears it, as does an empty
// list unless the object is a custom resource. An object without managed fields
// stays without them. If an object does not match the schema, or the objects cannot
// be compared, the result has no managedFields, or those of old with KeepOnError.
func (t *Type) Update(old object.View, obj map[string]any, o Options) map[string]any {
	live := old.SharedMembers()
	before := t.ownersBefore(live, obj, o.Subresource != "", &pacer{ctx: o.Context})
	if live == nil {
		live = t.zero
	}
	meta := metadata(obj)
	if object.Same(meta, metadata(live)) {
		meta = maps.Clone(meta)
		obj["metadata"] = meta
	}
	delete(meta, "managedFields")
	list, err := t.managedFieldsAfter(live, obj, before, o)
	if err != nil && o.KeepOnError {
		list, _ = managedFields(live)
	}
	setManagedFields(obj, list)
	return obj
}

var errNoMatch = errors.New("the objects do not match the schema")

// managedFieldsAfter returns the managedFields after an update. obj has none. They are not
// compared: obj gets those of live.
func (t *Type) managedFieldsAfter(live, obj map[string]any, before owners, o Options) ([]any, error) {
	isNew := len(before) == 0 && object.Same(live, t.zero)
	if isNew {
		if fields := t.predicted(obj, &o); fields != nil {
			return t.firstEntry(fields, o), nil
		}
	}
	if !t.matchSchema(live, obj) {
		return nil, errNoMatch
	}
	if v, ok := metadata(live)["managedFields"]; ok && metadata(obj) != nil {
		metadata(obj)["managedFields"] = v
	}
	if len(before) > 0 {
		after, err := t.update(live, obj, before, o)
		if err != nil {
			return nil, err
		}
		return after.format(), nil
	}
	if object.String(live, "metadata", "uid") != "" {
		return nil, nil
	}
	fields, err := t.changes(live, obj, o)
	if err != nil {
		return nil, err
	}
	if isNew {
		t.predict(obj, o.Fields, fields)
	}
	return t.firstEntry(fields, o), nil
}

// matchSchema reports whether live and obj, which has no managedFields, match the schema.
// Objects of built-in kinds were decoded into their type, but list elements may lack their keys.
func (t *Type) matchSchema(live, obj map[string]any) bool {
	root := t.compiled().types
	if !t.isCustom() {
		var w walker
		return w.validateKeys(root, live) == nil && w.validateKeys(root, obj) == nil
	}
	return root.matches(WithoutManagedFields(live)) && root.matches(obj)
}

// isCustom reports whether the kind is that of custom resources.
func (t *Type) isCustom() bool { return t.kind.Zero == nil }

// changes returns the fields that obj has and live has not, or with another value.
func (t *Type) changes(live, obj map[string]any, o Options) (*fieldSet, error) {
	w := newWrite(t, live, obj, o)
	defer w.release()
	own, err := w.in(t.apiVersion)
	if err != nil {
		return nil, err
	}
	return of(own.changed.minus(stripped)), nil
}

// firstEntry returns the managedFields of an object that nobody has written before; nil if
// the write owns no field.
func (t *Type) firstEntry(fields *fieldSet, o Options) []any {
	if fields == noFields {
		return nil
	}
	e := o.entry(opUpdate, t.apiVersion)
	e.time, e.fields = clock.Timestamp(o.Now), fields
	return []any{e.format()}
}

// update returns the owners after a write that replaced live by obj. The objects have the
// same managedFields. It changes before.
func (t *Type) update(live, obj map[string]any, before owners, o Options) (owners, error) {
	w := newWrite(t, live, obj, o)
	defer w.release()
	own, err := w.in(t.apiVersion)
	if err != nil {
		return nil, err
	}
	changed := own.changed.minus(stripped)
	writer := o.entry(opUpdate, t.apiVersion)
	after := before[:0]
	for _, e := range before {
		v, err := w.in(e.apiVersion)
		if errors.Is(err, ErrNoVersion) {
			continue
		} else if err != nil {
			return nil, err
		}
		if e.fields, err = e.fields.reconcile(v.compiled()); err != nil {
			return nil, err
		}
		was := e.fields.tree
		fields := was
		// A writer that has the changed fields already would get back what it loses.
		isWriter := e.hasID(writer)
		if !isWriter || !changed.same(v.changed) || !was.union(changed).same(was) {
			fields = fields.minus(v.changed)
		}
		fields = fields.minus(v.removed)
		if isWriter {
			writer = e
			fields = fields.union(changed)
		}
		if !fields.same(was) {
			e.fields = of(fields)
		}
		if len(fields) > 0 {
			after = append(after, e)
		}
		if err := w.pacer.end(); err != nil {
			return nil, err
		}
	}
	if len(changed) > 0 {
		if writer.fields == nil {
			writer.fields = of(changed)
			after = append(after, writer)
		}
		writer.time = clock.Timestamp(o.Now)
	}
	return after.limit(), nil
}

// A write is an update, which can be compared in each version of its objects.
type write struct {
	*comparer
	to            *Type
	before, after map[string]any
	fields        *Filter
	sent          func() any
	versions      []*versionedDiff
}

// newWrite returns a write, whose caller calls release.
func newWrite(t *Type, live, obj map[string]any, o Options) *write {
	return &write{comparer: newComparer(&pacer{ctx: o.Context}), to: t, before: live, after: obj, fields: o.Fields, sent: o.Sent}
}

// A versionedDiff is the diff of a write in one version of its objects. Its trees are
// normalized.
type versionedDiff struct {
	*Type
	*diff
}

// in returns the diff of the write in a version.
//
// It fails if the [ConvertFunc] fails, if a converted object does not match the schema of
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
		if before, t, err = w.to.convert(WithoutManagedFields(before), apiVersion); err != nil {
			return nil, err
		}
		if after, _, err = w.to.convert(WithoutManagedFields(after), apiVersion); err != nil {
			return nil, err
		}
		for _, obj := range []map[string]any{before, after} {
			if err := t.validate(obj, w.pacer); err != nil {
				return nil, err
			}
		}
	}
	d, err := t.diff(before, after, w.comparer)
	if err != nil {
		return nil, err
	}
	if apiVersion == w.to.apiVersion {
		w.addRewritten(t, before, after, d)
	}
	d.normalize(w.fields.at(apiVersion))
	v := &versionedDiff{t, d}
	w.versions = append(w.versions, v)
	return v, nil
}

// ownersBefore returns the owners before an update: those of obj, where the request may
// set them, else those of the live object.
func (t *Type) ownersBefore(live, obj map[string]any, readOnly bool, p *pacer) owners {
	lists := make([][]any, 0, 2)
	if !readOnly {
		list, present := managedFields(obj)
		if present && t.clears(list) {
			return nil
		}
		lists = append(lists, list)
	}
	list, _ := managedFields(live)
	for _, list := range append(lists, list) {
		if len(list) == 0 {
			continue
		}
		if o, err := parseOwners(list, p); err == nil && len(o) > 0 {
			return o
		}
	}
	return nil
}

// clears reports whether list, in a request, clears managedFields. kube-apiserver takes an
// empty list of a custom resource for none.
func (t *Type) clears(list []any) bool {
	if len(list) != 1 {
		return len(list) == 0 && !t.isCustom()
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

// WithoutManagedFields returns obj without its managedFields. The result and its metadata
// are copies that may be changed; they share the rest with obj.
func WithoutManagedFields(obj map[string]any) map[string]any {
	out := object.ShallowCopy(obj)
	if meta := metadata(obj); meta != nil {
		delete(object.Own(out, "metadata"), "managedFields")
	}
	return out
}

// setManagedFields sets the managedFields of obj, or removes them if list is empty. The
// caller must own obj's metadata.
func setManagedFields(obj map[string]any, list []any) {
	meta := metadata(obj)
	if len(list) == 0 {
		delete(meta, "managedFields")
		return
	}
	if meta == nil {
		meta = map[string]any{}
		obj["metadata"] = meta
	}
	meta["managedFields"] = list
}
