//go:build go1.24

package wire

import (
	"bytes"
	_ "embed"
	"testing"
)

// podJSON is a running Pod as a server stores it.
//
//go:embed testdata/pod.json
var podJSON []byte

func BenchmarkDecode(b *testing.B) {
	pod, _ := ForKind("", "v1", "Pod")
	for _, strict := range []struct {
		name string
		DecodeOptions
	}{{"lenient", DecodeOptions{}}, {"strict", DecodeOptions{Strict: true}}} {
		b.Run("pod/"+strict.name, func(b *testing.B) {
			b.SetBytes(int64(len(podJSON)))
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := pod.Decode(podJSON, strict.DecodeOptions); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkAppend(b *testing.B) {
	pod, _ := ForKind("", "v1", "Pod")
	obj, _, err := pod.Decode(podJSON, DecodeOptions{})
	if err != nil {
		b.Fatal(err)
	}
	buf := make([]byte, 0, 2*len(podJSON))
	b.SetBytes(int64(len(podJSON)))
	b.ReportAllocs()
	for b.Loop() {
		buf = pod.Append(buf[:0], obj)
	}
	if want := bytes.TrimSpace(podJSON); !bytes.Equal(buf, want) {
		b.Fatalf("encoded %s", buf)
	}
}

func BenchmarkNormalize(b *testing.B) {
	pod, _ := ForKind("", "v1", "Pod")
	obj, _, err := pod.Decode(podJSON, DecodeOptions{})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := pod.Normalize(obj, DecodeOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkOpen builds the types of core/v1 and apps/v1 that a server uses
// most, from an unopened table.
func BenchmarkOpen(b *testing.B) {
	for b.Loop() {
		t := open(0)
		for _, key := range []kindKey{{0, "", "v1", "Pod"}, {0, "", "v1", "Node"}, {0, "", "v1", "Service"}, {0, "apps", "v1", "Deployment"}} {
			if t.kind(key) == nil {
				b.Fatal(key)
			}
		}
	}
}
