package wire

import (
	"strings"
	"sync"
)

// A Type is the Go type of a kind. It is immutable and safe for concurrent use.
type Type struct {
	root *node

	// protobuf is set if objects are stored in protobuf.
	protobuf bool

	// untypedData reports whether the type may have untyped data.
	untypedData func() bool

	// message returns the protobuf form of the type, nil if it has none.
	message func() *message
}

// kindKey identifies a kind in a release, by its minor number; 0 is the newest one.
type kindKey struct {
	minor                int
	group, version, kind string
}

// known caches Types: *Type by kindKey.
var known sync.Map

// ForKind returns the type of a built-in kind; the legacy group is "". It
// reports false for a kind that Kubernetes does not register in that group
// version.
//
// A group version has its kinds, their lists, the kinds of its subresources and
// those that the API machinery adds to all: DeleteOptions, Status, WatchEvent
// and so on. meta.k8s.io/v1 also has the structs that are not kinds, such as
// ObjectMeta.
//
// The first call for a kind reads the part of the table that it needs. Later
// calls return the same Type.
func ForKind(group, version, kind string) (*Type, bool) { return ForKindIn(0, group, version, kind) }

// ForKindIn is ForKind for a release, by its minor number: the type has the fields of
// that release. 0 is the newest release.
func ForKindIn(minor int, group, version, kind string) (*Type, bool) {
	key := kindKey{normalMinor(minor), group, version, kind}
	if t, ok := known.Load(key); ok {
		return t.(*Type), true
	}
	t := tableOf(key.minor).kind(key)
	if t == nil {
		return nil, false
	}
	shared, _ := known.LoadOrStore(key, t)
	return shared.(*Type), true
}

// ObjectMeta returns the type of the metadata of objects in the newest release.
func ObjectMeta() *Type { return objectMeta() }

var objectMeta = sync.OnceValue(func() *Type {
	t, ok := ForKind("meta.k8s.io", "v1", "ObjectMeta")
	if !ok {
		panic("wire: the type table has no ObjectMeta") // unreachable
	}
	return t
})

// GoName returns the name of the Go type, such as "v1.Deployment".
func (t *Type) GoName() string { return t.root.goType }

// kind creates the Type of a kind. It returns nil if there is none.
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
			root := t.node(spelling)
			return &Type{
				root:        root,
				protobuf:    marks == "kind protobuf",
				untypedData: sync.OnceValue(func() bool { return root.reachesRaw(map[*node]bool{}) }),
				message:     sync.OnceValue(func() *message { return t.lockedMessage(spelling) }),
			}
		}
	}
	return nil
}
