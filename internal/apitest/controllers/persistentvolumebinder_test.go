package controllers_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/object"
)

const (
	volumeBinder = "persistentvolume-binder-controller"

	readWriteOnce = `accessModes: [ReadWriteOnce], storageClassName: manual`
	readWriteMany = `accessModes: [ReadWriteOnce, ReadWriteMany], storageClassName: manual`
	retainPolicy  = `, persistentVolumeReclaimPolicy: Retain`
	deletePolicy  = `, persistentVolumeReclaimPolicy: Delete`
)

// claimState returns "PHASE VOLUME" of a claim.
func claimState(c cluster, claim string) string {
	o := c.Get("persistentvolumeclaims", "default", claim)
	return strings.TrimSpace(object.String(o, "status", "phase") + " " + object.String(o, "spec", "volumeName"))
}

// volumeState returns "PHASE CLAIM" of a volume, "" if it is gone.
func volumeState(c cluster, name string) string {
	o := c.Get("persistentvolumes", "", name)
	return strings.TrimSpace(object.String(o, "status", "phase") + " " + object.String(o, "spec", "claimRef", "name"))
}

func TestVolumeBinderMatch(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name    string
		volumes []string
		claim   string
		want    string
	}{
		{"size", []string{volume("a", "5Gi", readWriteOnce), volume("b", "2Gi", readWriteOnce), volume("c", "1Gi", readWriteOnce)}, claim("data", "2Gi", readWriteOnce), "Bound b"},
		{"too small", []string{volume("c", "1Gi", readWriteOnce)}, claim("data", "2Gi", readWriteOnce), "Pending"},
		{"fewest access modes", []string{volume("a", "1Gi", readWriteMany), volume("b", "2Gi", readWriteOnce)}, claim("data", "1Gi", readWriteOnce), "Bound b"},
		{"more access modes", []string{volume("a", "1Gi", readWriteMany)}, claim("data", "1Gi", readWriteOnce), "Bound a"},
		{"missing access mode", []string{volume("a", "1Gi", readWriteOnce)}, claim("data", "1Gi", readWriteMany), "Pending"},
		{"class", []string{volume("a", "1Gi", `accessModes: [ReadWriteOnce], storageClassName: other`)}, claim("data", "1Gi", readWriteOnce), "Pending"},
		{"no class", []string{volume("a", "1Gi", `accessModes: [ReadWriteOnce]`)}, claim("data", "1Gi", `accessModes: [ReadWriteOnce]`), "Bound a"},
		{"volume mode", []string{volume("a", "1Gi", readWriteOnce+`, volumeMode: Block`)}, claim("data", "1Gi", readWriteOnce), "Pending"},
		{"selector", []string{volume("a", "1Gi", readWriteOnce), volume("b", "2Gi", readWriteOnce, `labels: {tier: fast}`)}, claim("data", "1Gi", readWriteOnce+`, selector: {matchLabels: {tier: fast}}`), "Bound b"},
		{"reserved", []string{volume("a", "1Gi", readWriteOnce), volume("b", "9Gi", readWriteOnce+`, claimRef: {namespace: default, name: data}`)}, claim("data", "1Gi", readWriteOnce), "Bound b"},
		{"reserved for another", []string{volume("a", "1Gi", readWriteOnce+`, claimRef: {namespace: default, name: other}`)}, claim("data", "1Gi", readWriteOnce), "Pending"},
		{"by name", []string{volume("a", "1Gi", readWriteOnce), volume("b", "9Gi", readWriteOnce)}, claim("data", "1Gi", readWriteOnce+`, volumeName: b`), "Bound b"},
		{"by name, too small", []string{volume("b", "1Gi", readWriteOnce)}, claim("data", "2Gi", readWriteOnce+`, volumeName: b`), "Pending b"},
		{"by name, absent", nil, claim("data", "1Gi", readWriteOnce+`, volumeName: b`), "Pending b"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			c := startCluster(t, volumeBinder)
			for _, v := range row.volumes {
				c.Create(volumesPath, v)
			}
			c.Settle()
			c.Create(claimsPath, row.claim)
			c.Settle()
			assert.Equal(t, row.want, claimState(c, "data"))
		})
	}
}

// Both ends refer to each other, with the annotations of the real controller.
func TestVolumeBinderBind(t *testing.T) {
	t.Parallel()
	c := startCluster(t, volumeBinder)
	c.Create(volumesPath, volume("v", "2Gi", readWriteMany))
	c.Settle()
	assert.Equal(t, "Available", volumeState(c, "v"))
	c.Create(claimsPath, claim("data", "1Gi", readWriteOnce))
	c.Settle()

	claim, v := c.Get("persistentvolumeclaims", "default", "data"), c.Get("persistentvolumes", "", "v")
	assert.Equal(t, map[string]any{"pv.kubernetes.io/bind-completed": "yes", "pv.kubernetes.io/bound-by-controller": "yes"}, object.Map(claim, "metadata", "annotations"))
	assert.Equal(t, map[string]any{"phase": "Bound", "accessModes": []any{"ReadWriteOnce", "ReadWriteMany"}, "capacity": map[string]any{"storage": "2Gi"}}, object.Map(claim, "status"))
	assert.Equal(t, "yes", object.String(v, "metadata", "annotations", "pv.kubernetes.io/bound-by-controller"))
	assert.Equal(t, object.String(claim, "metadata", "uid"), object.String(v, "spec", "claimRef", "uid"))
	assert.Equal(t, "Bound", object.String(v, "status", "phase"))
	assert.Empty(t, c.Events("data"))
}

// A volume that comes after its claim is found when the claim is synced again.
func TestVolumeBinderResync(t *testing.T) {
	t.Parallel()
	c := startCluster(t, volumeBinder)
	c.Create(claimsPath, claim("data", "1Gi", `accessModes: [ReadWriteOnce]`))
	c.Settle()
	assert.Equal(t, []string{"FailedBinding: no persistent volumes available for this claim and no storage class is set"}, c.Events("data"))
	c.Create(volumesPath, volume("v", "1Gi", `accessModes: [ReadWriteOnce]`))
	c.Settle()
	assert.Equal(t, "Pending", claimState(c, "data"))
	c.SettleWithin(15 * time.Second)
	assert.Equal(t, "Bound v", claimState(c, "data"))

	// A volume that loses its reference is bound again.
	c.MergePatch(volumesPath+"/v", `{"spec":{"claimRef":null}}`)
	c.Settle()
	assert.Equal(t, "Available", volumeState(c, "v"))
	c.SettleWithin(15 * time.Second)
	assert.Equal(t, "Bound data", volumeState(c, "v"))

	settled := c.Revision()
	c.SettleWithin(time.Hour)
	assert.Equal(t, settled, c.Revision(), "nothing is written when all is bound")
}

func TestVolumeBinderReclaim(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name    string
		volume  string
		want    string // claimState of the volume
		message string
		events  []string
	}{
		{"Retain", volume("v", "1Gi", readWriteOnce+retainPolicy), "Released data", "", nil},
		{"Delete", volume("v", "1Gi", readWriteOnce+deletePolicy), "", "", nil},
		{
			"Delete of a path that must not be deleted", strings.Replace(volume("v", "1Gi", readWriteOnce+deletePolicy), "/tmp/", "/var/", 1), "Failed data",
			"host_path deleter only supports /tmp/.+ but received provided /var/v",
			[]string{"VolumeFailedDelete: host_path deleter only supports /tmp/.+ but received provided /var/v"},
		},
		{
			"Delete without a plugin", strings.Replace(volume("v", "1Gi", readWriteOnce+deletePolicy), "hostPath: {path: /tmp/v}", "nfs: {server: s, path: /}", 1), "Failed data",
			`error getting deleter volume plugin for volume "v": no deletable volume plugin matched`,
			[]string{`VolumeFailedDelete: error getting deleter volume plugin for volume "v": no deletable volume plugin matched`},
		},
		{
			"Delete by an external provisioner", strings.Replace(volume("v", "1Gi", readWriteOnce+deletePolicy), "hostPath: {path: /tmp/v}", "csi: {driver: d.example.com, volumeHandle: h}", 1),
			"Released data", "", nil,
		},
		{
			"Recycle without a plugin", strings.Replace(volume("v", "1Gi", readWriteOnce+`, persistentVolumeReclaimPolicy: Recycle`), "hostPath: {path: /tmp/v}", "csi: {driver: d.example.com, volumeHandle: h}", 1),
			"Failed data", "No recycler plugin found for the volume!", []string{"VolumeFailedRecycle: No recycler plugin found for the volume!"},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := startCluster(t, volumeBinder)
			c.Put(row.volume)
			c.Settle()
			c.Put(claim("data", "1Gi", readWriteOnce)) // without the finalizers of admission
			c.Settle()
			require.Equal(t, "Bound v", claimState(c, "data"))
			c.Delete(claimsPath + "/data")
			c.Settle()
			assert.Equal(t, row.want, volumeState(c, "v"))
			assert.Equal(t, row.message, object.String(c.Get("persistentvolumes", "", "v"), "status", "message"))
			assert.Equal(t, row.events, c.Events("v"))
		})
	}
}

func TestVolumeBinderRecycle(t *testing.T) {
	t.Parallel()
	c := startCluster(t, volumeBinder)
	c.Put(volume("v", "1Gi", readWriteOnce+`, persistentVolumeReclaimPolicy: Recycle`))
	c.Settle()
	c.Put(claim("data", "1Gi", readWriteOnce))
	c.Settle()
	c.Delete(claimsPath + "/data")
	c.Settle()
	assert.Equal(t, "Released data", volumeState(c, "v"))
	require.NotNil(t, c.Pod("recycler-for-v"))
	c.MergePatch(podsPath+"/recycler-for-v/status", `{"status":{"phase":"Succeeded"}}`)
	c.Settle()
	assert.Nil(t, c.Pod("recycler-for-v"))
	assert.Equal(t, "Available", volumeState(c, "v"))
	assert.Equal(t, []string{"VolumeRecycled: Volume recycled"}, c.Events("v"))
}

func TestVolumeBinderLost(t *testing.T) {
	t.Parallel()
	bound := func(t *testing.T) cluster {
		c := startCluster(t, volumeBinder)
		c.Put(volume("v", "1Gi", readWriteOnce+retainPolicy))
		c.Settle()
		c.Put(claim("data", "1Gi", readWriteOnce))
		c.Settle()
		require.Equal(t, "Bound v", claimState(c, "data"))
		return c
	}
	t.Run("the volume is gone", func(t *testing.T) {
		c := bound(t)
		require.NoError(t, c.Server.Remove("persistentvolumes", "", "v"))
		c.Settle()
		assert.Equal(t, "Lost v", claimState(c, "data"))
		assert.Equal(t, []string{"ClaimLost: Bound claim has lost its PersistentVolume. Data on the volume is lost!"}, c.Events("data"))
	})
	t.Run("another claim has it", func(t *testing.T) {
		c := bound(t)
		c.Put(claim("other", "1Gi", readWriteOnce+`, volumeName: v`, `annotations: {pv.kubernetes.io/bind-completed: "yes"}`))
		c.Settle()
		assert.Equal(t, "Lost v", claimState(c, "other"))
		assert.Equal(t, "Bound v", claimState(c, "data"))
		assert.Equal(t, []string{"ClaimMisbound: Two claims are bound to the same volume, this one is bound incorrectly"}, c.Events("other"))
	})
	t.Run("a claim of the same name", func(t *testing.T) {
		c := bound(t)
		require.NoError(t, c.Server.Remove("persistentvolumeclaims", "default", "data"))
		c.Put(claim("data", "1Gi", readWriteOnce))
		c.Settle()
		assert.Equal(t, "Released data", volumeState(c, "v"))
		assert.Equal(t, "Pending", claimState(c, "data"))
	})
}

func TestVolumeBinderClass(t *testing.T) {
	t.Parallel()
	const wait = `, volumeBindingMode: WaitForFirstConsumer`
	for _, row := range []struct {
		name, class, claim string
		events             []string
	}{
		{"absent", "", claim("data", "1Gi", readWriteOnce), []string{`ProvisioningFailed: storageclass.storage.k8s.io "manual" not found`}},
		{"no provisioner", storageClass("manual", "kubernetes.io/no-provisioner", ""), claim("data", "1Gi", readWriteOnce), []string{"ProvisioningFailed: no volume plugin matched name: kubernetes.io/no-provisioner"}},
		{"host path", storageClass("manual", "kubernetes.io/host-path", ""), claim("data", "1Gi", readWriteOnce), []string{`ProvisioningFailed: Failed to create provisioner: provisioning in volume plugin "kubernetes.io/host-path" is disabled`}},
		{"external", storageClass("manual", "x.example.com", ""), claim("data", "1Gi", readWriteOnce), []string{
			"ExternalProvisioning: Waiting for a volume to be created either by the external provisioner 'x.example.com' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered."}},
		{"waits", storageClass("manual", "x.example.com", wait), claim("data", "1Gi", readWriteOnce), []string{"WaitForFirstConsumer: waiting for first consumer to be created before binding"}},
		{"a Node is selected", storageClass("manual", "x.example.com", wait), claim("data", "1Gi", readWriteOnce, `annotations: {volume.kubernetes.io/selected-node: node-a}`), []string{
			"ExternalProvisioning: Waiting for a volume to be created either by the external provisioner 'x.example.com' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered."}},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := startCluster(t, volumeBinder)
			if row.class != "" {
				c.Put(row.class)
			}
			c.Settle()
			c.Create(claimsPath, row.claim)
			c.Settle()
			assert.Equal(t, "Pending", claimState(c, "data"))
			assert.Equal(t, row.events, c.Events("data"))
		})
	}
}

// A Pod without a Node is what a claim waits for.
func TestVolumeBinderWaitForPod(t *testing.T) {
	t.Parallel()
	c := startCluster(t, volumeBinder)
	c.Put(storageClass("manual", "x.example.com", `, volumeBindingMode: WaitForFirstConsumer`))
	c.Put(`{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, image: i}], volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]}}`)
	c.Create(claimsPath, claim("data", "1Gi", readWriteOnce))
	c.Settle()
	assert.Equal(t, []string{"WaitForPodScheduled: waiting for pod p to be scheduled"}, c.Events("data"))
}

// A claim without a class gets the newest default class, also if it is older.
func TestVolumeBinderDefaultClass(t *testing.T) {
	t.Parallel()
	c := startCluster(t, volumeBinder)
	c.Create(claimsPath, claim("data", "1Gi", `accessModes: [ReadWriteOnce]`))
	c.Settle()
	for _, n := range []string{"old", "new"} {
		require.NoError(t, c.Clock().Advance(time.Second))
		c.Create("/apis/storage.k8s.io/v1/storageclasses", strings.Replace(storageClass(n, "x.example.com", ""), "name: "+n, "name: "+n+`, annotations: {storageclass.kubernetes.io/is-default-class: "true"}`, 1))
	}
	c.Wait(15 * time.Second)
	claim := c.Get("persistentvolumeclaims", "default", "data")
	assert.Equal(t, "new", object.String(claim, "spec", "storageClassName"))
	assert.Equal(t, "x.example.com", object.String(claim, "metadata", "annotations", "volume.kubernetes.io/storage-provisioner"))
}

// In-tree provisioners that have become CSI drivers are annotated.
func TestVolumeBinderMigration(t *testing.T) {
	t.Parallel()
	c := startCluster(t, volumeBinder)
	c.Put(storageClass("manual", "kubernetes.io/aws-ebs", ""))
	c.Create(claimsPath, claim("data", "1Gi", readWriteOnce))
	c.Put(strings.Replace(volume("v", "1Gi", readWriteOnce+deletePolicy, `annotations: {pv.kubernetes.io/provisioned-by: kubernetes.io/gce-pd}`), "metadata: {", "metadata: {finalizers: [kubernetes.io/pv-controller], ", 1))
	c.Settle()
	claim, v := c.Get("persistentvolumeclaims", "default", "data"), c.Get("persistentvolumes", "", "v")
	assert.Equal(t, "ebs.csi.aws.com", object.String(claim, "metadata", "annotations", "volume.kubernetes.io/storage-provisioner"))
	assert.Equal(t, "pd.csi.storage.gke.io", object.String(v, "metadata", "annotations", "pv.kubernetes.io/migrated-to"))
	assert.Empty(t, object.Strings(v, "metadata", "finalizers"))
}

// The finalizer of an in-tree provisioner follows the reclaim policy.
func TestVolumeBinderFinalizer(t *testing.T) {
	t.Parallel()
	c := startCluster(t, volumeBinder)
	c.Put(volume("v", "1Gi", readWriteOnce+deletePolicy, `annotations: {pv.kubernetes.io/provisioned-by: kubernetes.io/host-path}`))
	c.Settle()
	has := func() bool {
		return slices.Contains(object.Strings(c.Get("persistentvolumes", "", "v"), "metadata", "finalizers"), "kubernetes.io/pv-controller")
	}
	assert.True(t, has())
	c.MergePatch(volumesPath+"/v", `{"spec":{"persistentVolumeReclaimPolicy":"Retain"}}`)
	c.Settle()
	assert.False(t, has())
}
