package fidelity

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"testing"

	"github.com/kubefake/kubefake/internal/codec"
	"github.com/kubefake/kubefake/internal/release/gen/scheme"
	"github.com/kubefake/kubefake/internal/wire"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	runtimejson "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
)

// The server's serializers, by the format they write.
var (
	serverScheme  = scheme.New()
	serverWriters = map[codec.Format]runtime.Encoder{
		codec.JSON:     runtimejson.NewSerializerWithOptions(runtimejson.DefaultMetaFactory, serverScheme, serverScheme, runtimejson.SerializerOptions{}),
		codec.YAML:     runtimejson.NewSerializerWithOptions(runtimejson.DefaultMetaFactory, serverScheme, serverScheme, runtimejson.SerializerOptions{Yaml: true}),
		codec.Protobuf: protobuf.NewSerializer(serverScheme, serverScheme),
		codec.CBOR:     cbor.NewSerializer(serverScheme, serverScheme),
	}
)

// configMaps is a list to write, a big one: it spans several blocks.
func configMaps(n int) *corev1.ConfigMapList {
	remaining := int64(5)
	list := &corev1.ConfigMapList{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMapList"},
		ListMeta: metav1.ListMeta{ResourceVersion: "7", Continue: "next", RemainingItemCount: &remaining},
		Items:    []corev1.ConfigMap{},
	}
	for i := range n {
		list.Items = append(list.Items, corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{"l": "m"}},
			Data:       map[string]string{"k": string(bytes.Repeat([]byte("x"), 100*i))},
			BinaryData: map[string][]byte{"b": {0, 1, 2}},
		})
	}
	return list
}

// TestWhole compares single objects and lists, written at once, in every format.
func TestWhole(t *testing.T) {
	list := configMaps(3)
	one := &list.Items[1]
	one.APIVersion, one.Kind = "v1", "ConfigMap"
	for kind, obj := range map[string]runtime.Object{"ConfigMap": one, "ConfigMapList": list} {
		typ, ok := wire.ForKind("", "v1", kind)
		require.True(t, ok)
		doc, err := json.Marshal(obj)
		require.NoError(t, err)
		for f, serializer := range serverWriters {
			t.Run(kind+"/"+f.MediaType(), func(t *testing.T) {
				var want bytes.Buffer
				require.NoError(t, serializer.Encode(obj, &want))
				assert.Equal(t, want.String(), string(f.Append(nil, doc, typ)))
			})
		}
	}
}

// TestWriteList compares lists that are written item by item. Those of CBOR have
// their members in another order.
func TestWriteList(t *testing.T) {
	typ, _ := wire.ForKind("", "v1", "ConfigMap")
	for _, n := range []int{0, 1, 40} {
		list := configMaps(n)
		var items [][]byte
		for _, item := range list.Items {
			item.APIVersion, item.Kind = "v1", "ConfigMap"
			doc, err := json.Marshal(item)
			require.NoError(t, err)
			items = append(items, doc)
		}
		meta, err := json.Marshal(list.ListMeta)
		require.NoError(t, err)
		write := func(f codec.Format) []byte {
			var b bytes.Buffer
			require.NoError(t, f.WriteList(&b, codec.List{
				Kind: "ConfigMapList", APIVersion: "v1", Metadata: meta, Items: slices.Values(items), Item: typ,
			}))
			return b.Bytes()
		}

		var want bytes.Buffer
		require.NoError(t, serverWriters[codec.Protobuf].Encode(list, &want))
		assert.Equal(t, want.Bytes(), write(codec.Protobuf), n)

		var got corev1.ConfigMapList
		_, _, err = cbor.NewSerializer(serverScheme, serverScheme).Decode(write(codec.CBOR), nil, &got)
		require.NoError(t, err)
		assert.Equal(t, *list, got, n)
	}
}

// TestEvents reads a watch with the server's own framer and serializer.
func TestEvents(t *testing.T) {
	typ, _ := wire.ForKind("", "v1", "ConfigMap")
	doc := []byte(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"},"data":{"k":"` + string(bytes.Repeat([]byte("x"), 300)) + `"}}`)
	for f, stream := range map[codec.Format]struct {
		framer  runtime.Framer
		decoder runtime.Decoder
	}{
		codec.JSON:     {runtimejson.Framer, serverWriters[codec.JSON].(runtime.Decoder)},
		codec.Protobuf: {protobuf.LengthDelimitedFramer, protobuf.NewRawSerializer(serverScheme, serverScheme)},
		codec.CBOR:     {cbor.NewFramer(), cbor.NewSerializer(serverScheme, serverScheme, cbor.Transcode(false))},
	} {
		t.Run(f.StreamMediaType(), func(t *testing.T) {
			object := f.Append(nil, doc, typ)
			data := f.AppendEvent(nil, "ADDED", object)
			data = f.AppendEvent(data, "DELETED", object)
			frames := stream.framer.NewFrameReader(io.NopCloser(bytes.NewReader(data)))
			buf := make([]byte, 1<<16)
			for _, want := range []string{"ADDED", "DELETED"} {
				n, err := frames.Read(buf)
				require.NoError(t, err)
				var event metav1.WatchEvent
				gvk := metav1.SchemeGroupVersion.WithKind("WatchEvent")
				_, _, err = stream.decoder.Decode(buf[:n], &gvk, &event)
				require.NoError(t, err)
				assert.Equal(t, want, event.Type)
				assert.Equal(t, string(bytes.TrimSpace(object)), string(event.Object.Raw))
			}
			_, err := frames.Read(buf)
			assert.Equal(t, io.EOF, err)
		})
	}
}
