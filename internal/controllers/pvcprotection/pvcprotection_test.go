package pvcprotection_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/controllers/controllertest"
)

func claim(name, owner string) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"namespace":"shop","name":%q,"ownerReferences":[%s]},
"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}`, name, owner)
}

func pod(node, phase, volume string) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"shop","name":"p","uid":"p"},
"spec":{"nodeName":%q,"containers":[{"name":"c","image":"i"}],"volumes":[{"name":"data",%s}]},"status":{"phase":%q}}`, node, volume, phase)
}

const (
	named     = `"persistentVolumeClaim":{"claimName":"p-data"}`
	ephemeral = `"ephemeral":{"volumeClaimTemplate":{"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}}`
	ofPod     = `{"apiVersion":"v1","kind":"Pod","name":"p","uid":"p","controller":true}`
)

func TestClaim(t *testing.T) {
	tests := []struct {
		name string
		pod  string // "" for none
		ref  string // the owner of the claim
		kept bool
	}{
		{"no Pod", "", "", false},
		{"a Pod with a node", pod("n", "Running", named), "", true},
		{"a Pod with a node that has ended", pod("n", "Succeeded", named), "", true},
		{"a Pod without a node", pod("", "Pending", named), "", false},
		{"a Pod with another volume", pod("n", "Running", `"emptyDir":{}`), "", false},
		{"an ephemeral volume", pod("n", "Running", ephemeral), ofPod, true},
		{"a claim that the Pod does not own", pod("n", "Running", ephemeral), "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			srv := controllertest.Start(t, "persistentvolumeclaim-protection-controller", fakeapi.WithNamespaces("shop"))
			controllertest.Put(t, srv, claim("p-data", tt.ref))
			if tt.pod != "" {
				controllertest.Put(t, srv, tt.pod)
			}
			controllertest.Settle(t, srv)
			o, err := srv.Get("persistentvolumeclaims", "shop", "p-data")
			require.NoError(t, err)
			require.Equal(t, []any{"kubernetes.io/pvc-protection"}, controllertest.Field(o, "metadata", "finalizers"))

			controllertest.Delete(t, srv, "/api/v1/namespaces/shop/persistentvolumeclaims/p-data", "")
			controllertest.Settle(t, srv)
			_, err = srv.Get("persistentvolumeclaims", "shop", "p-data")
			if !tt.kept {
				require.ErrorIs(t, err, fakeapi.ErrNotFound)
				return
			}
			require.NoError(t, err)
			require.NoError(t, srv.Remove("pods", "shop", "p"))
			controllertest.Settle(t, srv)
			_, err = srv.Get("persistentvolumeclaims", "shop", "p-data")
			assert.ErrorIs(t, err, fakeapi.ErrNotFound, "when the Pod is gone")
		})
	}
}

// A Pod that the watch cache does not show keeps its claims.
func TestLag(t *testing.T) {
	srv := controllertest.Start(t, "persistentvolumeclaim-protection-controller", fakeapi.WithNamespaces("shop"))
	controllertest.Put(t, srv, claim("p-data", ""))
	controllertest.Settle(t, srv)
	require.NoError(t, srv.SetLag("pods", fakeapi.Lag{Frozen: true}))
	controllertest.Put(t, srv, pod("n", "Running", named))
	controllertest.Delete(t, srv, "/api/v1/namespaces/shop/persistentvolumeclaims/p-data", "")
	controllertest.Settle(t, srv)
	_, err := srv.Get("persistentvolumeclaims", "shop", "p-data")
	assert.NoError(t, err)
}
