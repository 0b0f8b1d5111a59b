package storageprovisioner_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/controllers/controllertest"
	"github.com/kubefake/kubefake/internal/object"
)

const (
	controllers = "persistentvolume-binder-controller,persistentvolumeclaim-protection-controller,persistentvolume-protection-controller,storage-provisioner"
	claims      = "/api/v1/namespaces/default/persistentvolumeclaims"
	claim       = `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data},
  spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}`
	immediate = `{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: fast, annotations: {storageclass.kubernetes.io/is-default-class: "true"}},
  provisioner: d.example.com, reclaimPolicy: Delete, volumeBindingMode: Immediate, allowVolumeExpansion: true}`
	driver = `{apiVersion: storage.k8s.io/v1, kind: CSIDriver, metadata: {name: d.example.com}}`
)

// start starts a server with objects, before the controllers.
func start(t *testing.T, controllers string, objects ...string) controllertest.Cluster {
	c := controllertest.StartCluster(t, "none")
	for _, o := range objects {
		c.Put(o)
	}
	require.NoError(t, c.SetControllers(controllers))
	c.Settle(time.Second)
	return c
}

func volumeOf(c controllertest.Cluster) map[string]any {
	return c.Get("persistentvolumes", "", object.String(c.Get("persistentvolumeclaims", "default", "data"), "spec", "volumeName"))
}

func TestProvision(t *testing.T) {
	for _, row := range []struct {
		name    string
		objects []string
		want    map[string]any // the source
	}{
		{"CSI driver", []string{immediate, driver}, map[string]any{"driver": "d.example.com", "volumeHandle": ""}},
		{"host path", []string{immediate}, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := start(t, controllers, row.objects...)
			c.Create(claims, claim)
			c.Settle(time.Second)
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

			c.Delete(claims + "/data")
			c.Settle(time.Second)
			assert.Nil(t, c.Get("persistentvolumes", "", name), "the policy is Delete")
		})
	}
}

// A class for the first consumer is there if no class is, and its claims get a volume
// on the Node of their Pod.
func TestFirstConsumer(t *testing.T) {
	c := start(t, controllers+",scheduler,kubelet,root-ca-certificate-publisher-controller")
	c.Create(claims, claim)
	c.Settle(time.Second)
	assert.Equal(t, []string{"WaitForFirstConsumer: waiting for first consumer to be created before binding"}, c.Events("data"))
	c.Put(`{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, image: i}], volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]}, status: {phase: Pending}}`)
	c.Settle(time.Minute)
	assert.Equal(t, "Running", object.String(c.Pod("p"), "status", "phase"))
	o, v := c.Get("persistentvolumeclaims", "default", "data"), volumeOf(c)
	assert.Equal(t, "node-1", object.String(o, "metadata", "annotations", "volume.kubernetes.io/selected-node"))
	assert.Equal(t, "standard", object.String(v, "spec", "storageClassName"))
	required := object.List(v, "spec", "nodeAffinity", "required", "nodeSelectorTerms")
	require.Len(t, required, 1)
	assert.Equal(t, []any{map[string]any{"key": "kubernetes.io/hostname", "operator": "In", "values": []any{"node-1"}}}, required[0].(map[string]any)["matchExpressions"])
}

func TestOneClass(t *testing.T) {
	c := start(t, controllers, immediate)
	assert.Equal(t, []string{"fast"}, controllertest.Names(t, c.Server, "storageclasses"))
}

// A selected Node that is gone is given back to the scheduler.
func TestAbsentNode(t *testing.T) {
	c := start(t, controllers, strings.Replace(immediate, "Immediate", "WaitForFirstConsumer", 1))
	c.Create(claims, strings.Replace(claim, "name: data", "name: data, annotations: {volume.kubernetes.io/selected-node: gone}", 1))
	c.Settle(time.Second)
	o := c.Get("persistentvolumeclaims", "default", "data")
	assert.NotContains(t, object.Map(o, "metadata", "annotations"), "volume.kubernetes.io/selected-node")
	assert.Contains(t, c.Events("data"), `ProvisioningFailed: failed to get target node: node "gone" not found`)
}

func TestResize(t *testing.T) {
	c := start(t, controllers, immediate, driver)
	c.Create(claims, claim)
	c.Settle(time.Second)
	c.MergePatch(claims+"/data", `{"spec":{"resources":{"requests":{"storage":"3Gi"}}}}`)
	c.Settle(time.Second)
	assert.Equal(t, "3Gi", object.String(volumeOf(c), "spec", "capacity", "storage"))
	assert.Equal(t, "3Gi", object.String(c.Get("persistentvolumeclaims", "default", "data"), "status", "capacity", "storage"))
	assert.Contains(t, c.Events("data"), "VolumeResizeSuccessful: Resize volume succeeded")
}

func TestAttach(t *testing.T) {
	c := start(t, controllers, driver)
	const path = "/apis/storage.k8s.io/v1/volumeattachments"
	c.Create(path, `{apiVersion: storage.k8s.io/v1, kind: VolumeAttachment, metadata: {name: a}, spec: {attacher: d.example.com, nodeName: node-a, source: {persistentVolumeName: v}}}`)
	c.Settle(time.Second)
	a := c.Get("volumeattachments", "", "a")
	assert.True(t, object.Bool(a, "status", "attached"))
	assert.Equal(t, []string{"external-attacher/d-example-com"}, object.Strings(a, "metadata", "finalizers"))
	c.Delete(path + "/a")
	c.Settle(time.Second)
	_, err := c.Server.Get("volumeattachments", "", "a")
	assert.ErrorIs(t, err, fakeapi.ErrNotFound)
}
