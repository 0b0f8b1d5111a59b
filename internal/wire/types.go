package wire

import (
	"strings"
	"sync"
)

// A Type is the Go type of a kind. It is immutable and safe for concurrent use.
type Type struct {
	root *node

	// protobuf is whether objects pass through protobuf on their way into
	// storage.
	protobuf bool

	// message finds how protobuf sees the type, nil if it does not.
	message func() *message
}

// kindKey names a kind.
type kindKey struct{ group, version, kind string }

// known holds the Types that have been asked for: *Type by kindKey.
var known sync.Map

// ForKind returns the type of a built-in kind; the legacy group is "". It
// reports false for a kind that Kubernetes does not register in that group
// version.
//
// Each group version has its kinds, their lists, the kinds of its subresources
// and those that the API machinery adds to all: DeleteOptions, Status, WatchEvent
// and so on. In meta.k8s.io/v1 the structs that are no kinds are found too, such
// as ObjectMeta.
//
// The first call for a kind opens the part of the table that it needs; the calls
// after it share the same Type.
func ForKind(group, version, kind string) (*Type, bool) {
	key := kindKey{group, version, kind}
	if t, ok := known.Load(key); ok {
		return t.(*Type), true
	}
	t := builtin().kind(key)
	if t == nil {
		return nil, false
	}
	shared, _ := known.LoadOrStore(key, t)
	return shared.(*Type), true
}

// GoName is the name of the Go type, such as "v1.Deployment".
func (t *Type) GoName() string { return t.root.goType }

// kind makes the Type of a kind, or returns nil if there is none.
func (t *table) kind(key kindKey) *Type {
	t.mu.Lock()
	defer t.mu.Unlock()
	gv := key.version
	if key.group != "" {
		gv = key.group + "/" + key.version
	}
	own, ok := t.packages[gv]
	if !ok {
		return nil
	}
	for _, pkg := range []string{own, metaPackage} {
		decl := t.declarations(pkg)[key.kind]
		head, _, _ := strings.Cut(decl, "\n")
		word, marks, _ := strings.Cut(head, " ")
		if word == "struct" && (marks != "" || own == metaPackage) {
			spelling := pkg + "." + key.kind
			return &Type{
				root:     t.node(spelling),
				protobuf: marks == "kind protobuf",
				message:  sync.OnceValue(func() *message { return t.lockedMessage(spelling) }),
			}
		}
	}
	return nil
}
