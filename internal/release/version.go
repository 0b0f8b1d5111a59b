package release

import (
	"cmp"
	"strconv"
	"strings"
)

// minorOf is a release without its patch number: "v1.36" of "v1.36.3".
func minorOf(release string) string {
	return release[:max(0, strings.LastIndexByte(release, '.'))]
}

// compareReleases orders the names of profiles by their numbers; of one
// release the default surface is before the one with everything on.
func compareReleases(a, b string) int {
	numbersA, restA := numbers(a)
	numbersB, restB := numbers(b)
	for i := range numbersA {
		if c := cmp.Compare(numbersA[i], numbersB[i]); c != 0 {
			return c
		}
	}
	return strings.Compare(restA, restB)
}

// numbers takes "v1.36.3-all" apart into 1, 36, 3 and "all".
func numbers(name string) (n [3]int, rest string) {
	name, rest, _ = strings.Cut(strings.TrimPrefix(name, "v"), "-")
	for i, part := range strings.SplitN(name, ".", 3) {
		n[i], _ = strconv.Atoi(part)
	}
	return n, rest
}
