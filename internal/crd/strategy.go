package crd

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/cel"
	"github.com/kubefake/kubefake/internal/jsonpath"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/schema"
	"github.com/kubefake/kubefake/internal/validation"
)

// strategy is how the objects of the version are treated.
func (v *version) strategy() *resource.Strategy {
	s := &resource.Strategy{
		Name:           validation.SubdomainName,
		TypedItems:     true,
		AnyFinalizer:   true,
		Generation:     changedOutsideMetadata,
		Default:        func(obj map[string]any) { v.schema.SetDefaults(obj) },
		Validate:       v.validate,
		ValidateStatus: v.validateStatus,
		Warn: func(obj, old map[string]any) []string {
			return validation.FinalizerWarnings(object.Meta(obj), object.Map(old, "metadata"), metadataPath)
		},
		Fields:       v.fields(),
		UnknownField: func(label string) string { return "field label not supported: " + label },
		Scale:        v.scale(),
		Layout:       v.layout(),
	}
	if v.hasStatus() {
		s.Reset = []string{"status"}
		s.StatusReset = []string{"metadata", "spec"}
		s.Prepare = keepStatus
		s.PrepareStatus = v.takeStatus
	}
	return s
}

var metadataPath = validation.NewPath("metadata")

// changedOutsideMetadata reports whether anything but metadata differs.
func changedOutsideMetadata(obj, old map[string]any) bool {
	if len(obj) != len(old) {
		return true
	}
	for name, v := range obj {
		if was, ok := old[name]; name != "metadata" && (!ok || !object.Equal(v, was)) {
			return true
		}
	}
	return false
}

// keepStatus leaves the status to its subresource.
func keepStatus(obj, old map[string]any) { object.Keep(obj, old, "status") }

// takeStatus takes from obj the status and who owns what, and nothing else. A null
// in the place of no status is none, unless there may be one.
func (v *version) takeStatus(obj, old map[string]any) {
	status, given := obj["status"]
	if s := v.statusSchema(); status == nil && old["status"] == nil && s != nil && !s.Nullable {
		given = false
	}
	meta := object.Meta(obj)
	kept := object.Copy(object.Meta(old))
	object.Keep(kept, meta, "managedFields")
	object.Keep(kept, meta, "resourceVersion")
	for name := range obj {
		delete(obj, name)
	}
	for name, member := range old {
		obj[name] = member
	}
	obj["metadata"] = kept
	delete(obj, "status")
	if given {
		obj["status"] = status
	}
}

// statusSchema is the schema of the status, nil if there is none.
func (v *version) statusSchema() *schema.Schema {
	if v.schema == nil {
		return nil
	}
	return v.schema.Properties["status"]
}

// fields are those that selectors may name.
func (v *version) fields() []resource.Field {
	var out []resource.Field
	for f := range object.Each(v.spec["selectableFields"]) {
		text := object.String(f, "jsonPath")
		path, err := jsonpath.Parse(text)
		if err != nil {
			continue // validation lets none in
		}
		out = append(out, resource.Field{
			Label: strings.TrimPrefix(text, "."),
			Value: func(obj map[string]any) string {
				found, err := path.Find(obj)
				if err != nil || len(found) == 0 || found[0] == nil {
					return ""
				}
				return fmt.Sprint(found[0])
			},
		})
	}
	return out
}

// A dotted is a path to a member as definitions write it: ".spec.replicas".
type dotted string

func (d dotted) names() []string { return strings.Split(strings.TrimPrefix(string(d), "."), ".") }

func (d dotted) path() *validation.Path { return validation.NewPath(string(d)) }

// scale is the scale subresource, nil where there is none.
func (v *version) scale() *resource.Scale {
	spec := object.Map(v.spec, "subresources", "scale")
	if spec == nil {
		return nil
	}
	replicas := dotted(object.String(spec, "specReplicasPath"))
	return &resource.Scale{
		Spec:   replicas.names(),
		Status: dotted(object.String(spec, "statusReplicasPath")).names(),
		Selector: func(obj map[string]any) string {
			path := object.String(spec, "labelSelectorPath")
			if path == "" {
				return ""
			}
			return object.String(obj, dotted(path).names()...)
		},
		Missing: fmt.Sprintf("the spec replicas field %q does not exist", replicas),
		Checked: true,
		Codec:   resource.BuiltinCodec(scaleKind),
	}
}

// validate checks an object by its schema.
func (v *version) validate(obj, old map[string]any) validation.List {
	var errs validation.List
	if v.schema != nil {
		errs = v.schema.Validate(obj, orNil(old), nil)
	}
	errs = append(errs, v.validateScale(obj, "specReplicasPath")...)
	errs = append(errs, v.validateScale(obj, "statusReplicasPath")...)
	errs = append(errs, v.validateScaleSelector(obj)...)
	errs = append(errs, v.schema.ValidateEmbedded(obj, nil)...)
	if old == nil || len(v.schema.ValidateLists(old, nil)) == 0 {
		errs = append(errs, v.schema.ValidateLists(obj, nil)...)
	}
	return append(errs, v.validateRules(errs, obj, old)...)
}

// validateRules checks an object by the rules of its schema, which take it to
// be of the form that the schema says: errs are where it is not.
func (v *version) validateRules(errs validation.List, obj, old map[string]any) validation.List {
	switch {
	case v.rules == nil:
		return nil
	case slices.ContainsFunc(errs, blocksRules):
		return validation.List{validation.Invalid(nil, nil, "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation")}
	}
	errs, _ = v.rules.Validate(nil, obj, orNil(old), cel.Budget)
	return errs
}

// blocksRules reports whether an error keeps rules from being checked.
func blocksRules(e *validation.Error) bool {
	switch e.Reason {
	case validation.ReasonNotSupported, validation.ReasonRequired, validation.ReasonTooLong, validation.ReasonTooMany, validation.ReasonTypeInvalid:
		return true
	}
	return false
}

// validateStatus checks an object whose status was written.
func (v *version) validateStatus(obj, old map[string]any) validation.List {
	var errs validation.List
	if status, ok := obj["status"]; ok && v.statusSchema() != nil {
		errs = v.statusSchema().Validate(status, old["status"], validation.NewPath("status"))
	}
	errs = append(errs, v.validateScale(obj, "statusReplicasPath")...)
	errs = append(errs, v.validateScaleSelector(obj)...)
	if len(v.schema.ValidateLists(old, nil)) == 0 {
		errs = append(errs, v.schema.ValidateLists(obj, nil)...)
	}
	return append(errs, v.validateRules(errs, obj, old)...)
}

// orNil is an object as a value: no object is no value.
func orNil(obj map[string]any) any {
	if obj == nil {
		return nil
	}
	return obj
}

// validateScale checks the number of replicas at a path of the scale
// subresource.
func (v *version) validateScale(obj map[string]any, member string) validation.List {
	spec := object.Map(v.spec, "subresources", "scale")
	if spec == nil {
		return nil
	}
	at := dotted(object.String(spec, member))
	value, err := nested(obj, at.names())
	n, isInt := value.(int64)
	switch {
	case err == "" && value != nil && !isInt:
		err = accessor(at.names(), value, "int64")
	case n < 0:
		err = "should be a non-negative integer"
	case n > math.MaxInt32:
		err = fmt.Sprintf("should be less than or equal to %d", math.MaxInt32)
	}
	if err == "" {
		return nil
	}
	return validation.List{validation.Invalid(at.path(), n, err)}
}

// validateScaleSelector checks the selector of the scale subresource.
func (v *version) validateScaleSelector(obj map[string]any) validation.List {
	path := object.String(v.spec, "subresources", "scale", "labelSelectorPath")
	if path == "" {
		return nil
	}
	at := dotted(path)
	value, err := nested(obj, at.names())
	if _, isText := value.(string); err == "" && value != nil && !isText {
		err = accessor(at.names(), value, "string")
	}
	if err == "" {
		return nil
	}
	return validation.List{validation.Invalid(at.path(), "", err)}
}

// nested is the value at a path, nil if there is none; err tells that something
// on the way is no object.
func nested(obj map[string]any, path []string) (v any, err string) {
	v = obj
	for i, name := range path {
		m, ok := v.(map[string]any)
		if !ok {
			return nil, accessor(path[:i+1], v, "map[string]interface{}")
		}
		if v, ok = m[name]; !ok {
			return nil, ""
		}
	}
	return v, ""
}

func accessor(path []string, v any, want string) string {
	return fmt.Sprintf(".%s accessor error: %v is of the type %T, expected %s", strings.Join(path, "."), v, v, want)
}
