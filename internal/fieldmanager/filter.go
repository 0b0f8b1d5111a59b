package fieldmanager

import (
	"slices"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v4/fieldpath"
)

// A Filter selects the fields that a request can change and therefore own. A
// write to /status, for instance, does not change the spec. It applies to every
// version of a kind unless In restricts it. A nil *Filter selects all fields. A Filter
// is immutable and safe for concurrent use.
type Filter struct {
	versions []string // the apiVersions that it applies to, nil for all
	fields   fieldpath.Filter
	paths    [][]string // the fields that are not selected, split into steps
}

// Except returns a Filter that selects all fields except paths and the fields
// below them. A path is field names joined by dots, such as "metadata.labels".
func Except(paths ...string) *Filter {
	set, f := fieldpath.NewSet(), &Filter{}
	for _, p := range paths {
		set.Insert(parsePath(p))
		f.paths = append(f.paths, strings.Split("f:"+strings.ReplaceAll(p, ".", ".f:"), "."))
	}
	f.fields = fieldpath.NewExcludeSetFilter(set)
	return f
}

// In returns a Filter that selects what f does in some apiVersions, and all fields in
// others.
func (f *Filter) In(apiVersions []string) *Filter {
	out := *f
	out.versions = apiVersions
	return &out
}

// at returns the Filter for the fields of an apiVersion.
func (f *Filter) at(apiVersion string) *Filter {
	if f == nil || f.versions != nil && !slices.Contains(f.versions, apiVersion) {
		return nil
	}
	return f
}

// prune removes the fields that are not selected from a tree.
func (f *Filter) prune(tree *fieldTree) {
	if f == nil {
		return
	}
	for _, path := range f.paths {
		tree.remove(path...)
	}
}

// parsePath parses field names joined by dots; "" is the empty path.
func parsePath(s string) fieldpath.Path {
	if s == "" {
		return nil
	}
	var path fieldpath.Path
	for _, name := range strings.Split(s, ".") {
		path = append(path, fieldpath.PathElement{FieldName: &name})
	}
	return path
}
