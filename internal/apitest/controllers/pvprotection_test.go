package controllers_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/object"
)

func TestPVProtection(t *testing.T) {
	t.Parallel()
	const path = "/api/v1/persistentvolumes/v"
	c := startCluster(t, "persistentvolume-protection-controller")
	c.Put(`{"apiVersion":"v1","kind":"PersistentVolume","metadata":{"name":"v"},
"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],"hostPath":{"path":"/v"}},"status":{"phase":"Bound"}}`)
	c.Settle()
	v := c.Get("persistentvolumes", "", "v")
	assert.Equal(t, []any{"kubernetes.io/pv-protection"}, object.Value(v, "metadata", "finalizers"))

	c.Delete(path)
	c.Settle()
	assert.NotNil(t, c.Get("persistentvolumes", "", "v"), "a bound volume stays")

	c.MergePatch(path+"/status", `{"status":{"phase":"Released"}}`)
	c.Settle()
	assert.Nil(t, c.Get("persistentvolumes", "", "v"))
}
