package pods

import (
	"iter"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

// RegularContainers iterates over the containers and init containers, but not over
// the ephemeral containers.
func RegularContainers(spec map[string]any) iter.Seq[map[string]any] {
	return containersIn(spec, "containers", "initContainers")
}

func AllContainers(spec map[string]any) iter.Seq[map[string]any] {
	return containersIn(spec, "containers", "initContainers", "ephemeralContainers")
}

func containersIn(spec map[string]any, lists ...string) iter.Seq[map[string]any] {
	return func(yield func(map[string]any) bool) {
		for _, name := range lists {
			for c := range object.Each(spec[name]) {
				if !yield(c) {
					return
				}
			}
		}
	}
}

// readContainers is RegularContainers for functions that only read.
func readContainers(spec object.View) iter.Seq[object.View] {
	return func(yield func(object.View) bool) {
		for _, name := range [...]string{"containers", "initContainers"} {
			for c := range spec.At(name).Objects() {
				if !yield(c) {
					return
				}
			}
		}
	}
}

// eachContainer iterates over containers of all kinds.
func eachContainer(spec validation.View) iter.Seq[validation.View] {
	return func(yield func(validation.View) bool) {
		for _, list := range [...]string{"initContainers", "containers", "ephemeralContainers"} {
			for _, c := range spec.Each(list) {
				if !yield(c) {
					return
				}
			}
		}
	}
}

// hasContainer reports whether spec has a container of any kind with the name.
func hasContainer(spec map[string]any, name string) bool {
	for c := range AllContainers(spec) {
		if object.String(c, "name") == name {
			return true
		}
	}
	return false
}
