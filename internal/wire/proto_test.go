//go:build go1.24

package wire_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/quantity"
	"github.com/kubefake/kubefake/internal/wire"
)

func kindOf(t testing.TB, group, version, kind string) *wire.Type {
	typ, ok := wire.ForKind(group, version, kind)
	require.True(t, ok)
	return typ
}

// TestProtoErrors checks the errors of malformed encodings.
func TestProtoErrors(t *testing.T) {
	for name, row := range map[string]struct {
		kind string
		data string
		want string
	}{
		"cut key":                 {"Pod", "\x8a", "unexpected EOF"},
		"cut length":              {"Pod", "\x0a\x85", "unexpected EOF"},
		"length beyond the end":   {"Pod", "\x0a\x05\x0a\x01x", "unexpected EOF"},
		"great length":            {"Pod", "\x0a\xff\xff\xff\xff\x07", "unexpected EOF"},
		"sum of lengths":          {"Endpoints", "2\xff\xff\xff\xff\xff\xff\xff\xff\xff0", "proto: negative length found during unmarshaling"},
		"negative length":         {"Pod", "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "proto: negative length found during unmarshaling"},
		"endless varint":          {"Pod", strings.Repeat("\xff", 20), "proto: integer overflow"},
		"field 0":                 {"Pod", "\x00", "proto: Pod: illegal tag 0 (wire type 0)"},
		"end of no group":         {"Pod", "\x0c", "proto: Pod: wiretype end group for non-group"},
		"wire type of another":    {"Pod", "\x0d1234", "proto: wrong wireType = 5 for field ObjectMeta"},
		"wire type of none":       {"Pod", "\xff\x01", "proto: illegal wireType 7"},
		"unknown field, cut":      {"Pod", "\x7a\x05", "unexpected EOF"},
		"unknown group, cut":      {"Pod", "\x7b\x08", "unexpected EOF"},
		"nested":                  {"Pod", "\x12\x02\x0a\x05", "unexpected EOF"},
		"time":                    {"Pod", "\x0a\x04\x42\x02\x0a\x00", "proto: wrong wireType = 2 for field Seconds"},
		"quantity":                {"LimitRange", "\x12\x0f\x0a\x0d\x12\x0b\x0a\x03cpu\x12\x04\x0a\x02xx", quantity.ErrFormat.Error()},
		"untyped data":            {"ControllerRevision", "\x12\x03\x0a\x01{", "unexpected end of JSON input"},
		"error after untyped one": {"ControllerRevision", "\x12\x03\x0a\x01{\x0c", "proto: ControllerRevision: wiretype end group for non-group"},
	} {
		t.Run(name, func(t *testing.T) {
			group := ""
			if row.kind == "ControllerRevision" {
				group = "apps"
			}
			_, err := kindOf(t, group, "v1", row.kind).DecodeProto([]byte(row.data))
			assert.EqualError(t, err, row.want)
		})
	}
}

func TestProtoDepth(t *testing.T) {
	// message prepends a field to the value of a field.
	message := func(number int, value []byte) []byte {
		head := binary.AppendUvarint(nil, uint64(number)<<3|2)
		head = binary.AppendUvarint(head, uint64(len(value)))
		return append(head, value...)
	}
	const spec, versions, schema, openAPIV3Schema, not = 2, 7, 4, 1, 28
	data := []byte{}
	for range 11_000 {
		data = message(not, data)
	}
	for _, number := range []int{openAPIV3Schema, schema, versions, spec} {
		data = message(number, data)
	}
	crd := kindOf(t, "apiextensions.k8s.io", "v1", "CustomResourceDefinition")
	_, err := crd.DecodeProto(data)
	assert.EqualError(t, err, "proto: nested more than 10000 deep")
}

// TestProtoSkipsUnknownFields has unknown fields of every wire type.
func TestProtoSkipsUnknownFields(t *testing.T) {
	data := "\x78\x05" + "\x7912345678" + "\x7a\x01x" + "\x7b\x08\x01\x7b\x7c\x7c" + "\x7d1234" + "\x0a\x03\x0a\x01a"
	obj, err := kindOf(t, "", "v1", "ConfigMap").DecodeProto([]byte(data))
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"metadata": map[string]any{"name": "a"}}, obj)
}

// TestProtoMerges has duplicate fields: the last scalar is used, messages and
// maps are merged, lists are concatenated.
func TestProtoMerges(t *testing.T) {
	data := "\x0a\x06\x0a\x01a\x1a\x01n" + // name a, namespace n
		"\x12\x06\x0a\x01k\x12\x01v" + "\x12\x06\x0a\x01k\x12\x01w" + "\x12\x03\x0a\x01l" + // data
		"\x0a\x06\x0a\x01b\x72\x01f" // name b, finalizers f
	obj, err := kindOf(t, "", "v1", "ConfigMap").DecodeProto([]byte(data))
	require.NoError(t, err)
	assert.Equal(t, map[string]any{
		"metadata": map[string]any{"name": "b", "namespace": "n", "finalizers": []any{"f"}},
		"data":     map[string]any{"k": "w", "l": ""},
	}, obj)
}

// A field set that is no JSON is kept as a text.
func TestProtoFieldSet(t *testing.T) {
	for text, want := range map[string]string{`{}`: `{}`, `{}{}`: `"{}{}"`, "\xff": `"\ufffd"`, ``: ``} {
		message := func(tag, value string) string { return tag + string(rune(len(value))) + value }
		entry := message("\x3a", message("\x0a", text))
		obj, err := kindOf(t, "", "v1", "ConfigMap").DecodeProto([]byte(message("\x0a", message("\x8a\x01", entry))))
		require.NoError(t, err)
		got, _ := obj["metadata"].(map[string]any)["managedFields"].([]any)[0].(map[string]any)["fieldsV1"].(object.FieldsV1)
		assert.Equal(t, want, string(got), "%q", text)
	}
}

func TestProtoPacked(t *testing.T) {
	// Supplemental groups of a pod's security context, packed and unpacked.
	obj, err := kindOf(t, "", "v1", "Pod").DecodeProto([]byte("\x12\x09\x72\x07\x22\x03\x01\xac\x02\x20\x03"))
	require.NoError(t, err)
	assert.Equal(t, []any{int64(1), int64(300), int64(3)}, obj["spec"].(map[string]any)["securityContext"].(map[string]any)["supplementalGroups"])
}

func TestProtoOfNone(t *testing.T) {
	table := kindOf(t, "meta.k8s.io", "v1", "Table")
	assert.False(t, table.HasProto())
	assert.Panics(t, func() { table.AppendProto(nil, nil) })
	assert.Panics(t, func() { table.DecodeProto(nil) })
}

func TestEnvelope(t *testing.T) {
	e := wire.Envelope{APIVersion: "apps/v1", Kind: "Deployment", Raw: []byte("\x0a\x00")}
	data := e.Append(nil)
	got, err := wire.ParseEnvelope(data)
	require.NoError(t, err)
	assert.Equal(t, e, got)
	assert.Same(t, &data[len(data)-6], &got.Raw[0])
}

func FuzzDecodeProto(f *testing.F) {
	pod := kindOf(f, "", "v1", "Pod")
	doc, err := os.ReadFile("testdata/pod.json")
	require.NoError(f, err)
	obj, _, err := pod.Decode(doc, wire.DecodeOptions{})
	require.NoError(f, err)
	f.Add(pod.AppendProto(nil, obj))
	f.Add([]byte("\x12\x0e\x72\x0c\x22\x03\x01\xac\x02\x20\x03\x2a\x03\x08\x01"))
	f.Fuzz(func(t *testing.T, data []byte) {
		obj, err := pod.DecodeProto(data)
		if err != nil {
			return
		}
		again, err := pod.DecodeProto(pod.AppendProto(nil, obj))
		require.NoError(t, err)
		assert.Equal(t, string(pod.Append(nil, obj)), string(pod.Append(nil, again)))
	})
}

func FuzzParseEnvelope(f *testing.F) {
	f.Add(wire.Envelope{APIVersion: "v1", Kind: "Pod", Raw: []byte("x")}.Append(nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := wire.ParseEnvelope(data)
		if err == nil {
			again, err := wire.ParseEnvelope(e.Append(nil))
			require.NoError(t, err)
			assert.Equal(t, string(e.Raw), string(again.Raw))
		}
	})
}

func BenchmarkProto(b *testing.B) {
	pod := kindOf(b, "", "v1", "Pod")
	doc, err := os.ReadFile("testdata/pod.json")
	require.NoError(b, err)
	obj, _, err := pod.Decode(doc, wire.DecodeOptions{})
	require.NoError(b, err)
	data := pod.AppendProto(nil, obj)
	b.Run("append/pod", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			data = pod.AppendProto(data[:0], obj)
		}
	})
	b.Run("decode/pod", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := pod.DecodeProto(data); err != nil {
				b.Fatal(err)
			}
		}
	})
	cbor := pod.AppendCBOR(nil, obj)
	b.Run("cbor/pod", func(b *testing.B) {
		b.SetBytes(int64(len(cbor)))
		b.ReportAllocs()
		for b.Loop() {
			cbor = pod.AppendCBOR(cbor[:0], obj)
		}
	})
}

func ExampleType_AppendProto() {
	namespace, _ := wire.ForKind("", "v1", "Namespace")
	data := namespace.AppendProto(nil, map[string]any{"spec": map[string]any{"finalizers": []any{"kubernetes"}}})
	obj, err := namespace.DecodeProto(data)
	fmt.Println(obj, err)
	// Output: map[metadata:map[] spec:map[finalizers:[kubernetes]] status:map[]] <nil>
}

func ExampleType_AppendCBOR() {
	secret, _ := wire.ForKind("", "v1", "Secret")
	fmt.Printf("%q", secret.AppendCBOR(nil, map[string]any{"data": map[string]any{"k": "AAEC"}}))
	// Output: "\xa2Ddata\xa1Ak\xd6C\x00\x01\x02Hmetadata\xa0"
}
