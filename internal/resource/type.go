// Package resource holds what the server knows about each resource type it
// serves. Built-in and custom types are the same struct: a profile fills one,
// a CustomResourceDefinition fills the other, and no handler asks which.
package resource

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// A GroupVersion names one version of one API group. The legacy group is "".
type GroupVersion struct {
	Group, Version string
}

// String is the form objects carry in apiVersion: "apps/v1", or "v1" for the
// legacy group.
func (gv GroupVersion) String() string {
	if gv.Group == "" {
		return gv.Version
	}
	return gv.Group + "/" + gv.Version
}

// ParseGroupVersion reads an apiVersion, the form that String writes.
func ParseGroupVersion(s string) (GroupVersion, error) {
	switch strings.Count(s, "/") {
	case 0:
		return GroupVersion{Version: s}, nil
	case 1:
		group, version, _ := strings.Cut(s, "/")
		return GroupVersion{Group: group, Version: version}, nil
	}
	return GroupVersion{}, fmt.Errorf("unexpected GroupVersion string: %s", s)
}

// A Kind names the type of an object in one version.
type Kind struct {
	GroupVersion
	Kind string
}

// A Type is one resource as served in one version: an entry of discovery.
// Types are immutable once they are in a Registry.
type Type struct {
	GroupVersion
	Name       string // the URL noun: "deployments"
	Singular   string // "deployment"
	Kind       string // "Deployment"
	ListKind   string // "DeploymentList"
	Namespaced bool
	Verbs      []string // sorted, as discovery lists them
	ShortNames []string
	Categories []string

	Subresources []Subresource // sorted by name

	// Stored is the group version that objects of this resource are kept in;
	// types that serve one resource in several versions share it and Prefix.
	Stored GroupVersion

	// Prefix begins the store's keys of this resource: "/deployments.apps/".
	Prefix string

	// EtcdFolder is the folder of the objects in kube-apiserver's etcd, below
	// /registry. "" stands for the one that kube-apiserver configures for the
	// built-in resource; see EtcdKey.
	EtcdFolder string

	// Since is the revision from which on there can be objects, 0 for a type that
	// has always been there. kube-apiserver's watch cache begins there.
	Since int64

	// Warnings are what every request is told.
	Warnings []string

	// Versions are the types of this resource, one for each version of it, this
	// one among them, whether they are served or not. It is nil where objects
	// are kept as they are served: in one version, whose fields never change.
	Versions []*Type

	// Convert brings objects of the resource, which are in the versions that
	// they say, to this type's version. They are the callee's. It is nil where
	// Versions is.
	Convert func(ctx context.Context, objs []map[string]any) ([]map[string]any, error)

	// Codec reads and writes objects in this version.
	Codec Codec

	// Strategy is how objects of this resource are treated. It is nil for
	// virtual resources, which are asked and not stored.
	*Strategy
}

// Virtual reports whether the type's objects are answered and never stored.
func (t *Type) Virtual() bool { return t.Strategy == nil }

// Allows reports whether discovery lists the verb for the type.
func (t *Type) Allows(verb string) bool { return slices.Contains(t.Verbs, verb) }

// In returns the type of the resource in the version that objects give as
// their apiVersion, or nil.
func (t *Type) In(apiVersion string) *Type {
	if t.GroupVersion.String() == apiVersion {
		return t
	}
	for _, v := range t.Versions {
		if v.GroupVersion.String() == apiVersion {
			return v
		}
	}
	return nil
}

// Storage is the type in the version that objects are kept in.
func (t *Type) Storage() *Type {
	for _, v := range t.Versions {
		if v.GroupVersion == t.Stored {
			return v
		}
	}
	return t
}

// Key is the store's key of an object. namespace is "" for a cluster-scoped
// type.
func (t *Type) Key(namespace, name string) string { return t.KeyPrefix(namespace) + name }

// KeyPrefix begins the keys of a namespace's objects, or of all objects when
// namespace is "".
func (t *Type) KeyPrefix(namespace string) string {
	if namespace == "" {
		return t.Prefix
	}
	return t.Prefix + namespace + "/"
}

// A Subresource is one named part of a Type, such as status or scale. Its kind
// may belong to another group than the type's: deployments/scale is an
// autoscaling/v1 Scale.
type Subresource struct {
	Name  string
	Kind  Kind
	Verbs []string
}

// Subresource returns the subresource of that name, or nil.
func (t *Type) Subresource(name string) *Subresource {
	for i := range t.Subresources {
		if t.Subresources[i].Name == name {
			return &t.Subresources[i]
		}
	}
	return nil
}

// Fits reports whether an object's kind and apiVersion, where it has any, are
// those of k.
func (k Kind) Fits(obj map[string]any) bool {
	kind, _ := obj["kind"].(string)
	apiVersion, _ := obj["apiVersion"].(string)
	return (kind == "" || kind == k.Kind) && (apiVersion == "" || apiVersion == k.GroupVersion.String())
}

// Or is k with what it leaves open taken from other.
func (k Kind) Or(other Kind) Kind {
	if k.Kind == "" {
		k.Kind = other.Kind
	}
	if k.Version == "" && (k.Group == "" || k.Group == other.Group) {
		k.GroupVersion = other.GroupVersion
	}
	return k
}
