package nodes

import (
	"slices"
	"strconv"

	"github.com/kubefake/kubefake/internal/object"
)

// MatchesSelector reports whether one of the terms of a NodeSelector matches a
// Node.
func MatchesSelector(selector, node map[string]any) bool {
	for term := range object.Each(selector["nodeSelectorTerms"]) {
		if MatchesSelectorTerm(term, node) {
			return true
		}
	}
	return false
}

// MatchesSelectorTerm reports whether a term of a NodeSelector matches a Node. An
// empty term matches none.
func MatchesSelectorTerm(term, node map[string]any) bool {
	expressions, fields := object.List(term, "matchExpressions"), object.List(term, "matchFields")
	if len(expressions) == 0 && len(fields) == 0 {
		return false
	}
	labels := object.Map(node, "metadata", "labels")
	for e := range object.Each(expressions) {
		value, ok := labels[object.String(e, "key")].(string)
		if !matchesRequirement(e, value, ok) {
			return false
		}
	}
	for e := range object.Each(fields) {
		if object.String(e, "key") != "metadata.name" || !matchesRequirement(e, object.String(node, "metadata", "name"), true) {
			return false
		}
	}
	return true
}

func matchesRequirement(e map[string]any, value string, ok bool) bool {
	values := object.Strings(e, "values")
	switch object.String(e, "operator") {
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
		if object.String(e, "operator") == "Gt" {
			return is > limit
		}
		return is < limit
	}
	return false
}
