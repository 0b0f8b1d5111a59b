package conformance

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/fxamacker/cbor/v2"
	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"
)

// comparedHeaders are the only response headers that count.
var comparedHeaders = []string{"Content-Type", "Content-Encoding", "Retry-After", "Etag", "Vary", "Cache-Control", "Allow"}

// headersOf keeps what is compared. An Etag is a hash of the server's own
// documents: only its presence counts.
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

// decodeBody turns a body into JSON values, numbers as json.Number. What it
// cannot decode comes back as text.
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
		v = decodeProtobuf(body)
	case strings.HasPrefix(contentType, "application/json"), body[0] == '{':
		// The OpenAPI index is JSON under the name of text/plain.
		v = decodeJSON(body)
	}
	if v == nil {
		return string(body)
	}
	return v
}

// decodeJSON returns nil for what is not JSON.
func decodeJSON(b []byte) any {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return nil
	}
	return v
}

func decodeProtobuf(b []byte) any {
	obj, _, err := protobuf.NewSerializer(scheme.Scheme, scheme.Scheme).Decode(b, nil, nil)
	if err != nil {
		return "<protobuf that does not decode: " + err.Error() + ">"
	}
	j, err := json.Marshal(obj)
	if err != nil {
		return "<protobuf that is no JSON: " + err.Error() + ">"
	}
	return decodeJSON(j)
}

var cborMode = func() cbor.DecMode {
	m, err := cbor.DecOptions{
		DefaultMapType:        reflect.TypeFor[map[string]any](),
		DefaultByteStringType: reflect.TypeFor[[]byte](),
		ByteStringToString:    cbor.ByteStringToStringAllowed,
	}.DecMode()
	if err != nil {
		panic(err)
	}
	return m
}()

// decodeCBOR returns nil for what is not CBOR.
func decodeCBOR(b []byte) any {
	var v any
	if cborMode.Unmarshal(b, &v) != nil {
		return nil
	}
	return cborToJSON(v)
}

// cborToJSON turns what CBOR decodes to into what the same JSON would.
func cborToJSON(v any) any {
	switch t := v.(type) {
	case map[string]any:
		for k := range t {
			t[k] = cborToJSON(t[k])
		}
	case []any:
		for i := range t {
			t[i] = cborToJSON(t[i])
		}
	case uint64, int64:
		return json.Number(fmt.Sprint(t))
	case float64:
		return json.Number(strconv.FormatFloat(t, 'g', -1, 64))
	case []byte:
		return string(t)
	case cbor.Tag:
		return cborToJSON(t.Content)
	}
	return v
}

// variables are what ${name} stands for in a scenario. ${name_base64} is the
// base64 of a variable's value.
type variables map[string]string

var variablePattern = regexp.MustCompile(`\$\{\w+\}`)

// expand replaces the variables in s; what is not bound stays as it is.
func (v variables) expand(s string) string {
	return variablePattern.ReplaceAllStringFunc(s, func(ref string) string {
		name := ref[2 : len(ref)-1]
		if base, ok := strings.CutSuffix(name, "_base64"); ok {
			if value, ok := v[base]; ok {
				return base64.StdEncoding.EncodeToString([]byte(value))
			}
		}
		if value, ok := v[name]; ok {
			return value
		}
		return ref
	})
}

// fold puts the names back where a run's own values stand in strings and keys
// of a body: recordings name them, not any run's values.
func (v variables) fold(body any) any {
	pairs := []string{}
	// The namespace's name ends with the run's: it comes first.
	for _, name := range []string{"ns", "webhook", "webhook_ca", "run"} {
		pairs = append(pairs, v[name], "${"+name+"}")
	}
	return mapStrings(body, strings.NewReplacer(pairs...).Replace)
}

// mapStrings applies f to every string and key in a body, lists in place.
func mapStrings(body any, f func(string) string) any {
	switch t := body.(type) {
	case string:
		return f(t)
	case map[string]any:
		out := make(map[string]any, len(t))
		for k, e := range t {
			out[f(k)] = mapStrings(e, f)
		}
		return out
	case []any:
		for i := range t {
			t[i] = mapStrings(t[i], f)
		}
	}
	return body
}

// dropManagedFields removes metadata.managedFields at every depth.
func dropManagedFields(body any) {
	walkObjects(body, func(o map[string]any) {
		if meta, ok := o["metadata"].(map[string]any); ok {
			delete(meta, "managedFields")
		}
	})
}

// dropDescriptions removes what documents say of their fields: prose, not
// interface.
func dropDescriptions(body any) {
	walkObjects(body, func(o map[string]any) {
		if _, ok := o["description"].(string); ok {
			delete(o, "description")
		}
	})
}

func walkObjects(body any, visit func(map[string]any)) {
	switch t := body.(type) {
	case map[string]any:
		visit(t)
		for _, e := range t {
			walkObjects(e, visit)
		}
	case []any:
		for _, e := range t {
			walkObjects(e, visit)
		}
	}
}

// lookup follows a dotted path. A number indexes a list; \. is a dot within a
// key.
func lookup(body any, path string) (any, bool) {
	for part := range strings.SplitSeq(strings.ReplaceAll(path, `\.`, "\x00"), ".") {
		part = strings.ReplaceAll(part, "\x00", ".")
		switch t := body.(type) {
		case map[string]any:
			e, ok := t[part]
			if !ok {
				return nil, false
			}
			body = e
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(t) {
				return nil, false
			}
			body = t[i]
		default:
			return nil, false
		}
	}
	return body, true
}

// only flattens body to the given paths.
func only(body any, paths []string) any {
	out := map[string]any{}
	for _, p := range paths {
		if e, ok := lookup(body, p); ok {
			out[p] = e
		} else {
			out[p] = "<absent>"
		}
	}
	return out
}

func TestLookup(t *testing.T) {
	body := decodeJSON([]byte(`{"items":[{"metadata":{"annotations":{"a.b/c":"x"},"n":1}}],"null":null}`))
	for _, row := range []struct {
		path string
		want any
		ok   bool
	}{
		{`items.0.metadata.annotations.a\.b/c`, "x", true},
		{`items.0.metadata.n`, json.Number("1"), true},
		{`null`, nil, true},
		{`items.1`, nil, false},
		{`items.-1`, nil, false},
		{`items.x`, nil, false},
		{`items.0.metadata.n.deeper`, nil, false},
		{`absent`, nil, false},
	} {
		t.Run(row.path, func(t *testing.T) {
			got, ok := lookup(body, row.path)
			assert.Equal(t, row.want, got)
			assert.Equal(t, row.ok, ok)
		})
	}
}

func TestVariables(t *testing.T) {
	v := variables{"ns": "s-abc", "run": "abc", "webhook": "https://127.0.0.1:1", "webhook_ca": "Q0E="}
	assert.Equal(t, "/ns/s-abc/${other}/YWJj", v.expand("/ns/${ns}/${other}/${run_base64}"))
	assert.Equal(t,
		map[string]any{"x-${run}": []any{"${ns}", "${webhook}/echo", json.Number("1")}},
		v.fold(map[string]any{"x-abc": []any{"s-abc", "https://127.0.0.1:1/echo", json.Number("1")}}))
}

// FuzzDecodeBody checks that no answer can stop a test run, and that what is
// decoded can be compared.
func FuzzDecodeBody(f *testing.F) {
	f.Add("application/json", []byte(`{"a":1}`))
	f.Add("application/yaml", []byte("a: 1\n"))
	f.Add("application/cbor", []byte{0xd9, 0xd9, 0xf7, 0xa1, 0x41, 'a', 1})
	f.Add("application/vnd.kubernetes.protobuf", []byte("k8s\x00\x0a\x04\x0a\x02v1"))
	f.Add("text/plain", []byte(`{"a":1}`))
	f.Fuzz(func(t *testing.T, contentType string, body []byte) {
		v := decodeBody(contentType, body)
		var d differences
		newMatcher().value("", v, v, &d)
	})
}
