package controller

import (
	"cmp"

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
	generic map[string]any // decoded on first use
}

// Key returns the key of the object.
func (o *Object) Key() Key { return Key{o.Namespace, o.Name} }

// Generic returns the object in generic form. The caller must not change it.
func (o *Object) Generic() map[string]any {
	if o.generic == nil {
		o.generic = o.Decode(o.Type)
	}
	return o.generic
}

// Copy returns a copy of the object in generic form. The caller owns it.
func (o *Object) Copy() map[string]any { return object.Copy(o.Generic()) }

// Resource returns the resource of the object.
func (o *Object) Resource() Resource { return ResourceOf(o.Type) }
