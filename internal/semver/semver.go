// Package semver parses and compares semantic versions as
// github.com/blang/semver/v4 does, with its error texts.
package semver

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// A Version is a semantic version, without the build metadata, which comparisons
// ignore.
type Version struct {
	core       [3]uint64
	prerelease []string
}

// Number returns the major, minor or patch number: i is 0, 1 or 2.
func (v Version) Number(i int) uint64 { return v.core[i] }

// ParseTolerant is Parse for versions that may start with v, omit the minor and
// patch numbers, and have leading zeros.
func ParseTolerant(s string) (Version, error) {
	s, err := normalized(s)
	if err != nil {
		return Version{}, err
	}
	return Parse(s)
}

// Parse parses a version with all of its three numbers.
func Parse(s string) (Version, error) {
	if s == "" {
		return Version{}, errors.New("Version string empty")
	}
	parts := strings.SplitN(s, ".", 3)
	if len(parts) < 3 {
		return Version{}, errors.New("No Major.Minor.Patch elements found")
	}
	patch, build, hasBuild := strings.Cut(parts[2], "+")
	patch, prerelease, hasPrerelease := strings.Cut(patch, "-")
	var v Version
	for i, number := range []struct{ name, text string }{{"Major", parts[0]}, {"Minor", parts[1]}, {"Patch", patch}} {
		if !containsOnly(number.text, digits) {
			return Version{}, fmt.Errorf("Invalid character(s) found in %s number %q", strings.ToLower(number.name), number.text)
		}
		if leadingZero(number.text) {
			return Version{}, fmt.Errorf("%s number must not contain leading zeroes %q", number.name, number.text)
		}
		var err error
		if v.core[i], err = strconv.ParseUint(number.text, 10, 64); err != nil {
			return Version{}, err
		}
	}
	if hasPrerelease {
		v.prerelease = strings.Split(prerelease, ".")
	}
	for _, id := range v.prerelease {
		if err := checkPrerelease(id); err != nil {
			return Version{}, err
		}
	}
	if hasBuild {
		for _, id := range strings.Split(build, ".") {
			if id == "" {
				return Version{}, errors.New("Build meta data is empty")
			}
			if !containsOnly(id, alphanumerics) {
				return Version{}, fmt.Errorf("Invalid character(s) found in build meta data %q", id)
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

// Compare compares the precedence of versions: first the numbers; then a version
// without prerelease is greater; then the prerelease identifiers in order.
func (v Version) Compare(o Version) int {
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
