// Package codec implements the media types of the Kubernetes API as
// kube-apiserver does: it parses request bodies, encodes responses and
// negotiates media types.
//
// The server stores JSON. A body of any media type becomes a [Document], which
// package wire or the codec of a custom resource decodes. A [Format] encodes
// stored JSON for a response.
//
// # Protobuf
//
// A protobuf object is in an envelope: the bytes "k8s\x00" and a message with
// the object's kind and apiVersion, which the object's own message does not
// have. A watch event is a WatchEvent message without an envelope whose object
// is in an envelope. Its length precedes it in four bytes, most significant
// first.
//
// # CBOR
//
// Only a server with the feature gate CBORServingAndStorage supports CBOR.
// Strings are byte strings, []byte is a byte string in the tag that announces
// base64, and an object is in the tag of self-described CBOR. A watch is a
// sequence of such objects, under its own media type.
//
// Differs from kube-apiserver: CBOR bodies: kube-apiserver decodes CBOR into
// its Go types. Here CBOR is decoded into generic values first, so that errors
// about wrong types and unknown fields have the texts of JSON. Request: POST
// with Content-Type application/cbor and a field of a wrong type.
package codec
