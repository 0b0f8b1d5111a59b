package kind

import (
	"context"
	"maps"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/validation"
)

// A Conversion converts objects between the storage version of a resource and
// another version of the same shape or, with its functions set, of another shape.
// The functions may change and return their argument. They may leave fields that
// the target version does not have: the codecs drop them.
type Conversion struct {
	ToStored, FromStored func(obj map[string]any) map[string]any

	// Validate, if not nil, replaces the validation of the storage version. It gets
	// objects in the storage version.
	Validate func(obj, old map[string]any) validation.List

	// SelectableFields, if not nil, replace those of the storage version.
	SelectableFields []resource.Field

	// Annotations are the annotations that hold the fields that this version does not
	// have.
	Annotations []string
}

// A VersionedResource names a resource in one version.
type VersionedResource struct {
	resource.GroupVersion
	Name string
}

// Strategy returns the strategy of t, a version that is not stored: objects are
// converted to the storage version, prepared and validated there, and converted
// back.
func (c Conversion) Strategy(t, stored *resource.Type) *resource.Strategy {
	s := *t.Strategy
	s.Default = c.convertedDefault(t, stored, s.Default)
	s.Prepare, s.PrepareIgnoresMetadata = c.convertedPrepare(t, stored, stored.Prepare), nil
	s.Validate = c.convertedValidate(stored, stored.Validate)
	s.SubresourceStrategies = make(map[string]resource.SubresourceStrategy, len(stored.SubresourceStrategies))
	for name, sub := range stored.SubresourceStrategies {
		sub.Prepare = c.convertedPrepare(t, stored, sub.Prepare)
		sub.Validate = c.convertedValidate(stored, sub.Validate)
		sub.WarningsOnWrite = t.SubresourceStrategies[name].WarningsOnWrite
		s.SubresourceStrategies[name] = sub
	}
	if stored.ValidateInNamespace != nil {
		s.ValidateInNamespace = func(w *resource.Write) validation.List {
			return c.convertedValidate(stored, func(obj, old map[string]any) validation.List {
				next := *w
				next.Object, next.Old = obj, old
				return stored.ValidateInNamespace(&next)
			})(w.Object, w.Old)
		}
	}
	if c.Validate != nil {
		s.Validate = c.convertedValidate(stored, c.Validate)
	}
	if c.SelectableFields != nil {
		s.SelectableFields = c.SelectableFields
	}
	s.ConversionAnnotations = c.Annotations
	return &s
}

// convertedDefault returns the defaulting of t followed by a conversion to the
// storage version and back: kube-apiserver computes managed fields from the result.
func (c Conversion) convertedDefault(t, stored *resource.Type, setDefaults func(obj map[string]any)) func(obj map[string]any) {
	return func(obj map[string]any) {
		if setDefaults != nil {
			setDefaults(obj)
		}
		if back := prepareStored(t, stored, obj, nil, nil); back != nil {
			replaceContents(obj, back)
		}
	}
}

// convertedPrepare returns a Prepare for objects in the version of t that converts
// them to the storage version, calls prepare there, and converts them back. prepare
// may be nil.
func (c Conversion) convertedPrepare(t, stored *resource.Type, prepare func(obj, old map[string]any)) func(obj, old map[string]any) {
	return func(obj, old map[string]any) {
		if back := prepareStored(t, stored, obj, old, prepare); back != nil {
			meta := object.Meta(obj)
			replaceContents(meta, object.Meta(back))
			replaceContents(obj, back)
			obj["metadata"] = meta // callers hold a reference to it
		}
	}
}

// prepareStored returns obj, an object in the version of t, after it was converted to the storage
// version, prepared there, and converted back. It does not change obj. prepare may be nil.
func prepareStored(t, stored *resource.Type, obj, old map[string]any, prepare func(obj, old map[string]any)) map[string]any {
	next, was, err := convertPair(stored, obj, old)
	if err != nil {
		return nil // unreachable: decoded objects convert
	}
	if prepare != nil {
		prepare(next, was)
	}
	back, err := t.Convert(context.Background(), []map[string]any{next})
	if err != nil {
		return nil // unreachable: decoded objects convert
	}
	return back[0]
}

// replaceContents sets the fields of obj to those of other.
func replaceContents(obj, other map[string]any) {
	clear(obj)
	maps.Copy(obj, other)
}

// convertedValidate returns a Validate for objects in another version that converts
// them to the storage version and calls validate there.
func (c Conversion) convertedValidate(stored *resource.Type, validate func(obj, old map[string]any) validation.List) func(obj, old map[string]any) validation.List {
	if validate == nil {
		return nil
	}
	return func(obj, old map[string]any) validation.List {
		next, was, err := convertPair(stored, obj, old)
		if err != nil {
			return validation.List{validation.Internal(nil, err)}
		}
		return validate(next, was)
	}
}

// convertPair returns copies of obj and old in the version of t. old may be nil.
func convertPair(t *resource.Type, obj, old map[string]any) (next, was map[string]any, err error) {
	objs := []map[string]any{object.Copy(obj)}
	if old != nil {
		objs = append(objs, object.Copy(old))
	}
	objs, err = t.Convert(context.Background(), objs)
	if err != nil {
		return nil, nil, err
	}
	if old != nil {
		was = objs[1]
	}
	return objs[0], was, nil
}
