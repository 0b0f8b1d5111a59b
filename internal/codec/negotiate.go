package codec

import (
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/kubefake/kubefake/internal/codec/accept"
	"github.com/kubefake/kubefake/internal/wire"
)

// An Offer is which media types a resource can be spoken of in. The zero Offer is
// that of a built-in resource's single objects.
type Offer struct {
	// Custom marks a custom resource. Its objects are not served as protobuf, but
	// its metadata and errors are; and it has no routes that would look at Accept
	// before its handlers.
	Custom bool

	// List marks a route that lists or watches: such a route produces streams
	// too.
	List bool

	// CBOR is whether the server speaks CBOR.
	CBOR bool
}

// A View is the kind that a client wants objects shown as.
type View string

// The views.
const (
	Whole               View = "" // as they are
	Table               View = "Table"
	PartialMetadata     View = "PartialObjectMetadata"
	PartialMetadataList View = "PartialObjectMetadataList"
)

// A Response is what client and server have agreed on.
type Response struct {
	Format Format
	Pretty bool // JSON for people to read

	View    View
	Version string // of the group meta.k8s.io, v1 or v1beta1; "" for Whole

	// Stream is whether the answer is a watch.
	Stream bool
}

// ContentType is the media type of the answer.
func (r Response) ContentType() string {
	if r.Stream {
		return r.Format.StreamMediaType()
	}
	return r.Format.MediaType()
}

// Append appends an object as [Format.Append] does, pretty if that is agreed on.
// t is the type of what doc is: of a View, not of the object it shows.
func (r Response) Append(dst, doc []byte, t *wire.Type) []byte {
	if r.Pretty {
		return AppendPretty(dst, doc)
	}
	return r.Format.Append(dst, doc, t)
}

// metaGroup is the API group of the views.
const metaGroup = "meta.k8s.io"

// Negotiate finds the answer that fits the request's Accept header best, of a
// watch if stream is set. The error is a *NotAcceptableError.
func (o Offer) Negotiate(r *http.Request, stream bool) (Response, error) {
	header := r.Header.Get("Accept")
	if !o.Custom && !o.routes(header) {
		return Response{}, &NotAcceptableError{Offered: o.produced(), Route: true}
	}
	response, ok := o.choose(header, o.allows)
	if !ok {
		return Response{}, &NotAcceptableError{Offered: o.mediaTypes()}
	}
	if stream {
		if response.Format.StreamMediaType() == "" {
			return Response{}, &NotAcceptableError{Offered: o.streamTypes()}
		}
		response.Stream, response.Pretty = true, false
		return response, nil
	}
	response.Pretty = response.Format == JSON && (response.Pretty || wantsPretty(r))
	return response, nil
}

// NegotiateError finds the answer for a Status that reports an error. Errors have
// one view, and whoever accepts none of the media types is told in JSON.
func (o Offer) NegotiateError(r *http.Request) Response {
	response, ok := o.choose(r.Header.Get("Accept"), func(_ Format, c *choice) bool {
		return c.view == nil && c.serverVersion == ""
	})
	if !ok {
		return Response{Pretty: true}
	}
	response.Pretty = response.Format == JSON && (response.Pretty || wantsPretty(r))
	return response
}

// Body finds the format of a body by its Content-Type. None means JSON. The error
// is an *UnsupportedMediaTypeError.
//
// Differs from kube-apiserver: that takes a custom resource in protobuf, and
// panics.
func (o Offer) Body(contentType string) (Format, error) {
	if contentType == "" {
		return JSON, nil
	}
	if mediaType, _, err := mime.ParseMediaType(contentType); err == nil {
		for _, f := range o.formats() {
			if f.MediaType() == mediaType && !(o.Custom && f == Protobuf) {
				return f, nil
			}
		}
	}
	accepted := o.mediaTypes()
	if o.Custom {
		accepted = append(accepted[:Protobuf], accepted[Protobuf+1:]...)
	}
	return 0, &UnsupportedMediaTypeError{Accepted: accepted}
}

// formats are those the server speaks.
func (o Offer) formats() []Format {
	if o.CBOR {
		return []Format{JSON, YAML, Protobuf, CBOR}
	}
	return []Format{JSON, YAML, Protobuf}
}

func (o Offer) mediaTypes() []string {
	var types []string
	for _, f := range o.formats() {
		types = append(types, f.MediaType())
	}
	return types
}

// streamTypes are the media types of watches as the server lists them, which is
// not how it spells that of JSON in answers.
func (o Offer) streamTypes() []string {
	types := []string{JSON.MediaType() + ";stream=watch", Protobuf.StreamMediaType()}
	if o.CBOR {
		types = append(types, CBOR.StreamMediaType())
	}
	return types
}

// produced are the media types of the route.
func (o Offer) produced() []string {
	if o.List {
		return append(o.mediaTypes(), o.streamTypes()...)
	}
	return o.mediaTypes()
}

// routes reports whether the route lets an Accept header pass.
func (o Offer) routes(header string) bool {
	return header == "" || Accepts(header, o.produced()...)
}

// Accepts reports whether an Accept header lets a route pass that produces the
// media types: it has to name one of them literally, or all. No header names
// all.
func Accepts(header string, produced ...string) bool {
	if header == "" {
		return true
	}
	for part := range strings.SplitSeq(header, ",") {
		mediaType, _, _ := strings.Cut(part, ";")
		mediaType = strings.Trim(mediaType, " ")
		if mediaType == "*/*" || slices.Contains(produced, mediaType) {
			return true
		}
	}
	return false
}

// A choice is what the parameters of a clause ask for.
type choice struct {
	view          *groupVersionKind
	stream        string
	serverVersion string
	pretty        bool
}

type groupVersionKind struct{ group, version, kind string }

// choose goes through the clauses of an Accept header and returns the first
// format that matches one and is allowed with its parameters.
func (o Offer) choose(header string, allowed func(Format, *choice) bool) (Response, bool) {
	if header == "" {
		return Response{}, true
	}
	for _, clause := range accept.Parse(header) {
		for _, f := range o.formats() {
			if !clause.Matches(f.MediaType()) {
				continue
			}
			c := parseParams(clause.Params)
			if c.stream != "" && (c.stream != "watch" || f.StreamMediaType() == "") || !allowed(f, &c) {
				continue
			}
			response := Response{Format: f, Pretty: c.pretty}
			if c.view != nil {
				response.View, response.Version = View(c.view.kind), c.view.version
			}
			return response, true
		}
	}
	return Response{}, false
}

// parseParams reads the parameters that the server knows. It passes over others.
func parseParams(params map[string]string) choice {
	c := choice{stream: params["stream"], serverVersion: params["sv"], pretty: params["pretty"] == "1"}
	view := groupVersionKind{params["g"], params["v"], params["as"]}
	if view != (groupVersionKind{}) {
		c.view = &view
	}
	return c
}

// allows reports whether objects are served in a format as a clause asks for.
func (o Offer) allows(f Format, c *choice) bool {
	if c.serverVersion != "" && c.serverVersion != "v1" {
		return false
	}
	if c.view == nil {
		return !(o.Custom && f == Protobuf)
	}
	if c.view.group != metaGroup || c.view.version != "v1" && c.view.version != "v1beta1" {
		return false
	}
	switch View(c.view.kind) {
	case Table:
		return f == JSON || f == YAML
	case PartialMetadata, PartialMetadataList:
		return true
	}
	return false
}

// wantsPretty reports whether a request asks for pretty answers, or comes from a
// program that people use by hand.
func wantsPretty(r *http.Request) bool {
	if strings.Contains(r.URL.RawQuery, "pretty") {
		if value := r.URL.Query().Get("pretty"); value != "" {
			pretty, _ := strconv.ParseBool(value)
			return pretty
		}
	}
	agent := r.UserAgent()
	return strings.HasPrefix(agent, "curl") || strings.HasPrefix(agent, "Wget") || strings.HasPrefix(agent, "Mozilla/5.0")
}
