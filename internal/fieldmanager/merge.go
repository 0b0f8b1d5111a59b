package fieldmanager

import (
	"errors"
	"fmt"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v4/fieldpath"
	smd "sigs.k8s.io/structured-merge-diff/v4/schema"
	"sigs.k8s.io/structured-merge-diff/v4/typed"
	"sigs.k8s.io/structured-merge-diff/v4/value"
)

// Merge returns live merged with an applied configuration, regardless of
// owners. Mutating admission policies apply configurations this way. It changes
// neither argument.
//
// It fails if the configuration contains atomic lists or objects, such as
// managedFields.
func (t *Type) Merge(live, applied map[string]any) (map[string]any, error) {
	c := t.compiled()
	var w walker
	if w.validate(c.types, applied, false) != nil {
		if _, err := t.asTyped(applied); err != nil {
			return nil, fmt.Errorf("failed to convert patch object to typed object: %w", err)
		}
	}
	if atomics := atomicPaths(c.Schema, c.TypeRef, value.NewValueInterface(applied), nil); len(atomics) > 0 {
		return nil, fmt.Errorf("invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: %s", strings.Join(atomics, ", "))
	}
	managed, _ := managedFields(live)
	live = WithoutManagedFields(live)
	if w.validate(c.types, live, true) != nil {
		if _, err := t.asTyped(live, typed.AllowDuplicates); err != nil {
			return nil, fmt.Errorf("failed to convert original object to typed object: %w", err)
		}
	}
	merged, err := w.merge(c.types, live, applied)
	if err != nil {
		return nil, fmt.Errorf("failed to merge patch: %w", err)
	}
	out, ok := merged.(map[string]any)
	if !ok {
		return nil, errors.New("failed to convert typed object to object: it is none") // unreachable: live is an object
	}
	setManagedFields(out, managed)
	return out, nil
}

// atomicPaths returns the paths of the atomic lists and objects in a value.
func atomicPaths(s *smd.Schema, ref smd.TypeRef, v value.Value, at fieldpath.Path) (paths []string) {
	atom, ok := s.Resolve(ref)
	if !ok {
		return nil
	}
	switch {
	case v.IsMap() && atom.Map != nil:
		if atom.Map.ElementRelationship == smd.Atomic {
			paths = append(paths, at.String())
		}
		v.AsMap().Iterate(func(name string, member value.Value) bool {
			if field, ok := atom.Map.FindField(name); ok {
				paths = append(paths, atomicPaths(s, field.Type, member, append(at, fieldpath.PathElement{FieldName: &name}))...)
			}
			return true
		})
	case v.IsList() && atom.List != nil:
		if atom.List.ElementRelationship == smd.Atomic {
			paths = append(paths, at.String())
		}
		list := v.AsList()
		for i := range list.Length() {
			paths = append(paths, atomicPaths(s, atom.List.ElementType, list.At(i), append(at, fieldpath.PathElement{Index: &i}))...)
		}
	}
	return paths
}
