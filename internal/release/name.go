package release

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
)

// cutAll cuts the suffix "-all" from a name, and reports whether it had it.
func cutAll(name string) (version string, all bool) { return strings.CutSuffix(name, "-all") }

// anyVersion matches a version of Kubernetes as users and clusters write it: with or without
// "v" and the patch number, and with the suffix of a vendor or of a pre-release.
var anyVersion = regexp.MustCompile(`^v?(\d+\.\d+)(?:\.\d+(?:[-+].*\d.*)?)?$`)

// minorNameOf returns the minor release of a version: "v1.36" for "1.36.1-gke.1081000". A name
// that is no version is itself.
func minorNameOf(name string) string {
	if m := anyVersion.FindStringSubmatch(name); m != nil {
		return "v" + m[1]
	}
	return name
}

// minorNumber returns the minor number of a name: 36 for "v1.36.3".
func minorNumber(name string) int {
	n, _ := parseName(name)
	return n[1]
}

// compareNames orders names by their versions. A name without "-all" is before
// the one with it.
func compareNames(a, b string) int {
	numbersA, allA := parseName(a)
	numbersB, allB := parseName(b)
	for i := range numbersA {
		if c := cmp.Compare(numbersA[i], numbersB[i]); c != 0 {
			return c
		}
	}
	return strings.Compare(allA, allB)
}

// parseName splits "v1.36.3-all" into 1, 36, 3 and "all".
func parseName(name string) (numbers [3]int, suffix string) {
	name, suffix, _ = strings.Cut(strings.TrimPrefix(name, "v"), "-")
	for i := range numbers {
		var text string
		text, name, _ = strings.Cut(name, ".")
		numbers[i], _ = strconv.Atoi(text)
	}
	return numbers, suffix
}
