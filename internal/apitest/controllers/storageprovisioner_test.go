package controllers_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/object"
)

const (
	storageControllers = volumeBinder + ",persistentvolumeclaim-protection-controller,persistentvolume-protection-controller,storage-provisioner"
	immediate          = `{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: fast, annotations: {storageclass.kubernetes.io/is-default-class: "true"}},
  provisioner: d.example.com, reclaimPolicy: Delete, volumeBindingMode: Immediate, allowVolumeExpansion: true}`
	csiDriver = `{apiVersion: storage.k8s.io/v1, kind: CSIDriver, metadata: {name: d.example.com}}`
)

// startStorage starts a server with objects, before the controllers.
func startStorage(t *testing.T, controllers string, objects ...string) cluster {
	c := startCluster(t, "none")
	c.Put(objects...)
	require.NoError(t, c.SetControllers(controllers))
	c.SettleWithin(time.Second)
	return c
}

func volumeOf(c cluster) map[string]any {
	return c.Get("persistentvolumes", "", object.String(c.Get("persistentvolumeclaims", "default", "data"), "spec", "volumeName"))
}

func TestStorageProvisioner(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name    string
		objects []string
		want    map[string]any // the source
	}{
		{"CSI driver", []string{immediate, csiDriver}, map[string]any{"driver": "d.example.com", "volumeHandle": ""}},
		{"host path", []string{immediate}, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := startStorage(t, storageControllers, row.objects...)
			c.Create(claimsPath, claim("data", "1Gi", "accessModes: [ReadWriteOnce]"))
			c.SettleWithin(time.Second)
			o, v := c.Get("persistentvolumeclaims", "default", "data"), volumeOf(c)
			assert.Equal(t, "Bound", object.String(o, "status", "phase"))
			name := "pvc-" + object.String(o, "metadata", "uid")
			assert.Equal(t, name, object.String(v, "metadata", "name"))
			assert.Equal(t, "d.example.com", object.String(v, "metadata", "annotations", "pv.kubernetes.io/provisioned-by"))
			assert.Equal(t, "fast", object.String(v, "spec", "storageClassName"))
			if row.want != nil {
				row.want["volumeHandle"] = name
				assert.Equal(t, row.want, object.Map(v, "spec", "csi"))
			} else {
				assert.Equal(t, "/var/local-path-provisioner/"+name, object.String(v, "spec", "hostPath", "path"))
			}
			assert.Contains(t, c.Events("data"), "ProvisioningSucceeded: Successfully provisioned volume "+name)

			c.Delete(claimsPath + "/data")
			c.SettleWithin(time.Second)
			assert.Nil(t, c.Get("persistentvolumes", "", name), "the policy is Delete")
		})
	}
}

// A class for the first consumer is there if no class is, and its claims get a volume
// on the Node of their Pod.
func TestStorageProvisionerFirstConsumer(t *testing.T) {
	t.Parallel()
	c := startStorage(t, storageControllers+",scheduler,kubelet,root-ca-certificate-publisher-controller")
	c.Create(claimsPath, claim("data", "1Gi", "accessModes: [ReadWriteOnce]"))
	c.SettleWithin(time.Second)
	assert.Equal(t, []string{"WaitForFirstConsumer: waiting for first consumer to be created before binding"}, c.Events("data"))
	c.Put(`{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, image: i}], volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]}, status: {phase: Pending}}`)
	c.SettleWithin(time.Minute)
	assert.Equal(t, "Running", object.String(c.Pod("p"), "status", "phase"))
	o, v := c.Get("persistentvolumeclaims", "default", "data"), volumeOf(c)
	assert.Equal(t, "node-1", object.String(o, "metadata", "annotations", "volume.kubernetes.io/selected-node"))
	assert.Equal(t, "standard", object.String(v, "spec", "storageClassName"))
	required := object.List(v, "spec", "nodeAffinity", "required", "nodeSelectorTerms")
	require.Len(t, required, 1)
	assert.Equal(t, []any{map[string]any{"key": "kubernetes.io/hostname", "operator": "In", "values": []any{"node-1"}}}, required[0].(map[string]any)["matchExpressions"])
}

func TestStorageProvisionerOneClass(t *testing.T) {
	t.Parallel()
	c := startStorage(t, storageControllers, immediate)
	assert.Equal(t, []string{"fast"}, c.Names("storageclasses"))
}

// A selected Node that is gone is given back to the scheduler.
func TestStorageProvisionerAbsentNode(t *testing.T) {
	t.Parallel()
	c := startStorage(t, storageControllers, strings.Replace(immediate, "Immediate", "WaitForFirstConsumer", 1))
	c.Create(claimsPath, claim("data", "1Gi", "accessModes: [ReadWriteOnce]", "annotations: {volume.kubernetes.io/selected-node: gone}"))
	c.SettleWithin(time.Second)
	o := c.Get("persistentvolumeclaims", "default", "data")
	assert.NotContains(t, object.Map(o, "metadata", "annotations"), "volume.kubernetes.io/selected-node")
	assert.Contains(t, c.Events("data"), `ProvisioningFailed: failed to get target node: node "gone" not found`)
}

func TestStorageProvisionerResize(t *testing.T) {
	t.Parallel()
	c := startStorage(t, storageControllers, immediate, csiDriver)
	c.Create(claimsPath, claim("data", "1Gi", "accessModes: [ReadWriteOnce]"))
	c.SettleWithin(time.Second)
	c.MergePatch(claimsPath+"/data", `{"spec":{"resources":{"requests":{"storage":"3Gi"}}}}`)
	c.SettleWithin(time.Second)
	assert.Equal(t, "3Gi", object.String(volumeOf(c), "spec", "capacity", "storage"))
	assert.Equal(t, "3Gi", object.String(c.Get("persistentvolumeclaims", "default", "data"), "status", "capacity", "storage"))
	assert.Contains(t, c.Events("data"), "VolumeResizeSuccessful: Resize volume succeeded")
}

func TestStorageProvisionerAttach(t *testing.T) {
	t.Parallel()
	c := startStorage(t, storageControllers, csiDriver)
	const path = "/apis/storage.k8s.io/v1/volumeattachments"
	c.Create(path, `{apiVersion: storage.k8s.io/v1, kind: VolumeAttachment, metadata: {name: a}, spec: {attacher: d.example.com, nodeName: node-a, source: {persistentVolumeName: v}}}`)
	c.SettleWithin(time.Second)
	a := c.Get("volumeattachments", "", "a")
	assert.True(t, object.Bool(a, "status", "attached"))
	assert.Equal(t, []string{"external-attacher/d-example-com"}, object.Strings(a, "metadata", "finalizers"))
	c.Delete(path + "/a")
	c.SettleWithin(time.Second)
	_, err := c.Server.Get("volumeattachments", "", "a")
	assert.ErrorIs(t, err, fakeapi.ErrNotFound)
}
