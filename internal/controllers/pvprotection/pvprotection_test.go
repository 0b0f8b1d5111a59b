package pvprotection_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/controllers/controllertest"
)

func TestVolume(t *testing.T) {
	const path = "/api/v1/persistentvolumes/v"
	srv := controllertest.Start(t, "persistentvolume-protection-controller")
	controllertest.Put(t, srv, `{"apiVersion":"v1","kind":"PersistentVolume","metadata":{"name":"v"},
"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],"hostPath":{"path":"/v"}},"status":{"phase":"Bound"}}`)
	controllertest.Settle(t, srv)
	v, err := srv.Get("persistentvolumes", "", "v")
	require.NoError(t, err)
	assert.Equal(t, []any{"kubernetes.io/pv-protection"}, controllertest.Field(v, "metadata", "finalizers"))

	controllertest.Delete(t, srv, path, "")
	controllertest.Settle(t, srv)
	_, err = srv.Get("persistentvolumes", "", "v")
	require.NoError(t, err, "a bound volume stays")

	controllertest.Do(t, srv, "PATCH", path+"/status", `{"status":{"phase":"Released"}}`)
	controllertest.Settle(t, srv)
	_, err = srv.Get("persistentvolumes", "", "v")
	assert.ErrorIs(t, err, fakeapi.ErrNotFound)
}
