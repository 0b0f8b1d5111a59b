package crd

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/sortedset"
)

// ServedVersions are the group versions of which definitions serve a version, also before
// their names are accepted. It is immutable.
type ServedVersions struct{ set sortedset.Set[servedVersion] }

// A servedVersion is a version that a definition serves.
type servedVersion struct {
	resource.GroupVersion
	definition string
}

func servedVersionLess(a, b servedVersion) bool {
	return cmp.Or(strings.Compare(a.Group, b.Group), strings.Compare(a.Version, b.Version), strings.Compare(a.definition, b.definition)) < 0
}

// NewServedVersions returns the versions of no definition.
func NewServedVersions() *ServedVersions {
	return &ServedVersions{sortedset.New(servedVersionLess)}
}

// Replace returns the versions without those of old and with those of replacement: an earlier
// and a later state of one definition, or nil.
func (s *ServedVersions) Replace(old, replacement object.View) *ServedVersions {
	before, after := servedVersions(old), servedVersions(replacement)
	if slices.Equal(before, after) {
		return s
	}
	return &ServedVersions{s.set.With(before, after)}
}

// Has reports whether a definition serves a version of the group version.
func (s *ServedVersions) Has(gv resource.GroupVersion) bool {
	first, ok := s.set.First(servedVersion{GroupVersion: gv})
	return ok && first.GroupVersion == gv
}

// All yields the group versions of which a definition serves a version, in the order of their
// groups; one of several definitions more than once.
func (s *ServedVersions) All() iter.Seq[resource.GroupVersion] {
	return func(yield func(resource.GroupVersion) bool) {
		for v := range s.set.All() {
			if !yield(v.GroupVersion) {
				return
			}
		}
	}
}

// GroupVersions returns the group versions of the versions that a definition serves, none for
// nil.
func GroupVersions(obj object.View) []resource.GroupVersion {
	var out []resource.GroupVersion
	for v := range obj.At("spec", "versions").Objects() {
		if v.Bool("served") {
			out = append(out, resource.GroupVersion{Group: obj.String("spec", "group"), Version: v.String("name")})
		}
	}
	return out
}

func servedVersions(obj object.View) []servedVersion {
	var out []servedVersion
	for _, gv := range GroupVersions(obj) {
		out = append(out, servedVersion{gv, obj.String("metadata", "name")})
	}
	return out
}
