package controllers_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/object"
)

func ownedClaim(owner string) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"namespace":"shop","name":"p-data","ownerReferences":[%s]},
"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}`, owner)
}

func podWithVolume(node, phase, volume string) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"shop","name":"p","uid":"p"},
"spec":{"nodeName":%q,"containers":[{"name":"c","image":"i"}],"volumes":[{"name":"data",%s}]},"status":{"phase":%q}}`, node, volume, phase)
}

const namedVolume = `"persistentVolumeClaim":{"claimName":"p-data"}`

func TestPVCProtection(t *testing.T) {
	t.Parallel()
	const (
		ephemeral = `"ephemeral":{"volumeClaimTemplate":{"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}}`
		ofPod     = `{"apiVersion":"v1","kind":"Pod","name":"p","uid":"p","controller":true}`
	)
	tests := []struct {
		name string
		pod  string // "" for none
		ref  string // the owner of the claim
		kept bool
	}{
		{"no Pod", "", "", false},
		{"a Pod with a node", podWithVolume("n", "Running", namedVolume), "", true},
		{"a Pod with a node that has ended", podWithVolume("n", "Succeeded", namedVolume), "", true},
		{"a Pod without a node", podWithVolume("", "Pending", namedVolume), "", false},
		{"a Pod with another volume", podWithVolume("n", "Running", `"emptyDir":{}`), "", false},
		{"an ephemeral volume", podWithVolume("n", "Running", ephemeral), ofPod, true},
		{"a claim that the Pod does not own", podWithVolume("n", "Running", ephemeral), "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := startCluster(t, "persistentvolumeclaim-protection-controller", fakeapi.WithNamespaces("shop"))
			c.Put(ownedClaim(tt.ref))
			if tt.pod != "" {
				c.Put(tt.pod)
			}
			c.Settle()
			o := c.Get("persistentvolumeclaims", "shop", "p-data")
			require.Equal(t, []any{"kubernetes.io/pvc-protection"}, object.Value(o, "metadata", "finalizers"))

			c.Delete(shopPath + "/persistentvolumeclaims/p-data")
			c.Settle()
			if !tt.kept {
				assert.Nil(t, c.Get("persistentvolumeclaims", "shop", "p-data"))
				return
			}
			require.NotNil(t, c.Get("persistentvolumeclaims", "shop", "p-data"))
			require.NoError(t, c.Remove("pods", "shop", "p"))
			c.Settle()
			assert.Nil(t, c.Get("persistentvolumeclaims", "shop", "p-data"), "when the Pod is gone")
		})
	}
}

// A Pod that the watch cache does not show keeps its claims.
func TestPVCProtectionLag(t *testing.T) {
	t.Parallel()
	c := startCluster(t, "persistentvolumeclaim-protection-controller", fakeapi.WithNamespaces("shop"))
	c.Put(ownedClaim(""))
	c.Settle()
	require.NoError(t, c.SetLag("pods", fakeapi.Lag{Frozen: true}))
	c.Put(podWithVolume("n", "Running", namedVolume))
	c.Delete(shopPath + "/persistentvolumeclaims/p-data")
	c.Settle()
	assert.NotNil(t, c.Get("persistentvolumeclaims", "shop", "p-data"))
}

// TestPVCUnused: the condition Unused of a bound claim says whether a Pod refers to it.
func TestPVCUnused(t *testing.T) {
	t.Parallel()
	const (
		isUnused = "Unused=True NoPodsUsingPVC: No pods are currently referencing this PVC"
		isUsed   = "Unused=False PodUsingPVC: A pod is currently referencing this PVC"
	)
	bind := func(c workloads) {
		c.PatchStatus("persistentvolumeclaims", "p-data", `{"status":{"phase":"Bound"}}`)
		c.Settle()
	}
	start := func(t *testing.T, options ...fakeapi.Option) workloads {
		c := startWorkloads(t, "persistentvolumeclaim-protection-controller", options...)
		c.Put(ownedClaim(""))
		c.Settle()
		return c
	}
	t.Run("of Pods", func(t *testing.T) {
		c := start(t)
		assert.Empty(t, c.Conditions("persistentvolumeclaims", "p-data"), "the claim is pending")
		bind(c)
		assert.Equal(t, []string{isUnused}, c.Conditions("persistentvolumeclaims", "p-data"))
		c.Put(podWithVolume("", "Pending", namedVolume))
		c.Settle()
		assert.Equal(t, []string{isUsed}, c.Conditions("persistentvolumeclaims", "p-data"), "the Pod has no node")
		c.PatchStatus("pods", "p", `{"status":{"phase":"Succeeded"}}`)
		c.Settle()
		assert.Equal(t, []string{isUnused}, c.Conditions("persistentvolumeclaims", "p-data"))
	})
	for name, row := range map[string]struct {
		options []fakeapi.Option
		pending int
		bound   int
	}{
		"1.36":               {[]fakeapi.Option{fakeapi.WithRelease("1.36")}, 0, 0},
		"1.36 with the gate": {[]fakeapi.Option{fakeapi.WithRelease("1.36"), withGate("PersistentVolumeClaimUnusedSinceTime", true)}, 1, 1},
		"1.37":               {nil, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			c := start(t, row.options...)
			assert.Len(t, c.Conditions("persistentvolumeclaims", "p-data"), row.pending)
			bind(c)
			assert.Len(t, c.Conditions("persistentvolumeclaims", "p-data"), row.bound)
		})
	}
}
