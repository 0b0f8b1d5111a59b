package fieldmanager

import (
	"errors"
	"maps"
	"slices"

	"sigs.k8s.io/structured-merge-diff/v4/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v4/merge"
	"sigs.k8s.io/structured-merge-diff/v4/typed"
	"sigs.k8s.io/structured-merge-diff/v4/value"
)

// An application is an apply of a configuration. It does what merge.Updater.Apply
// does, except that its time is n log n in the length of lists, and that it ends
// with the request.
type application struct {
	walker
	to            *Type
	live, applied map[string]any
	m             *managed // to change
	id            string   // of the entry of the applied configuration
	o             Options

	versions map[fieldpath.APIVersion]versionedObject // live, by version
}

// A versionedObject is an object in a version of its kind.
type versionedObject struct {
	object map[string]any
	*Type
	err error
}

func newApplication(t *Type, live, applied map[string]any, m *managed, id string, o Options) *application {
	w := walker{t.compiled().names, &pacer{ctx: o.Context}}
	return &application{walker: w, to: t, live: live, applied: applied, m: m, id: id, o: o}
}

// run returns the merged object and changes the managed fields. The object is nil
// if it equals live.
//
// Errors: merge.Conflicts; the error of the context. Any other error means that an
// object does not match the schema; the managed fields are then invalid.
func (a *application) run() (map[string]any, error) {
	root := a.to.compiled().types
	if err := a.validate(root, a.applied, false); err != nil {
		return nil, err
	}
	if err := a.validate(root, a.live, true); err != nil {
		return nil, err
	}
	if err := a.reconcile(); err != nil {
		return nil, err
	}
	merged, err := a.merge(root, a.live, a.applied)
	if err != nil {
		return nil, err
	}
	out, ok := merged.(map[string]any)
	if !ok {
		return nil, errInvalid
	}
	set, err := a.walker.fields(root, a.applied)
	if err != nil {
		return nil, err
	}
	if f := a.o.Fields.at(a.to.apiVersion); f != nil {
		set = f.fields.Filter(set)
	}
	last := a.m.sets[a.id]
	a.m.sets[a.id] = fieldpath.NewVersionedSet(set, fieldpath.APIVersion(a.to.apiVersion), true)
	if last != nil && !a.covers(last) {
		if out, err = a.prune(out, last); err != nil {
			return nil, err
		}
	}
	if err := a.takeOwnership(out); err != nil {
		return nil, err
	}
	if err := a.end(); err != nil {
		return nil, err
	}
	if equal(a.live, out) {
		return nil, nil
	}
	return out, nil
}

// in returns an object in a version. Its error wraps ErrNoVersion if the kind has
// no such version.
func (a *application) in(obj versionedObject, version fieldpath.APIVersion) (versionedObject, error) {
	if obj.object["apiVersion"] == string(version) {
		return obj, nil
	}
	converted, to, err := a.to.convert(obj.object, string(version))
	if err != nil {
		return obj, err
	}
	if err := to.validate(converted, a.pacer); err != nil {
		return obj, err
	}
	return versionedObject{object: converted, Type: to}, nil
}

// liveIn returns the live object in a version.
func (a *application) liveIn(version fieldpath.APIVersion) (versionedObject, error) {
	if v, ok := a.versions[version]; ok {
		return v, v.err
	}
	v, err := a.in(versionedObject{object: a.live, Type: a.to}, version)
	v.err = err
	if a.versions == nil {
		a.versions = map[fieldpath.APIVersion]versionedObject{}
	}
	a.versions[version] = v
	return v, err
}

// reconcile adapts the field sets to the schema. It drops those in versions that the
// kind does not have.
func (a *application) reconcile() error {
	for id, vs := range a.m.sets {
		v, err := a.liveIn(vs.APIVersion())
		if errors.Is(err, ErrNoVersion) {
			delete(a.m.sets, id)
			continue
		} else if err != nil {
			return err
		}
		fields, err := a.m.entries[id].fields.reconcile(v.compiled())
		if err != nil {
			return err
		}
		if set := fields.asSet(v.compiled().names); set != vs.Set() {
			a.m.sets[id] = fieldpath.NewVersionedSet(set, vs.APIVersion(), vs.Applied())
		}
		if err := a.end(); err != nil {
			return err
		}
	}
	return nil
}

// named returns the fields of an object and those that contain them.
func (a *application) named(v versionedObject) (*fieldpath.Set, error) {
	set, err := walker{v.compiled().names, a.pacer}.fields(v.compiled().types, v.object)
	if err != nil {
		return nil, err
	}
	return v.withNamed(set), nil
}

func (v versionedObject) withNamed(set *fieldpath.Set) *fieldpath.Set {
	c := v.compiled()
	return set.EnsureNamedFieldsAreMembers(c.Schema, c.TypeRef)
}

// without returns the object without the fields of set. It fails if the result is
// not an object, or if an element of an associative list loses its key.
func (a *application) without(v versionedObject, set *fieldpath.Set) (versionedObject, error) {
	if err := a.end(); err != nil {
		return v, err
	}
	c := v.compiled()
	left := typed.AsTypedUnvalidated(value.NewValueInterface(v.object), c.Schema, c.TypeRef).RemoveItems(set)
	obj, ok := left.AsValue().Unstructured().(map[string]any)
	if !ok {
		return v, errInvalid
	}
	v.object = obj
	return v, a.validate(c.types, obj, true)
}

// covers reports whether the applied configuration has all fields that the manager applied
// last time: then there is nothing to prune.
func (a *application) covers(last fieldpath.VersionedSet) bool {
	own := a.m.sets[a.id]
	return last.Set().Empty() || last.APIVersion() == own.APIVersion() && last.Set().Difference(own.Set()).Empty()
}

// prune removes from merged the fields that the manager applied last time and not
// this time, and that no other manager owns.
func (a *application) prune(out map[string]any, last fieldpath.VersionedSet) (map[string]any, error) {
	merged, err := a.in(versionedObject{object: out, Type: a.to}, last.APIVersion())
	if errors.Is(err, ErrNoVersion) {
		return out, nil
	} else if err != nil {
		return nil, err
	}
	lost := merged.withNamed(last.Set())
	pruned, err := a.without(merged, lost)
	if err != nil {
		return nil, err
	}
	if pruned, err = a.addOwned(merged, pruned, last.APIVersion()); err != nil {
		return nil, err
	}
	// What was lost with the fields of other versions is added back.
	if pruned, err = a.in(pruned, last.APIVersion()); err != nil {
		return nil, err
	}
	all, err := a.named(merged)
	if err != nil {
		return nil, err
	}
	kept, err := a.named(pruned)
	if err != nil {
		return nil, err
	}
	if pruned, err = a.without(merged, all.Difference(kept).Intersection(lost)); err != nil {
		return nil, err
	}
	pruned, err = a.in(pruned, fieldpath.APIVersion(a.to.apiVersion))
	return pruned.object, err
}

// addOwned adds to pruned the fields of merged that a manager owns, first those
// owned in a version.
func (a *application) addOwned(merged, pruned versionedObject, first fieldpath.APIVersion) (versionedObject, error) {
	owned := map[fieldpath.APIVersion]*fieldpath.Set{}
	for _, vs := range a.m.sets {
		if set, ok := owned[vs.APIVersion()]; ok {
			owned[vs.APIVersion()] = set.Union(vs.Set())
		} else {
			owned[vs.APIVersion()] = vs.Set()
		}
	}
	versions := slices.Sorted(maps.Keys(owned))
	if i := slices.Index(versions, first); i > 0 {
		versions = slices.Insert(slices.Delete(versions, i, i+1), 0, first)
	}
	for _, version := range versions {
		m, err := a.in(merged, version)
		if errors.Is(err, ErrNoVersion) {
			continue
		} else if err != nil {
			return pruned, err
		}
		p, err := a.in(pruned, version)
		if err != nil {
			return pruned, err
		}
		all, err := a.named(m)
		if err != nil {
			return pruned, err
		}
		kept, err := a.named(p)
		if err != nil {
			return pruned, err
		}
		merged = m
		if pruned, err = a.without(m, all.Difference(kept.Union(m.withNamed(owned[version])))); err != nil {
			return pruned, err
		}
	}
	return pruned, nil
}

// diffSets are the fields that a write changed and removed, in one version.
type diffSets struct{ changed, removed *fieldpath.Set }

// takeOwnership removes from other managers the fields that the write changes. It fails with
// merge.Conflicts if there are such fields, unless Options.Force is set.
func (a *application) takeOwnership(out map[string]any) error {
	before := versionedObject{object: a.live, Type: a.to}
	after := versionedObject{object: out, Type: a.to}
	diffs := map[fieldpath.APIVersion]*diffSets{}
	compared := newComparer(a.pacer)
	defer compared.release()
	conflicts, removed := fieldpath.ManagedFields{}, fieldpath.ManagedFields{}
	for id, vs := range a.m.sets {
		if id == a.id {
			continue
		}
		d, ok := diffs[vs.APIVersion()]
		if !ok {
			from, err := a.in(before, vs.APIVersion())
			var to versionedObject
			if err == nil {
				to, err = a.in(after, vs.APIVersion())
			}
			if errors.Is(err, ErrNoVersion) {
				delete(a.m.sets, id)
				continue
			} else if err != nil {
				return err
			}
			names := from.compiled().names
			c, err := from.compare(from.object, to.object, compared)
			if err != nil {
				return err
			}
			c.normalize(a.o.Fields.at(from.apiVersion))
			d = &diffSets{names.set(c.changed), names.set(c.removed)}
			diffs[vs.APIVersion()] = d
		}
		if set := vs.Set().Intersection(d.changed); !set.Empty() {
			conflicts[id] = fieldpath.NewVersionedSet(set, vs.APIVersion(), false)
		}
		if !d.removed.Empty() {
			removed[id] = fieldpath.NewVersionedSet(d.removed, vs.APIVersion(), false)
		}
	}
	if !a.o.Force && len(conflicts) > 0 {
		return merge.ConflictsFromManagers(conflicts)
	}
	for _, lost := range []fieldpath.ManagedFields{conflicts, removed} {
		for id, l := range lost {
			vs := a.m.sets[id]
			a.m.sets[id] = fieldpath.NewVersionedSet(vs.Set().Difference(l.Set()), vs.APIVersion(), vs.Applied())
		}
	}
	maps.DeleteFunc(a.m.sets, func(_ string, vs fieldpath.VersionedSet) bool { return vs.Set().Empty() })
	return nil
}
