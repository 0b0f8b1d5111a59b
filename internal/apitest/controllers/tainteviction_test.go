package controllers_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/object"
)

func taintedNode(taints string) string {
	return `{apiVersion: v1, kind: Node, metadata: {name: m}, spec: {taints: [` + taints + `]}}`
}

func toleratingPod(tolerations string) string {
	return fmt.Sprintf(`{apiVersion: v1, kind: Pod, metadata: {namespace: default, name: a}, spec: {nodeName: m, tolerations: [%s], containers: [{name: c, image: i}]},
status: {phase: Running}}`, tolerations)
}

func TestTaintEviction(t *testing.T) {
	t.Parallel()
	const taint = `{key: k, effect: NoExecute}`
	for _, row := range []struct {
		name        string
		taints      string
		tolerations string
		after       time.Duration // until the Pod is evicted; -1 is never
	}{
		{"no toleration", taint, ``, 0},
		{"another toleration", taint, `{key: x, operator: Exists}`, 0},
		{"for ever", taint, `{key: k, operator: Exists}`, -1},
		{"for a time", taint, `{key: k, operator: Exists, tolerationSeconds: 60}`, time.Minute},
		{"for no time", taint, `{key: k, operator: Exists, tolerationSeconds: -1}`, 0},
		{"another effect", `{key: k, effect: NoSchedule}`, ``, -1},
		{"the shortest of several", taint + `,{key: l, effect: NoExecute}`, `{key: k, operator: Exists, tolerationSeconds: 90}, {key: l, operator: Exists, tolerationSeconds: 30}`, 30 * time.Second},
		{"one of several", taint + `,{key: l, effect: NoExecute}`, `{key: k, operator: Exists, tolerationSeconds: 90}`, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := startCluster(t, "taint-eviction-controller")
			c.Put(taintedNode(row.taints))
			c.Put(toleratingPod(row.tolerations))
			c.Wait(0)
			gone := func() bool { return object.Value(c.Pod("a"), "metadata", "deletionTimestamp") != nil }
			switch {
			case row.after < 0:
				c.Wait(time.Hour)
				assert.False(t, gone())
				assert.Empty(t, c.Events("a"))
				return
			case row.after > 0:
				c.Wait(row.after - time.Second)
				assert.False(t, gone())
				c.Wait(time.Second)
			}
			assert.True(t, gone())
			assert.Equal(t, "True DeletionByTaintManager Taint manager: deleting due to NoExecute taint", condition(c.Pod("a"), "DisruptionTarget"))
			assert.Equal(t, []string{"TaintManagerEviction: Marking for deletion Pod default/a"}, c.Events("a"))
		})
	}
}

// A Pod stays if the taint is removed in time. A second taint does not give it more time.
func TestTaintEvictionCancellation(t *testing.T) {
	t.Parallel()
	c := startCluster(t, "taint-eviction-controller")
	c.Put(taintedNode("{key: k, effect: NoExecute}"))
	c.Put(toleratingPod(`{operator: Exists, tolerationSeconds: 60}`))
	c.Wait(30 * time.Second)
	c.MergePatch("/api/v1/nodes/m", `{"spec":{"taints":null}}`)
	c.Wait(10 * time.Minute)
	assert.Nil(t, object.Value(c.Pod("a"), "metadata", "deletionTimestamp"))
	assert.Equal(t, []string{"TaintManagerEviction: Cancelling deletion of Pod default/a"}, c.Events("a"))

	c.MergePatch("/api/v1/nodes/m", `{"spec":{"taints":[{"key":"k","effect":"NoExecute"}]}}`)
	c.Wait(30 * time.Second)
	c.MergePatch("/api/v1/nodes/m", `{"spec":{"taints":[{"key":"l","effect":"NoExecute"}]}}`)
	c.Wait(29 * time.Second)
	assert.Nil(t, object.Value(c.Pod("a"), "metadata", "deletionTimestamp"))
	c.Wait(time.Second)
	assert.NotNil(t, object.Value(c.Pod("a"), "metadata", "deletionTimestamp"))
}
