package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubefake/kubefake/internal/release"
)

// deprecationsText returns the file deprecations.txt: what the Go types of the
// kinds that any recorded release serves say about their deprecation.
func deprecationsText(recordings fs.FS) ([]byte, error) {
	names, err := surfaceNames(recordings)
	if err != nil {
		return nil, err
	}
	lines := map[string]string{} // by API version and kind
	for _, name := range names {
		served, err := readSurface(recordings, name)
		if err != nil {
			return nil, err
		}
		for _, t := range served.Types {
			gvk := schema.GroupVersionKind{Group: t.Group, Version: t.Version, Kind: t.Kind}
			obj, err := goTypes().New(gvk)
			if err != nil {
				return nil, err
			}
			if line := deprecationLine(gvk, obj); line != "" {
				lines[t.GroupVersion.String()+" "+t.Kind] = line
			}
		}
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "# %s\n", marker("the Go types of Kubernetes "+release.Default))
	for _, key := range slices.Sorted(maps.Keys(lines)) {
		out.WriteString(lines[key])
	}
	return out.Bytes(), nil
}

// deprecationLine returns the line of a kind, "" if it is not deprecated.
func deprecationLine(gvk schema.GroupVersionKind, obj any) string {
	deprecated, ok := obj.(interface{ APILifecycleDeprecated() (major, minor int) })
	if !ok {
		return ""
	}
	var removed, since int
	since = minor(deprecated.APILifecycleDeprecated())
	if obj, ok := obj.(interface{ APILifecycleRemoved() (major, minor int) }); ok {
		removed = minor(obj.APILifecycleRemoved())
	}
	line := fmt.Sprintf("%s %s %d %d", gvk.GroupVersion(), gvk.Kind, since, removed)
	if obj, ok := obj.(interface {
		APILifecycleReplacement() schema.GroupVersionKind
	}); ok {
		to := obj.APILifecycleReplacement()
		line += fmt.Sprintf(" %s %s", to.GroupVersion(), to.Kind)
	}
	return line + "\n"
}

// minor returns the minor number of a release. It panics if the major is not 1.
func minor(major, minor int) int {
	if major != 1 {
		panic(fmt.Sprintf("release %d.%d", major, minor))
	}
	return minor
}
