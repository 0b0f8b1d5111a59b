// Package codec has the media types of the API: it reads bodies, writes answers
// and settles between client and server which media type each is in, as
// kube-apiserver does.
//
// The form that the server stores and hands to this package is JSON. A body of
// any media type becomes a [Document], which package wire or the codec of a
// custom resource reads on; an answer is made of stored JSON by a [Format].
//
// # Protobuf
//
// An object in protobuf stands in an envelope: the bytes "k8s\x00" and a message
// with the object's kind and apiVersion, which its own message does not have. An
// event of a watch is a bare WatchEvent whose object is in an envelope, with the
// length of the event before it in four bytes, most significant first.
//
// # CBOR
//
// Only a server with the feature gate CBORServingAndStorage speaks CBOR. Strings
// are byte strings, []byte is a byte string in the tag that announces base64,
// and a whole object is in the tag of self-described CBOR. Watches are sequences
// of such objects, under a media type of their own.
//
// Differs from kube-apiserver: that decodes CBOR straight into its Go types; here
// it passes through generic values, so that errors about values of the wrong type
// and about unknown fields are worded as for JSON.
package codec
