package fieldmanager

import (
	"errors"
	"fmt"
	"sync"

	"github.com/kubefake/kubefake/internal/schema"
	"sigs.k8s.io/structured-merge-diff/v4/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v4/merge"
	"sigs.k8s.io/structured-merge-diff/v4/typed"
)

// A Kind is what a Type is made of.
type Kind struct {
	// Group is "" for the legacy group.
	Group, Version, Kind string

	// Schema describes the objects. nil is for custom resources without one:
	// then maps are granular, lists are atomic and every field is known.
	Schema *schema.Schema

	// Zero is an object of the kind in which nothing is set, in canonical form:
	// what a creation starts from. A creation owns none of it but what it
	// changes. nil is for custom resources, whose zero object has no members.
	// New keeps it.
	Zero map[string]any

	// Tidy returns an object without those empty lists and maps that its JSON does
	// not show. It must not modify obj. nil: objects have no such.
	Tidy func(obj map[string]any) map[string]any

	// Convert gives an object of the kind, in whatever version it is, the form
	// that it has in another version of its group, and the Type of that version.
	// It is asked when an object has managers that wrote in other versions than
	// the request does. It must not modify obj and may return it. Its error
	// wraps ErrNoVersion when the kind has no such version: then the entries in
	// that version are dropped. nil: there is one version only.
	Convert func(obj map[string]any, apiVersion string) (map[string]any, *Type, error)
}

// A Type tracks ownership in the objects of one version of a kind. It is
// immutable and safe for concurrent use. Make one per version of a kind and keep
// it: the first use compiles the schema.
type Type struct {
	kind       Kind
	apiVersion string
	zero       map[string]any
	compiled   func() *compiled
}

// New returns the Type of a kind. It compiles nothing yet.
func New(k Kind) *Type {
	t := &Type{kind: k, apiVersion: k.Version}
	if k.Group != "" {
		t.apiVersion = k.Group + "/" + k.Version
	}
	t.zero = withoutManagedFields(k.Zero)
	t.zero["apiVersion"], t.zero["kind"] = t.apiVersion, k.Kind
	t.compiled = sync.OnceValue(func() *compiled { return compile(k.Schema) })
	return t
}

// asTyped gives an object its type. Its error says where the object does not have
// the form that the schema tells.
func (t *Type) asTyped(obj map[string]any, o ...typed.ValidationOptions) (*typed.TypedValue, error) {
	return t.compiled().FromUnstructured(obj, o...)
}

// convert returns an object in another version of the kind, and the Type of that.
func (t *Type) convert(obj map[string]any, apiVersion string) (map[string]any, *Type, error) {
	if t.kind.Convert == nil {
		return nil, nil, fmt.Errorf("%w: %q", ErrNoVersion, apiVersion)
	}
	return t.kind.Convert(obj, apiVersion)
}

// A converter converts typed values between the versions of a kind.
type converter struct{ *Type }

var _ merge.Converter = converter{}

// Convert implements merge.Converter.
func (c converter) Convert(v *typed.TypedValue, version fieldpath.APIVersion) (*typed.TypedValue, error) {
	obj, ok := v.AsValue().Unstructured().(map[string]any)
	if !ok {
		return v, fmt.Errorf("failed to convert value to unstructured for type %T", obj)
	}
	if obj["apiVersion"] == string(version) {
		return v, nil
	}
	obj, to, err := c.convert(obj, string(version))
	if err != nil {
		return v, err
	}
	return to.asTyped(obj)
}

// IsMissingVersionError implements merge.Converter.
func (c converter) IsMissingVersionError(err error) bool { return errors.Is(err, ErrNoVersion) }
