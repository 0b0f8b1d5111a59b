package resource

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/kubefake/kubefake/internal/codec"
	"github.com/kubefake/kubefake/internal/fieldmanager"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/schema"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/wire"
)

// BuiltinCodec returns the codec of a built-in kind. The first use of the codec
// reads the description of the kind's Go type. It panics for a kind that
// [wire.ForKind] does not find.
func BuiltinCodec(k Kind) Codec { return BuiltinCodecIn(0, k) }

// BuiltinCodecIn is BuiltinCodec for a release, by its minor number; 0 is the newest
// one.
func BuiltinCodecIn(minor int, k Kind) Codec { return newBuiltinCodec(minor, k) }

// VersionedCodecIn is BuiltinCodecIn for what kube-apiserver has in one version only, and not in
// an internal one, as it has the Scales of custom resources.
func VersionedCodecIn(minor int, k Kind) Codec {
	c := newBuiltinCodec(minor, k)
	c.versioned = true
	return c
}

func newBuiltinCodec(minor int, k Kind) *builtinCodec {
	return &builtinCodec{minor: minor, kind: k, wire: sync.OnceValue(func() *wire.Type {
		t, ok := wire.ForKindIn(minor, k.Group, k.Version, k.Kind)
		if !ok {
			panic("resource: no Go type is known for " + k.GroupVersion.String() + " " + k.Kind) // unreachable: a test reads every kind of every release
		}
		return t
	})}
}

type builtinCodec struct {
	minor     int // of the release, 0 for the newest one
	kind      Kind
	wire      func() *wire.Type
	versioned bool // see VersionedCodecIn
}

func (c *builtinCodec) Kind() Kind { return c.kind }

func (c *builtinCodec) Wire() *wire.Type { return c.wire() }

func (c *builtinCodec) Decode(body []byte, strict bool) (map[string]any, []error, error) {
	return c.wire().Decode(body, wire.DecodeOptions{Strict: strict})
}

func (c *builtinCodec) DecodeIdentified(body []byte, o wire.DecodeOptions) (map[string]any, []error, bool) {
	return c.wire().DecodeIdentified(body, o)
}

func (c *builtinCodec) DecodeStored(stored *wire.Encoded, version int64, live map[string]any, old *wire.Encoded) (map[string]any, error) {
	return stored.Decode(c.wire(), version, live, old)
}

func (c *builtinCodec) IsStored(obj, before map[string]any) bool {
	return c.wire().IsCanonical(obj, before)
}

func (c *builtinCodec) DecodeStrict(body []byte) (map[string]any, error) {
	obj, fieldErrors, err := c.Decode(body, true)
	if err == nil && len(fieldErrors) > 0 {
		err = StrictError(fieldErrors)
	}
	return obj, err
}

func (c *builtinCodec) CheckBody(body *codec.Document, strict bool) (got Kind, fieldErrors []error, err error) {
	got, err = BodyKind(body)
	if err != nil {
		return got, nil, UnrecognizedBody(c.kind, body.Body(), err)
	}
	if got = got.Or(c.kind); got == c.kind || got == oldEviction && c.kind.Group == got.Group && c.kind.Kind == got.Kind {
		return got, nil, nil
	}
	if other := c.other(got); other != nil {
		if _, fieldErrors, err = body.Decode(other, strict); err != nil {
			return got, nil, UndecodableBody(got, c.kind, err)
		}
	}
	if c.converts(got) {
		return got, fieldErrors, OtherVersion(got, c.kind)
	}
	return got, nil, UndecodableBody(got, c.kind, c.conversionError(got))
}

// oldEviction is accepted wherever policy/v1 Eviction is: kube-apiserver still
// serves Evictions in both versions.
var oldEviction = Kind{GroupVersion: GroupVersion{Group: "policy", Version: "v1beta1"}, Kind: "Eviction"}

// other returns the codec of another kind, nil if the scheme does not have that.
// kube-apiserver decodes an object as the kind that it gives before it compares the kinds.
func (c *builtinCodec) other(got Kind) Codec {
	if _, ok := wire.ForKindIn(c.minor, got.Group, got.Version, got.Kind); !ok || !c.registered(got) {
		return nil
	}
	return BuiltinCodecIn(c.minor, got)
}

// converts reports whether kube-apiserver decodes an object of another kind into the Go type
// in which it keeps those of the codec's, whether or not it serves the version of that kind.
func (c *builtinCodec) converts(got Kind) bool {
	return !c.versioned && sharesInternalType(got, c.kind) && c.registered(got)
}

// registered reports whether a kind is in the scheme in which kube-apiserver decodes the body. That of
// the Scales of custom resources has the kinds of their version, and older versions of Scale.
func (c *builtinCodec) registered(got Kind) bool {
	if c.versioned && got.GroupVersion != c.kind.GroupVersion && !sharesInternalType(got, c.kind) && !slices.Contains(unversionedKinds, got.Kind) {
		return false
	}
	return registered(c.minor, c.kind.Group, got)
}

// conversionError is the error of converting an object of another kind to the
// codec's. It is an unknownConversion for a kind that the scheme has.
func (c *builtinCodec) conversionError(got Kind) error {
	if !c.registered(got) {
		return NotRegistered(c.minor, got)
	}
	to := InternalPackage(c.kind.Group) + "." + c.kind.Kind
	if c.versioned {
		to = goType(c.kind)
	}
	return unknownConversion(fmt.Sprintf("converting (%s) to (%s): unknown conversion", goType(got), to))
}

// An unknownConversion is the error of a conversion between kinds that have nothing in common.
type unknownConversion string

func (e unknownConversion) Error() string { return string(e) }

func (c *builtinCodec) DecodePatched(doc []byte, strict bool) (obj map[string]any, fieldErrors []error, err error) {
	apiVersion, kind, err := wire.Identify(doc)
	if err != nil {
		return nil, nil, err
	}
	if apiVersion == "" && !c.versioned {
		return c.decodeInternal(doc, kind, strict)
	}
	return c.decodeNamed(doc, apiVersion, kind, strict)
}

// decodeNamed decodes a document as the kind that it gives, completed where the document leaves
// it out. It fails for a kind that kube-apiserver does not convert to the codec's.
func (c *builtinCodec) decodeNamed(doc []byte, apiVersion, kind string, strict bool) (obj map[string]any, fieldErrors []error, err error) {
	gv, err := ParseGroupVersion(apiVersion)
	if err != nil {
		return nil, nil, err
	}
	got := Kind{GroupVersion: gv, Kind: kind}.Or(c.kind)
	if got == c.kind {
		return c.Decode(doc, strict)
	}
	if got.Version == "" {
		return nil, nil, fmt.Errorf("Object 'apiVersion' is missing in '%s'", doc)
	}
	if other := c.other(got); other != nil {
		obj, fieldErrors, err = other.Decode(doc, strict)
		if err != nil || c.converts(got) {
			return obj, fieldErrors, err
		}
	}
	return nil, nil, c.conversionError(got)
}

func (c *builtinCodec) DecodeMutated(doc []byte, _ string) (map[string]any, error) {
	apiVersion, kind, err := wire.Identify(doc)
	if err != nil {
		return nil, err
	}
	obj, _, err := c.decodeNamed(doc, apiVersion, kind, false)
	var unknown unknownConversion
	if errors.As(err, &unknown) {
		return nil, status.Unclassified(unknown.Error())
	}
	return obj, err
}

// decodeInternal decodes a document without an apiVersion. kube-apiserver takes
// it for its internal version, whose fields have other names than the ones in
// JSON: the result is an empty object, and every field is unknown.
func (c *builtinCodec) decodeInternal(doc []byte, kind string, strict bool) (obj map[string]any, fieldErrors []error, err error) {
	if kind != "" && kind != c.kind.Kind {
		pkg := InternalPackage(c.kind.Group)
		if _, known := wire.ForKindIn(c.minor, c.kind.Group, c.kind.Version, kind); !known {
			return nil, nil, fmt.Errorf("no kind %q is registered for the internal version of group %q in scheme %q", kind, c.kind.Group, Scheme(c.minor))
		}
		return nil, nil, fmt.Errorf("converting (%s.%s) to (%s.%s): unknown conversion", pkg, kind, pkg, c.kind.Kind)
	}
	if strict {
		fieldErrors, err = UnknownMembers(doc, "kind", "apiVersion")
	}
	return map[string]any{}, fieldErrors, err
}

// UnknownMembers returns a field error for each member of a JSON object whose
// name is not among known, sorted by name.
func UnknownMembers(doc []byte, known ...string) (fieldErrors []error, err error) {
	members, _, err := wire.DecodeUntyped(doc, wire.DecodeOptions{})
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if !slices.Contains(known, name) {
			fieldErrors = append(fieldErrors, fmt.Errorf("unknown field %q", name))
		}
	}
	return fieldErrors, nil
}

func (c *builtinCodec) Normalize(obj map[string]any, strict bool) (map[string]any, []error, error) {
	return c.wire().Normalize(obj, wire.DecodeOptions{Strict: strict})
}

func (c *builtinCodec) NormalizeApplied(obj map[string]any) (map[string]any, error) {
	normal, _, err := c.wire().Convert(obj, wire.DecodeOptions{})
	if err != nil {
		return nil, fmt.Errorf("unable to convert unstructured object to %s: %w", c.Kind().Long(), err)
	}
	return normal, nil
}

func (c *builtinCodec) Append(dst []byte, obj map[string]any) []byte {
	return c.wire().Append(dst, obj)
}

func (c *builtinCodec) EncodeStored(obj, live map[string]any, old *wire.Encoded) wire.Encoded {
	return c.wire().Encode(obj, live, old)
}

func (c *builtinCodec) PatchDocument(stored []byte, _ map[string]any) []byte { return stored }

func (c *builtinCodec) ToUnstructured(obj map[string]any) map[string]any {
	omitsNothing := object.All(obj, func(_ string, v any) bool {
		list, isList := v.([]any)
		return v != any(object.EmptyMap{}) && (!isList || len(list) > 0)
	})
	if obj == nil || omitsNothing && !wire.NullCreation(c.minor) && !c.wire().HasUntypedData() {
		return obj
	}
	out, _, err := wire.DecodeUntyped(c.Append(nil, obj), wire.DecodeOptions{})
	if err != nil {
		panic("resource: an encoded object does not decode: " + err.Error()) // unreachable: Append wrote it
	}
	return out
}

func (c *builtinCodec) MergeSchema(documents schema.Documents) (*schema.Schema, bool) {
	return schema.ForKind(documents, c.kind.Group, c.kind.Version, c.kind.Kind)
}

func (c *builtinCodec) ManagedKind(documents schema.Documents) fieldmanager.Kind {
	zero, _, err := c.Normalize(map[string]any{"kind": c.kind.Kind, "apiVersion": c.kind.GroupVersion.String()}, false)
	if err != nil {
		panic("resource: an empty object does not decode: " + err.Error()) // unreachable: no field is required
	}
	s, _ := c.MergeSchema(documents)
	return fieldmanager.Kind{
		Group: c.kind.Group, Version: c.kind.Version, Kind: c.kind.Kind,
		Schema: s, Zero: zero, OmitEmpty: c.wire().OmitEmpty,
	}
}

// StrictError returns the error of a strict decoding with field errors.
func StrictError(fieldErrors []error) error {
	texts := make([]string, len(fieldErrors))
	for i, e := range fieldErrors {
		texts[i] = e.Error()
	}
	return errors.New("strict decoding error: " + strings.Join(texts, ", "))
}
