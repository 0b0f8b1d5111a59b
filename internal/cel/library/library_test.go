package library

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The functions are tested in package cel, by their results and costs in
// kube-apiserver.

// TestIsType checks that IsType knows the types of the arguments and results of all
// functions, and no others.
func TestIsType(t *testing.T) {
	env, err := cel.NewCustomEnv(slices.Concat(Options(), Semver(true), JSONPatch())...)
	require.NoError(t, err)
	known := map[string]bool{}
	for _, f := range env.Functions() {
		for _, overload := range f.OverloadDecls() {
			for _, typ := range append(overload.ArgTypes(), overload.ResultType()) {
				for len(typ.Parameters()) > 0 { // a list, an optional
					typ = typ.Parameters()[0]
				}
				name := typ.TypeName()
				want := strings.HasPrefix(name, "kubernetes.") || strings.HasPrefix(name, "net.")
				assert.Equal(t, want, IsType(typ), "%s: %s", overload.ID(), name)
				known[name] = want
			}
		}
	}
	for _, name := range []string{"kubernetes.authorization.Decision", "kubernetes.Semver", "net.CIDR"} {
		assert.True(t, known[name], name)
	}
	for _, other := range []*types.Type{types.DynType, types.NewObjectType("Object"), types.NewOpaqueType("net.Other"), types.NewOptionalType(QuantityType)} {
		assert.False(t, IsType(other), other.String())
	}
}

func TestFormatSize(t *testing.T) {
	size, ok := FormatSize(formatVal{NewVal(FormatType, namedFormats()["uuid"])})
	assert.True(t, ok)
	assert.Equal(t, uint64(70), size)
	for _, other := range []ref.Val{types.String("uuid"), types.NewErr("x"), NewVal(FormatType, 1)} {
		_, ok := FormatSize(other)
		assert.False(t, ok, "%T", other)
	}
}

func TestRegexFunction(t *testing.T) {
	for _, name := range []string{"matches", "find", "findAll"} {
		assert.NotNil(t, RegexFunction(name), name)
	}
	assert.Nil(t, RegexFunction("replace"))
}
