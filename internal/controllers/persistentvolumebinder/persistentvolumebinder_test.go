package persistentvolumebinder_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/controllers/controllertest"
	"github.com/kubefake/kubefake/internal/object"
)

const (
	name   = "persistentvolume-binder-controller"
	claims = "/api/v1/namespaces/default/persistentvolumeclaims"
	pvs    = "/api/v1/persistentvolumes"
)

// pv returns a volume in YAML. extra are lines of its spec, and meta lines of its
// metadata.
func pv(name, size, extra string, meta ...string) string {
	return fmt.Sprintf(`{apiVersion: v1, kind: PersistentVolume, metadata: {name: %s%s},
  spec: {capacity: {storage: %s}, hostPath: {path: /tmp/%s}, %s}}`, name, strings.Join(append([]string{""}, meta...), ", "), size, name, extra)
}

func pvc(name, size, extra string, meta ...string) string {
	return fmt.Sprintf(`{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: %s, namespace: default%s},
  spec: {resources: {requests: {storage: %s}}, %s}}`, name, strings.Join(append([]string{""}, meta...), ", "), size, extra)
}

const (
	once   = `accessModes: [ReadWriteOnce], storageClassName: manual`
	many   = `accessModes: [ReadWriteOnce, ReadWriteMany], storageClassName: manual`
	retain = `, persistentVolumeReclaimPolicy: Retain`
	remove = `, persistentVolumeReclaimPolicy: Delete`
)

func class(name, provisioner, extra string) string {
	return fmt.Sprintf(`{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: %s}, provisioner: %s%s}`, name, provisioner, extra)
}

func start(t *testing.T, controllers string) controllertest.Cluster {
	return controllertest.StartCluster(t, controllers)
}

// state returns "PHASE VOLUME" of a claim.
func state(c controllertest.Cluster, claim string) string {
	o := c.Get("persistentvolumeclaims", "default", claim)
	return strings.TrimSpace(object.String(o, "status", "phase") + " " + object.String(o, "spec", "volumeName"))
}

// volumeState returns "PHASE CLAIM" of a volume, "" if it is gone.
func volumeState(c controllertest.Cluster, name string) string {
	o := c.Get("persistentvolumes", "", name)
	return strings.TrimSpace(object.String(o, "status", "phase") + " " + object.String(o, "spec", "claimRef", "name"))
}

func TestMatch(t *testing.T) {
	for _, row := range []struct {
		name    string
		volumes []string
		claim   string
		want    string
	}{
		{"size", []string{pv("a", "5Gi", once), pv("b", "2Gi", once), pv("c", "1Gi", once)}, pvc("data", "2Gi", once), "Bound b"},
		{"too small", []string{pv("c", "1Gi", once)}, pvc("data", "2Gi", once), "Pending"},
		{"fewest access modes", []string{pv("a", "1Gi", many), pv("b", "2Gi", once)}, pvc("data", "1Gi", once), "Bound b"},
		{"more access modes", []string{pv("a", "1Gi", many)}, pvc("data", "1Gi", once), "Bound a"},
		{"missing access mode", []string{pv("a", "1Gi", once)}, pvc("data", "1Gi", many), "Pending"},
		{"class", []string{pv("a", "1Gi", `accessModes: [ReadWriteOnce], storageClassName: other`)}, pvc("data", "1Gi", once), "Pending"},
		{"no class", []string{pv("a", "1Gi", `accessModes: [ReadWriteOnce]`)}, pvc("data", "1Gi", `accessModes: [ReadWriteOnce]`), "Bound a"},
		{"volume mode", []string{pv("a", "1Gi", once+`, volumeMode: Block`)}, pvc("data", "1Gi", once), "Pending"},
		{"selector", []string{pv("a", "1Gi", once), pv("b", "2Gi", once, `labels: {tier: fast}`)}, pvc("data", "1Gi", once+`, selector: {matchLabels: {tier: fast}}`), "Bound b"},
		{"reserved", []string{pv("a", "1Gi", once), pv("b", "9Gi", once+`, claimRef: {namespace: default, name: data}`)}, pvc("data", "1Gi", once), "Bound b"},
		{"reserved for another", []string{pv("a", "1Gi", once+`, claimRef: {namespace: default, name: other}`)}, pvc("data", "1Gi", once), "Pending"},
		{"by name", []string{pv("a", "1Gi", once), pv("b", "9Gi", once)}, pvc("data", "1Gi", once+`, volumeName: b`), "Bound b"},
		{"by name, too small", []string{pv("b", "1Gi", once)}, pvc("data", "2Gi", once+`, volumeName: b`), "Pending b"},
		{"by name, absent", nil, pvc("data", "1Gi", once+`, volumeName: b`), "Pending b"},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := start(t, name)
			for _, v := range row.volumes {
				c.Create(pvs, v)
			}
			c.Settle(0)
			c.Create(claims, row.claim)
			c.Settle(0)
			assert.Equal(t, row.want, state(c, "data"))
		})
	}
}

// Both ends refer to each other, with the annotations of the real controller.
func TestBind(t *testing.T) {
	c := start(t, name)
	c.Create(pvs, pv("v", "2Gi", many))
	c.Settle(0)
	assert.Equal(t, "Available", volumeState(c, "v"))
	c.Create(claims, pvc("data", "1Gi", once))
	c.Settle(0)

	claim, v := c.Get("persistentvolumeclaims", "default", "data"), c.Get("persistentvolumes", "", "v")
	assert.Equal(t, map[string]any{"pv.kubernetes.io/bind-completed": "yes", "pv.kubernetes.io/bound-by-controller": "yes"}, object.Map(claim, "metadata", "annotations"))
	assert.Equal(t, map[string]any{"phase": "Bound", "accessModes": []any{"ReadWriteOnce", "ReadWriteMany"}, "capacity": map[string]any{"storage": "2Gi"}}, object.Map(claim, "status"))
	assert.Equal(t, "yes", object.String(v, "metadata", "annotations", "pv.kubernetes.io/bound-by-controller"))
	assert.Equal(t, object.String(claim, "metadata", "uid"), object.String(v, "spec", "claimRef", "uid"))
	assert.Equal(t, "Bound", object.String(v, "status", "phase"))
	assert.Empty(t, c.Events("data"))
}

// A volume that comes after its claim is found when the claim is synced again.
func TestResync(t *testing.T) {
	c := start(t, name)
	c.Create(claims, pvc("data", "1Gi", `accessModes: [ReadWriteOnce]`))
	c.Settle(0)
	assert.Equal(t, []string{"FailedBinding: no persistent volumes available for this claim and no storage class is set"}, c.Events("data"))
	c.Create(pvs, pv("v", "1Gi", `accessModes: [ReadWriteOnce]`))
	c.Settle(0)
	assert.Equal(t, "Pending", state(c, "data"))
	c.Settle(15 * time.Second)
	assert.Equal(t, "Bound v", state(c, "data"))

	// A volume that loses its reference is bound again.
	c.MergePatch(pvs+"/v", `{"spec":{"claimRef":null}}`)
	c.Settle(0)
	assert.Equal(t, "Available", volumeState(c, "v"))
	c.Settle(15 * time.Second)
	assert.Equal(t, "Bound data", volumeState(c, "v"))

	settled := c.Revision()
	c.Settle(time.Hour)
	assert.Equal(t, settled, c.Revision(), "nothing is written when all is bound")
}

func TestReclaim(t *testing.T) {
	for _, row := range []struct {
		name    string
		volume  string
		want    string // state of the volume
		message string
		events  []string
	}{
		{"Retain", pv("v", "1Gi", once+retain), "Released data", "", nil},
		{"Delete", pv("v", "1Gi", once+remove), "", "", nil},
		{
			"Delete of a path that must not be deleted", strings.Replace(pv("v", "1Gi", once+remove), "/tmp/", "/var/", 1), "Failed data",
			"host_path deleter only supports /tmp/.+ but received provided /var/v",
			[]string{"VolumeFailedDelete: host_path deleter only supports /tmp/.+ but received provided /var/v"},
		},
		{
			"Delete without a plugin", strings.Replace(pv("v", "1Gi", once+remove), "hostPath: {path: /tmp/v}", "nfs: {server: s, path: /}", 1), "Failed data",
			`error getting deleter volume plugin for volume "v": no deletable volume plugin matched`,
			[]string{`VolumeFailedDelete: error getting deleter volume plugin for volume "v": no deletable volume plugin matched`},
		},
		{
			"Delete by an external provisioner", strings.Replace(pv("v", "1Gi", once+remove), "hostPath: {path: /tmp/v}", "csi: {driver: d.example.com, volumeHandle: h}", 1),
			"Released data", "", nil,
		},
		{
			"Recycle without a plugin", strings.Replace(pv("v", "1Gi", once+`, persistentVolumeReclaimPolicy: Recycle`), "hostPath: {path: /tmp/v}", "csi: {driver: d.example.com, volumeHandle: h}", 1),
			"Failed data", "No recycler plugin found for the volume!", []string{"VolumeFailedRecycle: No recycler plugin found for the volume!"},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := start(t, name)
			c.Put(row.volume)
			c.Settle(0)
			c.Put(pvc("data", "1Gi", once)) // without the finalizers of admission
			c.Settle(0)
			require.Equal(t, "Bound v", state(c, "data"))
			c.Delete(claims + "/data")
			c.Settle(0)
			assert.Equal(t, row.want, volumeState(c, "v"))
			assert.Equal(t, row.message, object.String(c.Get("persistentvolumes", "", "v"), "status", "message"))
			assert.Equal(t, row.events, c.Events("v"))
		})
	}
}

func TestRecycle(t *testing.T) {
	c := start(t, name)
	c.Put(pv("v", "1Gi", once+`, persistentVolumeReclaimPolicy: Recycle`))
	c.Settle(0)
	c.Put(pvc("data", "1Gi", once))
	c.Settle(0)
	c.Delete(claims + "/data")
	c.Settle(0)
	assert.Equal(t, "Released data", volumeState(c, "v"))
	require.NotNil(t, c.Pod("recycler-for-v"))
	c.MergePatch("/api/v1/namespaces/default/pods/recycler-for-v/status", `{"status":{"phase":"Succeeded"}}`)
	c.Settle(0)
	assert.Nil(t, c.Pod("recycler-for-v"))
	assert.Equal(t, "Available", volumeState(c, "v"))
	assert.Equal(t, []string{"VolumeRecycled: Volume recycled"}, c.Events("v"))
}

func TestLost(t *testing.T) {
	bound := func(t *testing.T) controllertest.Cluster {
		c := start(t, name)
		c.Put(pv("v", "1Gi", once+retain))
		c.Settle(0)
		c.Put(pvc("data", "1Gi", once))
		c.Settle(0)
		require.Equal(t, "Bound v", state(c, "data"))
		return c
	}
	t.Run("the volume is gone", func(t *testing.T) {
		c := bound(t)
		require.NoError(t, c.Server.Remove("persistentvolumes", "", "v"))
		c.Settle(0)
		assert.Equal(t, "Lost v", state(c, "data"))
		assert.Equal(t, []string{"ClaimLost: Bound claim has lost its PersistentVolume. Data on the volume is lost!"}, c.Events("data"))
	})
	t.Run("another claim has it", func(t *testing.T) {
		c := bound(t)
		c.Put(pvc("other", "1Gi", once+`, volumeName: v`, `annotations: {pv.kubernetes.io/bind-completed: "yes"}`))
		c.Settle(0)
		assert.Equal(t, "Lost v", state(c, "other"))
		assert.Equal(t, "Bound v", state(c, "data"))
		assert.Equal(t, []string{"ClaimMisbound: Two claims are bound to the same volume, this one is bound incorrectly"}, c.Events("other"))
	})
	t.Run("a claim of the same name", func(t *testing.T) {
		c := bound(t)
		require.NoError(t, c.Server.Remove("persistentvolumeclaims", "default", "data"))
		c.Put(pvc("data", "1Gi", once))
		c.Settle(0)
		assert.Equal(t, "Released data", volumeState(c, "v"))
		assert.Equal(t, "Pending", state(c, "data"))
	})
}

func TestClass(t *testing.T) {
	const wait = `, volumeBindingMode: WaitForFirstConsumer`
	for _, row := range []struct {
		name, class, claim string
		events             []string
	}{
		{"absent", "", pvc("data", "1Gi", once), []string{`ProvisioningFailed: storageclass.storage.k8s.io "manual" not found`}},
		{"no provisioner", class("manual", "kubernetes.io/no-provisioner", ""), pvc("data", "1Gi", once), []string{"ProvisioningFailed: no volume plugin matched name: kubernetes.io/no-provisioner"}},
		{"host path", class("manual", "kubernetes.io/host-path", ""), pvc("data", "1Gi", once), []string{`ProvisioningFailed: Failed to create provisioner: provisioning in volume plugin "kubernetes.io/host-path" is disabled`}},
		{"external", class("manual", "x.example.com", ""), pvc("data", "1Gi", once), []string{
			"ExternalProvisioning: Waiting for a volume to be created either by the external provisioner 'x.example.com' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered."}},
		{"waits", class("manual", "x.example.com", wait), pvc("data", "1Gi", once), []string{"WaitForFirstConsumer: waiting for first consumer to be created before binding"}},
		{"a Node is selected", class("manual", "x.example.com", wait), pvc("data", "1Gi", once, `annotations: {volume.kubernetes.io/selected-node: node-a}`), []string{
			"ExternalProvisioning: Waiting for a volume to be created either by the external provisioner 'x.example.com' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered."}},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := start(t, name)
			if row.class != "" {
				c.Put(row.class)
			}
			c.Settle(0)
			c.Create(claims, row.claim)
			c.Settle(0)
			assert.Equal(t, "Pending", state(c, "data"))
			assert.Equal(t, row.events, c.Events("data"))
		})
	}
}

// A Pod without a Node is what a claim waits for.
func TestWaitForPod(t *testing.T) {
	c := start(t, name)
	c.Put(class("manual", "x.example.com", `, volumeBindingMode: WaitForFirstConsumer`))
	c.Put(`{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, image: i}], volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]}}`)
	c.Create(claims, pvc("data", "1Gi", once))
	c.Settle(0)
	assert.Equal(t, []string{"WaitForPodScheduled: waiting for pod p to be scheduled"}, c.Events("data"))
}

// A claim without a class gets the newest default class, also if it is older.
func TestDefaultClass(t *testing.T) {
	c := start(t, name)
	c.Create(claims, pvc("data", "1Gi", `accessModes: [ReadWriteOnce]`))
	c.Settle(0)
	for _, n := range []string{"old", "new"} {
		require.NoError(t, c.Clock().Advance(time.Second))
		c.Create("/apis/storage.k8s.io/v1/storageclasses", strings.Replace(class(n, "x.example.com", ""), "name: "+n, "name: "+n+`, annotations: {storageclass.kubernetes.io/is-default-class: "true"}`, 1))
	}
	c.Wait(15 * time.Second)
	claim := c.Get("persistentvolumeclaims", "default", "data")
	assert.Equal(t, "new", object.String(claim, "spec", "storageClassName"))
	assert.Equal(t, "x.example.com", object.String(claim, "metadata", "annotations", "volume.kubernetes.io/storage-provisioner"))
}

// In-tree provisioners that have become CSI drivers are annotated.
func TestMigration(t *testing.T) {
	c := start(t, name)
	c.Put(class("manual", "kubernetes.io/aws-ebs", ""))
	c.Create(claims, pvc("data", "1Gi", once))
	c.Put(strings.Replace(pv("v", "1Gi", once+remove, `annotations: {pv.kubernetes.io/provisioned-by: kubernetes.io/gce-pd}`), "metadata: {", "metadata: {finalizers: [kubernetes.io/pv-controller], ", 1))
	c.Settle(0)
	claim, v := c.Get("persistentvolumeclaims", "default", "data"), c.Get("persistentvolumes", "", "v")
	assert.Equal(t, "ebs.csi.aws.com", object.String(claim, "metadata", "annotations", "volume.kubernetes.io/storage-provisioner"))
	assert.Equal(t, "pd.csi.storage.gke.io", object.String(v, "metadata", "annotations", "pv.kubernetes.io/migrated-to"))
	assert.Empty(t, object.Strings(v, "metadata", "finalizers"))
}

// The finalizer of an in-tree provisioner follows the reclaim policy.
func TestFinalizer(t *testing.T) {
	c := start(t, name)
	c.Put(pv("v", "1Gi", once+remove, `annotations: {pv.kubernetes.io/provisioned-by: kubernetes.io/host-path}`))
	c.Settle(0)
	has := func() bool {
		return slices.Contains(object.Strings(c.Get("persistentvolumes", "", "v"), "metadata", "finalizers"), "kubernetes.io/pv-controller")
	}
	assert.True(t, has())
	c.MergePatch(pvs+"/v", `{"spec":{"persistentVolumeReclaimPolicy":"Retain"}}`)
	c.Settle(0)
	assert.False(t, has())
}
