package fieldmanager

import (
	"strings"

	"sigs.k8s.io/structured-merge-diff/v4/fieldpath"
)

// A Filter says which fields a request can change, and so own: writes to
// /status, for instance, leave the spec as it is. It holds for every version of
// a kind. A nil *Filter lets all pass. It is immutable and safe for concurrent
// use.
type Filter struct {
	fields fieldpath.Filter
	paths  [][]string // of what does not pass, in steps
}

// Except lets all fields pass but those at the paths and below them. A path is
// field names joined by dots, such as "metadata.labels".
func Except(paths ...string) *Filter {
	set, f := fieldpath.NewSet(), &Filter{}
	for _, p := range paths {
		set.Insert(parsePath(p))
		f.paths = append(f.paths, strings.Split("f:"+strings.ReplaceAll(p, ".", ".f:"), "."))
	}
	f.fields = fieldpath.NewExcludeSetFilter(set)
	return f
}

// prune takes from a tree what does not pass.
func (f *Filter) prune(tree map[string]any) {
	if f == nil {
		return
	}
	for _, path := range f.paths {
		prune(tree, path)
	}
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
