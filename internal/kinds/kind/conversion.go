package kind

import (
	"context"
	"maps"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/validation"
)

// A Conversion brings objects between the version that a resource is stored in
// and another one. Its functions may change what they are given, and leave it
// to the codecs to say which members there are.
type Conversion struct {
	ToStored, FromStored func(obj map[string]any) map[string]any
	// validate, if not nil, adds to the rules of the stored version. It is
	// given objects in that version.
	Validate func(obj, old map[string]any) validation.List
	// fields, if not nil, are what field selectors may name in this version.
	Fields []resource.Field
	// derived are annotations that show what this version has no fields for.
	Derived []string
}

// VersionedResource names a resource in a version.
type VersionedResource struct {
	resource.GroupVersion
	Name string
}

// Strategy treats objects of a type by the rules of the one it is stored as.
func (c Conversion) Strategy(t, stored *resource.Type) *resource.Strategy {
	s := *t.Strategy
	s.Default = c.convertedDefault(t, stored, s.Default)
	s.Prepare, s.PrepareStatus = c.convertedPrepare(t, stored, stored.Prepare), c.convertedPrepare(t, stored, stored.PrepareStatus)
	s.Validate, s.ValidateStatus = c.convertedValidate(stored, stored.Validate), c.convertedValidate(stored, stored.ValidateStatus)
	if stored.ValidateIn != nil {
		s.ValidateIn = func(w *resource.Write) validation.List {
			return c.convertedValidate(stored, func(obj, old map[string]any) validation.List {
				next := *w
				next.Object, next.Old = obj, old
				return stored.ValidateIn(&next)
			})(w.Object, w.Old)
		}
	}
	if c.Validate != nil {
		s.Validate = c.convertedValidate(stored, c.Validate)
	}
	if c.Fields != nil {
		s.Fields = c.Fields
	}
	s.Derived = c.Derived
	return &s
}

// convertedDefault adds to the defaulting in t's version what becomes of an object that is
// converted for the rules and back: kube-apiserver tells from that who owns what.
func (c Conversion) convertedDefault(t, stored *resource.Type, complete func(obj map[string]any)) func(obj map[string]any) {
	thereAndBack := c.convertedPrepare(t, stored, func(_, _ map[string]any) {})
	return func(obj map[string]any) {
		if complete != nil {
			complete(obj)
		}
		thereAndBack(obj, nil)
	}
}

// convertedPrepare makes a rule of preparation in the stored version one of t's.
func (c Conversion) convertedPrepare(t, stored *resource.Type, rule func(obj, old map[string]any)) func(obj, old map[string]any) {
	return func(obj, old map[string]any) {
		next, was, err := convertPair(stored, obj, old)
		if err != nil {
			return // unreachable: what was decoded converts
		}
		rule(next, was)
		back, err := t.Convert(context.Background(), []map[string]any{next})
		if err != nil {
			return // unreachable: what was decoded converts
		}
		meta := object.Meta(obj)
		replaceContents(meta, object.Meta(back[0]))
		replaceContents(obj, back[0])
		obj["metadata"] = meta // callers have it at hand
	}
}

// replaceContents gives obj the members of another object, and no others.
func replaceContents(obj, other map[string]any) {
	clear(obj)
	maps.Copy(obj, other)
}

// convertedValidate makes a rule of validation in the stored version one of another's.
func (c Conversion) convertedValidate(stored *resource.Type, rule func(obj, old map[string]any) validation.List) func(obj, old map[string]any) validation.List {
	if rule == nil {
		return nil
	}
	return func(obj, old map[string]any) validation.List {
		next, was, err := convertPair(stored, obj, old)
		if err != nil {
			return validation.List{validation.Internal(nil, err)}
		}
		return rule(next, was)
	}
}

// convertPair are an object and the old one, which may be nil, in t's version.
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
