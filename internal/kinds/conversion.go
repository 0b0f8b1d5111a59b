package kinds

import (
	"context"
	"maps"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/validation"
)

// A conversion brings objects between the version that a resource is stored in
// and another one. Its functions may change what they are given, and leave it
// to the codecs to say which members there are.
type conversion struct {
	toStored, fromStored func(obj map[string]any) map[string]any
	// validate, if not nil, adds to the rules of the stored version. It is
	// given objects in that version.
	validate func(obj, old map[string]any) validation.List
	// fields, if not nil, are what field selectors may name in this version.
	fields []resource.Field
}

// conversions are those of the versions that differ, by version and resource.
var conversions = map[served]conversion{
	{resource.GroupVersion{Group: "autoscaling", Version: "v1"}, "horizontalpodautoscalers"}: {
		toStored: autoscalerFromV1, fromStored: autoscalerToV1,
	},
	{resource.GroupVersion{Group: "events.k8s.io", Version: "v1"}, "events"}: {
		toStored: eventFromNew, fromStored: eventToNew, validate: validateNewEvent, fields: newEventFields,
	},
}

// link makes one resource of the types that convert into each other.
func link(types []*resource.Type) {
	for _, t := range types {
		c, ok := conversions[served{t.GroupVersion, t.Name}]
		if !ok || t.Stored == t.GroupVersion {
			continue
		}
		for _, stored := range types {
			if stored.Prefix == t.Prefix && stored.GroupVersion == t.Stored {
				c.link(t, stored)
			}
		}
	}
}

// link serves a type by converting to and from the one it is stored as, whose
// rules are its own.
func (c conversion) link(t, stored *resource.Type) {
	t.Versions = []*resource.Type{t, stored}
	stored.Versions = t.Versions
	t.Convert = converter(t, stored.GroupVersion, c.fromStored)
	stored.Convert = converter(stored, t.GroupVersion, c.toStored)
	s := *t.Strategy
	s.Prepare, s.PrepareStatus = c.prepare(t, stored, stored.Prepare), c.prepare(t, stored, stored.PrepareStatus)
	s.Validate, s.ValidateStatus = c.judge(stored, stored.Validate), c.judge(stored, stored.ValidateStatus)
	if c.validate != nil {
		s.Validate = c.judge(stored, c.validate)
	}
	if c.fields != nil {
		s.Fields = c.fields
	}
	t.Strategy = &s
}

// prepare makes a rule of preparation in the stored version one of t's.
func (c conversion) prepare(t, stored *resource.Type, rule func(obj, old map[string]any)) func(obj, old map[string]any) {
	return func(obj, old map[string]any) {
		next, was, err := in(stored, obj, old)
		if err != nil {
			return // unreachable: what was decoded converts
		}
		rule(next, was)
		back, err := t.Convert(context.Background(), []map[string]any{next})
		if err != nil {
			return // unreachable: what was decoded converts
		}
		clear(obj)
		maps.Copy(obj, back[0])
	}
}

// judge makes a rule of validation in the stored version one of another's.
func (c conversion) judge(stored *resource.Type, rule func(obj, old map[string]any) validation.List) func(obj, old map[string]any) validation.List {
	if rule == nil {
		return nil
	}
	return func(obj, old map[string]any) validation.List {
		next, was, err := in(stored, obj, old)
		if err != nil {
			return validation.List{validation.Internal(nil, err)}
		}
		return rule(next, was)
	}
}

// in are an object and the old one, which may be nil, in t's version.
func in(t *resource.Type, obj, old map[string]any) (next, was map[string]any, err error) {
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

// converter brings objects to a type from the one other version.
func converter(to *resource.Type, from resource.GroupVersion, convert func(map[string]any) map[string]any) func(context.Context, []map[string]any) ([]map[string]any, error) {
	return func(_ context.Context, objs []map[string]any) ([]map[string]any, error) {
		for i, obj := range objs {
			if obj["apiVersion"] != from.String() {
				continue
			}
			obj = convert(obj)
			obj["apiVersion"] = to.GroupVersion.String()
			normal, _, err := to.Codec.Normalize(obj, false)
			if err != nil {
				return nil, err
			}
			objs[i] = normal
		}
		return objs, nil
	}
}
