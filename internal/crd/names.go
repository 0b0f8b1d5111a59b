package crd

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/sortedset"
)

// Names are the accepted names of definitions. It is immutable.
type Names struct{ set sortedset.Set[usedName] }

// A usedName is a name in status.acceptedNames of a definition.
type usedName struct {
	group      string
	isKind     bool // a kind or list kind; a resource name otherwise
	name       string
	definition string
}

func usedNameLess(a, b usedName) bool {
	if a.isKind != b.isKind {
		return b.isKind
	}
	return cmp.Or(strings.Compare(a.group, b.group), strings.Compare(a.name, b.name), strings.Compare(a.definition, b.definition)) < 0
}

// NewNames returns the names of no definition.
func NewNames() *Names { return &Names{sortedset.New(usedNameLess)} }

// Replace returns the names without those of old and with those of replacement: an earlier
// and a later state of one definition, or nothing.
func (n *Names) Replace(old, replacement object.View) *Names {
	before, after := acceptedNames(old), acceptedNames(replacement)
	if slices.Equal(before, after) {
		return n
	}
	return &Names{n.set.With(before, after)}
}

// acceptedNames returns the accepted names of a definition, none for nothing.
func acceptedNames(obj object.View) []usedName {
	if obj.IsNil() {
		return nil
	}
	names := obj.At("status", "acceptedNames")
	group, definition := obj.String("spec", "group"), obj.String("metadata", "name")
	var out []usedName
	for _, name := range append(names.Strings("shortNames"), names.String("plural"), names.String("singular")) {
		out = append(out, usedName{group, false, name, definition})
	}
	for _, field := range []string{"kind", "listKind"} {
		out = append(out, usedName{group, true, names.String(field), definition})
	}
	return out
}

// hasResource reports whether a definition of the group has a plural, a singular or a short
// name.
func (n *Names) hasResource(group, name string) bool { return n.has(group, false, name) }

// hasKind reports whether a definition of the group has a kind or a list kind.
func (n *Names) hasKind(group, name string) bool { return n.has(group, true, name) }

func (n *Names) has(group string, isKind bool, name string) bool {
	first, ok := n.set.First(usedName{group, isKind, name, ""})
	return ok && first.group == group && first.isKind == isKind && first.name == name
}
