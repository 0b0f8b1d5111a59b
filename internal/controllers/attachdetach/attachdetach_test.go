package attachdetach_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/controllers/controllertest"
	"github.com/kubefake/kubefake/internal/object"
)

const (
	attachments = "volumeattachments.storage.k8s.io"
	name        = "persistentvolume-attach-detach-controller"
	unique      = "kubernetes.io/csi/d.example.com^handle"
	claim       = `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, namespace: default, uid: c, annotations: {pv.kubernetes.io/bind-completed: "yes"}},
  spec: {volumeName: v, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}, status: {phase: Bound}}`
)

func node(name, meta, status string) string {
	return fmt.Sprintf(`{apiVersion: v1, kind: Node, metadata: {name: %s%s}, status: {conditions: [{type: Ready, status: "True"}]%s}}`, name, meta, status)
}

const managed = `, annotations: {volumes.kubernetes.io/controller-managed-attach-detach: "true"}`

func pv(mode, source string) string {
	return fmt.Sprintf(`{apiVersion: v1, kind: PersistentVolume, metadata: {name: v}, spec: {capacity: {storage: 1Gi}, accessModes: [%s], %s,
  claimRef: {apiVersion: v1, kind: PersistentVolumeClaim, namespace: default, name: data, uid: c}}, status: {phase: Bound}}`, mode, source)
}

const csi = `csi: {driver: d.example.com, volumeHandle: handle}`

func pod(name, node, status string) string {
	return fmt.Sprintf(`{apiVersion: v1, kind: Pod, metadata: {name: %s, namespace: default}, spec: {nodeName: "%s", containers: [{name: c, image: i}],
  volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]}, status: {phase: %s}}`, name, node, status)
}

func attached(t *testing.T, c controllertest.Cluster, node string) (names []string) {
	t.Helper()
	for v := range object.Each(object.Value(c.Get("nodes", "", node), "status", "volumesAttached")) {
		names = append(names, object.String(v, "name"))
	}
	return names
}

func TestAttach(t *testing.T) {
	driver := func(required string) string {
		return `{apiVersion: storage.k8s.io/v1, kind: CSIDriver, metadata: {name: d.example.com}, spec: {attachRequired: ` + required + `}}`
	}
	tests := []struct {
		name    string
		objects []string
		want    int
	}{
		{"a Pod with a Node", []string{node("n1", managed, ""), pv("ReadWriteOnce", csi), claim, pod("p", "n1", "Pending")}, 1},
		{"a Node that attaches itself", []string{node("n1", "", ""), pv("ReadWriteOnce", csi), claim, pod("p", "n1", "Pending")}, 0},
		{"a Pod without a Node", []string{node("n1", managed, ""), pv("ReadWriteOnce", csi), claim, pod("p", "", "Pending")}, 0},
		{"a Pod that has ended", []string{node("n1", managed, ""), pv("ReadWriteOnce", csi), claim, pod("p", "n1", "Failed")}, 0},
		{"a host path", []string{node("n1", managed, ""), pv("ReadWriteOnce", "hostPath: {path: /x}"), claim, pod("p", "n1", "Pending")}, 0},
		{"a driver without attaching", []string{driver("false"), node("n1", managed, ""), pv("ReadWriteOnce", csi), claim, pod("p", "n1", "Pending")}, 0},
		{"a driver with attaching", []string{driver("true"), node("n1", managed, ""), pv("ReadWriteOnce", csi), claim, pod("p", "n1", "Pending")}, 1},
		{"a claim that is bound later", []string{node("n1", managed, ""), pod("p", "n1", "Pending"), pv("ReadWriteOnce", csi), claim}, 1},
		{"a Node that is managed later", []string{node("n1", "", ""), pv("ReadWriteOnce", csi), claim, pod("p", "n1", "Pending"), node("n1", managed, "")}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := controllertest.StartCluster(t, name)
			for _, o := range tt.objects {
				c.Put(o)
				c.Settle(0)
			}
			assert.Len(t, controllertest.Names(t, c.Server, attachments), tt.want)
		})
	}
}

func TestLife(t *testing.T) {
	c := controllertest.StartCluster(t, name+",storage-provisioner")
	for _, o := range []string{node("n1", managed, ""), pv("ReadWriteOnce", csi), claim, pod("p", "n1", "Running")} {
		c.Put(o)
	}
	c.Settle(0)
	list, err := c.List(attachments, "")
	require.NoError(t, err)
	require.Len(t, list, 1)
	assert.Len(t, list[0].Name(), 68)
	assert.Equal(t, map[string]any{"attacher": "d.example.com", "nodeName": "n1", "source": map[string]any{"persistentVolumeName": "v"}}, object.Map(list[0], "spec"))
	assert.Equal(t, []string{unique}, attached(t, c, "n1"))
	assert.Equal(t, []string{`SuccessfulAttachVolume: AttachVolume.Attach succeeded for volume "v" `}, c.Events("p"))

	c.MergePatch("/api/v1/nodes/n1/status", `{"status":{"volumesInUse":["`+unique+`"]}}`)
	require.NoError(t, c.Server.Remove("pods", "default", "p"))
	c.Settle(0)
	assert.Equal(t, []string{unique}, attached(t, c, "n1"), "the Node uses it")
	c.MergePatch("/api/v1/nodes/n1/status", `{"status":{"volumesInUse":null}}`)
	c.Settle(0)
	assert.Empty(t, attached(t, c, "n1"))
	assert.Empty(t, controllertest.Names(t, c.Server, attachments))
}

func TestNotReadyNode(t *testing.T) {
	c := controllertest.StartCluster(t, name+",storage-provisioner")
	for _, o := range []string{node("n1", managed, `, volumesInUse: ["`+unique+`"]`), pv("ReadWriteOnce", csi), claim, pod("p", "n1", "Running")} {
		c.Put(o)
	}
	c.Settle(0)
	c.MergePatch("/api/v1/nodes/n1/status", `{"status":{"conditions":[{"type":"Ready","status":"Unknown"}]}}`)
	require.NoError(t, c.Server.Remove("pods", "default", "p"))
	c.Settle(0)
	c.Wait(6*time.Minute - time.Second)
	assert.Len(t, controllertest.Names(t, c.Server, attachments), 1)
	c.Wait(time.Second)
	assert.Empty(t, controllertest.Names(t, c.Server, attachments))
}

func TestTwoNodes(t *testing.T) {
	tests := []struct {
		name, mode string
		attached   int
		events     []string
	}{
		{"of one Node", "ReadWriteOnce", 1, []string{`FailedAttachVolume: Multi-Attach error for volume "v" Volume is already used by pod(s) p`}},
		{"of many Nodes", "ReadWriteMany", 2, []string{`SuccessfulAttachVolume: AttachVolume.Attach succeeded for volume "v" `}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := controllertest.StartCluster(t, name+",storage-provisioner")
			for _, o := range []string{node("n1", managed, ""), node("n2", managed, ""), pv(tt.mode, csi), claim, pod("p", "n1", "Running"), pod("q", "n2", "Pending")} {
				c.Put(o)
				c.Settle(0)
			}
			assert.Len(t, controllertest.Names(t, c.Server, attachments), tt.attached)
			assert.Equal(t, tt.events, c.Events("q"))
			require.NoError(t, c.Server.Remove("pods", "default", "p"))
			c.Settle(0)
			assert.Equal(t, []string{unique}, attached(t, c, "n2"))
			assert.Empty(t, attached(t, c, "n1"))
		})
	}
}

func TestFailure(t *testing.T) {
	c := controllertest.StartCluster(t, name)
	for _, o := range []string{node("n1", managed, ""), pv("ReadWriteOnce", csi), claim, pod("p", "n1", "Pending")} {
		c.Put(o)
	}
	c.Settle(0)
	c.Wait(2 * time.Minute)
	assert.Equal(t, []string{`FailedAttachVolume: AttachVolume.Attach failed for volume "v" : timed out waiting for external-attacher of d.example.com CSI driver to attach volume handle`}, c.Events("p"))
	id := controllertest.Names(t, c.Server, attachments)[0]
	c.MergePatch("/apis/storage.k8s.io/v1/volumeattachments/"+id+"/status", `{"status":{"attached":false,"attachError":{"message":"no such disk"}}}`)
	c.Settle(0)
	assert.Contains(t, c.Events("p"), `FailedAttachVolume: AttachVolume.Attach failed for volume "v" : no such disk`)
}

// VolumeAttachments that exist at the start belong to the controller, later ones of others
// do not.
func TestOthers(t *testing.T) {
	attachment := func(name string) string {
		return fmt.Sprintf(`{apiVersion: storage.k8s.io/v1, kind: VolumeAttachment, metadata: {name: %s}, spec: {attacher: d.example.com, nodeName: n1, source: {persistentVolumeName: v}}}`, name)
	}
	c := controllertest.StartCluster(t, "none")
	for _, o := range []string{node("n1", managed, `, volumesAttached: [{name: "`+unique+`", devicePath: ""}]`), pv("ReadWriteOnce", csi), attachment("before")} {
		c.Put(o)
	}
	require.NoError(t, c.SetControllers(name))
	c.Put(attachment("after"))
	c.Settle(0)
	assert.Equal(t, []string{"after"}, controllertest.Names(t, c.Server, attachments))
	assert.Empty(t, attached(t, c, "n1"))
}
