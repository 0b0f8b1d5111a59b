package fieldmanager

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/schema"
	"sigs.k8s.io/structured-merge-diff/v4/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v4/merge"
	"sigs.k8s.io/structured-merge-diff/v4/typed"
)

// A Kind describes one version of a kind to [New]. The types of its fields do not lead to those
// of structured-merge-diff: nearly all packages lead to a Kind, and Go would compile what is
// generic among those in each of them.
type Kind struct {
	// Group is "" for the legacy group.
	Group, Version, Kind string

	// Schema describes the objects. It is nil for custom resources without a
	// schema: maps are granular, lists are atomic and every field is known.
	Schema *schema.Schema

	// Zero is an object of the kind without any set field, in canonical form. A
	// creation is compared with it, so that the creator owns only what differs.
	// It is nil for custom resources, whose zero object has no members. New
	// takes ownership of it.
	Zero map[string]any

	// OmitEmpty returns obj without the empty lists and maps that its JSON
	// encoding omits. It must not modify obj. nil means that the encoding omits
	// none.
	OmitEmpty func(obj map[string]any) map[string]any

	// PartialKeys is whether an element of an associative list may omit some of its keys,
	// as kube-apiserver allows since release 1.34. Without any key it is never valid.
	PartialKeys bool

	// ApplyError, if it is not nil, is why kube-apiserver cannot convert an applied
	// object. An apply that changes anything fails with it.
	ApplyError error

	// Finish puts a merged object, which may have nulls of the applied
	// configuration, in canonical form and sets its defaults. merged shares with live the
	// members that the configuration does not change, and the result may share them too.
	// nil leaves it as it is. Errors of kinds without Zero are returned as they are.
	Finish func(live, merged map[string]any) (map[string]any, error)

	// ToInternal fails for a finished object that kube-apiserver cannot convert to its internal
	// version. nil never fails.
	ToInternal func(obj map[string]any) error
}

// A ConvertFunc converts an object of a kind from any version to another version of its
// group, and returns the Type of that version. It is called if an object has managers that
// wrote in other versions than the request. It must not modify obj and may return it. If
// the kind has no such version, the error wraps [ErrNoVersion], and entries in that version
// are dropped.
type ConvertFunc func(obj map[string]any, apiVersion string) (map[string]any, *Type, error)

// A Type records ownership in the objects of one version of a kind. It is
// safe for concurrent use. The first use compiles the schema:
// create one Type per version of a kind and keep it.
type Type struct {
	kind       Kind
	convertTo  ConvertFunc // nil if the kind has one version only
	apiVersion string
	zero       map[string]any
	compiled   func() *compiled
	prediction atomic.Pointer[prediction]
}

// New returns the Type of a kind that has no other versions. It compiles nothing yet.
func New(k Kind) *Type { return NewVersioned(k, nil) }

// NewVersioned returns the Type of one version of a kind that has others. It compiles nothing yet.
func NewVersioned(k Kind, convert ConvertFunc) *Type {
	t := &Type{kind: k, convertTo: convert, apiVersion: k.Version}
	if k.Group != "" {
		t.apiVersion = k.Group + "/" + k.Version
	}
	t.zero = WithoutManagedFields(k.Zero)
	t.zero["apiVersion"], t.zero["kind"] = t.apiVersion, k.Kind
	t.compiled = sync.OnceValue(func() *compiled { return compile(&t.kind) })
	return t
}

// asTyped returns an object as a typed value. The error describes where the
// object does not match the schema.
func (t *Type) asTyped(obj map[string]any, o ...typed.ValidationOptions) (*typed.TypedValue, error) {
	c := t.compiled()
	if c.untypedData {
		obj = object.WithoutRaw(obj)
	}
	v, err := c.FromUnstructured(obj, o...)
	if err != nil {
		if errs := t.mismatch(obj, slices.Contains(o, typed.AllowDuplicates)); errs != nil {
			err = errs
		}
	}
	return v, err
}

// mismatch returns how an object does not match the schema, nil if it does. Lists may have two elements
// of one key if duplicates is set.
func (t *Type) mismatch(obj map[string]any, duplicates bool) error {
	c := t.compiled()
	if c.untypedData {
		obj = object.WithoutRaw(obj)
	}
	errs := c.types.errors(obj, duplicates)
	if errs == nil {
		return nil
	}
	if !t.kind.PartialKeys {
		formatAgain(errs)
	}
	return errs
}

// convert returns an object in another version of the kind, without the empty lists
// and maps that its encoding omits, and that version's Type.
func (t *Type) convert(obj map[string]any, apiVersion string) (map[string]any, *Type, error) {
	if t.convertTo == nil {
		return nil, nil, fmt.Errorf("%w: %q", ErrNoVersion, apiVersion)
	}
	converted, to, err := t.convertTo(obj, apiVersion)
	if err == nil && to.kind.OmitEmpty != nil {
		converted = to.kind.OmitEmpty(converted)
	}
	return converted, to, err
}

// validate fails if an object does not match the schema, or if a list has two elements
// of one key.
func (t *Type) validate(obj map[string]any, p *pacer) error {
	return (&walker{pacer: p}).validate(t.compiled().types, obj, false)
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
