//go:build race

package registry

import (
	"fmt"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
)

// sharesFirst makes the first new object with a body a complete prototype, not the second, so that
// all tests of creations test what prototypes share.
const sharesFirst = true

// mustNotChange returns a function that panics if obj has changed since. New objects share values
// with old ones, so that a change of these in place would hide that they differ. Only builds with
// the race detector check it.
func mustNotChange(obj map[string]any) func() {
	before := object.Copy(obj)
	return func() {
		if !object.Equal(before, obj) {
			panic(fmt.Sprintf("registry: a write changed a shared object in place, from %v to %v", before, obj))
		}
	}
}

// mustNotWrite is mustNotChange for what other writes may read at the same time, because a
// prototype has it: until the function is called, even a write that changes nothing is a data race.
func mustNotWrite(shared ...map[string]any) func() {
	var checks []func()
	for _, obj := range shared {
		checks = append(checks, mustNotChange(obj))
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		for _, obj := range shared {
			object.Copy(obj)
		}
	}()
	return func() {
		<-read
		for _, check := range checks {
			check()
		}
	}
}

// mustBeDecoded panics if decoding the stored object of a state does not return the object of it.
func mustBeDecoded(s *state, t *resource.Type) {
	if decoded := s.stored.Decode(t); !object.Equal(decoded, s.object) {
		panic(fmt.Sprintf("registry: the object of a state is %v, and decoded %v", s.object, decoded))
	}
}
