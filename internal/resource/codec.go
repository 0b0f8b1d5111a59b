package resource

import (
	"github.com/kubefake/kubefake/internal/codec"
	"github.com/kubefake/kubefake/internal/fieldmanager"
	"github.com/kubefake/kubefake/internal/schema"
	"github.com/kubefake/kubefake/internal/wire"
)

// A Codec reads and writes the objects of one kind in one version. It hides how
// built-in kinds and custom resources differ: kube-apiserver decodes the former
// into Go structs and keeps the latter as maps, so that formats, field errors
// and error texts are not the same. [BuiltinCodec] is the codec of a built-in
// kind; package crd has the codec of custom resources.
//
// A Codec is immutable and safe for concurrent use. Objects are in the generic
// form of package object; no method changes an object that it is given.
type Codec interface {
	// Kind returns the kind of the objects.
	Kind() Kind

	// Decode reads a JSON body into canonical form. The result is the caller's.
	// Unknown fields are dropped. With strict set, fieldErrors report unknown and
	// duplicate fields.
	Decode(body []byte, strict bool) (obj map[string]any, fieldErrors []error, err error)

	// DecodeIdentified is Decode for a body whose kind and apiVersion have not been read, as that
	// of wire.Type is. It may report false for other bodies too.
	DecodeIdentified(body []byte, o wire.DecodeOptions) (obj map[string]any, fieldErrors []error, ok bool)

	// DecodeStored is Decode for an object that EncodeStored wrote, with a resourceVersion unless
	// version is 0. live is old, another version of the object, decoded, or nil: the result may
	// share with it what has the same text in both.
	DecodeStored(stored *wire.Encoded, version int64, live map[string]any, old *wire.Encoded) (map[string]any, error)

	// DecodeStrict is Decode for the JSON Patch of a mutating admission policy. In
	// a built-in kind, unknown and duplicate fields are an error; in a custom
	// resource they are dropped.
	DecodeStrict(body []byte) (map[string]any, error)

	// CheckBody returns the kind that a request body gives, completed where the
	// body leaves it out. The error is a *status.Status for a body that the kind
	// does not accept. For one in another version it comes with the field errors, which
	// kube-apiserver finds before.
	CheckBody(body *codec.Document, strict bool) (got Kind, fieldErrors []error, err error)

	// DecodePatched reads the document that a JSON Patch or a JSON Merge Patch resulted in, like
	// Decode, and checks its kind. The object is of another kind if kube-apiserver converts that to
	// the codec's, or if the validation of its type rejects it.
	//
	// An error that is a *status.Status is the answer to the request. Any other error makes the
	// patch invalid.
	DecodePatched(doc []byte, strict bool) (obj map[string]any, fieldErrors []error, err error)

	// DecodeMutated reads the document that the patch of a mutating webhook resulted in, and checks
	// its kind. name is that of the object in the error. The object is of another kind if
	// kube-apiserver converts that to the codec's. A custom resource keeps unknown fields and nulls;
	// its metadata is nil if it is not an object.
	//
	// An error that is a *status.Status is found by kube-apiserver after the last webhook, any other
	// one at once.
	DecodeMutated(doc []byte, name string) (obj map[string]any, err error)

	// Normalize returns what Decode returns for obj's JSON encoding.
	Normalize(obj map[string]any, strict bool) (normal map[string]any, fieldErrors []error, err error)

	// NormalizeApplied puts the result of a server-side apply in canonical form.
	// It differs from Normalize in the nulls and the unknown fields of the applied configuration:
	// a custom resource keeps them for validation, see [Type.WithoutUnknown].
	NormalizeApplied(obj map[string]any) (map[string]any, error)

	// Append appends the JSON encoding of obj to dst: kind, apiVersion and
	// metadata first, no newline.
	Append(dst []byte, obj map[string]any) []byte

	// EncodeStored is Append for an object that is stored. The result shares its texts with old,
	// another version of the object or the zero value. obj must have metadata, without a
	// resourceVersion. live is old decoded, or nil: members that obj shares with it in memory are
	// not encoded again.
	EncodeStored(obj, live map[string]any, old *wire.Encoded) wire.Encoded

	// IsStored reports whether decoding what EncodeStored makes of obj returns an equal object. It
	// may miss that. before is another version of the object, decoded, or nil: what obj shares with
	// it in memory is not looked at.
	IsStored(obj, before map[string]any) bool

	// PatchDocument returns the JSON document that a JSON Patch is applied to.
	// stored is the stored JSON of obj. The order of members matters, because
	// errors quote the document.
	PatchDocument(stored []byte, obj map[string]any) []byte

	// ToUnstructured returns obj as its JSON encoding shows it, without empty
	// lists and maps that the encoding omits. The result may be obj itself.
	ToUnstructured(obj map[string]any) map[string]any

	// MergeSchema returns the schema by which a strategic merge patch merges. It
	// reports false if the kind does not support such patches; if it does, Wire is
	// not nil.
	MergeSchema(documents schema.Documents) (*schema.Schema, bool)

	// ManagedKind describes the kind to the field manager, without Convert.
	ManagedKind(documents schema.Documents) fieldmanager.Kind

	// Wire returns the Go type by which objects are encoded in protobuf and CBOR.
	// It is nil for custom resources, which have no protobuf encoding.
	Wire() *wire.Type
}
