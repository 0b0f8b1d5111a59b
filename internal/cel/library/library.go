package library

import (
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
)

// Options returns environment options with the types and functions of all libraries but
// JSONPatch and Semver.
func Options() []cel.EnvOption {
	options := []cel.EnvOption{cel.Types(ipType, cidrType)}
	for _, library := range [][]function{
		listFunctions(), regexFunctions(), urlFunctions(), quantityFunctions(), ipFunctions(),
		cidrFunctions(), formatFunctions(), authorizerFunctions(),
	} {
		options = append(options, functionOptions(library)...)
	}
	return options
}

// Semver returns environment options with the functions of the semver library. Without
// normalizing they are those of its first version, which takes versions only as
// major.minor.patch.
func Semver(normalizing bool) []cel.EnvOption { return functionOptions(semverFunctions(normalizing)) }

// IsType reports whether a library defines a type.
func IsType(t *types.Type) bool {
	switch t {
	case AuthorizerType, pathCheckType, groupCheckType, ResourceCheckType, decisionType,
		FormatType, QuantityType, semverType, URLType:
		return true
	}
	// The checker copies opaque types.
	return t.Kind() == types.OpaqueKind && (t.TypeName() == ipType.TypeName() || t.TypeName() == cidrType.TypeName())
}
