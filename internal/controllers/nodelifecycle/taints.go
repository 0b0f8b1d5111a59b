package nodelifecycle

import (
	"slices"

	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/object"
)

// Keys of taints.
const (
	notReady      = "node.kubernetes.io/not-ready"
	unreachable   = "node.kubernetes.io/unreachable"
	unschedulable = "node.kubernetes.io/unschedulable"
)

// conditionTaints are the keys of the taints of conditions, by type and status.
var conditionTaints = map[string]map[string]string{
	"Ready":              {"False": notReady, "Unknown": unreachable},
	"MemoryPressure":     {"True": "node.kubernetes.io/memory-pressure"},
	"DiskPressure":       {"True": "node.kubernetes.io/disk-pressure"},
	"NetworkUnavailable": {"True": "node.kubernetes.io/network-unavailable"},
	"PIDPressure":        {"True": "node.kubernetes.io/pid-pressure"},
}

// managedKeys are the keys of the NoSchedule taints that belong to this controller.
var managedKeys = func() (keys []string) {
	keys = append(keys, unschedulable)
	for _, statuses := range conditionTaints {
		for _, key := range statuses {
			keys = append(keys, key)
		}
	}
	return keys
}()

// setNoScheduleTaints gives a Node the NoSchedule taints of its conditions.
func (c *nodeLifecycle) setNoScheduleTaints(node *controller.Object) error {
	var want, remove []string
	for condition := range node.View().At("status", "conditions").Objects() {
		if key := conditionTaints[condition.String("type")][condition.String("status")]; key != "" {
			want = append(want, key)
		}
	}
	if node.View().Bool("spec", "unschedulable") {
		want = append(want, unschedulable)
	}
	for taint := range node.View().At("spec", "taints").Objects() {
		key := taint.String("key")
		if taint.String("effect") != controller.NoSchedule || !slices.Contains(managedKeys, key) {
			continue
		}
		if i := slices.Index(want, key); i >= 0 {
			want = slices.Delete(want, i, i+1)
		} else {
			remove = append(remove, key)
		}
	}
	return c.swapTaints(node, controller.NoSchedule, want, remove)
}

// swapTaints adds taints with an effect to a Node, and removes others, by their keys.
func (c *nodeLifecycle) swapTaints(node *controller.Object, effect string, add, remove []string) error {
	if err := c.patchTaints(node, func(taints []any) []any {
		for _, key := range add {
			taint := map[string]any{"key": key, "effect": effect, "timeAdded": clock.Timestamp(c.env.Now())}
			if i := indexTaint(object.ViewOf(taints), key, effect); i >= 0 {
				taints[i] = taint
			} else {
				taints = append(taints, taint)
			}
		}
		return taints
	}, len(add) > 0); err != nil {
		return err
	}
	return c.patchTaints(node, func(taints []any) []any {
		for _, key := range remove {
			if i := indexTaint(object.ViewOf(taints), key, effect); i >= 0 {
				taints = slices.Delete(taints, i, i+1)
			}
		}
		return taints
	}, slices.ContainsFunc(remove, func(key string) bool { return hasTaint(node, key, effect) }))
}

// patchTaints changes the taints of the newest version of a Node if needed. A conflict
// starts it over.
func (c *nodeLifecycle) patchTaints(node *controller.Object, change func([]any) []any, needed bool) error {
	if !needed {
		return nil
	}
	for try := 0; ; try++ {
		fresh, err := c.client.Get(controller.Nodes, "", node.Name)
		if err != nil {
			return err
		}
		old := fresh.View().At("spec", "taints")
		taints, _ := old.Copy().([]any)
		if taints = change(taints); old.Len() == 0 && len(taints) == 0 || old.EqualTo(taints) {
			return nil
		}
		_, err = c.client.StrategicPatch(controller.Nodes, "", node.Name, "", map[string]any{
			"metadata": map[string]any{"resourceVersion": fresh.View().String("metadata", "resourceVersion")},
			"spec":     map[string]any{"taints": taints},
		})
		if !controller.IsConflict(err) || try == taintRetries {
			return err
		}
	}
}

// taintRetries is how often a change of taints is repeated after a conflict.
const taintRetries = 4

func indexTaint(taints object.View, key, effect string) int {
	for i, taint := range taints.Items() {
		if taint.String("key") == key && taint.String("effect") == effect {
			return i
		}
	}
	return -1
}

func hasTaint(node *controller.Object, key, effect string) bool {
	return indexTaint(node.View().At("spec", "taints"), key, effect) >= 0
}

// changeTaints begins what the NoExecute taints of a Node need by the status of its
// condition Ready. A taint that stands for the other status is replaced at once, and a
// first one waits for its turn in the zone.
func (c *nodeLifecycle) changeTaints(node *controller.Object, status string) {
	key, other := notReady, unreachable
	switch status {
	case "True":
		c.removeTaints(node)
		return
	case "Unknown":
		key, other = other, key
	}
	if hasTaint(node, other, controller.NoExecute) {
		_ = c.swapTaints(node, controller.NoExecute, []string{key}, []string{other}) // repeated by the next check
		return
	}
	z := c.zoneOf(node)
	if !hasTaint(node, key, controller.NoExecute) {
		z.forget(node.Name)
	}
	z.add(node.Name, c.env.Now())
	c.taintings.Add(controller.Key{Name: zoneKey(node)})
}

// removeTaints removes the NoExecute taints of a Node.
func (c *nodeLifecycle) removeTaints(node *controller.Object) {
	if c.swapTaints(node, controller.NoExecute, nil, []string{unreachable}) != nil ||
		c.swapTaints(node, controller.NoExecute, nil, []string{notReady}) != nil {
		return // repeated by the next check
	}
	c.zoneOf(node).forget(node.Name)
}

// taint gives Nodes of a zone that wait NoExecute taints, as many as the limit of the
// zone admits.
func (c *nodeLifecycle) taint(z *zone, k controller.Key) {
	for len(z.waiting) > 0 {
		now := c.env.Now()
		first := z.waiting[0]
		if left := first.at.Sub(now); left > 0 {
			c.taintings.AddAfter(k, left)
			return
		}
		if wait, ok := z.limit.take(now); !ok {
			if wait > 0 {
				c.taintings.AddAfter(k, wait)
			}
			return
		}
		z.waiting = z.waiting[1:]
		if !c.taintNode(first.name) {
			first.at = now.Add(taintRetryDelay)
			z.waiting = append(z.waiting, first)
		}
	}
}

// taintNode gives a Node the NoExecute taint of its condition Ready. It reports whether
// nothing is left to do.
func (c *nodeLifecycle) taintNode(name string) bool {
	node := c.nodes.Get("", name)
	if node == nil {
		return true
	}
	switch controller.Condition(node.View(), "Ready").String("status") {
	case "False":
		return c.swapTaints(node, controller.NoExecute, []string{notReady}, []string{unreachable}) == nil
	case "Unknown":
		return c.swapTaints(node, controller.NoExecute, []string{unreachable}, []string{notReady}) == nil
	}
	return true
}
