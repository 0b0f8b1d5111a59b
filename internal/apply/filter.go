package apply

import (
	"strings"

	"sigs.k8s.io/structured-merge-diff/v4/fieldpath"
)

// A Filter says which fields a request can change, and so own: writes to
// /status, for instance, leave the spec as it is. It holds for every version of
// a kind. A nil *Filter lets all pass. It is immutable and safe for concurrent
// use.
type Filter struct{ fields fieldpath.Filter }

// Except lets all fields pass but those at the paths and below them. A path is
// field names joined by dots, such as "metadata.labels".
func Except(paths ...string) *Filter {
	set := fieldpath.NewSet()
	for _, p := range paths {
		set.Insert(parsePath(p))
	}
	return &Filter{fieldpath.NewExcludeSetFilter(set)}
}

// parsePath reads field names joined by dots; "" is no path.
func parsePath(s string) fieldpath.Path {
	if s == "" {
		return nil
	}
	var path fieldpath.Path
	for name := range strings.SplitSeq(s, ".") {
		path = append(path, fieldpath.PathElement{FieldName: &name})
	}
	return path
}

// Only lets pass just the fields at the paths and below them. A path is as for
// Except; a star in place of a name is any field and any element of a list:
// "spec.containers.*.resources".
func Only(paths ...string) *Filter {
	matchers := make([]*fieldpath.SetMatcher, len(paths))
	for i, p := range paths {
		var parts []any
		for name := range strings.SplitSeq(p, ".") {
			if name == "*" {
				parts = append(parts, fieldpath.MatchAnyPathElement())
			} else {
				parts = append(parts, name)
			}
		}
		matchers[i] = fieldpath.MakePrefixMatcherOrDie(parts...)
	}
	return &Filter{fieldpath.NewIncludeMatcherFilter(matchers...)}
}
