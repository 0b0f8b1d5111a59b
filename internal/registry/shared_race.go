//go:build race

package registry

import (
	"fmt"

	"github.com/kubefake/kubefake/internal/object"
)

// mustNotChange returns a function that panics if obj has changed since. The new object of
// a change shares values with the old one, so that a change of these in place would hide
// that they differ. Only builds with the race detector check it.
func mustNotChange(obj map[string]any) func() {
	before := object.Copy(obj)
	return func() {
		if !object.Equal(before, obj) {
			panic(fmt.Sprintf("registry: a write changed the old object in place, from %v to %v", before, obj))
		}
	}
}
