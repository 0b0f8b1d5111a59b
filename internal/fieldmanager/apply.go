package fieldmanager

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v4/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v4/merge"
	"sigs.k8s.io/structured-merge-diff/v4/typed"

	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/object"
)

// beforeManager owns the existing fields of an object when it is first applied
// to.
const beforeManager = "before-first-apply"

// Apply merges an applied configuration into old and returns the result with
// its managedFields. Nothing as old creates the object. The configuration must have
// an apiVersion and a kind.
//
// Kind.Finish has completed the result. If the configuration changes only
// ownership, the result equals old except for its managedFields. The caller owns
// the result and its metadata; it shares other values with old and applied. Apply
// consumes applied.
//
// Errors: *RequestError; *ConflictError unless o.Force is set; an error that wraps
// that of o.Context. Any other error means that an object does not match the schema.
func (t *Type) Apply(old object.View, applied map[string]any, o Options) (map[string]any, error) {
	live := old.SharedMembers()
	list, _ := managedFields(live)
	before, err := parseOwners(list, &pacer{ctx: o.Context})
	if err != nil {
		return nil, fmt.Errorf("failed to decode managed fields: %w", err)
	}
	if group, version, kind := groupVersionKind(applied); group != t.kind.Group || version != t.kind.Version || kind != t.kind.Kind {
		return nil, &RequestError{"invalid object type: " + formatKind(group, version, kind)}
	}
	isNew := live == nil
	if isNew {
		live = object.Copy(t.zero) // the result shares values with it, and its caller may change them
	} else {
		live = WithoutManagedFields(live)
	}
	if len(before) == 0 {
		if err := t.kind.ApplyError; err != nil {
			return nil, fmt.Errorf("failed to create manager for existing fields: failed to convert live object (%s) to proper version: %w", describe(t.zero), err)
		}
		if !isNew || object.Checked { // a new object has no fields
			if before, err = t.existing(live, o); err != nil {
				return nil, err
			}
		}
	}
	annotation := ""
	if o.Manager == kubectl && (hasLastApplied(live) || hasLastApplied(applied)) {
		annotation = lastAppliedText(applied)
	}
	out, after, err := t.applyOverLastApplied(live, applied, before, o)
	if err != nil {
		return nil, err
	}
	if annotation != "" && hasLastApplied(out) {
		rewriteLastApplied(out, annotation)
	}
	setManagedFields(out, after.format())
	return out, nil
}

// existing returns the owner of the fields that an object has before its first apply, if it has no
// managedFields.
func (t *Type) existing(live map[string]any, o Options) (owners, error) {
	// An object of a built-in kind may have a list whose elements lack their keys.
	if !t.compiled().types.matches(live) {
		if _, err := t.asTyped(live, typed.AllowDuplicates); err != nil {
			return nil, fmt.Errorf("failed to create manager for existing fields: failed to convert new object (%s) to smd typed: %w", describe(live), err)
		}
	}
	first := Options{Manager: beforeManager, Subresource: o.Subresource, Now: o.Now, Fields: o.Fields, Context: o.Context}
	out, err := t.update(t.zero, live, nil, first)
	if err != nil {
		return nil, fmt.Errorf("failed to create manager for existing fields: %w", err)
	}
	return out, nil
}

func isNoObject(v any) bool {
	_, ok := v.(map[string]any)
	return !ok
}

// apply merges applied into live, which has no managedFields, and returns the
// merged object and its owners. The object is live if nothing changes. Otherwise its untyped data has
// the text of its values, and it may share its metadata with live, and other values with live and
// applied.
// apply does not change before if it fails.
func (t *Type) apply(live, applied map[string]any, before owners, o Options) (map[string]any, owners, error) {
	// A managedFields of another type fails below with a type error.
	if list, present := managedFields(applied); present && !slices.ContainsFunc(list, isNoObject) {
		return nil, nil, &RequestError{"metadata.managedFields must be nil"}
	}
	plain := live
	if t.compiled().untypedData {
		plain = object.WithoutRaw(live)
	}
	a := newApplication(t, plain, applied, before, o)
	out, err := a.run()
	after := a.owners
	var conflicts merge.Conflicts
	if err != nil && !errors.As(err, &conflicts) {
		if ended := a.end(); ended != nil {
			return nil, nil, ended
		}
		if mismatch := t.mismatch(applied, false); mismatch != nil {
			return nil, nil, notTyped("patch", applied, mismatch)
		}
		if mismatch := t.mismatch(live, true); mismatch != nil {
			return nil, nil, notTyped("live", live, mismatch)
		}
		if errors.Is(err, errInvalid) {
			out, after, err = t.applyTyped(live, applied, before, o)
		}
	}
	if err != nil {
		return nil, nil, err
	}
	if out == nil {
		return live, after, nil
	}
	if t.kind.ApplyError != nil {
		return nil, nil, fmt.Errorf("failed to convert new object (%s) to proper version: %w", describe(applied), t.kind.ApplyError)
	}
	if i := after.index(o.entry(opApply, t.apiVersion)); i >= 0 {
		after[i].time = clock.Timestamp(o.Now)
	}
	if t.kind.Finish != nil {
		switch out, err = t.kind.Finish(live, out); {
		case err != nil && t.isCustom(): // kube-apiserver finds it later
			return nil, nil, err
		case err != nil:
			return nil, nil, fmt.Errorf("failed to convert new object (%s) to proper version: %w", describe(applied), err)
		}
		share(out, live)
	}
	if t.kind.ToInternal != nil {
		if err := t.kind.ToInternal(out); err != nil {
			return nil, nil, fmt.Errorf("failed to convert to unversioned (%s): %w", describe(applied), err)
		}
	}
	if meta := metadata(out); object.Same(meta, metadata(applied)) {
		out["metadata"] = maps.Clone(meta)
	}
	delete(metadata(out), "managedFields") // a null of the configuration
	return out, after, nil
}

// notTyped is the error of an object that does not match the schema.
func notTyped(what string, obj map[string]any, err error) error {
	return fmt.Errorf("failed to create typed %s object (%s): %w", what, describe(obj), err)
}

// share replaces each member of obj that equals one of live by it. An applied value may lack
// defaults that live has, so that they are equal only at the end.
func share(obj, live map[string]any) {
	for name, v := range obj {
		if was, ok := live[name]; ok && !object.Identical(v, was) && object.Equal(v, was) {
			obj[name] = was
		}
	}
}

// applyTyped is [application.run] with structured-merge-diff's updater, which also removes fields if an
// element of an associative list loses its keys with them.
func (t *Type) applyTyped(live, applied map[string]any, before owners, o Options) (map[string]any, owners, error) {
	configuration, err := t.asTyped(applied)
	if err != nil {
		return nil, nil, notTyped("patch", applied, err)
	}
	was, err := t.asTyped(live, typed.AllowDuplicates)
	if err != nil {
		return nil, nil, notTyped("live", live, err)
	}
	m := before.managed(t.compiled().names)
	id := m.entry(o.entry(opApply, t.apiVersion))
	var is *typed.TypedValue
	is, m.sets, err = t.updater(m, o).Apply(was, configuration, fieldpath.APIVersion(t.apiVersion), m.sets, id, o.Force)
	if err != nil {
		return nil, nil, err
	}
	m.strip(id)
	if is == nil {
		return nil, m.owners(), nil
	}
	out, ok := is.AsValue().Unstructured().(map[string]any)
	if !ok {
		return nil, nil, fmt.Errorf("failed to convert new typed object (%s) to object: failed to convert value to unstructured for type %T", describe(applied), out)
	}
	return out, m.owners(), nil
}

// updater returns the structured-merge-diff updater for one request.
func (t *Type) updater(m *managed, o Options) *merge.Updater {
	b := merge.UpdaterBuilder{Converter: converter{t}}
	b.IgnoreFilter = map[fieldpath.APIVersion]fieldpath.Filter{}
	ignore := func(version fieldpath.APIVersion) {
		if f := o.Fields.at(string(version)); f != nil {
			b.IgnoreFilter[version] = f.fields
		}
	}
	ignore(fieldpath.APIVersion(t.apiVersion))
	for _, vs := range m.sets {
		ignore(vs.APIVersion())
	}
	return b.BuildUpdater()
}

// strippedSet is stripped in the form of structured-merge-diff.
var strippedSet = names(nil).set(stripped)

// strip removes the fields that are never owned from an entry.
func (m *managed) strip(id string) {
	vs, ok := m.sets[id]
	if !ok {
		return
	}
	set := vs.Set().Difference(strippedSet)
	if set.Empty() {
		delete(m.sets, id)
		return
	}
	m.sets[id] = fieldpath.NewVersionedSet(set, vs.APIVersion(), vs.Applied())
}

// groupVersionKind splits an object's apiVersion and returns its kind.
func groupVersionKind(obj map[string]any) (group, version, kind string) {
	apiVersion, kind := object.String(obj, "apiVersion"), object.String(obj, "kind")
	switch strings.Count(apiVersion, "/") {
	case 0:
		return "", apiVersion, kind
	case 1:
		group, version, _ = strings.Cut(apiVersion, "/")
		return group, version, kind
	}
	return "", "", "" // as kube-apiserver has it of an apiVersion that does not parse
}

func formatKind(group, version, kind string) string {
	return group + "/" + version + ", Kind=" + kind
}

// describe returns the text that identifies an object in an error.
func describe(obj map[string]any) string {
	return object.String(obj, "metadata", "namespace") + "/" + object.String(obj, "metadata", "name") +
		"; " + formatKind(groupVersionKind(obj))
}
