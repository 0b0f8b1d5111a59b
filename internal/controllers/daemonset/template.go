package daemonset

import (
	"slices"

	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/object"
)

// A template is the Pod template of a DaemonSet with the tolerations of daemons.
type template struct {
	content object.View
}

func newTemplate(ds *controller.Object) *template {
	content := ds.View().At("spec", "template")
	spec := content.At("spec").ShallowCopy()
	spec["tolerations"] = withTolerations(object.List(spec, "tolerations"), object.Bool(spec, "hostNetwork"))
	return &template{object.ViewOf(map[string]any{"metadata": content.At("metadata").Shared(), "spec": spec})}
}

// nodeProblems are the taints that daemons tolerate.
var nodeProblems = []struct{ key, effect string }{
	{"node.kubernetes.io/not-ready", controller.NoExecute},
	{"node.kubernetes.io/unreachable", controller.NoExecute},
	{"node.kubernetes.io/disk-pressure", controller.NoSchedule},
	{"node.kubernetes.io/memory-pressure", controller.NoSchedule},
	{"node.kubernetes.io/pid-pressure", controller.NoSchedule},
	{"node.kubernetes.io/unschedulable", controller.NoSchedule},
}

// networkUnavailable is the taint that daemons on the network of the Node tolerate.
const networkUnavailable = "node.kubernetes.io/network-unavailable"

func withTolerations(tolerations []any, hostNetwork bool) []any {
	problems := nodeProblems
	if hostNetwork {
		problems = append(slices.Clone(problems), struct{ key, effect string }{networkUnavailable, controller.NoSchedule})
	}
	for _, p := range problems {
		toleration := map[string]any{"key": p.key, "operator": "Exists", "effect": p.effect}
		kept := slices.DeleteFunc(slices.Clone(tolerations), func(v any) bool {
			t, _ := v.(map[string]any)
			return object.String(t, "key") == p.key && object.String(t, "effect") == p.effect &&
				object.String(t, "operator") == "Exists" && object.String(t, "value") == ""
		})
		tolerations = append(kept, any(toleration))
	}
	return tolerations
}

// fits reports whether a Node should have a Pod, and whether it may keep one that it
// has.
func (t *template) fits(node *controller.Object) (should, may bool) {
	if name := t.content.String("spec", "nodeName"); name != "" && name != node.Name || !controller.NodeSelected(t.content, node.View()) {
		return false, false
	}
	if controller.UntoleratedTaint(node.View(), t.content, controller.NoExecute, controller.NoSchedule).IsNil() {
		return true, true
	}
	return false, controller.UntoleratedTaint(node.View(), t.content, controller.NoExecute).IsNil()
}

// pod returns a Pod for a Node, which the scheduler binds to it.
func (t *template) pod(ds *controller.Object, node, hash, generation string) map[string]any {
	pod := controller.PodFromTemplate(t.content, ds)
	labels := object.EnsureMap(object.Meta(pod), "labels")
	labels[hashLabel] = hash
	if generation != "" {
		labels[generationLabel] = generation
	}
	terms := []any{map[string]any{"matchFields": []any{map[string]any{"key": "metadata.name", "operator": "In", "values": []any{node}}}}}
	object.Set(pod, terms, "spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")
	return pod
}

// targetNode returns the Node that a Pod is for, "" if it is for none.
func targetNode(pod object.View) string {
	if name := pod.String("spec", "nodeName"); name != "" {
		return name
	}
	terms := pod.At("spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")
	for term := range terms.Objects() {
		for e := range term.At("matchFields").Objects() {
			if e.String("key") == "metadata.name" && e.String("operator") == "In" {
				if values := e.Strings("values"); len(values) == 1 {
					return values[0]
				}
				return ""
			}
		}
	}
	return ""
}
