package controller

import (
	"bytes"
	"cmp"
	"encoding/json"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/storage"
)

// A Key is the namespace and the name of an object. Namespace is "" at cluster
// scope.
type Key struct{ Namespace, Name string }

// String returns the key as messages of controllers have it: "default/web", or
// "web" at cluster scope.
func (k Key) String() string {
	if k.Namespace == "" {
		return k.Name
	}
	return k.Namespace + "/" + k.Name
}

func compareKeys(a, b Key) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// An Object is one version of a stored object. It is shared, and immutable but for
// what it caches. It is not safe for concurrent use: it belongs to the Runtime that
// it comes from.
type Object struct {
	*storage.Object
	Type    *resource.Type
	decoded *storage.Decoded // on first use
	links   *links           // decoded on first use
}

// Key returns the key of the object.
func (o *Object) Key() Key { return Key{o.Namespace, o.Name} }

// View returns a view of the object. Use Copy for an object that is to be changed.
func (o *Object) View() object.View {
	if o.decoded == nil {
		o.decoded = o.Decoded(o.Type)
	}
	return o.decoded.View()
}

// Copy returns a copy of the object in generic form. The caller owns it.
func (o *Object) Copy() map[string]any { return o.View().CopyObject() }

// Resource returns the resource of the object.
func (o *Object) Resource() Resource { return ResourceOf(o.Type) }

// An OwnerReference is an element of metadata.ownerReferences.
type OwnerReference struct {
	APIVersion         string `json:"apiVersion"`
	Kind               string `json:"kind"`
	Name               string `json:"name"`
	UID                string `json:"uid"`
	Controller         bool   `json:"controller"`
	BlockOwnerDeletion bool   `json:"blockOwnerDeletion"`
}

// links are the parts of metadata by which an object depends on others.
type links struct {
	OwnerReferences []OwnerReference `json:"ownerReferences"`
	Finalizers      []string         `json:"finalizers"`
}

// Owners returns the owner references of the object. It does not decode the rest of
// the object. The caller must not change them.
func (o *Object) Owners() []OwnerReference { return o.readLinks().OwnerReferences }

// Finalizers returns the finalizers of the object. It does not decode the rest of the
// object. The caller must not change them.
func (o *Object) Finalizers() []string { return o.readLinks().Finalizers }

func (o *Object) readLinks() *links {
	if o.links != nil {
		return o.links
	}
	if o.decoded != nil {
		o.links = linksOf(o.View().At("metadata"))
		return o.links
	}
	o.links = &noLinks
	// Names in managed fields have the prefix f:, so they do not match.
	if meta := o.Metadata(); bytes.Contains(meta, []byte(`"ownerReferences":`)) || bytes.Contains(meta, []byte(`"finalizers":`)) {
		o.links = &links{}
		_ = json.Unmarshal(meta, o.links) // what the store has is valid
	}
	return o.links
}

// linksOf returns the links in metadata in generic form.
func linksOf(meta object.View) *links {
	finalizers, refs := meta.Strings("finalizers"), meta.At("ownerReferences")
	if len(finalizers) == 0 && refs.Len() == 0 {
		return &noLinks
	}
	l := &links{Finalizers: finalizers}
	for ref := range refs.Objects() {
		l.OwnerReferences = append(l.OwnerReferences, OwnerReference{
			APIVersion: ref.String("apiVersion"), Kind: ref.String("kind"), Name: ref.String("name"), UID: ref.String("uid"),
			Controller: ref.Bool("controller"), BlockOwnerDeletion: ref.Bool("blockOwnerDeletion"),
		})
	}
	return l
}

var noLinks links
