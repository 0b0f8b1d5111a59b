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

func collectablePod(node, phase, meta string) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"shop","name":"p","finalizers":["example.com/see"]%s},
"spec":{"nodeName":%q,"containers":[{"name":"c","image":"i"}]},"status":{"phase":%q}}`, meta, node, phase)
}

func nodeOfPods(taints, ready string) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"Node","metadata":{"name":"n"},"spec":{"taints":[%s]},"status":{"conditions":[{"type":"Ready","status":%q}]}}`, taints, ready)
}

func TestPodGCPods(t *testing.T) {
	t.Parallel()
	const (
		deleted      = `,"deletionTimestamp":"2026-01-01T00:00:00Z","deletionGracePeriodSeconds":30`
		outOfService = `{"key":"node.kubernetes.io/out-of-service","effect":"NoExecute"}`
	)
	tests := []struct {
		name    string
		objects []string
		after   time.Duration // the time at which the Pod has been collected; 0 if it is not
		phase   string        // of the Pod then
		reason  string        // of its condition DisruptionTarget
	}{
		{"on a Node", []string{nodeOfPods("", "True"), collectablePod("n", "Running", "")}, 0, "", ""},
		{"without a Node", []string{collectablePod("", "Pending", "")}, 0, "", ""},
		{"of a missing Node", []string{collectablePod("n", "Running", "")}, 40 * time.Second, "Failed", "DeletionByPodGC"},
		{"of a missing Node, ended", []string{collectablePod("n", "Succeeded", "")}, 40 * time.Second, "Succeeded", ""},
		{"deleted without a Node", []string{collectablePod("", "Pending", deleted)}, time.Nanosecond, "Failed", ""},
		{"deleted, on a Node", []string{nodeOfPods("", "False"), collectablePod("n", "Running", deleted)}, 0, "", ""},
		{"deleted, on a Node out of service", []string{nodeOfPods(outOfService, "Unknown"), collectablePod("n", "Running", deleted)}, time.Nanosecond, "Failed", ""},
		{"on a Node out of service", []string{nodeOfPods(outOfService, "Unknown"), collectablePod("n", "Running", "")}, 0, "", ""},
		{"deleted, on a Node that is ready", []string{nodeOfPods(outOfService, "True"), collectablePod("n", "Running", deleted)}, 0, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := startCluster(t, "pod-garbage-collector-controller", fakeapi.WithNamespaces("shop"))
			c.Put(tt.objects...)
			get := func() (fakeapi.Object, bool) {
				p := c.Get("pods", "shop", "p")
				require.NotNil(t, p)
				return p, object.Value(p, "metadata", "deletionGracePeriodSeconds") == int64(0)
			}
			if tt.after == 0 {
				c.SettleWithin(time.Hour)
				_, collected := get()
				assert.False(t, collected)
				return
			}
			if tt.after > time.Second {
				c.SettleWithin(tt.after - time.Second)
				_, collected := get()
				assert.False(t, collected)
			}
			c.SettleWithin(21 * time.Second)
			p, collected := get()
			assert.True(t, collected)
			assert.Equal(t, tt.phase, object.Value(p, "status", "phase"))
			reason := object.String(conditionOf(p, "DisruptionTarget"), "reason")
			assert.Equal(t, tt.reason, reason)
		})
	}
}

// A Node that comes back in time keeps its Pods.
func TestPodGCNodeReturns(t *testing.T) {
	t.Parallel()
	c := startCluster(t, "pod-garbage-collector-controller", fakeapi.WithNamespaces("shop"))
	c.Put(nodeOfPods("", "True"), collectablePod("n", "Running", ""))
	c.Settle()
	require.NoError(t, c.Remove("nodes", "", "n"))
	require.NoError(t, c.Clock().Advance(30*time.Second))
	c.Put(nodeOfPods("", "True"))
	require.NoError(t, c.Clock().Advance(time.Hour))
	p := c.Get("pods", "shop", "p")
	assert.Equal(t, "Running", object.Value(p, "status", "phase"))
}
