package openapi

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"

	openapi_v2 "github.com/google/gnostic-models/openapiv2"
	openapi_v3 "github.com/google/gnostic-models/openapiv3"
	"google.golang.org/protobuf/proto"

	"github.com/kubefake/kubefake/internal/codec/accept"
	"github.com/kubefake/kubefake/internal/object"
)

// A form is a media type that documents are served in.
type form struct {
	accepted    []string // what a request may call it
	contentType string
}

// The forms of a document; the first is that of a request which does not mind.
var (
	jsonForm = form{[]string{"application/json"}, "application/json"}
	v2Proto  = protoForm("v2")
	v3Proto  = protoForm("v3")
)

// protoForm is a version's protobuf form, which has a name from before media
// types with an @ were found to be malformed.
func protoForm(version string) form {
	name := "application/com.github.proto-openapi.spec." + version
	return form{[]string{name + "@v1.0+protobuf", name + ".v1.0+protobuf"}, name + ".v1.0+protobuf"}
}

// wantsProto reports which of JSON and the protobuf form a request wants most,
// and false if it takes neither. A quality of 0 accepts, too.
func wantsProto(r *http.Request, protobuf form) (wants, ok bool) {
	header := r.Header.Get("Accept")
	if header == "" {
		return false, true
	}
	for _, c := range accept.Parse(header) {
		if slices.ContainsFunc(jsonForm.accepted, c.Matches) {
			return false, true
		}
		if slices.ContainsFunc(protobuf.accepted, c.Matches) {
			return true, true
		}
	}
	return false, false
}

// protoV2 puts a version 2 document into protobuf.
func protoV2(doc []byte) ([]byte, error) {
	doc, err := describeResponses(doc)
	if err != nil {
		return nil, err
	}
	d, err := openapi_v2.ParseDocument(doc)
	if err != nil {
		return nil, err
	}
	return proto.Marshal(d)
}

// protoV3 puts a version 3 document into protobuf.
func protoV3(doc []byte) ([]byte, error) {
	doc, err := describeResponses(doc)
	if err != nil {
		return nil, err
	}
	d, err := openapi_v3.ParseDocument(doc)
	if err != nil {
		return nil, err
	}
	return proto.Marshal(d)
}

// describeResponses gives responses back the descriptions that profiles are
// without. They are the only ones that a document has to have: protobuf's reader
// insists on them.
func describeResponses(doc []byte) ([]byte, error) {
	var root map[string]any
	if err := json.Unmarshal(doc, &root); err != nil {
		return nil, err
	}
	for _, item := range object.Map(root, "paths") {
		operations, _ := item.(map[string]any)
		for name := range operations {
			for code, response := range object.Map(operations, name, "responses") {
				if r, ok := response.(map[string]any); ok && r["description"] == nil {
					n, _ := strconv.Atoi(code)
					r["description"] = http.StatusText(n)
				}
			}
		}
	}
	return json.Marshal(root)
}
