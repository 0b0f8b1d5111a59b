package crd

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/kubefake/kubefake/internal/codec"
	"github.com/kubefake/kubefake/internal/fieldmanager"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/schema"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/validation"
	"github.com/kubefake/kubefake/internal/wire"
)

// A customCodec reads and writes the custom resources of one version. An object
// is any JSON object with valid metadata. Fields that the version's schema does
// not have are pruned.
type customCodec struct {
	kind        resource.Kind
	props       map[string]any // the schema as the definition has it
	schema      *schema.Schema
	versions    map[string]*schema.Schema // of all versions of the definition
	keepUnknown bool                      // spec.preserveUnknownFields: prunes nothing
	stored      bool                      // the version is the one of stored objects
	release     validation.Release
}

var _ resource.Codec = (*customCodec)(nil)

func (c *customCodec) Kind() resource.Kind { return c.kind }

// Wire implements [resource.Codec]. Custom resources have no Go type.
func (c *customCodec) Wire() *wire.Type { return nil }

func (c *customCodec) Decode(body []byte, strict bool) (map[string]any, []error, error) {
	if obj, ok := wire.DecodeCustom(body); ok {
		return c.coerceDecoded(obj, strict)
	}
	obj, fieldErrors, err := wire.DecodeUntyped(body, wire.DecodeOptions{Strict: strict})
	if err != nil {
		return nil, nil, err
	}
	return c.coerceNamed(obj, fieldErrors, schema.CoerceOptions{Strict: strict})
}

func (c *customCodec) DecodeIdentified(body []byte, o wire.DecodeOptions) (map[string]any, []error, bool) {
	obj, ok := wire.DecodeCustomIdentified(body, o.Live)
	if !ok {
		return nil, nil, false
	}
	obj, fieldErrors, err := c.coerceDecoded(obj, o.Strict)
	return obj, fieldErrors, err == nil
}

func (c *customCodec) DecodeStored(stored *wire.Encoded, version int64, live map[string]any, old *wire.Encoded) (map[string]any, error) {
	obj, shared, ok := stored.DecodeCustom(version, live, old)
	if !ok {
		return nil, errors.New("not as it was encoded")
	}
	obj, _, err := c.coerceDecoded(obj, false)
	if err != nil {
		return nil, err
	}
	for _, name := range shared {
		obj[name] = live[name]
	}
	return obj, nil
}

func (c *customCodec) DecodeStrict(body []byte) (map[string]any, error) {
	obj, _, err := c.Decode(body, false)
	return obj, err
}

func (c *customCodec) CheckBody(body *codec.Document, strict bool) (got resource.Kind, fieldErrors []error, err error) {
	got, err = resource.BodyKind(body)
	switch {
	case err != nil:
		return got, nil, resource.UnrecognizedBody(c.kind, body.Body(), err)
	case got.Kind == "" && !strict:
		return got, nil, resource.UndecodableBody(got.Or(c.kind), c.kind, missingKind(body.Body()))
	case got.Kind == "":
		return got, nil, resource.UnrecognizedBody(c.kind, body.Body(), missingKind(body.Body()))
	case got.GroupVersion != c.kind.GroupVersion:
		if _, fieldErrors, err = body.Decode(c, strict); err != nil {
			return got, nil, resource.UndecodableBody(got, c.kind, err)
		}
		return got, fieldErrors, resource.OtherVersion(got, c.kind)
	}
	return got, nil, nil
}

func (c *customCodec) DecodePatched(doc []byte, strict bool) (obj map[string]any, fieldErrors []error, err error) {
	apiVersion, kind, err := wire.Identify(doc)
	if err != nil {
		return nil, nil, err
	}
	if kind == "" {
		return nil, nil, missingKind(doc)
	}
	if _, err := resource.ParseGroupVersion(apiVersion); err != nil {
		return nil, nil, err
	}
	return c.Decode(doc, strict)
}

func (c *customCodec) DecodeMutated(doc []byte, name string) (map[string]any, error) {
	if _, _, err := wire.Identify(doc); err != nil {
		return nil, err
	}
	obj, _, err := wire.DecodeUntyped(doc, wire.DecodeOptions{})
	if err != nil {
		return nil, err
	}
	kind := object.String(obj, "kind")
	if kind == "" {
		return nil, missingKind(doc)
	}
	gv, err := resource.ParseGroupVersion(object.String(obj, "apiVersion"))
	if err != nil {
		return nil, err
	}
	got := resource.Kind{GroupVersion: gv, Kind: kind}
	switch {
	case gv.Group != c.kind.Group:
		return nil, status.Unclassified(fmt.Sprintf("%s is unstructured and is not suitable for converting to %q", got.Long(), c.kind.GroupVersion))
	case kind != c.kind.Kind:
		return nil, status.Invalid(groupKind(got), name, validation.List{c.kindError(got)})
	}
	meta, hasMetadata := obj["metadata"]
	_, isObject := meta.(map[string]any)
	if !isObject {
		delete(obj, "metadata")
	}
	var none *schema.Schema // that of the version is applied when the object is stored
	_, err = none.Coerce(obj, schema.CoerceOptions{DropInvalid: true, KeepUnknown: true})
	if hasMetadata && !isObject {
		obj["metadata"] = nil
	}
	return obj, err
}

func groupKind(k resource.Kind) status.GroupKind {
	return status.GroupKind{Group: k.Group, Kind: k.Kind}
}

func missingKind(doc []byte) error { return fmt.Errorf("Object 'Kind' is missing in '%s'", doc) }

func (c *customCodec) kindError(got resource.Kind) *validation.Error {
	return validation.Invalid(validation.NewPath("kind"), got.Kind, "must be "+c.kind.Kind)
}

// validateType checks the kind and the version of an object.
func (c *customCodec) validateType(obj map[string]any) validation.List {
	var errs validation.List
	if kind := object.String(obj, "kind"); kind != c.kind.Kind {
		errs = append(errs, c.kindError(resource.Kind{Kind: kind}))
	}
	if apiVersion, want := object.String(obj, "apiVersion"), c.kind.GroupVersion.String(); apiVersion != want {
		errs = append(errs, validation.Invalid(validation.NewPath("apiVersion"), apiVersion, "must be "+want))
	}
	return errs
}

func (c *customCodec) Normalize(obj map[string]any, strict bool) (map[string]any, []error, error) {
	return c.coerce(c.schema, object.Copy(obj), nil, schema.CoerceOptions{Strict: strict, KeepUnknown: c.keepUnknown})
}

func (c *customCodec) NormalizeApplied(obj map[string]any) (map[string]any, error) {
	obj = object.Copy(obj)
	takeInvalid(obj, "creationTimestamp")
	deletionTimestamp, invalid := takeInvalid(obj, "deletionTimestamp")
	_, err := c.schema.Coerce(obj, schema.CoerceOptions{KeepUnknown: true, KeepNulls: true})
	// The conversion to the stored version fails for it, and the validation of an update.
	if invalid && err == nil && (!c.stored || c.release.Has(behavior.DecodesCustomMetadata)) {
		object.Meta(obj)["deletionTimestamp"] = deletionTimestamp
	}
	var embedded *validation.Error
	if errors.As(err, &embedded) { // in the metadata of an embedded resource
		err = status.Invalid(groupKind(c.kind), object.String(obj, "metadata", "name"), c.inRelease(embedded))
	}
	return obj, err
}

// inRelease returns an error as the release words it.
func (c *customCodec) inRelease(e *validation.Error) validation.List {
	return validation.List{e}.In(c.release, c.kind.Group, c.kind.Kind)
}

// takeInvalid removes and returns a member of the metadata that cannot be decoded.
// kube-apiserver does not decode the result of an apply.
func takeInvalid(obj map[string]any, name string) (v any, invalid bool) {
	meta := object.Map(obj, "metadata")
	v, ok := meta[name]
	if !ok || schema.ValidMetadata(name, v) {
		return nil, false
	}
	delete(meta, name)
	return v, true
}

// coerceDecoded is coerce for what wire.DecodeCustom returned.
func (c *customCodec) coerceDecoded(obj map[string]any, strict bool) (map[string]any, []error, error) {
	return c.coerceNamed(obj, nil, schema.CoerceOptions{Strict: strict, MetadataDecoded: true})
}

// coerceNamed coerces an object by the kind and the version that it gives. Of another kind it coerces
// the metadata only, and a version that the definition does not have has no fields.
func (c *customCodec) coerceNamed(obj map[string]any, fieldErrors []error, o schema.CoerceOptions) (map[string]any, []error, error) {
	s, defined := c.schemaFor(obj)
	o.KeepUnknown = c.keepUnknown || !defined
	return c.coerce(s, obj, fieldErrors, o)
}

// schemaFor returns the schema of the version that an object gives, and whether the object is of the
// kind of the definition.
func (c *customCodec) schemaFor(obj map[string]any) (s *schema.Schema, defined bool) {
	apiVersion, kind := object.String(obj, "apiVersion"), object.String(obj, "kind")
	if kind != c.kind.Kind {
		return nil, false
	}
	if apiVersion == c.kind.GroupVersion.String() {
		return c.schema, true
	}
	gv, err := resource.ParseGroupVersion(apiVersion)
	if err != nil || gv.Group != c.kind.Group {
		return nil, false
	}
	return c.versions[gv.Version], true
}

// coerce returns an object in canonical form with its field errors. It changes obj.
func (c *customCodec) coerce(s *schema.Schema, obj map[string]any, fieldErrors []error, o schema.CoerceOptions) (map[string]any, []error, error) {
	unknown, err := s.Coerce(obj, o)
	var invalid *validation.Error
	if errors.As(err, &invalid) {
		return nil, nil, c.inRelease(invalid)[0]
	}
	if err != nil {
		return nil, nil, err
	}
	if !o.Strict {
		return obj, nil, nil
	}
	for _, path := range unknown {
		fieldErrors = append(fieldErrors, fmt.Errorf("unknown field %q", path))
	}
	return obj, fieldErrors, nil
}

func (c *customCodec) Append(dst []byte, obj map[string]any) []byte {
	return wire.AppendCustom(dst, obj)
}

func (c *customCodec) EncodeStored(obj, live map[string]any, old *wire.Encoded) wire.Encoded {
	return wire.EncodeCustom(obj, live, old)
}

// IsStored implements [resource.Codec]. The schema changes no object that a request has put into
// canonical form, but for nulls.
func (c *customCodec) IsStored(obj, before map[string]any) bool {
	return wire.IsCanonicalCustom(obj, before)
}

// PatchDocument implements [resource.Codec]: kube-apiserver encodes a map, whose
// keys are sorted.
func (c *customCodec) PatchDocument(_ []byte, obj map[string]any) []byte {
	doc, err := json.Marshal(obj)
	if err != nil {
		panic("crd: an object does not encode: " + err.Error()) // unreachable: it was decoded
	}
	return doc
}

// ToUnstructured implements [resource.Codec].
func (c *customCodec) ToUnstructured(obj map[string]any) map[string]any { return obj }

// MergeSchema implements [resource.Codec]. Custom resources do not support
// strategic merge patches.
func (c *customCodec) MergeSchema(schema.Documents) (*schema.Schema, bool) { return nil, false }

func (c *customCodec) ManagedKind(documents schema.Documents) fieldmanager.Kind {
	metadata := &schema.Schema{} // of a release without core kinds: allows any fields
	if namespace, ok := schema.ForKind(documents, "", "v1", "Namespace"); ok {
		metadata = namespace.Properties["metadata"]
	}
	return fieldmanager.Kind{
		Group: c.kind.Group, Version: c.kind.Version, Kind: c.kind.Kind,
		Schema: c.schema.ForApply(metadata),
	}
}
