package kinds

import (
	"context"
	"maps"
	"slices"

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
	// derived are annotations that show what this version has no fields for.
	derived []string
}

var deviceV1beta1 = resource.GroupVersion{Group: "resource.k8s.io", Version: "v1beta1"}

// conversions are those of the versions that differ, by version and resource.
var conversions = map[served]conversion{
	{resource.GroupVersion{Group: "autoscaling", Version: "v1"}, "horizontalpodautoscalers"}: {
		toStored: autoscalerFromV1, fromStored: autoscalerToV1, derived: autoscalerAnnotations,
	},
	{resource.GroupVersion{Group: "events.k8s.io", Version: "v1"}, "events"}: {
		toStored: eventFromNew, fromStored: eventToNew, validate: validateNewEvent, fields: newEventFields,
	},
	{deviceV1beta1, "resourceclaims"}:         {toStored: claimFromV1beta1, fromStored: claimToV1beta1},
	{deviceV1beta1, "resourceclaimtemplates"}: {toStored: claimFromV1beta1, fromStored: claimToV1beta1},
	{deviceV1beta1, "resourceslices"}:         {toStored: sliceFromV1beta1, fromStored: sliceToV1beta1},
}

// sameShape are the resources that a version has as the version has them that
// they are stored in: conversion renames the version.
var sameShape = map[resource.GroupVersion][]string{
	{Group: "admissionregistration.k8s.io", Version: "v1"}:       {"mutatingadmissionpolicies", "mutatingadmissionpolicybindings"},
	{Group: "admissionregistration.k8s.io", Version: "v1alpha1"}: {"mutatingadmissionpolicies", "mutatingadmissionpolicybindings"},
	{Group: "coordination.k8s.io", Version: "v1alpha2"}:          {"leasecandidates"},
	{Group: "networking.k8s.io", Version: "v1beta1"}:             {"ipaddresses", "servicecidrs"},
	deviceV1beta1: {"deviceclasses"},
	{Group: "resource.k8s.io", Version: "v1beta2"}: {"deviceclasses", "devicetaintrules", "resourceclaims", "resourceclaimtemplates", "resourceslices"},
	{Group: "storage.k8s.io", Version: "v1beta1"}:  {"volumeattributesclasses"},
}

// conversionOf is the conversion between a type and the one it is stored as. It
// does nothing to objects of the same shape.
func conversionOf(t *resource.Type) (c conversion, ok bool) {
	c, ok = conversions[served{t.GroupVersion, t.Name}]
	return c, ok || t.GroupVersion == t.Stored || slices.Contains(sameShape[t.GroupVersion], t.Name)
}

// link makes one resource of the types that convert into each other.
func link(types []*resource.Type) {
	families := map[string][]*resource.Type{}
	for _, t := range types {
		if _, ok := conversionOf(t); ok && t.Strategy != nil {
			families[t.Prefix] = append(families[t.Prefix], t)
		}
	}
	for _, family := range families {
		stored := family[0].Stored
		i := slices.IndexFunc(family, func(t *resource.Type) bool { return t.GroupVersion == stored })
		if len(family) == 1 || i < 0 {
			continue
		}
		for _, t := range family {
			t.Versions, t.Convert = family, convertTo(t, family[i])
		}
		for _, t := range family {
			if c, ok := conversions[served{t.GroupVersion, t.Name}]; ok {
				t.Strategy = c.strategy(t, family[i])
			}
		}
	}
}

// convertTo brings objects of any version to one, by way of the stored one.
func convertTo(t, stored *resource.Type) func(context.Context, []map[string]any) ([]map[string]any, error) {
	return func(_ context.Context, objs []map[string]any) ([]map[string]any, error) {
		for i, obj := range objs {
			from := t.In(object.String(obj, "apiVersion"))
			if from == nil || from == t {
				continue
			}
			if c, _ := conversionOf(from); from != stored && c.toStored != nil {
				obj = c.toStored(obj)
			}
			if c, _ := conversionOf(t); t != stored && c.fromStored != nil {
				obj = c.fromStored(obj)
			}
			obj["apiVersion"] = t.GroupVersion.String()
			normal, _, err := t.Codec.Normalize(obj, false)
			if err != nil {
				return nil, err
			}
			objs[i] = normal
		}
		return objs, nil
	}
}

// strategy treats objects of a type by the rules of the one it is stored as.
func (c conversion) strategy(t, stored *resource.Type) *resource.Strategy {
	s := *t.Strategy
	s.Default = c.complete(t, stored, s.Default)
	s.Prepare, s.PrepareStatus = c.prepare(t, stored, stored.Prepare), c.prepare(t, stored, stored.PrepareStatus)
	s.Validate, s.ValidateStatus = c.judge(stored, stored.Validate), c.judge(stored, stored.ValidateStatus)
	if stored.ValidateIn != nil {
		s.ValidateIn = func(w *resource.Write) validation.List {
			return c.judge(stored, func(obj, old map[string]any) validation.List {
				next := *w
				next.Object, next.Old = obj, old
				return stored.ValidateIn(&next)
			})(w.Object, w.Old)
		}
	}
	if c.validate != nil {
		s.Validate = c.judge(stored, c.validate)
	}
	if c.fields != nil {
		s.Fields = c.fields
	}
	s.Derived = c.derived
	return &s
}

// complete adds to the defaulting in t's version what becomes of an object that is
// converted for the rules and back: kube-apiserver tells from that who owns what.
func (c conversion) complete(t, stored *resource.Type, complete func(obj map[string]any)) func(obj map[string]any) {
	thereAndBack := c.prepare(t, stored, func(_, _ map[string]any) {})
	return func(obj map[string]any) {
		if complete != nil {
			complete(obj)
		}
		thereAndBack(obj, nil)
	}
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
		meta := object.Meta(obj)
		become(meta, object.Meta(back[0]))
		become(obj, back[0])
		obj["metadata"] = meta // callers have it at hand
	}
}

// become gives obj the members of another object, and no others.
func become(obj, other map[string]any) {
	clear(obj)
	maps.Copy(obj, other)
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
