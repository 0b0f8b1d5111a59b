package openapi

import (
	"net/http"
	"slices"

	openapi_v2 "github.com/google/gnostic-models/openapiv2"
	openapi_v3 "github.com/google/gnostic-models/openapiv3"
	"google.golang.org/protobuf/proto"

	"github.com/kubefake/kubefake/internal/codec/accept"
)

// An encoding is a media type in which documents are served.
type encoding struct {
	accepted    []string // names in Accept
	contentType string
}

// The encodings of a document; the first is the default.
var (
	jsonEncoding = encoding{[]string{"application/json"}, "application/json"}
	v2Protobuf   = protobufEncoding("v2")
	v3Protobuf   = protobufEncoding("v3")
)

// protobufEncoding returns the protobuf encoding of an OpenAPI version. Its
// older name contains an @, which is malformed in a media type.
func protobufEncoding(version string) encoding {
	name := "application/com.github.proto-openapi.spec." + version
	return encoding{[]string{name + "@v1.0+protobuf", name + ".v1.0+protobuf"}, name + ".v1.0+protobuf"}
}

// wantsProtobuf reports whether a request prefers the protobuf encoding to
// JSON. ok is false if it accepts neither. A quality of 0 accepts, too.
func wantsProtobuf(r *http.Request, protobuf encoding) (wants, ok bool) {
	header := r.Header.Get("Accept")
	if header == "" {
		return false, true
	}
	for _, c := range accept.Parse(header) {
		if slices.ContainsFunc(jsonEncoding.accepted, c.Matches) {
			return false, true
		}
		if slices.ContainsFunc(protobuf.accepted, c.Matches) {
			return true, true
		}
	}
	return false, false
}

// encodeV2 encodes a version 2 document in protobuf.
func encodeV2(doc []byte) ([]byte, error) {
	d, err := openapi_v2.ParseDocument(doc)
	if err != nil {
		return nil, err
	}
	return proto.Marshal(d)
}

// encodeV3 encodes a version 3 document in protobuf.
func encodeV3(doc []byte) ([]byte, error) {
	d, err := openapi_v3.ParseDocument(doc)
	if err != nil {
		return nil, err
	}
	return proto.Marshal(d)
}
