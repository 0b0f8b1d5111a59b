package control

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"

	"github.com/kubefake/kubefake/internal/route"
	"github.com/kubefake/kubefake/internal/status"
)

// An Operation is a request that the endpoint serves.
type Operation struct {
	Method string
	Path   string // below Prefix
	ID     string // the name of the operation in the OpenAPI document
	Effect string
	Query  string // an example
	Body   string // an example; "" if the request needs none

	endpoint
}

// An endpoint answers the requests of an operation.
type endpoint struct {
	in, out reflect.Type
	handle  func(*Control, *Request) (any, error)
}

// In returns the type that the body and the query of a request decode to, and Out the
// type whose JSON is the answer. In has no fields if a request has neither. A field with
// the tag query is a parameter of that name, other fields are the body.
func (e *endpoint) In() reflect.Type  { return e.in }
func (e *endpoint) Out() reflect.Type { return e.out }

// none is the type of a request without a query and a body.
type none struct{}

// serve returns an endpoint that calls f.
func serve[In, Out any](f func(*Control, *Request, In) (Out, error)) endpoint {
	return endpoint{
		in: reflect.TypeFor[In](), out: reflect.TypeFor[Out](),
		handle: func(c *Control, r *Request) (any, error) {
			var in In
			if err := r.decode(&in); err != nil {
				return nil, status.BadRequest(err.Error())
			}
			return f(c, r, in)
		},
	}
}

// A bodyDecoder decodes the bodies of its requests itself.
type bodyDecoder interface{ decodeBody(body []byte) error }

// decode decodes the query and the body into v, a pointer. It fails for a field of the
// body that v does not have.
func (r *Request) decode(v any) error {
	decodeQuery(r.Query, reflect.ValueOf(v).Elem())
	if d, ok := v.(bodyDecoder); ok {
		return d.decodeBody(r.Body)
	}
	if r.Method == http.MethodGet || len(bytes.TrimSpace(r.Body)) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(r.Body))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return fmt.Errorf("the body cannot be decoded: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("the body has more than one JSON value")
	}
	return nil
}

// decodeQuery sets the fields of a struct that have the tag query: strings, booleans, and lists
// of strings for a parameter that can be repeated.
func decodeQuery(query url.Values, v reflect.Value) {
	if v.Kind() != reflect.Struct {
		return
	}
	for i := range v.NumField() {
		name, ok := v.Type().Field(i).Tag.Lookup("query")
		if values := query[name]; ok && len(values) > 0 {
			switch f := v.Field(i); f.Kind() {
			case reflect.Slice:
				f.Set(reflect.ValueOf(values))
			case reflect.Bool:
				f.SetBool(route.ParseBool(values[0]))
			default:
				f.SetString(values[0])
			}
		}
	}
}
