package ephemeralvolume_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/controllers/controllertest"
	"github.com/kubefake/kubefake/internal/object"
)

const pod = `{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default}, spec: {containers: [{name: c, image: i}], volumes: [{name: scratch,
  ephemeral: {volumeClaimTemplate: {metadata: {labels: {a: b}}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}}}]}}`

func TestClaim(t *testing.T) {
	c := controllertest.StartCluster(t, "ephemeral-volume-controller")
	c.Put(pod)
	c.Settle(0)
	claim := c.Get("persistentvolumeclaims", "default", "p-scratch")
	require.NotNil(t, claim)
	assert.Equal(t, "b", object.String(claim, "metadata", "labels", "a"))
	assert.Equal(t, "1Gi", object.String(claim, "spec", "resources", "requests", "storage"))
	refs := object.List(claim, "metadata", "ownerReferences")
	require.Len(t, refs, 1)
	assert.Equal(t, "p", refs[0].(map[string]any)["name"])

	require.NoError(t, c.Server.Remove("persistentvolumeclaims", "default", "p-scratch"))
	c.Settle(0)
	assert.NotNil(t, c.Get("persistentvolumeclaims", "default", "p-scratch"), "a claim that is deleted is created again")
}

func TestOtherOwner(t *testing.T) {
	c := controllertest.StartCluster(t, "ephemeral-volume-controller")
	c.Put(`{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: p-scratch, namespace: default}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}`)
	c.Put(pod)
	c.Settle(0)
	assert.Equal(t, []string{"FailedBinding: ephemeral volume scratch: PVC default/p-scratch was not created for pod default/p (pod is not owner)"}, c.Events("p"))
}
