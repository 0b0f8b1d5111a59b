// Package schema describes the values that a kind's objects hold: what an
// OpenAPI v3 document says of a built-in kind, and a CustomResourceDefinition
// of a custom one. Patching, applying, pruning, defaulting and validating all
// read this one description.
package schema

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
}
