// Package schema describes the values that a kind's objects hold: what an
// OpenAPI v3 document says of a built-in kind, and a CustomResourceDefinition
// of a custom one. Patching, applying, pruning, defaulting and validating all
// read this one description.
package schema

import "regexp"

// A Schema describes one value. Schemas refer to each other, in circles where
// Kubernetes' types do; they are immutable once made and safe for concurrent
// use.
type Schema struct {
	// Name is what an OpenAPI document names the type, such as
	// "io.k8s.api.core.v1.PodSpec"; "" for a type that is not named.
	Name string

	// Type is object, array, string, integer, number or boolean; "" is any.
	Type   string
	Format string // int32, int64, double, byte, date-time, int-or-string, ...

	Properties map[string]*Schema
	Required   []string
	// Additional describes the values of a map: an object whose member names
	// are data. nil: there are only Properties.
	Additional *Schema
	// Items describes the elements of an array.
	Items *Schema

	// Default is the value of an absent member, to be copied by whoever sets it:
	// it is shared. HasDefault tells a null from none.
	Default    any
	HasDefault bool
	Nullable   bool

	// ListType is atomic, set or map, "" if nothing is said (atomic).
	ListType string
	// ListMapKeys are the members that tell the elements of a map list apart.
	ListMapKeys []string
	// MapType is granular or atomic, "" if nothing is said (granular).
	MapType string

	// PatchStrategies say how strategic merge patches treat the value: merge,
	// replace, retainKeys.
	PatchStrategies []string
	// PatchMergeKey is the member by which a strategic merge patch tells the
	// elements of a merged list apart.
	PatchMergeKey string

	// IntOrString takes an integer or a string.
	IntOrString bool
	// PreserveUnknownFields keeps members that are not in Properties.
	PreserveUnknownFields bool
	// EmbeddedResource is a whole API object.
	EmbeddedResource bool

	// Constraints are what a value has to meet beyond having this structure. It
	// is nil where there are none, as in all schemas of built-in kinds.
	Constraints *Constraints

	// hasDefaults is whether there is a default in it, its items or its
	// properties, of a schema that FromProps has made.
	hasDefaults bool
}

// Constraints are the value validations of a schema in a
// CustomResourceDefinition, but for Required, which a Schema has by itself. A
// nil limit is none.
type Constraints struct {
	Enum []any

	Pattern              string
	MinLength, MaxLength *int64

	Minimum, Maximum                   *float64
	ExclusiveMinimum, ExclusiveMaximum bool
	MultipleOf                         *float64

	MinItems, MaxItems           *int64
	MinProperties, MaxProperties *int64

	// Closed forbids members that are not in Properties, as
	// additionalProperties: false does.
	Closed bool

	// The junctors have value validations only: a structure in them repeats that
	// of the schema they stand in.
	AllOf, AnyOf, OneOf []*Schema
	Not                 *Schema

	// Rules are x-kubernetes-validations.
	Rules []Rule

	// pattern is Pattern, nil if that is no regular expression.
	pattern *regexp.Regexp
	// formatName is the schema's Format, "" for one that means nothing for its
	// type. format checks strings by it, nil takes any.
	formatName string
	format     func(string) bool
}

// A Rule is a rule in the Common Expression Language about one value. Its JSON is
// what error messages quote.
type Rule struct {
	Rule              string
	Message           string
	MessageExpression string
	// Reason is that of the failure's cause; nil is FieldValueInvalid.
	Reason *string
	// FieldPath leads from the value to the field that a failure is about; ""
	// is the value itself.
	FieldPath string
	// OptionalOldSelf is whether oldSelf is an optional, so that the rule holds
	// for creations too; nil says nothing.
	OptionalOldSelf *bool
}
