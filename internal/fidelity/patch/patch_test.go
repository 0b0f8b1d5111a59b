// Package patch_test compares package patch with the strategic merge patch of
// k8s.io/apimachinery.
package patch_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	kjson "sigs.k8s.io/json"

	"github.com/kubefake/kubefake/internal/patch"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/schema"
)

var seed = flag.Uint64("seed", 1, "of what is random")

// A kind is a Go type and its schema in the release data.
type kind struct {
	goType reflect.Type
	schema *schema.Schema
}

func kinds(t testing.TB) []kind {
	t.Helper()
	p, err := release.Open("v1.37.2")
	require.NoError(t, err)
	var kinds []kind
	for _, row := range []struct {
		group  string
		goType reflect.Type
	}{
		{"", reflect.TypeFor[corev1.Pod]()},
		{"", reflect.TypeFor[corev1.Service]()},
		{"", reflect.TypeFor[corev1.Node]()},
		{"", reflect.TypeFor[corev1.ConfigMap]()},
		{"", reflect.TypeFor[corev1.ServiceAccount]()},
		{"", reflect.TypeFor[corev1.PersistentVolumeClaim]()},
		{"apps", reflect.TypeFor[appsv1.Deployment]()},
		{"apps", reflect.TypeFor[appsv1.ControllerRevision]()},
		{"networking.k8s.io", reflect.TypeFor[networkingv1.Ingress]()},
		{"rbac.authorization.k8s.io", reflect.TypeFor[rbacv1.ClusterRole]()},
	} {
		s, ok := schema.ForKind(p, row.group, "v1", row.goType.Name())
		require.True(t, ok, row.goType)
		kinds = append(kinds, kind{row.goType, s})
	}
	return kinds
}

// TestStrategic applies random patches to random objects with both
// implementations and compares results, errors and the patch that is left.
func TestStrategic(t *testing.T) {
	g := &generator{Rand: rand.New(rand.NewPCG(*seed, 0))}
	rounds := 300
	if testing.Short() {
		rounds = 50
	}
	outcomes := map[string]int{}
	for _, k := range kinds(t) {
		for range rounds {
			obj := g.stored(k.goType)
			doc, err := json.Marshal(g.patch(k.goType, obj))
			require.NoError(t, err)
			outcome, diff := compare(k, obj, doc)
			if diff != "" {
				original, _ := json.Marshal(obj)
				t.Fatalf("%v\n%s\n%s\n%s", k.goType, original, doc, diff)
			}
			outcomes[outcome]++
		}
	}
	t.Log(outcomes)
	assert.NotZero(t, outcomes["merged"])
	assert.NotZero(t, outcomes["error"])
}

// FuzzStrategic compares both implementations with patches made from bytes.
func FuzzStrategic(f *testing.F) {
	kinds := kinds(f)
	g := &generator{Rand: rand.New(rand.NewPCG(1, 2))}
	for i, k := range kinds {
		doc, err := json.Marshal(g.patch(k.goType, g.stored(k.goType)))
		require.NoError(f, err)
		f.Add(uint16(i), uint64(i), doc)
	}
	f.Fuzz(func(t *testing.T, i uint16, seed uint64, doc []byte) {
		k := kinds[int(i)%len(kinds)]
		g := &generator{Rand: rand.New(rand.NewPCG(seed, 0))}
		obj := g.stored(k.goType)
		if _, diff := compare(k, obj, doc); diff != "" {
			original, _ := json.Marshal(obj)
			t.Fatalf("%v\n%s\n%s", k.goType, original, diff)
		}
	})
}

// compare applies a patch with both implementations and returns the outcome and
// the first difference.
func compare(k kind, obj map[string]any, doc []byte) (outcome, diff string) {
	before := runtime.DeepCopyJSON(obj)
	var fieldErrors []error
	var merged *patch.Merged
	p, err := patch.ParseStrategic(doc, true)
	if err == nil {
		fieldErrors = p.FieldErrors
		merged, err = p.Apply(obj, k.schema)
	}
	if !reflect.DeepEqual(obj, before) {
		return "", fmt.Sprintf("the object has become %v", obj)
	}
	// kube-apiserver processes the members of a patch in random order: one of
	// its results must be equal.
	for range 50 {
		outcome, diff = compareOnce(k, obj, doc, merged, fieldErrors, err)
		if diff == "" {
			break
		}
	}
	return outcome, diff
}

func compareOnce(k kind, obj map[string]any, doc []byte, merged *patch.Merged, fieldErrors []error, err error) (outcome, diff string) {
	decoded := map[string]any{}
	strict, wantErr := kjson.UnmarshalStrict(doc, &decoded)
	var want map[string]any
	if wantErr == nil {
		var panicked bool
		want, wantErr, panicked = apply(k, obj, decoded)
		if panicked {
			return "panic", ""
		}
	}
	// A schema does not declare which structs are pointers in Go.
	wantText := strings.Replace(fmt.Sprint(wantErr), "but got: ptr", "but got: struct", 1)
	if fmt.Sprint(err) != wantText {
		return "", fmt.Sprintf("error %v\nwant  %v", err, wantErr)
	}
	if err != nil {
		return "error", ""
	}
	if fmt.Sprint(fieldErrors) != fmt.Sprint(strict) {
		return "", fmt.Sprintf("field errors %v\nwant         %v", fieldErrors, strict)
	}
	if !reflect.DeepEqual(merged.Object, want) {
		return "", fmt.Sprintf("object %v\nwant   %v", merged.Object, want)
	}
	if got, want := merged.PatchText(), fmt.Sprintf("%+v", decoded); got != want {
		return "", fmt.Sprintf("patch %s\nwant  %s", got, want)
	}
	return "merged", ""
}

// apply applies a patch as kube-apiserver does, which panics for some patches.
func apply(k kind, obj, decoded map[string]any) (out map[string]any, err error, panicked bool) {
	defer func() { panicked = recover() != nil }()
	out, err = strategicpatch.StrategicMergeMapPatch(runtime.DeepCopyJSON(obj), decoded, reflect.New(k.goType).Interface())
	return out, err, false
}
