package volumeattributesclassprotection_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/controllers/controllertest"
	"github.com/kubefake/kubefake/internal/object"
)

func TestClass(t *testing.T) {
	c := controllertest.StartCluster(t, "volumeattributesclass-protection-controller")
	c.Put(`{apiVersion: storage.k8s.io/v1, kind: VolumeAttributesClass, metadata: {name: gold}, driverName: d.example.com, parameters: {iops: "1"}}`)
	c.Put(`{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, namespace: default}, spec: {accessModes: [ReadWriteOnce],
  resources: {requests: {storage: 1Gi}}, volumeAttributesClassName: gold}}`)
	c.Settle(0)
	assert.Equal(t, []string{"kubernetes.io/vac-protection"}, object.Strings(c.Get("volumeattributesclasses", "", "gold"), "metadata", "finalizers"))
	c.Delete("/apis/storage.k8s.io/v1/volumeattributesclasses/gold")
	c.Settle(0)
	assert.NotNil(t, c.Get("volumeattributesclasses", "", "gold"), "a claim has it")
	require.NoError(t, c.Server.Remove("persistentvolumeclaims", "default", "data"))
	c.Settle(0)
	assert.Nil(t, c.Get("volumeattributesclasses", "", "gold"))
}
