package codec_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/codec"
)

// The module release/gen compares encodings with kube-apiserver's serializers.
// These tests check readable forms.

func TestAppendEvent(t *testing.T) {
	object := `{"kind":"A"}`
	for name, row := range map[string]struct {
		format       codec.Format
		object, want string
	}{
		"json":     {codec.JSON, object + "\n", `{"type":"ADDED","object":` + object + "}\n"},
		"protobuf": {codec.Protobuf, "raw", "\x00\x00\x00\x0e" + "\x0a\x05ADDED" + "\x12\x05\x0a\x03raw"},
		"long":     {codec.Protobuf, strings.Repeat("x", 200), "\x00\x00\x00\xd5" + "\x0a\x05ADDED" + "\x12\xcb\x01\x0a\xc8\x01" + strings.Repeat("x", 200)},
		"cbor":     {codec.CBOR, "\xd9\xd9\xf7\xa0", "\xd9\xd9\xf7\xa2" + "\x44type\x45ADDED" + "\x46object\xd9\xd9\xf7\xa0"},
	} {
		t.Run(name, func(t *testing.T) {
			got := row.format.AppendEvent([]byte("before "), "ADDED", []byte(row.object))
			assert.Equal(t, "before "+row.want, string(got))
		})
	}
}

// big returns a list of custom resources that needs several blocks. One item is
// longer than a block.
func big() codec.List {
	var items [][]byte
	for i := range 30 {
		size := 5000
		if i == 10 {
			size = 100_000
		}
		items = append(items, fmt.Appendf(nil, `{"apiVersion":"e.com/v1","kind":"Foo","metadata":{"name":"n%d"},"spec":%q}`, i, strings.Repeat("x", size)))
	}
	return codec.List{
		Kind: "FooList", APIVersion: "e.com/v1", Typed: true,
		Metadata: []byte(`{"continue":"","resourceVersion":"5"}`),
		Items:    slices.Values(items),
	}
}

func TestWriteListOfCustomResources(t *testing.T) {
	list := big()
	var b bytes.Buffer
	require.NoError(t, codec.CBOR.WriteList(&b, list))
	got, err := codec.CBORToJSON(b.Bytes())
	require.NoError(t, err)
	want := `{"apiVersion":"e.com/v1","items":[` + string(bytes.Join(slices.Collect(list.Items), []byte(","))) +
		`],"kind":"FooList","metadata":` + string(list.Metadata) + `}`
	assert.Equal(t, want, string(got))
}

func TestWriteListOfPods(t *testing.T) {
	doc, typ := pod(t)
	list := codec.List{
		Kind: "PodList", APIVersion: "v1", Metadata: []byte(`{"resourceVersion":"5"}`),
		Items: slices.Values(slices.Repeat([][]byte{doc}, 100)), Item: typ,
	}
	for _, f := range []codec.Format{codec.Protobuf, codec.CBOR} {
		t.Run(f.MediaType(), func(t *testing.T) {
			var b bytes.Buffer
			require.NoError(t, f.WriteList(&b, list))
			d, err := f.Parse(b.Bytes())
			require.NoError(t, err)
			assert.Equal(t, "PodList", d.Kind)
			podList := kind(t, "PodList")
			obj, _, err := d.Decode(lenient{podList}, true)
			require.NoError(t, err)
			assert.Equal(t, map[string]any{"resourceVersion": "5"}, obj["metadata"])
			items := obj["items"].([]any)
			assert.Len(t, items, 100)
			assert.NotContains(t, items[99], "kind")
		})
	}
}

// failing is a connection that fails after some bytes.
type failing int

var errBroken = errors.New("broken")

func (f *failing) Write(b []byte) (int, error) {
	if *f -= failing(len(b)); *f < 0 {
		return 0, errBroken
	}
	return len(b), nil
}

func TestWriteListToBrokenConnection(t *testing.T) {
	for _, size := range []failing{0, 100, 70_000} {
		assert.ErrorIs(t, codec.CBOR.WriteList(&size, big()), errBroken)
	}
}

func TestAppendToPrefix(t *testing.T) {
	doc, typ := pod(t)
	for _, f := range formats {
		alone := f.Append(nil, doc, typ)
		assert.Equal(t, "before"+string(alone), string(f.Append([]byte("before"), doc, typ)), f.MediaType())
	}
	custom := []byte(`{"apiVersion":"e.com/v1","kind":"Foo","spec":{"f":1.5,"i":7,"l":[1,null]}}`)
	assert.Equal(t, "\xd9\xd9\xf7\xa3"+"Dkind"+"CFoo"+"Dspec"+"\xa3"+"Af\xf9\x3e\x00"+"Ai\x07"+"Al\x82\x01\xf6"+"JapiVersion"+"He.com/v1",
		string(codec.CBOR.Append(nil, custom, nil)))
}

func TestMisuse(t *testing.T) {
	assert.Panics(t, func() { codec.YAML.Append(nil, []byte("{"), nil) })
	assert.Panics(t, func() { codec.CBOR.Append(nil, []byte("{"), nil) })
	assert.Panics(t, func() { codec.AppendPretty(nil, []byte("{")) })
	assert.Panics(t, func() { codec.JSON.WriteList(nil, codec.List{}) })
}
