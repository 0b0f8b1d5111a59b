package semver

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"
)

// A Version is a semantic version as semver.org 2.0.0 defines it, without its
// build metadata, which has no place in the order.
type Version struct {
	number     [3]uint64
	prerelease []string
}

var errInvalid = errors.New("not a semantic version")

// Parse reads a version with all of its three numbers.
func Parse(s string) (Version, error) {
	s, build, hasBuild := strings.Cut(s, "+")
	core, prerelease, hasPrerelease := strings.Cut(s, "-")
	var v Version
	numbers := strings.Split(core, ".")
	if len(numbers) != len(v.number) {
		return Version{}, errInvalid
	}
	for i, text := range numbers {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil || !plainNumber(text) {
			return Version{}, errInvalid
		}
		v.number[i] = n
	}
	if hasPrerelease {
		v.prerelease = strings.Split(prerelease, ".")
		for _, id := range v.prerelease {
			if !isIdentifier(id) || allDigits(id) && !plainNumber(id) {
				return Version{}, errInvalid
			}
		}
	}
	if hasBuild {
		for id := range strings.SplitSeq(build, ".") {
			if !isIdentifier(id) {
				return Version{}, errInvalid
			}
		}
	}
	return v, nil
}

// Compare is negative if v comes before w, positive if after it.
func (v Version) Compare(w Version) int {
	if c := slices.Compare(v.number[:], w.number[:]); c != 0 {
		return c
	}
	switch {
	case len(v.prerelease) == 0 && len(w.prerelease) == 0:
		return 0
	case len(v.prerelease) == 0:
		return 1
	case len(w.prerelease) == 0:
		return -1
	}
	return slices.CompareFunc(v.prerelease, w.prerelease, compareIdentifiers)
}

// compareIdentifiers orders numbers by value, ahead of all else, and the rest
// as text.
func compareIdentifiers(a, b string) int {
	switch x, y := allDigits(a), allDigits(b); {
	case x && y:
		return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
	case x:
		return -1
	case y:
		return 1
	}
	return strings.Compare(a, b)
}

// plainNumber reports whether digits have no zero before them.
func plainNumber(s string) bool { return allDigits(s) && (s == "0" || s[0] != '0') }

func allDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

func isIdentifier(s string) bool {
	if s == "" {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case '0' <= c && c <= '9', 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', c == '-':
		default:
			return false
		}
	}
	return true
}
