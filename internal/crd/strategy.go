package crd

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/cel"
	"github.com/kubefake/kubefake/internal/jsonpath"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/schema"
	"github.com/kubefake/kubefake/internal/validation"
	"github.com/kubefake/kubefake/internal/wire"
)

// strategy returns the strategy of the custom resources of the version.
func (v *version) strategy() *resource.Strategy {
	s := &resource.Strategy{
		Name:                       validation.SubdomainName,
		TypeMetaInItems:            true,
		ValidatesType:              true,
		AllowUnqualifiedFinalizers: true,
		RepeatsErrors:              true,
		Generation:                 changedOutsideMetadata,
		Default:                    v.setDefaults,
		ReadBack:                   func(obj map[string]any) bool { return v.schema.ReadBack(obj, v.keepsUnknown()) },
		Validate:                   v.validate,
		WarningsOnWrite: func(obj map[string]any, old object.View) []string {
			return validation.FinalizerWarnings(object.Meta(obj), old.At("metadata"), metadataPath)
		},
		SelectableFields: v.fields(),
		FieldLabelError:  func(label string) string { return "field label not supported: " + label },
		Scale:            v.scale(),
	}
	if v.rules != nil {
		s.ValidateRules = v.validateRules
	}
	if v.hasStatus() {
		s.ResetFields, s.ResetIn = []string{"status"}, []string{v.typ.GroupVersion.String()}
		s.Prepare = prepareUpdate
		s.SubresourceStrategies = map[string]resource.SubresourceStrategy{"status": {
			Prepare:       v.prepareStatusUpdate,
			Validate:      v.validateStatus,
			ValidateRules: s.ValidateRules,
			ResetFields:   statusResetFields(v.release),
			ResetIn:       v.statusVersions(),
		}}
	}
	return s
}

// statusResetFields returns the fields that a write of the status does not own.
func statusResetFields(rules Rules) []string {
	if rules.statusOwnsMetadata {
		return []string{"spec"}
	}
	return []string{"metadata", "spec"}
}

// statusVersions returns the apiVersions whose managers keep the fields that a write of the status
// resets: those with a status that are served or stored, in older releases that of the write.
func (v *version) statusVersions() []string {
	if !behavior.AllStatusVersions.In(v.release.minor) {
		return []string{v.typ.GroupVersion.String()}
	}
	out := []string{}
	for other := range v.Definition.spec.At("versions").Objects() {
		if (other.Bool("served") || other.Bool("storage")) && !other.IsNil("subresources", "status") {
			out = append(out, v.Definition.spec.String("group")+"/"+other.String("name"))
		}
	}
	return out
}

// setDefaults sets the defaults of the version that an object gives.
func (v *version) setDefaults(obj map[string]any) {
	if s, ok := v.codec.schemaFor(obj); ok {
		s.SetDefaults(obj)
	}
}

var metadataPath = validation.NewPath("metadata")

// changedOutsideMetadata reports whether a field other than metadata changed.
func changedOutsideMetadata(obj map[string]any, old object.View) bool {
	return !object.ViewOf(obj).EqualExcept(old, "metadata")
}

// prepareUpdate resets the status, which only the status subresource changes.
func prepareUpdate(obj map[string]any, old object.View) { object.Keep(obj, old, "status") }

// prepareStatusUpdate resets all fields of obj except status, managed fields and
// resourceVersion. A null status is removed if the status is not nullable and was not set; where
// writes may not keep invalid values, it is an error.
func (v *version) prepareStatusUpdate(obj map[string]any, old object.View) {
	status, given := obj["status"]
	if s := v.statusSchema(); status == nil && old.IsNil("status") && s != nil && !s.Nullable && v.ratchetsStatuses() {
		given = false
	}
	meta, kept := object.ViewOf(object.Meta(obj)), old.At("metadata").ShallowCopy()
	object.Keep(kept, meta, "managedFields")
	object.Keep(kept, meta, "resourceVersion")
	for name := range obj {
		delete(obj, name)
	}
	for name, member := range old.Fields() {
		obj[name] = member.Shared()
	}
	obj["metadata"] = kept
	delete(obj, "status")
	if given {
		obj["status"] = status
	}
}

// ratchetsStatuses reports whether a write of the status may keep invalid values.
func (v *version) ratchetsStatuses() bool { return behavior.RatchetsStatuses.In(v.release.minor) }

// statusSchema returns the schema of the status, nil if there is none.
func (v *version) statusSchema() *schema.Schema {
	if v.schema == nil {
		return nil
	}
	return v.schema.Properties["status"]
}

// fields returns the selectable fields.
func (v *version) fields() []resource.Field {
	var out []resource.Field
	for f := range v.spec.At("selectableFields").Objects() {
		text := f.String("jsonPath")
		path, err := jsonpath.Parse(text)
		if err != nil {
			continue // validation rejects invalid paths
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

// A fieldPath is a path of a field in a definition, such as ".spec.replicas".
type fieldPath string

func (d fieldPath) names() []string { return strings.Split(strings.TrimPrefix(string(d), "."), ".") }

func (d fieldPath) path() *validation.Path { return validation.NewPath(string(d)) }

// scale returns the scale subresource, nil if there is none.
func (v *version) scale() *resource.Scale {
	spec := v.spec.At("subresources", "scale")
	if spec.IsNil() {
		return nil
	}
	replicas := fieldPath(spec.String("specReplicasPath"))
	return &resource.Scale{
		Spec:   replicas.names(),
		Status: fieldPath(spec.String("statusReplicasPath")).names(),
		Selector: func(obj object.View) string {
			path := spec.String("labelSelectorPath")
			if path == "" {
				return ""
			}
			return obj.String(fieldPath(path).names()...)
		},
		CustomPath:  string(replicas),
		CheckFields: v.checkScaleFields,
		Codec:       resource.VersionedCodecIn(v.release.minor, scaleKind),
		Layout:      scaleLayout,
	}
}

// checkScaleFields implements CheckFields of [resource.Scale].
func (v *version) checkScaleFields(shown object.View) error {
	obj := shown.SharedMembers()
	for _, field := range []string{"specReplicasPath", "statusReplicasPath"} {
		if _, err := v.scaleReplicas(obj, field); err != "" {
			return errors.New(err)
		}
	}
	if err := v.scaleSelectorError(obj); err != "" {
		return errors.New(err)
	}
	return nil
}

// validate validates an object: its kind and version and, if these are right, its values.
func (v *version) validate(obj map[string]any, old object.View) validation.List {
	errs := v.codec.validateType(obj)
	if len(errs) == 0 {
		errs = v.validateValues(obj, old)
	}
	errs = append(errs, v.schema.ValidateEmbedded(obj, nil)...)
	return append(errs, v.validateLists(obj, old)...)
}

// validateValues validates an object with its schema.
func (v *version) validateValues(obj map[string]any, old object.View) validation.List {
	var errs validation.List
	if !old.IsNil() && behavior.DecodesCustomMetadata.In(v.release.minor) {
		errs = validateMetadata(object.Meta(obj))
	}
	if v.schema != nil {
		errs = append(errs, v.values().Validate(v.schema, obj, old.Shared(), nil)...)
	}
	errs = append(errs, v.validateScale(obj, "specReplicasPath")...)
	errs = append(errs, v.validateScale(obj, "statusReplicasPath")...)
	return append(errs, v.validateScaleSelector(obj)...)
}

// validateMetadata returns the error of metadata that cannot be decoded. Only an apply leaves it so.
func validateMetadata(meta map[string]any) validation.List {
	const name = "deletionTimestamp"
	v, ok := meta[name]
	if !ok {
		return nil
	}
	err := schema.DecodeMetadata(name, v)
	if err == nil {
		return nil
	}
	var mismatch *wire.TypeError
	if errors.As(err, &mismatch) {
		err = &wire.TypeError{Value: mismatch.Value, GoType: mismatch.GoType}
	}
	return validation.List{validation.Invalid(metadataPath, meta, err.Error())}
}

// values returns how values are validated.
func (v *version) values() schema.Options {
	o := v.release.values
	o.Pruned = !v.keepsUnknown()
	return o
}

// validateLists returns the duplicates in the lists of an object, unless the old object has some
// too.
func (v *version) validateLists(obj map[string]any, old object.View) validation.List {
	errs := v.schema.ValidateLists(obj, nil)
	if len(errs) > 0 && !old.IsNil() && len(v.schema.ValidateLists(old.Shared(), nil)) > 0 {
		return nil
	}
	return errs
}

// validateRules evaluates the validation rules of the schema on an object. errs are the errors that
// were found before, of all releases; some of them prevent the evaluation.
func (v *version) validateRules(ctx context.Context, obj map[string]any, old object.View, errs validation.List) validation.List {
	if slices.ContainsFunc(errs.In(v.release.release, v.typ.Group, v.typ.Kind), blocksRules) {
		return validation.List{validation.Invalid(nil, nil, "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation")}
	}
	errs, _ = v.rules.Validate(ctx, nil, obj, old.Shared(), cel.Budget)
	return errs
}

// blocksRules reports whether an error prevents the evaluation of rules.
func blocksRules(e *validation.Error) bool {
	switch e.Reason {
	case validation.ReasonNotSupported, validation.ReasonRequired, validation.ReasonTooLong, validation.ReasonTooMany, validation.ReasonTypeInvalid:
		return true
	}
	return false
}

// validateStatus validates an object after an update of its status.
func (v *version) validateStatus(obj map[string]any, old object.View) validation.List {
	var errs validation.List
	if status, ok := obj["status"]; ok && v.statusSchema() != nil {
		options := v.values()
		options.WithoutRatcheting = options.WithoutRatcheting || !v.ratchetsStatuses()
		errs = options.Validate(v.statusSchema(), status, old.At("status").Shared(), validation.NewPath("status"))
	}
	errs = append(errs, v.validateScale(obj, "statusReplicasPath")...)
	errs = append(errs, v.validateScaleSelector(obj)...)
	return append(errs, v.validateLists(obj, old)...)
}

// validateScale validates a number of replicas. field is the field of the scale subresource
// that has the path of the number.
func (v *version) validateScale(obj map[string]any, field string) validation.List {
	spec := v.spec.At("subresources", "scale")
	if spec.IsNil() {
		return nil
	}
	n, err := v.scaleReplicas(obj, field)
	switch {
	case n < 0:
		err = "should be a non-negative integer"
	case n > math.MaxInt32:
		err = fmt.Sprintf("should be less than or equal to %d", math.MaxInt32)
	}
	if err == "" {
		return nil
	}
	return validation.List{validation.Invalid(fieldPath(spec.String(field)).path(), n, err)}
}

// scaleReplicas returns a number of replicas, 0 if there is none. err is not "" if the value is not
// a number.
func (v *version) scaleReplicas(obj map[string]any, field string) (n int64, err string) {
	at := fieldPath(v.spec.String("subresources", "scale", field))
	value, found, err := nestedValue(obj, at.names())
	n, isInt := value.(int64)
	if found && !isInt {
		err = accessorError(at.names(), value, "int64")
	}
	return n, err
}

// validateScaleSelector validates the selector of the scale subresource.
func (v *version) validateScaleSelector(obj map[string]any) validation.List {
	err := v.scaleSelectorError(obj)
	if err == "" {
		return nil
	}
	path := fieldPath(v.spec.String("subresources", "scale", "labelSelectorPath"))
	return validation.List{validation.Invalid(path.path(), "", err)}
}

// scaleSelectorError returns "" unless the selector of the scale subresource is not a string.
func (v *version) scaleSelectorError(obj map[string]any) string {
	path := v.spec.String("subresources", "scale", "labelSelectorPath")
	if path == "" {
		return ""
	}
	at := fieldPath(path)
	value, found, err := nestedValue(obj, at.names())
	if _, isText := value.(string); found && !isText {
		err = accessorError(at.names(), value, "string")
	}
	return err
}

// nestedValue returns the value at a path, which may be null, and whether there is one. A
// null on the path has nothing below it. err is not "" if another value on the path is not
// an object.
func nestedValue(obj map[string]any, path []string) (v any, found bool, err string) {
	v = obj
	for i, name := range path {
		if v == nil {
			return nil, false, ""
		}
		m, ok := v.(map[string]any)
		if !ok {
			return nil, false, accessorError(path[:i+1], v, "map[string]interface{}")
		}
		if v, ok = m[name]; !ok {
			return nil, false, ""
		}
	}
	return v, true, ""
}

func accessorError(path []string, v any, want string) string {
	return fmt.Sprintf(".%s accessor error: %v is of the type %T, expected %s", strings.Join(path, "."), v, v, want)
}
