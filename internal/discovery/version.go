package discovery

import (
	"cmp"
	"strconv"
	"strings"
)

// CompareVersions orders the versions of a group by priority, the preferred one
// first: v2, v1, v2beta1, v1beta2, v1alpha1, then other names alphabetically.
// It is a comparison function for package slices.
func CompareVersions(a, b string) int {
	rankA, okA := parseVersion(a)
	rankB, okB := parseVersion(b)
	switch {
	case okA && okB:
		for i := range rankA {
			if c := cmp.Compare(rankB[i], rankA[i]); c != 0 {
				return c
			}
		}
		return 0
	case okA:
		return -1
	case okB:
		return 1
	default:
		return strings.Compare(a, b)
	}
}

// Stability is the first part of a version's rank.
const (
	alpha = iota
	beta
	stable
)

// parseVersion splits "v2beta1" into beta, 2, 1. The greater rank is preferred.
func parseVersion(s string) (rank [3]int, ok bool) {
	s, ok = strings.CutPrefix(s, "v")
	if !ok {
		return rank, false
	}
	rank[0] = stable
	major, minor := s, ""
	for i, word := range []string{alpha: "alpha", beta: "beta"} {
		if before, after, found := strings.Cut(s, word); found {
			rank[0], major, minor = i, before, after
			if rank[2], ok = number(minor); !ok {
				return rank, false
			}
		}
	}
	rank[1], ok = number(major)
	return rank, ok
}

// number parses a string of digits without a sign.
func number(s string) (int, bool) {
	n, err := strconv.Atoi(s)
	return n, err == nil && s[0] >= '0' && s[0] <= '9'
}
