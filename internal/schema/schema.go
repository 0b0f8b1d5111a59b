// Package schema has the schemas of built-in kinds, from OpenAPI v3 documents, and the
// structural schemas of CustomResourceDefinitions. Strategic merge patch, server-side apply,
// pruning, defaulting and validation use them.
//
// Logical junctors are the keywords allOf, anyOf, oneOf and not. List of type set or map
// means an array with that x-kubernetes-list-type.
package schema

import (
	"regexp"

	"github.com/kubefake/kubefake/internal/unversioned"
)

// A Schema describes a value. Schemas of recursive types are cyclic. A Schema is immutable
// and safe for concurrent use.
type Schema struct {
	// Name is the name of the component schema in the OpenAPI document, such as
	// "io.k8s.api.core.v1.PodSpec", or "".
	Name string

	// Type is object, array, string, integer, number or boolean, or "" for any.
	Type   string
	Format string // int32, int64, double, byte, date-time, int-or-string, ...

	Properties map[string]*Schema
	Required   []string
	// Additional is additionalProperties, the schema of the values of a map, or nil.
	Additional *Schema
	// Items is the schema of the elements of an array.
	Items *Schema

	// Default is the default of an absent field. It must be copied before it is set.
	// HasDefault distinguishes a null default from none.
	Default    any
	HasDefault bool
	Nullable   bool

	// ListType is atomic, set or map; "" means atomic.
	ListType string
	// ListMapKeys are the key fields of the elements of a list of type map.
	ListMapKeys []string
	// MapType is granular or atomic; "" means granular.
	MapType string

	// PatchStrategies are the strategies of strategic merge patches: merge, replace,
	// retainKeys.
	PatchStrategies []string
	// PatchMergeKey is the key field of the elements of a list that strategic merge
	// patches merge.
	PatchMergeKey string

	// IntOrString allows an integer or a string.
	IntOrString bool
	// PreserveUnknownFields disables pruning of fields that are not in Properties.
	PreserveUnknownFields bool
	// EmbeddedResource is whether the value is an object with apiVersion, kind and
	// metadata.
	EmbeddedResource bool

	// Constraints are the value validations, nil if there are none. Schemas of built-in
	// kinds have none.
	Constraints *Constraints

	// hasDefaults, hasEmbedded and hasListTypes are whether the schema or any below it has a
	// default, is of an embedded resource, or is of a list of type set or map. FromProps sets
	// them.
	hasDefaults, hasEmbedded, hasListTypes bool
	// hasUnknown is whether values may have fields without a schema after pruning. FromProps sets
	// it.
	hasUnknown bool
	// simple is whether FromProps found only frequent keywords, such as type and properties,
	// which are supported, and a known type, if any.
	simple bool
}

// Constraints are the value validations of a schema in a CustomResourceDefinition, except
// Required, which is a field of Schema. A nil limit is not set.
type Constraints struct {
	Enum []any

	Pattern              string
	MinLength, MaxLength *int64

	Minimum, Maximum                   *float64
	ExclusiveMinimum, ExclusiveMaximum bool
	MultipleOf                         *float64

	MinItems, MaxItems           *int64
	MinProperties, MaxProperties *int64

	// Closed is additionalProperties: false.
	Closed bool

	// The logical junctors. Their schemas have value validations only; the structure is
	// declared outside of them.
	AllOf, AnyOf, OneOf []*Schema
	Not                 *Schema

	// Rules are x-kubernetes-validations.
	Rules []Rule

	// pattern returns the compiled Pattern, nil if that is not a valid regular expression.
	// The first value that is checked compiles it.
	pattern func() *regexp.Regexp
	// formatName is the recognized format, or "". format checks strings by it; nil
	// allows every string.
	formatName string
	format     func(string) bool
}

// A Rule is a validation rule in the Common Expression Language. Error messages quote its
// JSON.
type Rule struct {
	Rule              string
	Message           string
	MessageExpression string
	// Reason is the reason of the error; nil means FieldValueInvalid.
	Reason *string
	// FieldPath is the path, relative to the value, of the field of the error; "" means
	// the value.
	FieldPath string
	// OptionalOldSelf is whether oldSelf is an optional, so that the rule is evaluated
	// for creations too.
	OptionalOldSelf *bool
}

// GoString returns the rule as kube-apiserver prints it with %#v.
func (r Rule) GoString() string {
	fields := map[string]any{"rule": r.Rule, "message": r.Message, "messageExpression": r.MessageExpression, "fieldPath": r.FieldPath}
	if r.Reason != nil {
		fields["reason"] = *r.Reason
	}
	if r.OptionalOldSelf != nil {
		fields["optionalOldSelf"] = *r.OptionalOldSelf
	}
	return unversioned.Value{Type: "apiextensions.ValidationRule", Value: fields}.GoSyntax()
}
