package main

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

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
