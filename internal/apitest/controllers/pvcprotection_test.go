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
