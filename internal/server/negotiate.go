package server

import (
	"errors"
	"net/http"

	"github.com/kubefake/kubefake/internal/codec"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/wire"
)

// offer returns the media types that the request's resource supports.
func (r *request) offer() codec.Offer {
	o := codec.Offer{CBOR: r.server.config.enabled(cborGate)}
	if r.typ != nil {
		o.Custom = r.byDefinition
		o.List = r.Verb == "list" || r.Verb == "watch"
	}
	return o
}

// negotiate sets the media type of the answer and the representation of its
// objects.
func (r *request) negotiate() (err error) {
	r.out, err = r.offer().Negotiate(r.http, r.Verb == "watch")
	return err
}

// bodyFormat returns the format of the body.
func (r *request) bodyFormat() (codec.Format, error) {
	return r.offer().Body(r.http.Header.Get("Content-Type"))
}

// mediaStatus returns the Status of an error of negotiation, nil for another
// error.
func mediaStatus(err error) *status.Status {
	var (
		notAcceptable *codec.NotAcceptableError
		unsupported   *codec.UnsupportedMediaTypeError
	)
	switch {
	case errors.As(err, &notAcceptable):
		st := status.Failure(http.StatusNotAcceptable, status.ReasonNotAcceptable, notAcceptable.Error(), nil)
		if notAcceptable.Route {
			st.Details = &status.Details{}
		}
		return st
	case errors.As(err, &unsupported):
		return status.UnsupportedMediaType(unsupported.Accepted)
	}
	return nil
}

// metaType returns the wire type of a kind that all groups have.
func metaType(kind string) *wire.Type {
	t, ok := wire.ForKind("meta.k8s.io", "v1", kind)
	if !ok {
		panic("server: no type is known for the kind " + kind) // unreachable: the table has them all
	}
	return t
}
