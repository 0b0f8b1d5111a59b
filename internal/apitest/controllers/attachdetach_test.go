package controllers_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/object"
)

const (
	attachments  = "volumeattachments.storage.k8s.io"
	attachDetach = "persistentvolume-attach-detach-controller"
	uniqueVolume = "kubernetes.io/csi/d.example.com^handle"
	boundClaim   = `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, namespace: default, uid: c, annotations: {pv.kubernetes.io/bind-completed: "yes"}},
  spec: {volumeName: v, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}, status: {phase: Bound}}`
)

func readyNode(name, meta, status string) string {
	return fmt.Sprintf(`{apiVersion: v1, kind: Node, metadata: {name: %s%s}, status: {conditions: [{type: Ready, status: "True"}]%s}}`, name, meta, status)
}

const attachedByController = `, annotations: {volumes.kubernetes.io/controller-managed-attach-detach: "true"}`

func boundVolume(mode, source string) string {
	return fmt.Sprintf(`{apiVersion: v1, kind: PersistentVolume, metadata: {name: v}, spec: {capacity: {storage: 1Gi}, accessModes: [%s], %s,
  claimRef: {apiVersion: v1, kind: PersistentVolumeClaim, namespace: default, name: data, uid: c}}, status: {phase: Bound}}`, mode, source)
}

const csiSource = `csi: {driver: d.example.com, volumeHandle: handle}`

func podWithData(name, node, status string) string {
	return fmt.Sprintf(`{apiVersion: v1, kind: Pod, metadata: {name: %s, namespace: default}, spec: {nodeName: "%s", containers: [{name: c, image: i}],
  volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]}, status: {phase: %s}}`, name, node, status)
}

func volumesAttached(c cluster, node string) (names []string) {
	c.t.Helper()
	for v := range object.Each(object.Value(c.Get("nodes", "", node), "status", "volumesAttached")) {
		names = append(names, object.String(v, "name"))
	}
	return names
}

func TestAttachDetach(t *testing.T) {
	t.Parallel()
	driver := func(required string) string {
		return `{apiVersion: storage.k8s.io/v1, kind: CSIDriver, metadata: {name: d.example.com}, spec: {attachRequired: ` + required + `}}`
	}
	tests := []struct {
		name    string
		objects []string
		want    int
	}{
		{"a Pod with a Node", []string{readyNode("n1", attachedByController, ""), boundVolume("ReadWriteOnce", csiSource), boundClaim, podWithData("p", "n1", "Pending")}, 1},
		{"a Node that attaches itself", []string{readyNode("n1", "", ""), boundVolume("ReadWriteOnce", csiSource), boundClaim, podWithData("p", "n1", "Pending")}, 0},
		{"a Pod without a Node", []string{readyNode("n1", attachedByController, ""), boundVolume("ReadWriteOnce", csiSource), boundClaim, podWithData("p", "", "Pending")}, 0},
		{"a Pod that has ended", []string{readyNode("n1", attachedByController, ""), boundVolume("ReadWriteOnce", csiSource), boundClaim, podWithData("p", "n1", "Failed")}, 0},
		{"a host path", []string{readyNode("n1", attachedByController, ""), boundVolume("ReadWriteOnce", "hostPath: {path: /x}"), boundClaim, podWithData("p", "n1", "Pending")}, 0},
		{"a driver without attaching", []string{driver("false"), readyNode("n1", attachedByController, ""), boundVolume("ReadWriteOnce", csiSource), boundClaim, podWithData("p", "n1", "Pending")}, 0},
		{"a driver with attaching", []string{driver("true"), readyNode("n1", attachedByController, ""), boundVolume("ReadWriteOnce", csiSource), boundClaim, podWithData("p", "n1", "Pending")}, 1},
		{"a claim that is bound later", []string{readyNode("n1", attachedByController, ""), podWithData("p", "n1", "Pending"), boundVolume("ReadWriteOnce", csiSource), boundClaim}, 1},
		{"a Node that is managed later", []string{readyNode("n1", "", ""), boundVolume("ReadWriteOnce", csiSource), boundClaim, podWithData("p", "n1", "Pending"), readyNode("n1", attachedByController, "")}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := startCluster(t, attachDetach)
			for _, o := range tt.objects {
				c.Put(o)
				c.Settle()
			}
			assert.Len(t, c.Names(attachments), tt.want)
		})
	}
}

func TestAttachDetachLife(t *testing.T) {
	t.Parallel()
	c := startCluster(t, attachDetach+",storage-provisioner")
	c.Put(readyNode("n1", attachedByController, ""), boundVolume("ReadWriteOnce", csiSource), boundClaim, podWithData("p", "n1", "Running"))
	c.Settle()
	list := c.List(attachments, "")
	require.Len(t, list, 1)
	assert.Len(t, list[0].Name(), 68)
	assert.Equal(t, map[string]any{"attacher": "d.example.com", "nodeName": "n1", "source": map[string]any{"persistentVolumeName": "v"}}, object.Map(list[0], "spec"))
	assert.Equal(t, []string{uniqueVolume}, volumesAttached(c, "n1"))
	assert.Equal(t, []string{`SuccessfulAttachVolume: AttachVolume.Attach succeeded for volume "v" `}, c.Events("p"))

	c.MergePatch("/api/v1/nodes/n1/status", `{"status":{"volumesInUse":["`+uniqueVolume+`"]}}`)
	require.NoError(t, c.Server.Remove("pods", "default", "p"))
	c.Settle()
	assert.Equal(t, []string{uniqueVolume}, volumesAttached(c, "n1"), "the Node uses it")
	c.MergePatch("/api/v1/nodes/n1/status", `{"status":{"volumesInUse":null}}`)
	c.Settle()
	assert.Empty(t, volumesAttached(c, "n1"))
	assert.Empty(t, c.Names(attachments))
}

func TestAttachDetachNotReadyNode(t *testing.T) {
	t.Parallel()
	c := startCluster(t, attachDetach+",storage-provisioner")
	c.Put(readyNode("n1", attachedByController, `, volumesInUse: ["`+uniqueVolume+`"]`), boundVolume("ReadWriteOnce", csiSource), boundClaim, podWithData("p", "n1", "Running"))
	c.Settle()
	c.MergePatch("/api/v1/nodes/n1/status", `{"status":{"conditions":[{"type":"Ready","status":"Unknown"}]}}`)
	require.NoError(t, c.Server.Remove("pods", "default", "p"))
	c.Settle()
	c.Wait(6*time.Minute - time.Second)
	assert.Len(t, c.Names(attachments), 1)
	c.Wait(time.Second)
	assert.Empty(t, c.Names(attachments))
}

func TestAttachDetachTwoNodes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, release, mode string
		attached            int
		events              []string
	}{
		{"of one Node", "1.37", "ReadWriteOnce", 1, []string{`FailedAttachVolume: Waiting for detach for volume "v" Volume is already used by pod(s) p`}},
		{"of one Node in 1.36", "1.36", "ReadWriteOnce", 1, []string{`FailedAttachVolume: Multi-Attach error for volume "v" Volume is already used by pod(s) p`}},
		{"of many Nodes", "1.37", "ReadWriteMany", 2, []string{`SuccessfulAttachVolume: AttachVolume.Attach succeeded for volume "v" `}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := startCluster(t, attachDetach+",storage-provisioner", fakeapi.WithRelease(tt.release))
			for _, o := range []string{readyNode("n1", attachedByController, ""), readyNode("n2", attachedByController, ""), boundVolume(tt.mode, csiSource), boundClaim, podWithData("p", "n1", "Running"), podWithData("q", "n2", "Pending")} {
				c.Put(o)
				c.Settle()
			}
			assert.Len(t, c.Names(attachments), tt.attached)
			assert.Equal(t, tt.events, c.Events("q"))
			require.NoError(t, c.Server.Remove("pods", "default", "p"))
			c.Settle()
			assert.Equal(t, []string{uniqueVolume}, volumesAttached(c, "n2"))
			assert.Empty(t, volumesAttached(c, "n1"))
		})
	}
}

func TestAttachDetachFailure(t *testing.T) {
	t.Parallel()
	c := startCluster(t, attachDetach)
	c.Put(readyNode("n1", attachedByController, ""), boundVolume("ReadWriteOnce", csiSource), boundClaim, podWithData("p", "n1", "Pending"))
	c.Settle()
	c.Wait(2 * time.Minute)
	assert.Equal(t, []string{`FailedAttachVolume: AttachVolume.Attach failed for volume "v" : timed out waiting for external-attacher of d.example.com CSI driver to attach volume handle`}, c.Events("p"))
	id := c.Names(attachments)[0]
	c.MergePatch("/apis/storage.k8s.io/v1/volumeattachments/"+id+"/status", `{"status":{"attached":false,"attachError":{"message":"no such disk"}}}`)
	c.Settle()
	assert.Contains(t, c.Events("p"), `FailedAttachVolume: AttachVolume.Attach failed for volume "v" : no such disk`)
}

// VolumeAttachments that exist at the start belong to the controller, later ones of others
// do not.
func TestAttachDetachOthers(t *testing.T) {
	t.Parallel()
	attachment := func(name string) string {
		return fmt.Sprintf(`{apiVersion: storage.k8s.io/v1, kind: VolumeAttachment, metadata: {name: %s}, spec: {attacher: d.example.com, nodeName: n1, source: {persistentVolumeName: v}}}`, name)
	}
	c := startCluster(t, "none")
	c.Put(readyNode("n1", attachedByController, `, volumesAttached: [{name: "`+uniqueVolume+`", devicePath: ""}]`), boundVolume("ReadWriteOnce", csiSource), attachment("before"))
	require.NoError(t, c.SetControllers(attachDetach))
	c.Put(attachment("after"))
	c.Settle()
	assert.Equal(t, []string{"after"}, c.Names(attachments))
	assert.Empty(t, volumesAttached(c, "n1"))
}
