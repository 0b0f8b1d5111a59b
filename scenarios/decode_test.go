package scenarios

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const protobuf = "application/vnd.kubernetes.protobuf"

// namespaceA is the Namespace a in its protobuf envelope.
var namespaceA = []byte("k8s\x00\x0a\x0f\x0a\x02v1\x12\x09Namespace\x12\x05\x0a\x03\x0a\x01a")

func TestDecodeBody(t *testing.T) {
	object := map[string]any{"a": json.Number("1")}
	for _, row := range []struct {
		name, contentType string
		body              string
		want              any
	}{
		{"none", "application/json", "", nil},
		{"JSON", "application/json", `{"a":1}`, object},
		{"JSON with another type", "text/plain; charset=utf-8", `{"a":1}`, object},
		{"broken JSON", "application/json", `{"a"`, `{"a"`},
		{"YAML", "application/yaml", "a: 1\n", object},
		{"CBOR", "application/cbor", "\xd9\xd9\xf7\xa1\x41a\x01", object},
		{"bytes in CBOR", "application/cbor", "\xa1\x41a\xd6\x41\xff", map[string]any{"a": "\xff"}},
		{"invalid CBOR", "application/cbor", "\xff", "\xff"},
		{"protobuf", protobuf, string(namespaceA), map[string]any{
			"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "a"}, "spec": map[string]any{}, "status": map[string]any{},
		}},
		{"protobuf of a kind that client-go does not know", protobuf, "k8s\x00\x0a\x0d\x0a\x0bexample.com\x12\x00",
			`<protobuf that does not decode: no kind "" is registered for version "example.com" in scheme "pkg/runtime/scheme.go:111">`},
		{"text", "text/plain", "ok", "ok"},
	} {
		t.Run(row.name, func(t *testing.T) {
			assert.Equal(t, row.want, decodeBody(row.contentType, []byte(row.body)))
		})
	}
}

func TestEventDecoder(t *testing.T) {
	frame := append([]byte("\x0a\x05ADDED\x12"), byte(2+len(namespaceA)), 0x0a, byte(len(namespaceA)))
	frame = append(frame, namespaceA...)
	for _, row := range []struct {
		name, contentType string
		body              string
		want              []any
	}{
		{"JSON", "application/json", `{"type":"A"}` + "\n" + `{"type":"B"}`, []any{map[string]any{"type": "A"}, map[string]any{"type": "B"}}},
		{"CBOR", "application/cbor-seq", "\x01\x02", []any{json.Number("1"), json.Number("2")}},
		{"protobuf", protobuf + ";stream=watch", "\x00\x00\x00" + string(byte(len(frame))) + string(frame), []any{map[string]any{"type": "ADDED", "object": map[string]any{
			"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "a"}, "spec": map[string]any{}, "status": map[string]any{},
		}}}},
		{"a frame cut short", protobuf + ";stream=watch", "\x00\x00\x00\x09\x0a", nil},
		{"a frame too long", protobuf + ";stream=watch", "\xff\xff\xff\xff\x0a", nil},
		{"text", "text/plain", "ok", []any{"ok"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			var got []any
			next := eventDecoder(row.contentType, strings.NewReader(row.body))
			for {
				e, err := next()
				if err != nil {
					break
				}
				got = append(got, e)
			}
			assert.Equal(t, row.want, got)
		})
	}
}

// FuzzDecodeBody checks that decoding does not panic and that a decoded body matches
// itself.
func FuzzDecodeBody(f *testing.F) {
	f.Add("application/json", []byte(`{"a":1}`))
	f.Add("application/yaml", []byte("a: 1\n"))
	f.Add("application/cbor", []byte{0xd9, 0xd9, 0xf7, 0xa1, 0x41, 'a', 1})
	f.Add(protobuf, namespaceA)
	f.Add("text/plain", []byte(`{"a":1}`))
	f.Fuzz(func(t *testing.T, contentType string, body []byte) {
		v := decodeBody(contentType, body)
		if s, ok := v.(string); ok && strings.Contains(s, "<") {
			return // it may be a placeholder
		}
		var d differences
		newMatcher().value("", v, v, &d)
	})
}

// FuzzDecodeEvent checks that decoding a frame does not panic and gives JSON values.
func FuzzDecodeEvent(f *testing.F) {
	b, err := base64.StdEncoding.DecodeString("CgVBRERFRBIcChprOHMACg8KAnYxEglOYW1lc3BhY2USBQoDCgFh")
	require.NoError(f, err)
	f.Add(b)
	f.Fuzz(func(t *testing.T, frame []byte) {
		if v, err := decodeEvent(frame); err == nil {
			_, err = json.Marshal(v)
			require.NoError(t, err)
		}
	})
}
