package controllers_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/object"
)

func TestVolumeAttributesClassProtection(t *testing.T) {
	t.Parallel()
	c := startCluster(t, "volumeattributesclass-protection-controller")
	c.Put(`{apiVersion: storage.k8s.io/v1, kind: VolumeAttributesClass, metadata: {name: gold}, driverName: d.example.com, parameters: {iops: "1"}}`)
	c.Put(claim("data", "1Gi", "accessModes: [ReadWriteOnce], volumeAttributesClassName: gold"))
	c.Settle()
	assert.Equal(t, []string{"kubernetes.io/vac-protection"}, object.Strings(c.Get("volumeattributesclasses", "", "gold"), "metadata", "finalizers"))
	c.Delete("/apis/storage.k8s.io/v1/volumeattributesclasses/gold")
	c.Settle()
	assert.NotNil(t, c.Get("volumeattributesclasses", "", "gold"), "a claim has it")
	require.NoError(t, c.Server.Remove("persistentvolumeclaims", "default", "data"))
	c.Settle()
	assert.Nil(t, c.Get("volumeattributesclasses", "", "gold"))
}
