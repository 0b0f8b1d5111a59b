package scenarios

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/fxamacker/cbor/v2"
	"sigs.k8s.io/yaml"

	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/wire"
)

// comparedHeaders are the response headers that are compared.
var comparedHeaders = []string{"Content-Type", "Content-Encoding", "Retry-After", "Etag", "Vary", "Cache-Control", "Allow"}

// headersOf returns the compared headers. It replaces an Etag, which is a hash of
// the server's own documents, with <any>.
func headersOf(h http.Header) map[string]string {
	out := map[string]string{}
	for _, k := range comparedHeaders {
		if v := h.Get(k); v != "" {
			out[k] = v
		}
	}
	if out["Etag"] != "" {
		out["Etag"] = "<any>"
	}
	return out
}

// decodeBody decodes a body to JSON values. A body of an unknown media type is
// returned as text.
func decodeBody(contentType string, body []byte) any {
	if len(body) == 0 {
		return nil
	}
	var v any
	switch {
	case strings.HasPrefix(contentType, "application/yaml"):
		if b, err := yaml.YAMLToJSON(body); err == nil {
			v = decodeJSON(b)
		}
	case strings.HasPrefix(contentType, "application/cbor"):
		v = decodeCBOR(body)
	case strings.HasPrefix(contentType, "application/vnd.kubernetes.protobuf"):
		var err error
		if v, err = decodeProtobuf(body); err != nil {
			return "<protobuf that does not decode: " + err.Error() + ">"
		}
	case strings.HasPrefix(contentType, "application/json"), body[0] == '{':
		// The OpenAPI index is JSON with the type text/plain.
		v = decodeJSON(body)
	}
	if v == nil {
		return string(body)
	}
	return v
}

// decodeJSON returns nil for invalid JSON.
func decodeJSON(b []byte) any {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return nil
	}
	return v
}

// cborMode decodes byte strings as text. It does not convert byte strings that are
// tagged for base64.
var cborMode = sync.OnceValue(func() cbor.DecMode {
	m, err := cbor.DecOptions{
		DefaultMapType:        reflect.TypeFor[map[string]any](),
		DefaultByteStringType: reflect.TypeFor[[]byte](),
		ByteStringToString:    cbor.ByteStringToStringAllowed,
	}.DecMode()
	if err != nil {
		panic("scenarios: " + err.Error()) // unreachable: the options agree
	}
	return m
})

// decodeCBOR returns nil for invalid CBOR.
func decodeCBOR(b []byte) any {
	var v any
	if cborMode().Unmarshal(b, &v) != nil {
		return nil
	}
	return fromCBOR(v)
}

// fromCBOR converts decoded CBOR to the values that decoding the same JSON gives.
func fromCBOR(v any) any {
	switch t := v.(type) {
	case map[string]any:
		for k := range t {
			t[k] = fromCBOR(t[k])
		}
	case []any:
		for i := range t {
			t[i] = fromCBOR(t[i])
		}
	case uint64, int64:
		return json.Number(fmt.Sprint(t))
	case float64:
		return json.Number(strconv.FormatFloat(t, 'g', -1, 64))
	case []byte:
		return string(t)
	case cbor.Tag:
		return fromCBOR(t.Content)
	}
	return v
}

// unregistered are the groups whose kinds client-go does not know. For protobuf
// bodies of these groups, recordings contain the error of client-go's decoder.
var unregistered = []string{"meta.k8s.io", "apidiscovery.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io"}

// decodeProtobuf decodes an object of a built-in kind in its envelope.
func decodeProtobuf(b []byte) (any, error) {
	e, err := wire.ParseEnvelope(b)
	if err != nil {
		return nil, err
	}
	gv, _ := resource.ParseGroupVersion(e.APIVersion) // an invalid version has no type
	t, ok := wire.ForKind(gv.Group, gv.Version, e.Kind)
	if !ok || !t.HasProto() || slices.Contains(unregistered, gv.Group) {
		return nil, fmt.Errorf("no kind %q is registered for version %q in scheme %q", e.Kind, e.APIVersion, "pkg/runtime/scheme.go:111")
	}
	object, err := t.DecodeProto(e.Raw)
	if err != nil {
		return nil, err
	}
	object["kind"], object["apiVersion"] = e.Kind, e.APIVersion
	return decodeJSON(t.Append(nil, object)), nil
}

// marshal returns the JSON of v, without HTML escapes.
func marshal(v any) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), err
}
