package kind

import (
	"context"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/validation"
)

// A Conversion converts objects between the storage version of a resource and
// another version of the same shape or, with its functions set, of another shape.
// The functions may change and return their argument. They may leave fields that
// the target version does not have: the codecs drop them.
type Conversion struct {
	ToStored func(obj map[string]any) map[string]any
	// FromStored gets the minor number of the release, 0 for the newest one.
	FromStored func(minor int, obj map[string]any) map[string]any

	// Validate, if not nil, replaces the validation of the storage version. It gets
	// objects in the storage version.
	Validate func(obj map[string]any, old object.View) validation.List

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

// Strategy returns the strategy of t, a version that is not stored: objects are converted to the
// storage version, which prepares and validates them. It has no Prepare; see RoundTrip.
func (c Conversion) Strategy(t, stored *resource.Type) *resource.Strategy {
	s := *t.Strategy
	s.RoundTrip = roundTrip(t, stored, s.Default)
	s.Default = func(obj map[string]any) { s.RoundTrip(obj) }
	s.Prepare, s.PrepareIgnoresMetadata = nil, nil
	s.Validate = c.convertedValidate(stored, stored.Validate)
	s.SubresourceStrategies = make(map[string]resource.SubresourceStrategy, len(stored.SubresourceStrategies))
	for name, sub := range stored.SubresourceStrategies {
		sub.Prepare = nil
		sub.Validate = c.convertedValidate(stored, sub.Validate)
		sub.WarningsOnWrite = t.SubresourceStrategies[name].WarningsOnWrite
		s.SubresourceStrategies[name] = sub
	}
	s.ValidateInNamespace = c.convertedWrite(stored, stored.ValidateInNamespace)
	s.ValidateReferences = c.convertedWrite(stored, stored.ValidateReferences)
	if c.Validate != nil {
		s.Validate = c.convertedValidate(stored, c.Validate)
	}
	if c.SelectableFields != nil {
		s.SelectableFields = c.SelectableFields
	}
	s.ConversionAnnotations = c.Annotations
	return &s
}

// roundTrip returns the RoundTrip of t. setDefaults may be nil.
func roundTrip(t, stored *resource.Type, setDefaults func(obj map[string]any)) func(obj map[string]any) map[string]any {
	return func(obj map[string]any) map[string]any {
		if setDefaults != nil {
			setDefaults(obj)
		}
		next, _, err := convertPair(stored, obj, object.View{})
		if err != nil {
			return nil // unreachable: decoded objects convert
		}
		obj["metadata"] = map[string]any{} // another object may have that of obj
		_ = t.SetFrom(obj, next)           // decoded objects convert
		return next
	}
}

// convertedValidate returns a Validate for objects in another version that converts
// them to the storage version and calls validate there.
func (c Conversion) convertedValidate(stored *resource.Type, validate func(obj map[string]any, old object.View) validation.List) func(obj map[string]any, old object.View) validation.List {
	if validate == nil {
		return nil
	}
	return func(obj map[string]any, old object.View) validation.List {
		next, was, err := convertPair(stored, obj, old)
		if err != nil {
			return validation.List{validation.Internal(nil, err)}
		}
		return validate(next, was)
	}
}

// convertedWrite is convertedValidate for a check of writes.
func (c Conversion) convertedWrite(stored *resource.Type, check func(w *resource.Write) validation.List) func(w *resource.Write) validation.List {
	if check == nil {
		return nil
	}
	return func(w *resource.Write) validation.List {
		return c.convertedValidate(stored, func(obj map[string]any, old object.View) validation.List {
			next := *w
			next.Object, next.Old = obj, old
			return check(&next)
		})(w.Object, w.Old)
	}
}

// convertPair returns copies of obj and old in the version of t. old may be nothing.
func convertPair(t *resource.Type, obj map[string]any, old object.View) (next map[string]any, was object.View, err error) {
	objs := []map[string]any{object.Copy(obj)}
	if !old.IsNil() {
		objs = append(objs, old.CopyObject())
	}
	objs, err = t.Convert(context.Background(), objs)
	if err != nil {
		return nil, object.View{}, err
	}
	if !old.IsNil() {
		was = object.ViewOf(objs[1])
	}
	return objs[0], was, nil
}
