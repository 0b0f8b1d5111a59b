package fieldmanager_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/kubefake/kubefake/internal/fieldmanager"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gvk "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// TestScale translates random managedFields to those of a Scale and back.
func TestScale(t *testing.T) {
	gv := gvk.GroupVersion{Group: "apps", Version: "v1"}
	ours := fieldmanager.NewScaleHandler(gv.String(), map[string]string{"apps/v1": "spec.replicas", "apps/v2": "spec.size", "apps/v3": ""})
	mappings := managedfields.ResourcePathMappings{
		"apps/v1": fieldpath.MakePathOrDie("spec", "replicas"),
		"apps/v2": fieldpath.MakePathOrDie("spec", "size"),
		"apps/v3": nil,
	}
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 0))
		parent := randomEntries(r, "apps/v1", "apps/v2", "apps/v3", "apps/v4")
		scaled := randomEntries(r, "autoscaling/v1")
		theirs := managedfields.NewScaleHandler(typedEntries(t, parent), gv, mappings)

		want, err := theirs.ToSubresource()
		require.NoError(t, err)
		got, err := ours.ToSubresource(parent)
		require.NoError(t, err)
		// The order of upstream's entries that differ only in their fields is
		// random.
		require.ElementsMatch(t, texts(want), texts(typedEntries(t, got)), "seed %d: %s", seed, text(parent))

		// Some of the managers that owned the number of replicas keep it.
		for _, e := range got {
			if r.IntN(2) == 0 {
				scaled = append(scaled, e)
			}
		}
		want, err = theirs.ToParent(typedEntries(t, scaled))
		require.NoError(t, err)
		got, err = ours.ToParent(parent, scaled)
		require.NoError(t, err)
		require.ElementsMatch(t, texts(want), texts(typedEntries(t, got)), "seed %d: %s %s", seed, text(parent), text(scaled))
	}
}

// randomEntries returns a list of entries in some of the versions.
func randomEntries(r *rand.Rand, versions ...string) []any {
	list := []any{}
	for range r.IntN(4) {
		spec := map[string]any{}
		for _, field := range []string{"f:replicas", "f:size", "f:paused"} {
			if r.IntN(2) == 0 {
				spec[field] = map[string]any{}
			}
		}
		e := map[string]any{
			"manager": fmt.Sprint("m", r.IntN(3)), "operation": []string{"Apply", "Update"}[r.IntN(2)],
			"apiVersion": versions[r.IntN(len(versions))],
			"fieldsType": "FieldsV1", "fieldsV1": map[string]any{"f:spec": spec},
		}
		if r.IntN(2) == 0 {
			e["subresource"] = "scale"
		}
		if r.IntN(2) == 0 {
			e["time"] = fmt.Sprintf("2026-01-01T00:00:0%dZ", r.IntN(3))
		}
		list = append(list, e)
	}
	return list
}

func typedEntries(t *testing.T, list []any) []metav1.ManagedFieldsEntry {
	out := []metav1.ManagedFieldsEntry{}
	b, err := json.Marshal(list)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(b, &out))
	return out
}

func texts(list []metav1.ManagedFieldsEntry) (out []string) {
	for _, e := range list {
		out = append(out, text(e))
	}
	return out
}
