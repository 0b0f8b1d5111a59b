package podgc_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/controllers/controllertest"
)

func pod(name, node, phase, meta string) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"shop","name":%q,"finalizers":["example.com/see"]%s},
"spec":{"nodeName":%q,"containers":[{"name":"c","image":"i"}]},"status":{"phase":%q}}`, name, meta, node, phase)
}

func node(name, taints, ready string) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"Node","metadata":{"name":%q},"spec":{"taints":[%s]},"status":{"conditions":[{"type":"Ready","status":%q}]}}`, name, taints, ready)
}

const (
	deleted      = `,"deletionTimestamp":"2026-01-01T00:00:00Z","deletionGracePeriodSeconds":30`
	outOfService = `{"key":"node.kubernetes.io/out-of-service","effect":"NoExecute"}`
)

func TestPods(t *testing.T) {
	tests := []struct {
		name    string
		objects []string
		after   time.Duration // the time at which the Pod has been collected; 0 if it is not
		phase   string        // of the Pod then
		reason  string        // of its condition DisruptionTarget
	}{
		{"on a Node", []string{node("n", "", "True"), pod("p", "n", "Running", "")}, 0, "", ""},
		{"without a Node", []string{pod("p", "", "Pending", "")}, 0, "", ""},
		{"of a missing Node", []string{pod("p", "n", "Running", "")}, 40 * time.Second, "Failed", "DeletionByPodGC"},
		{"of a missing Node, ended", []string{pod("p", "n", "Succeeded", "")}, 40 * time.Second, "Succeeded", ""},
		{"deleted without a Node", []string{pod("p", "", "Pending", deleted)}, time.Nanosecond, "Failed", ""},
		{"deleted, on a Node", []string{node("n", "", "False"), pod("p", "n", "Running", deleted)}, 0, "", ""},
		{"deleted, on a Node out of service", []string{node("n", outOfService, "Unknown"), pod("p", "n", "Running", deleted)}, time.Nanosecond, "Failed", ""},
		{"on a Node out of service", []string{node("n", outOfService, "Unknown"), pod("p", "n", "Running", "")}, 0, "", ""},
		{"deleted, on a Node that is ready", []string{node("n", outOfService, "True"), pod("p", "n", "Running", deleted)}, 0, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			srv := controllertest.Start(t, "pod-garbage-collector-controller", fakeapi.WithNamespaces("shop"))
			controllertest.Put(t, srv, tt.objects...)
			get := func() (fakeapi.Object, bool) {
				p, err := srv.Get("pods", "shop", "p")
				require.NoError(t, err)
				return p, controllertest.Field(p, "metadata", "deletionGracePeriodSeconds") == int64(0)
			}
			if tt.after == 0 {
				controllertest.SettleWithin(t, srv, time.Hour)
				_, collected := get()
				assert.False(t, collected)
				return
			}
			if tt.after > time.Second {
				controllertest.SettleWithin(t, srv, tt.after-time.Second)
				_, collected := get()
				assert.False(t, collected)
			}
			controllertest.SettleWithin(t, srv, 21*time.Second)
			p, collected := get()
			assert.True(t, collected)
			assert.Equal(t, tt.phase, controllertest.Field(p, "status", "phase"))
			reason, _ := controllertest.Field(p, "status", "conditions", "DisruptionTarget", "reason").(string)
			assert.Equal(t, tt.reason, reason)
		})
	}
}

// A Node that comes back in time keeps its Pods.
func TestNodeReturns(t *testing.T) {
	srv := controllertest.Start(t, "pod-garbage-collector-controller", fakeapi.WithNamespaces("shop"))
	controllertest.Put(t, srv, node("n", "", "True"), pod("p", "n", "Running", ""))
	controllertest.Settle(t, srv)
	require.NoError(t, srv.Remove("nodes", "", "n"))
	require.NoError(t, srv.Clock().Advance(30*time.Second))
	controllertest.Put(t, srv, node("n", "", "True"))
	require.NoError(t, srv.Clock().Advance(time.Hour))
	p, err := srv.Get("pods", "shop", "p")
	require.NoError(t, err)
	assert.Equal(t, "Running", controllertest.Field(p, "status", "phase"))
}
