// Package resource describes the resource types that a server serves. Built-in
// and custom types are the same struct: the release data defines the former, a
// CustomResourceDefinition the latter. The [Codec] of a type hides the
// differences.
package resource

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/table"
)

// A GroupVersion names one version of one API group. The legacy group is "".
type GroupVersion struct {
	Group, Version string
}

// String returns the apiVersion of objects: "apps/v1", or "v1" for the legacy
// group.
func (gv GroupVersion) String() string {
	if gv.Group == "" {
		return gv.Version
	}
	return gv.Group + "/" + gv.Version
}

// ParseGroupVersion parses an apiVersion.
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

// A Kind identifies the type of an object in one version.
type Kind struct {
	GroupVersion
	Kind string
}

// A Type is a resource as served in one version. Types are immutable once they
// are in a [Types].
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

	// Stored is the storage version. The types of one resource in several
	// versions share it and Prefix.
	Stored GroupVersion

	// PublishedStored is the storage version of a built-in resource in the release, of which
	// discovery publishes a hash. It is Stored unless this server stores another one.
	PublishedStored GroupVersion

	// UnservedStored is whether the storage version of a custom resource is not served. Discovery
	// publishes no hash of it then.
	UnservedStored bool

	// Prefix is the prefix of the resource's keys in the store:
	// "/deployments.apps/".
	Prefix string

	// EtcdFolder is the folder of the objects in kube-apiserver's etcd, below
	// /registry. "" means the folder of the built-in resource; see EtcdKey.
	EtcdFolder string

	// Since is the revision at which the type was first served, 0 for a type
	// that always was. kube-apiserver's watch cache begins there.
	Since int64

	// Warnings are sent with the response to every request.
	Warnings []string

	// Versions are the types of this resource in all its versions, including
	// this one and those that are not served. It is nil if objects are stored
	// as they are served: in one version, whose fields never change.
	Versions []*Type

	// Convert converts objects of the resource from their versions to this
	// type's. It takes ownership of objs. It is nil if Versions is. The result may
	// have fields that this version does not have; see Prune.
	Convert func(ctx context.Context, objs []map[string]any) ([]map[string]any, error)
	// HasConversionWebhook is whether Convert calls a webhook, which may convert an object
	// otherwise than it did before.
	HasConversionWebhook bool

	// Prune removes from a converted object the fields that this version does not
	// have. It is nil if Convert leaves none.
	Prune func(obj map[string]any) error

	// WithoutUnknown returns the result of an apply, or of a write of the Scale, without the
	// fields that this version does not have: obj itself if it has none, a copy otherwise. It is
	// nil if there can be none.
	WithoutUnknown func(obj map[string]any) map[string]any

	// UnknownVersion returns the error of a conversion to an apiVersion that the
	// resource does not have. It is nil for a resource whose managed fields may be
	// of other resources' versions: the field manager drops those.
	UnknownVersion func(apiVersion string) error

	// Codec reads and writes objects in this version.
	Codec Codec

	// Layout prints the objects in Tables. Nil means table.Default.
	Layout *table.Layout

	// Strategy defines the behaviour of this resource. It is nil for virtual
	// resources, whose objects are not stored.
	*Strategy
}

// Virtual reports whether the type's objects are only returned and never
// stored.
func (t *Type) Virtual() bool { return t.Strategy == nil }

// Allows reports whether discovery lists the verb for the type.
func (t *Type) Allows(verb string) bool { return slices.Contains(t.Verbs, verb) }

// In returns the type of the resource in the version of an apiVersion, or nil.
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

// ConvertCopy returns a copy of an object of the resource in the version of t, nil for nothing.
func (t *Type) ConvertCopy(ctx context.Context, obj object.View) (map[string]any, error) {
	if obj.IsNil() {
		return nil, nil
	}
	out, err := t.Convert(ctx, []map[string]any{obj.CopyObject()})
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

// ConvertPatched converts an object of the resource, or of its subresource with the codec, to the
// version of the codec, if a patch has changed its apiVersion. lookup returns the type that serves
// a kind, or nil. The fields of a version that is not served are read as those of the codec's.
func (t *Type) ConvertPatched(ctx context.Context, c Codec, obj map[string]any, lookup func(Kind) *Type) (map[string]any, error) {
	apiVersion, _ := obj["apiVersion"].(string)
	if apiVersion == "" || c.Kind().Fits(obj) {
		return obj, nil
	}
	gv, err := ParseGroupVersion(apiVersion)
	if err != nil {
		return nil, err
	}
	from := t.In(apiVersion)
	switch {
	case from != nil:
	case t.UnknownVersion != nil:
		return nil, fmt.Errorf("request to convert CR from an invalid group/version: %s", apiVersion)
	default:
		from = lookup(Kind{GroupVersion: gv, Kind: c.Kind().Kind})
	}
	if from != nil && t.Convert != nil {
		if !from.Virtual() {
			from.SetDefaults(obj, object.View{})
		}
		objs, err := t.Convert(ctx, []map[string]any{obj})
		if err != nil {
			return nil, err
		}
		obj = objs[0]
	}
	obj["kind"], obj["apiVersion"] = c.Kind().Kind, c.Kind().GroupVersion.String()
	obj, _, err = c.Normalize(obj, false)
	return obj, err
}

// SetFrom sets obj, an object of this type, to what the conversion of stored gives, which is in another
// version and is not changed. The map of the metadata stays that of obj.
func (t *Type) SetFrom(obj, stored map[string]any) error {
	converted, err := t.Convert(context.Background(), []map[string]any{object.Copy(stored)})
	if err != nil {
		return err
	}
	meta := object.Meta(obj)
	clear(meta)
	maps.Copy(meta, object.Meta(converted[0]))
	clear(obj)
	maps.Copy(obj, converted[0])
	obj["metadata"] = meta
	return nil
}

// Storage returns the type in the storage version.
func (t *Type) Storage() *Type {
	for _, v := range t.Versions {
		if v.GroupVersion == t.Stored {
			return v
		}
	}
	return t
}

// Key returns the key of an object in the store. namespace is "" for a
// cluster-scoped type.
func (t *Type) Key(namespace, name string) string {
	if namespace == "" {
		return t.Prefix + name
	}
	return t.Prefix + namespace + "/" + name
}

// KeyPrefix returns the prefix of the keys of a namespace's objects, or of all
// objects if namespace is "".
func (t *Type) KeyPrefix(namespace string) string {
	if namespace == "" {
		return t.Prefix
	}
	return t.Prefix + namespace + "/"
}

// A Subresource is a subresource of a Type, such as status or scale. Its kind
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

// Long returns the kind as messages print a schema.GroupVersionKind: "apps/v1, Kind=Deployment",
// with a slash in the legacy group too.
func (k Kind) Long() string { return k.Group + "/" + k.Version + ", Kind=" + k.Kind }

// Fits reports whether an object's kind and apiVersion are those of k. A
// missing one fits.
func (k Kind) Fits(obj map[string]any) bool {
	kind, _ := obj["kind"].(string)
	apiVersion, _ := obj["apiVersion"].(string)
	return (kind == "" || kind == k.Kind) && (apiVersion == "" || apiVersion == k.GroupVersion.String())
}

// Or returns k with its empty parts taken from other.
func (k Kind) Or(other Kind) Kind {
	if k.Kind == "" {
		k.Kind = other.Kind
	}
	if k.Version == "" && (k.Group == "" || k.Group == other.Group) {
		k.GroupVersion = other.GroupVersion
	}
	return k
}
