package codec

import (
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/kubefake/kubefake/internal/codec/accept"
	"github.com/kubefake/kubefake/internal/header"
	"github.com/kubefake/kubefake/internal/wire"
)

// An Offer describes the media types that a resource supports. The zero Offer
// is that of single objects of a built-in resource.
type Offer struct {
	// Custom marks a custom resource. Its objects have no protobuf encoding,
	// but their metadata and errors have. kube-apiserver has no route for it
	// that checks Accept before the handler does.
	Custom bool

	// List marks a route that lists or watches. Such a route also produces
	// streams.
	List bool

	// Text marks a route that also produces plain text: the log of a container.
	Text bool

	// NoTables marks a route whose answers have no form as a Table.
	NoTables bool

	// CBOR is set if the server supports CBOR.
	CBOR bool
}

// A View is the kind in which a client requests objects.
type View string

const (
	Whole               View = "" // the objects themselves
	Table               View = "Table"
	PartialMetadata     View = "PartialObjectMetadata"
	PartialMetadataList View = "PartialObjectMetadataList"
)

// A Response is the result of negotiation.
type Response struct {
	Format Format
	Pretty bool // indented JSON

	View    View
	Version string // of the group meta.k8s.io, v1 or v1beta1; "" for Whole

	// Stream is set for a watch.
	Stream bool
}

// ContentType returns the media type of the response.
func (r Response) ContentType() string {
	if r.Stream {
		return r.Format.StreamMediaType()
	}
	return r.Format.MediaType()
}

// Append appends an object as [Format.Append] does, indented if Pretty is set.
// t is the type of doc: with a View, the type of the view.
func (r Response) Append(dst, doc []byte, t *wire.Type) []byte {
	if r.Pretty {
		return AppendPretty(dst, doc)
	}
	return r.Format.Append(dst, doc, t)
}

// metaGroup is the API group of the views.
const metaGroup = "meta.k8s.io"

// Negotiate returns the response that matches the request's Accept header best.
// The error is a *NotAcceptableError.
func (o Offer) Negotiate(r *http.Request) (Response, error) {
	accepted := header.Get(r.Header, "Accept")
	if !o.Custom && !o.routes(accepted) {
		return Response{}, &NotAcceptableError{Offered: o.produced(), Route: true}
	}
	response, ok := o.choose(accepted, o.allows)
	if !ok {
		return Response{}, &NotAcceptableError{Offered: o.mediaTypes()}
	}
	response.Pretty = response.Format == JSON && (response.Pretty || WantsPretty(r))
	return response, nil
}

// Stream returns a response of Negotiate as a stream of events. The error is a
// *NotAcceptableError.
func (o Offer) Stream(r Response) (Response, error) {
	if r.Format.StreamMediaType() == "" {
		return Response{}, &NotAcceptableError{Offered: o.streamTypes()}
	}
	r.Stream, r.Pretty = true, false
	return r, nil
}

// NegotiateError returns the response for a Status that reports an error.
// Errors have no views. If the client accepts none of the media types, the
// response is JSON, and accepted is false.
func (o Offer) NegotiateError(r *http.Request) (response Response, accepted bool) {
	response, ok := o.choose(header.Get(r.Header, "Accept"), func(_ Format, c choice) bool {
		return c.view == groupVersionKind{} && c.serverVersion == ""
	})
	if !ok {
		return Response{Pretty: true}, false
	}
	response.Pretty = response.Format == JSON && (response.Pretty || WantsPretty(r))
	return response, true
}

// Body returns the format of a body by its Content-Type. JSON is the default.
// The error is an *UnsupportedMediaTypeError.
//
// Differs from kube-apiserver: custom resources in protobuf: kube-apiserver
// accepts such a body and then panics. Here it fails with 415. Request: POST of
// a custom resource with Content-Type application/vnd.kubernetes.protobuf.
func (o Offer) Body(contentType string) (Format, error) {
	if contentType == "" {
		return JSON, nil
	}
	mediaType, err := contentType, error(nil)
	if !slices.Contains(mediaTypes[:], contentType) { // without parameters
		mediaType, _, err = mime.ParseMediaType(contentType)
	}
	if err == nil {
		for _, f := range o.formats() {
			switch {
			case f.MediaType() != mediaType:
			case o.Custom && f == Protobuf:
				accepted := o.mediaTypes()
				return 0, &UnsupportedMediaTypeError{Accepted: slices.Concat(accepted[:Protobuf], accepted[Protobuf+1:])}
			default:
				return f, nil
			}
		}
	}
	return 0, &UnsupportedMediaTypeError{Accepted: o.mediaTypes()}
}

// formats returns the formats that the server supports. They must not be changed.
func (o Offer) formats() []Format { return formats[:o.count():o.count()] }

// mediaTypes returns the media types of the formats. They must not be changed.
func (o Offer) mediaTypes() []string { return mediaTypes[:o.count():o.count()] }

// count returns the number of formats that the server supports.
func (o Offer) count() int {
	if o.CBOR {
		return len(formats)
	}
	return int(CBOR)
}

// streamTypes returns the media types of watches as kube-apiserver lists them.
// The one of JSON differs from the Content-Type of responses.
func (o Offer) streamTypes() []string {
	types := []string{JSON.MediaType() + ";stream=watch", Protobuf.StreamMediaType()}
	if o.CBOR {
		types = append(types, CBOR.StreamMediaType())
	}
	return types
}

// produced returns the media types that the route produces.
func (o Offer) produced() []string {
	switch {
	case o.List:
		return append(o.mediaTypes(), o.streamTypes()...)
	case o.Text:
		return append([]string{"text/plain"}, o.mediaTypes()...)
	}
	return o.mediaTypes()
}

// routes reports whether the route accepts an Accept header.
func (o Offer) routes(header string) bool {
	return header == "" || Accepts(header, o.produced()...)
}

// Accepts reports whether a route that produces the media types accepts an
// Accept header: the header must be empty, or contain one of them literally or
// */*.
func Accepts(header string, produced ...string) bool {
	if header == "" {
		return true
	}
	for more := true; more; {
		var part string
		part, header, more = strings.Cut(header, ",")
		mediaType, _, _ := strings.Cut(part, ";")
		mediaType = strings.Trim(mediaType, " ")
		if mediaType == "*/*" || slices.Contains(produced, mediaType) {
			return true
		}
	}
	return false
}

// A choice has the parameters of a clause.
type choice struct {
	view          groupVersionKind // the zero value for Whole
	stream        string
	serverVersion string
	pretty        bool
}

type groupVersionKind struct{ group, version, kind string }

// choose returns the first format that matches a clause of an Accept header and
// is allowed with the clause's parameters.
func (o Offer) choose(header string, allowed func(Format, choice) bool) (Response, bool) {
	if header == "" {
		return Response{}, true
	}
	for _, clause := range accept.Parse(header) {
		for _, f := range o.formats() {
			if !clause.Matches(f.MediaType()) {
				continue
			}
			c := parseParams(clause.Params)
			if c.stream != "" && (c.stream != "watch" || f.StreamMediaType() == "") || !allowed(f, c) {
				continue
			}
			return Response{Format: f, Pretty: c.pretty, View: View(c.view.kind), Version: c.view.version}, true
		}
	}
	return Response{}, false
}

// parseParams reads the parameters that kube-apiserver knows. It ignores
// others.
func parseParams(params map[string]string) choice {
	return choice{
		view:   groupVersionKind{params["g"], params["v"], params["as"]},
		stream: params["stream"], serverVersion: params["sv"], pretty: params["pretty"] == "1",
	}
}

// allows reports whether objects are served in a format with the parameters of
// a clause.
func (o Offer) allows(f Format, c choice) bool {
	if c.serverVersion != "" && c.serverVersion != "v1" {
		return false
	}
	if c.view == (groupVersionKind{}) {
		return !(o.Custom && f == Protobuf)
	}
	if c.view.group != metaGroup || c.view.version != "v1" && c.view.version != "v1beta1" {
		return false
	}
	switch View(c.view.kind) {
	case Table:
		return !o.NoTables && (f == JSON || f == YAML)
	case PartialMetadata, PartialMetadataList:
		return true
	}
	return false
}

// WantsPretty reports whether a request asks for indented JSON, or comes from
// curl, wget or a browser.
func WantsPretty(r *http.Request) bool {
	if strings.Contains(r.URL.RawQuery, "pretty") {
		if value := r.URL.Query().Get("pretty"); value != "" {
			pretty, _ := strconv.ParseBool(value)
			return pretty
		}
	}
	agent := header.Get(r.Header, "User-Agent")
	return strings.HasPrefix(agent, "curl") || strings.HasPrefix(agent, "Wget") || strings.HasPrefix(agent, "Mozilla/5.0")
}
