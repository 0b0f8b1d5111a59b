package controllers_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/object"
)

const ephemeralPod = `{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default}, spec: {containers: [{name: c, image: i}], volumes: [{name: scratch,
  ephemeral: {volumeClaimTemplate: {metadata: {labels: {a: b}}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}}}]}}`

func TestEphemeralVolumeClaim(t *testing.T) {
	t.Parallel()
	c := startCluster(t, "ephemeral-volume-controller")
	c.Put(ephemeralPod)
	c.Settle()
	claim := c.Get("persistentvolumeclaims", "default", "p-scratch")
	require.NotNil(t, claim)
	assert.Equal(t, "b", object.String(claim, "metadata", "labels", "a"))
	assert.Equal(t, "1Gi", object.String(claim, "spec", "resources", "requests", "storage"))
	refs := object.List(claim, "metadata", "ownerReferences")
	require.Len(t, refs, 1)
	assert.Equal(t, "p", refs[0].(map[string]any)["name"])

	require.NoError(t, c.Server.Remove("persistentvolumeclaims", "default", "p-scratch"))
	c.Settle()
	assert.NotNil(t, c.Get("persistentvolumeclaims", "default", "p-scratch"), "a claim that is deleted is created again")
}

func TestEphemeralVolumeOtherOwner(t *testing.T) {
	t.Parallel()
	c := startCluster(t, "ephemeral-volume-controller")
	c.Put(claim("p-scratch", "1Gi", "accessModes: [ReadWriteOnce]"))
	c.Put(ephemeralPod)
	c.Settle()
	assert.Equal(t, []string{"FailedBinding: ephemeral volume scratch: PVC default/p-scratch was not created for pod default/p (pod is not owner)"}, c.Events("p"))
}
