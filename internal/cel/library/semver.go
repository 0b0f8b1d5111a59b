package library

import (
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/kubefake/kubefake/internal/semver"
)

var semverType = types.NewObjectType("kubernetes.Semver")

// semverVal is the CEL value of a semantic version.
type semverVal struct{ Val[semver.Version] }

// Equal compares the precedence of versions.
func (v semverVal) Equal(other ref.Val) ref.Val {
	o, ok := other.(semverVal)
	if !ok {
		return types.MaybeNoSuchOverloadErr(other)
	}
	return types.Bool(v.Native.Compare(o.Native) == 0)
}

// semverFunctions returns the semver library. Without normalizing, versions must be
// written in full.
func semverFunctions(normalizing bool) []function {
	number := func(name, overload string, i int) function {
		return method(name, overload, argTypes(semverType), types.IntType, unary(func(v semverVal) ref.Val { return types.Int(v.Native.Number(i)) }))
	}
	comparison := func(name, overload string, typ *types.Type, result func(int) ref.Val) function {
		return method(name, overload, argTypes(semverType, semverType), typ,
			binary(func(a, b semverVal) ref.Val { return result(a.Native.Compare(b.Native)) }))
	}
	is := func(order int) func(int) ref.Val { return func(o int) ref.Val { return types.Bool(o == order) } }
	to := []cel.FunctionOpt{cel.Overload("string_to_semver", argTypes(types.StringType), semverType, unary(func(s types.String) ref.Val { return toSemver(s, false) }))}
	of := []cel.FunctionOpt{cel.Overload("is_semver_string", argTypes(types.StringType), types.BoolType, unary(func(s types.String) ref.Val { return isSemver(s, false) }))}
	if normalizing {
		to = append(to, cel.Overload("string_bool_to_semver", argTypes(types.StringType, types.BoolType), semverType, binary(toSemver)))
		of = append(of, cel.Overload("is_semver_string_bool", argTypes(types.StringType, types.BoolType), types.BoolType, binary(isSemver)))
	}
	return []function{
		{"semver", to},
		{"isSemver", of},
		number("major", "semver_major", 0),
		number("minor", "semver_minor", 1),
		number("patch", "semver_patch", 2),
		comparison("isGreaterThan", "semver_is_greater_than", types.BoolType, is(1)),
		comparison("isLessThan", "semver_is_less_than", types.BoolType, is(-1)),
		comparison("compareTo", "semver_compare_to", types.IntType, func(o int) ref.Val { return types.Int(o) }),
	}
}

func toSemver(s types.String, normalize types.Bool) ref.Val {
	v, err := parseSemver(s, normalize)
	if err != nil {
		return types.WrapErr(err)
	}
	return semverVal{NewVal(semverType, v)}
}

func isSemver(s types.String, normalize types.Bool) ref.Val {
	_, err := parseSemver(s, normalize)
	return types.Bool(err == nil)
}

func parseSemver(s types.String, normalize types.Bool) (semver.Version, error) {
	if normalize {
		return semver.ParseTolerant(string(s))
	}
	return semver.Parse(string(s))
}
