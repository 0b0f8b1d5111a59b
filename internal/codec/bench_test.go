//go:build go1.24

package codec_test

import (
	"io"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/codec"
	"github.com/kubefake/kubefake/internal/wire"
)

var formats = []codec.Format{codec.JSON, codec.YAML, codec.Protobuf, codec.CBOR}

// pod returns a running Pod as the server stores it, and its type.
func pod(t testing.TB) (doc []byte, typ *wire.Type) {
	doc, err := os.ReadFile("../wire/testdata/pod.json")
	require.NoError(t, err)
	return doc, kind(t, "Pod")
}

func BenchmarkAppend(b *testing.B) {
	doc, typ := pod(b)
	for _, f := range formats {
		b.Run(f.MediaType(), func(b *testing.B) {
			buf := f.Append(nil, doc, typ)
			b.ReportMetric(float64(len(buf)), "encoded-B")
			b.SetBytes(int64(len(doc)))
			b.ReportAllocs()
			for b.Loop() {
				buf = f.Append(buf[:0], doc, typ)
			}
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	doc, typ := pod(b)
	for _, f := range formats {
		b.Run(f.MediaType(), func(b *testing.B) {
			body := f.Append(nil, doc, typ)
			b.SetBytes(int64(len(doc)))
			b.ReportAllocs()
			for b.Loop() {
				d, err := f.Parse(body)
				if err != nil {
					b.Fatal(err)
				}
				if _, _, err := d.Decode(lenient{typ}, false); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkWriteList(b *testing.B) {
	doc, typ := pod(b)
	items := slices.Repeat([][]byte{doc}, 1000)
	for _, f := range []codec.Format{codec.Protobuf, codec.CBOR} {
		b.Run(f.MediaType()+"/items=1000", func(b *testing.B) {
			b.SetBytes(int64(len(items) * len(doc)))
			b.ReportAllocs()
			for b.Loop() {
				list := codec.List{Kind: "PodList", APIVersion: "v1", Metadata: []byte("{}"), Items: slices.Values(items), Item: typ}
				if err := f.WriteList(io.Discard, list); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
