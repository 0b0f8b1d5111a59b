package cel

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

var semverType = types.NewObjectType("kubernetes.Semver")

// A version is a semantic version, without the build metadata, which comparisons
// ignore.
type version struct {
	core       [3]uint64
	prerelease []string
}

// semverVal is the CEL value of a version.
type semverVal struct{ libraryVal[version] }

// Equal compares the precedence of versions.
func (v semverVal) Equal(other ref.Val) ref.Val {
	o, ok := other.(semverVal)
	if !ok {
		return types.MaybeNoSuchOverloadErr(other)
	}
	return types.Bool(v.value.compare(o.value) == 0)
}

// semverFunctions returns the semver library.
func semverFunctions() []function {
	number := func(name, overload string, i int) function {
		return method(name, overload, argTypes(semverType), types.IntType, unary(func(v semverVal) ref.Val { return types.Int(v.value.core[i]) }))
	}
	comparison := func(name, overload string, typ *types.Type, result func(int) ref.Val) function {
		return method(name, overload, argTypes(semverType, semverType), typ,
			binary(func(a, b semverVal) ref.Val { return result(a.value.compare(b.value)) }))
	}
	is := func(order int) func(int) ref.Val { return func(o int) ref.Val { return types.Bool(o == order) } }
	return []function{
		{"semver", []cel.FunctionOpt{
			cel.Overload("string_to_semver", argTypes(types.StringType), semverType, unary(func(s types.String) ref.Val { return toSemver(s, false) })),
			cel.Overload("string_bool_to_semver", argTypes(types.StringType, types.BoolType), semverType, binary(toSemver)),
		}},
		{"isSemver", []cel.FunctionOpt{
			cel.Overload("is_semver_string", argTypes(types.StringType), types.BoolType, unary(func(s types.String) ref.Val { return isSemver(s, false) })),
			cel.Overload("is_semver_string_bool", argTypes(types.StringType, types.BoolType), types.BoolType, binary(isSemver)),
		}},
		number("major", "semver_major", 0),
		number("minor", "semver_minor", 1),
		number("patch", "semver_patch", 2),
		comparison("isGreaterThan", "semver_is_greater_than", types.BoolType, is(1)),
		comparison("isLessThan", "semver_is_less_than", types.BoolType, is(-1)),
		comparison("compareTo", "semver_compare_to", types.IntType, func(o int) ref.Val { return types.Int(o) }),
	}
}

func toSemver(s types.String, normalize types.Bool) ref.Val {
	v, err := parseSemver(string(s), bool(normalize))
	if err != nil {
		return types.WrapErr(err)
	}
	return semverVal{libraryVal[version]{semverType, v}}
}

func isSemver(s types.String, normalize types.Bool) ref.Val {
	_, err := parseSemver(string(s), bool(normalize))
	return types.Bool(err == nil)
}

// parseSemver parses a version. With normalize, the version may start with v, omit the
// minor and patch numbers, and have leading zeros.
func parseSemver(s string, normalize bool) (version, error) {
	if normalize {
		var err error
		if s, err = normalized(s); err != nil {
			return version{}, err
		}
	}
	if s == "" {
		return version{}, errors.New("Version string empty")
	}
	parts := strings.SplitN(s, ".", 3)
	if len(parts) < 3 {
		return version{}, errors.New("No Major.Minor.Patch elements found")
	}
	patch, build, hasBuild := strings.Cut(parts[2], "+")
	patch, prerelease, hasPrerelease := strings.Cut(patch, "-")
	var v version
	for i, number := range []struct{ name, text string }{{"Major", parts[0]}, {"Minor", parts[1]}, {"Patch", patch}} {
		if !containsOnly(number.text, digits) {
			return version{}, fmt.Errorf("Invalid character(s) found in %s number %q", strings.ToLower(number.name), number.text)
		}
		if leadingZero(number.text) {
			return version{}, fmt.Errorf("%s number must not contain leading zeroes %q", number.name, number.text)
		}
		var err error
		if v.core[i], err = strconv.ParseUint(number.text, 10, 64); err != nil {
			return version{}, err
		}
	}
	if hasPrerelease {
		v.prerelease = strings.Split(prerelease, ".")
	}
	for _, id := range v.prerelease {
		if err := checkPrerelease(id); err != nil {
			return version{}, err
		}
	}
	if hasBuild {
		for id := range strings.SplitSeq(build, ".") {
			if id == "" {
				return version{}, errors.New("Build meta data is empty")
			}
			if !containsOnly(id, alphanumerics) {
				return version{}, fmt.Errorf("Invalid character(s) found in build meta data %q", id)
			}
		}
	}
	return v, nil
}

func checkPrerelease(id string) error {
	switch {
	case id == "":
		return errors.New("Prerelease is empty")
	case containsOnly(id, digits):
		if leadingZero(id) {
			return fmt.Errorf("Numeric PreRelease version must not contain leading zeroes %q", id)
		}
		_, err := strconv.ParseUint(id, 10, 64)
		return err
	case !containsOnly(id, alphanumerics):
		return fmt.Errorf("Invalid character(s) found in prerelease %q", id)
	}
	return nil
}

// normalized removes a leading v and leading zeros, and adds omitted numbers.
func normalized(s string) (string, error) {
	parts := strings.SplitN(strings.TrimPrefix(s, "v"), ".", 3)
	for i, p := range parts {
		if len(p) < 2 {
			continue
		}
		p = strings.TrimLeft(p, "0")
		if p == "" || !containsOnly(p[:1], digits) {
			p = "0" + p
		}
		parts[i] = p
	}
	if len(parts) < 3 && strings.ContainsAny(parts[len(parts)-1], "+-") {
		return "", errors.New("short version cannot contain PreRelease/Build meta data")
	}
	for len(parts) < 3 {
		parts = append(parts, "0")
	}
	return strings.Join(parts, "."), nil
}

// compare compares the precedence of versions: first the numbers; then a version
// without prerelease is greater; then the prerelease identifiers in order.
func (v version) compare(o version) int {
	for i := range v.core {
		if c := cmp.Compare(v.core[i], o.core[i]); c != 0 {
			return c
		}
	}
	if (len(v.prerelease) == 0) != (len(o.prerelease) == 0) {
		return cmp.Compare(len(o.prerelease), len(v.prerelease))
	}
	for i := range min(len(v.prerelease), len(o.prerelease)) {
		if c := comparePrerelease(v.prerelease[i], o.prerelease[i]); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(v.prerelease), len(o.prerelease))
}

// comparePrerelease compares prerelease identifiers. Numbers are less than other
// identifiers. Numbers have no leading zeros, so a longer one is greater.
func comparePrerelease(a, b string) int {
	numeric := containsOnly(a, digits)
	if numeric != containsOnly(b, digits) {
		if numeric {
			return -1
		}
		return 1
	}
	if numeric && len(a) != len(b) {
		return cmp.Compare(len(a), len(b))
	}
	return cmp.Compare(a, b)
}

const (
	digits        = "0123456789"
	alphanumerics = digits + "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-"
)

// containsOnly reports whether s has only the given characters.
func containsOnly(s, chars string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return !strings.ContainsRune(chars, r) })
}

func leadingZero(s string) bool { return len(s) > 1 && s[0] == '0' }
