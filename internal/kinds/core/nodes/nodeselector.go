package nodes

import (
	"slices"
	"strconv"

	"github.com/kubefake/kubefake/internal/object"
)

// MatchesSelector reports whether one of the terms of a NodeSelector matches a
// Node.
func MatchesSelector(selector, node object.View) bool {
	for term := range selector.At("nodeSelectorTerms").Objects() {
		if MatchesSelectorTerm(term, node) {
			return true
		}
	}
	return false
}

// MatchesSelectorTerm reports whether a term of a NodeSelector matches a Node. An
// empty term matches none.
func MatchesSelectorTerm(term, node object.View) bool {
	expressions, fields := term.At("matchExpressions"), term.At("matchFields")
	if expressions.Len() == 0 && fields.Len() == 0 {
		return false
	}
	labels := node.At("metadata", "labels")
	for e := range expressions.Objects() {
		label := labels.At(e.String("key"))
		if !matchesRequirement(e, label.String(), !label.IsNil()) {
			return false
		}
	}
	for e := range fields.Objects() {
		if e.String("key") != "metadata.name" || !matchesRequirement(e, node.String("metadata", "name"), true) {
			return false
		}
	}
	return true
}

func matchesRequirement(e object.View, value string, ok bool) bool {
	values := e.Strings("values")
	switch e.String("operator") {
	case "In":
		return ok && slices.Contains(values, value)
	case "NotIn":
		return !ok || !slices.Contains(values, value)
	case "Exists":
		return ok
	case "DoesNotExist":
		return !ok
	case "Gt", "Lt":
		if !ok || len(values) != 1 {
			return false
		}
		is, err := strconv.ParseInt(value, 10, 64)
		limit, limitErr := strconv.ParseInt(values[0], 10, 64)
		if err != nil || limitErr != nil {
			return false
		}
		if e.String("operator") == "Gt" {
			return is > limit
		}
		return is < limit
	}
	return false
}
