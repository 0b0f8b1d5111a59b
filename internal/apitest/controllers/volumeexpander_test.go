package controllers_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/object"
)

func TestVolumeExpander(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ name, source, event, resizer string }{
		{"CSI", "csi: {driver: d.example.com, volumeHandle: h}", "ExternalExpanding: waiting for an external controller to expand this PVC", ""},
		{"migrated", "awsElasticBlockStore: {volumeID: v}", "ExternalExpanding: CSI migration enabled for kubernetes.io/aws-ebs; waiting for external resizer to expand the pvc", "ebs.csi.aws.com"},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := startCluster(t, "persistentvolume-expander-controller")
			c.Put(`{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: fast}, provisioner: d.example.com, allowVolumeExpansion: true}`)
			c.Put(fmt.Sprintf(`{apiVersion: v1, kind: PersistentVolume, metadata: {name: v}, spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce],
  storageClassName: fast, claimRef: {namespace: default, name: data, uid: data-uid}, %s}, status: {phase: Bound}}`, row.source))
			c.Put(`{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, namespace: default, uid: data-uid}, spec: {accessModes: [ReadWriteOnce],
  resources: {requests: {storage: 1Gi}}, volumeName: v, storageClassName: fast}, status: {phase: Bound, capacity: {storage: 1Gi}}}`)
			c.Settle()
			assert.Empty(t, c.Events("data"))
			c.MergePatch(claimsPath+"/data", `{"spec":{"resources":{"requests":{"storage":"2Gi"}}}}`)
			c.Settle()
			assert.Equal(t, []string{row.event}, c.Events("data"))
			assert.Equal(t, row.resizer, object.String(c.Get("persistentvolumeclaims", "default", "data"), "metadata", "annotations", "volume.kubernetes.io/storage-resizer"))
		})
	}
}
