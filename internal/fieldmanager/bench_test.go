//go:build go1.24

package fieldmanager

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/kubefake/kubefake/internal/object"
)

func BenchmarkUpdate(b *testing.B) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, bm := range []struct {
		name, file           string
		group, version, kind string
		change               func(obj map[string]any)
	}{
		{"object=ConfigMap", "configmap.yaml", "", "v1", "ConfigMap", func(obj map[string]any) {
			obj["data"] = map[string]any{"key": "other"}
		}},
		{"object=Pod", "pod.yaml", "", "v1", "Pod", func(obj map[string]any) {
			obj["status"] = map[string]any{"phase": "Running", "podIP": "10.0.0.1"}
		}},
	} {
		k := builtin(b, bm.group, bm.version, bm.kind)
		text, err := os.ReadFile("testdata/" + bm.file)
		if err != nil {
			b.Fatal(err)
		}
		obj := k.canonical(b, parse(b, string(text)))
		o := Options{Manager: "kubectl-create", Now: now}
		b.Run(bm.name+"/create", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				k.Update(object.View{}, WithoutManagedFields(obj), o)
			}
		})
		live := k.Update(object.View{}, WithoutManagedFields(obj), o)
		changed := WithoutManagedFields(live)
		bm.change(changed)
		o = Options{Manager: "kubelet", Subresource: "status", Now: now.Add(time.Second)}
		b.Run(bm.name+"/update", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				k.Update(object.ViewOf(live), WithoutManagedFields(changed), o)
			}
		})
		applied := parse(b, string(text))
		b.Run(bm.name+"/apply", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := k.Apply(object.ViewOf(live), applied, o); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkApplyList applies half of two long lists to the whole.
func BenchmarkApplyList(b *testing.B) {
	k := custom(b, listSchema)
	for _, n := range []int{10_000, 20_000} {
		r := rand.New(rand.NewPCG(1, 2))
		live, err := k.Apply(object.View{}, longObject(r, n), Options{Manager: "a"})
		if err != nil {
			b.Fatal(err)
		}
		half := longObject(r, n/2)
		b.Run(fmt.Sprintf("size=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := k.Apply(object.ViewOf(live), half, Options{Manager: "a"}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkCompile(b *testing.B) {
	k := builtin(b, "", "v1", "Pod")
	b.ReportAllocs()
	for b.Loop() {
		compile(&k.Type.kind)
	}
}
