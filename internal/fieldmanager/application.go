package fieldmanager

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"sigs.k8s.io/structured-merge-diff/v4/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v4/merge"
)

// An application is an apply of a configuration. It does what merge.Updater.Apply
// does, except that its time is n log n in the length of lists, and that it ends
// with the request.
type application struct {
	walker
	to            *Type
	live, applied map[string]any
	owners        owners // after the apply
	own           *entry // of the applied configuration
	o             Options

	versions map[string]versionedObject // live, by version
	trees    *comparer
}

// A versionedObject is an object in a version of its kind.
type versionedObject struct {
	object map[string]any
	*Type
	err error
}

// newApplication returns an application to an object with the owners before.
func newApplication(t *Type, live, applied map[string]any, before owners, o Options) *application {
	a := &application{walker: walker{pacer: &pacer{ctx: o.Context}}, to: t, live: live, applied: applied, owners: before.clone(), o: o}
	a.own = o.entry(opApply, t.apiVersion)
	if i := a.owners.index(a.own); i >= 0 {
		a.own = a.owners[i]
	}
	return a
}

// run returns the merged object and changes the owners. The object is nil if it equals
// live.
//
// Errors: merge.Conflicts; the error of the context; that of a conversion to another version, in the words of
// structured-merge-diff; errInvalid if an object does not match the schema, or loses the keys of an element.
// Unless there are conflicts, the owners are then invalid.
func (a *application) run() (map[string]any, error) {
	root := a.to.compiled().types
	if err := a.validateLive(root); err != nil {
		return nil, err
	}
	if err := a.reconcile(); err != nil {
		return nil, err
	}
	a.trees = newComparer(a.pacer)
	defer a.trees.release()
	last, err := a.ownApplied()
	if err != nil {
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
	same := !a.changed
	if last != nil && !a.covers(last) {
		if out, err = a.prune(out, last); err != nil {
			return nil, fmt.Errorf("failed to prune fields: %w", err)
		}
		same = equal(a.live, out)
	}
	if err := a.takeOwnership(out); err != nil {
		return nil, err
	}
	if err := a.end(); err != nil {
		return nil, err
	}
	if same {
		return nil, nil
	}
	return out, nil
}

// validateLive returns errInvalid unless the live object matches the schema.
func (a *application) validateLive(root *resolvedType) error {
	if a.to.isCustom() {
		return a.validate(root, a.live, true)
	}
	return a.validateKeys(root, a.live)
}

// ownApplied sets the fields of the manager to those of the applied configuration. It
// returns the manager's entry as it was before, nil if there was none. It fails if the
// configuration does not match the schema.
func (a *application) ownApplied() (last *entry, err error) {
	fields, err := a.appliedFields()
	if err != nil {
		return nil, err
	}
	fields = fields.subtract(stripped)
	before := *a.own
	a.own.apiVersion = a.to.apiVersion
	if !slices.Contains(a.owners, a.own) {
		a.owners = append(a.owners, a.own)
		a.own.fields = of(fields)
		return nil, nil
	}
	if !fields.equal(before.fields.tree) {
		a.own.fields = of(fields)
	}
	return &before, nil
}

// appliedFields returns the fields of the applied configuration, with those that are never
// owned.
func (a *application) appliedFields() (fieldTree, error) {
	fields, err := a.trees.fields(a.to.compiled().types, a.applied, false)
	a.o.Fields.at(a.to.apiVersion).prune(&fields)
	return fields, err
}

// in returns an object in a version. Its error wraps ErrNoVersion if the kind has
// no such version, and says how the converted object does not match its schema.
func (a *application) in(obj versionedObject, version string) (versionedObject, error) {
	if obj.object["apiVersion"] == version {
		return obj, nil
	}
	converted, to, err := a.to.convert(obj.object, version)
	if err != nil {
		return obj, err
	}
	if err := to.validate(converted, a.pacer); err != nil {
		if mismatch := to.mismatch(converted, false); mismatch != nil {
			err = mismatch
		}
		return obj, err
	}
	return versionedObject{object: converted, Type: to}, nil
}

// liveIn returns the live object in a version.
func (a *application) liveIn(version string) (versionedObject, error) {
	live := versionedObject{object: a.live, Type: a.to}
	if a.live["apiVersion"] == version {
		return live, nil
	}
	if v, ok := a.versions[version]; ok {
		return v, v.err
	}
	v, err := a.in(live, version)
	v.err = err
	if a.versions == nil {
		a.versions = map[string]versionedObject{}
	}
	a.versions[version] = v
	return v, err
}

// reconcile adapts the field sets to the schema. It drops those in versions that the
// kind does not have.
func (a *application) reconcile() error {
	kept := a.owners[:0]
	for _, e := range a.owners {
		v, err := a.liveIn(e.apiVersion)
		if errors.Is(err, ErrNoVersion) {
			continue
		} else if err != nil {
			return err
		}
		if e.fields, err = e.fields.reconcile(v.compiled()); err != nil {
			return err
		}
		kept = append(kept, e)
		if err := a.end(); err != nil {
			return err
		}
	}
	a.owners = kept
	return nil
}

// named returns the fields of an object and those that contain them.
func (a *application) named(v versionedObject) (*fieldpath.Set, error) {
	c := v.compiled()
	tree, err := a.trees.fields(c.types, v.object, true)
	if err != nil {
		return nil, err
	}
	return v.withNamed(c.names.set(tree)), nil
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
	obj, ok := c.names.remove(c.types, v.object, set).(map[string]any)
	if !ok {
		return v, errInvalid
	}
	v.object = obj
	return v, a.validate(c.types, obj, true)
}

// covers reports whether the manager owns all fields that it applied last time: then there is
// nothing to prune.
func (a *application) covers(last *entry) bool {
	if last.fields == noFields {
		return true
	}
	return last.apiVersion == a.own.apiVersion && (last.fields == a.own.fields || len(last.fields.tree.minus(a.own.fields.tree)) == 0)
}

// prune removes from merged the fields that the manager applied last time and not
// this time, and that no other manager owns.
func (a *application) prune(out map[string]any, last *entry) (map[string]any, error) {
	merged, err := a.in(versionedObject{object: out, Type: a.to}, last.apiVersion)
	if errors.Is(err, ErrNoVersion) {
		return out, nil
	} else if err != nil {
		return nil, fmt.Errorf("failed to convert merged object to last applied version: %w", err)
	}
	applied, err := a.appliedFields()
	if err != nil {
		return nil, err
	}
	lost := merged.withNamed(last.fields.asSet(a.to.compiled().names))
	pruned, err := a.without(merged, lost)
	if err != nil {
		return nil, err
	}
	if pruned, err = a.addOwned(merged, pruned, applied, last.apiVersion); err != nil {
		return nil, fmt.Errorf("failed add back owned items: %w", err)
	}
	// What was lost with the fields of other versions is added back.
	if pruned, err = a.in(pruned, last.apiVersion); err != nil {
		return nil, fmt.Errorf("failed add back dangling items: failed to convert pruned object to last applied version: %w", err)
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
	pruned, err = a.in(pruned, a.to.apiVersion)
	return pruned.object, err
}

// addOwned adds to pruned the fields of merged that a manager owns, first those
// owned in a version. The manager of the apply owns the applied fields.
func (a *application) addOwned(merged, pruned versionedObject, applied fieldTree, first string) (versionedObject, error) {
	names := a.to.compiled().names
	owned := map[string]*fieldpath.Set{} // by version
	for _, e := range a.owners {
		set := e.fields.asSet(names)
		if e == a.own {
			set = names.set(applied)
		}
		if others, ok := owned[e.apiVersion]; ok {
			set = others.Union(set)
		}
		owned[e.apiVersion] = set
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
			return pruned, fmt.Errorf("failed to convert merged object at version %s: %w", version, err)
		}
		p, err := a.in(pruned, version)
		if err != nil {
			return pruned, fmt.Errorf("failed to convert pruned object at version %s: %w", version, err)
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

// takeOwnership removes from other managers the fields that the write changes. It fails with
// merge.Conflicts if there are such fields, unless Options.Force is set.
func (a *application) takeOwnership(out map[string]any) error {
	diffs := map[string]*diff{} // by version
	conflicts := fieldpath.ManagedFields{}
	kept := a.owners[:0]
	for _, e := range a.owners {
		if e == a.own {
			if e.fields != noFields {
				kept = append(kept, e)
			}
			continue
		}
		d, ok := diffs[e.apiVersion]
		if !ok {
			var err error
			if d, err = a.diffIn(e.apiVersion, out); errors.Is(err, ErrNoVersion) {
				continue
			} else if err != nil {
				return err
			}
			diffs[e.apiVersion] = d
		}
		was := e.fields.tree
		fields := was.minus(d.changed)
		if !fields.same(was) && !a.o.Force {
			lost := a.to.compiled().names.set(was.minus(fields))
			conflicts[e.id()] = fieldpath.NewVersionedSet(lost, fieldpath.APIVersion(e.apiVersion), false)
		}
		if fields = fields.minus(d.removed); !fields.same(was) {
			e.fields = of(fields)
		}
		if len(fields) > 0 {
			kept = append(kept, e)
		}
	}
	a.owners = kept
	if len(conflicts) > 0 {
		return merge.ConflictsFromManagers(conflicts)
	}
	return nil
}

// diffIn compares live and out in a version. Its error wraps ErrNoVersion if the kind has
// no such version.
func (a *application) diffIn(version string, out map[string]any) (*diff, error) {
	from, err := a.in(versionedObject{object: a.live, Type: a.to}, version)
	if err != nil {
		return nil, fmt.Errorf("failed to convert old object: %w", err)
	}
	to, err := a.in(versionedObject{object: out, Type: a.to}, version)
	if err != nil {
		return nil, fmt.Errorf("failed to convert new object: %w", err)
	}
	d, err := from.compare(from.object, to.object, a.trees)
	if err != nil {
		return nil, err
	}
	d.normalize(a.o.Fields.at(version))
	return d, nil
}
