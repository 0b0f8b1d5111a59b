package kinds

import (
	"fmt"
	"maps"
	"slices"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/validation"
)

// What admission looks up for pods.
var (
	priorityClassKind = resource.Kind{GroupVersion: resource.GroupVersion{Group: "scheduling.k8s.io", Version: "v1"}, Kind: "PriorityClass"}
	runtimeClassKind  = resource.Kind{GroupVersion: resource.GroupVersion{Group: "node.k8s.io", Version: "v1"}, Kind: "RuntimeClass"}
	namespaceKind     = resource.Kind{GroupVersion: resource.GroupVersion{Version: "v1"}, Kind: "Namespace"}
	nodeKind          = resource.Kind{GroupVersion: resource.GroupVersion{Version: "v1"}, Kind: "Node"}
)

// mutatePod is what the plugins LimitRanger, Priority, DefaultTolerationSeconds,
// RuntimeClass and PodTopologyLabels make of a pod, in this order.
func mutatePod(w *resource.Write) error {
	spec := child(w.Object, "spec")
	if w.Old != nil {
		inherit(spec, object.Map(w.Old, "spec"), "priority", "preemptionPolicy")
		tolerateEviction(spec)
		return nil
	}
	limitByDefault(w)
	if err := setPriority(w, spec); err != nil {
		return err
	}
	tolerateEviction(spec)
	if err := setRuntime(w, spec); err != nil {
		return err
	}
	if labels := TopologyLabels(w.Cluster, object.String(spec, "nodeName")); len(labels) > 0 {
		maps.Copy(child(object.Meta(w.Object), "labels"), labels)
	}
	return nil
}

// admitPod is what LimitRanger, PodSecurity and RuntimeClass say of a pod, in
// this order.
func admitPod(w *resource.Write) error {
	if w.Old == nil || w.Subresource == "resize" {
		if err := admitByLimits(w); err != nil {
			return err
		}
	}
	if err := admitSecurePod(w); err != nil {
		return err
	}
	if w.Old != nil {
		return nil
	}
	spec := object.Map(w.Object, "spec")
	class, err := runtimeClass(w, spec)
	if err != nil {
		return err
	}
	overhead := object.Map(class, "overhead", "podFixed")
	switch own := object.Map(spec, "overhead"); {
	case object.Map(class, "overhead") == nil && spec["overhead"] != nil:
		return fmt.Errorf("pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead")
	case !sameQuantities(own, overhead):
		return errOverhead
	}
	return nil
}

var errOverhead = fmt.Errorf("pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead")

// noPriorityClass is as good as a class to pods that have none.
var noPriorityClass = map[string]any{"value": int64(0), "preemptionPolicy": "PreemptLowerPriority"}

// setPriority gives a new pod the priority of its class, or of the default one.
func setPriority(w *resource.Write, spec map[string]any) error {
	name := object.String(spec, "priorityClassName")
	var class map[string]any
	if name == "" {
		class = defaultPriorityClassOf(w)
		if class == nil {
			class = noPriorityClass
		} else {
			spec["priorityClassName"] = object.String(class, "metadata", "name")
		}
	} else if class = priorityClassOf(w, name); class == nil {
		return fmt.Errorf("no PriorityClass with name %s was found", name)
	}
	priority, _ := object.Int(class, "value")
	if given, ok := object.Int(spec, "priority"); ok && given != priority {
		return fmt.Errorf("the integer value of priority (%d) must not be provided in pod spec; priority admission controller computed %d from the given PriorityClass name", given, priority)
	}
	spec["priority"] = priority
	policy := object.String(class, "preemptionPolicy")
	if policy == "" {
		return nil
	}
	if given, ok := spec["preemptionPolicy"].(string); ok && given != policy {
		return fmt.Errorf("the string value of PreemptionPolicy (%s) must not be provided in pod spec; priority admission controller computed %s from the given PriorityClass name", given, policy)
	}
	spec["preemptionPolicy"] = policy
	return nil
}

// priorityClassOf is the class of the name, nil if there is none. Those of the
// system are in every cluster, even where nobody has made them.
func priorityClassOf(c resource.Cluster, name string) map[string]any {
	class := c.Get(priorityClassKind, "", name)
	if value, ok := systemPriorities[name]; ok && class == nil {
		class = map[string]any{"value": value, "preemptionPolicy": "PreemptLowerPriority"}
	}
	return class
}

// defaultPriorityClassOf is the class of pods that name none: of several, the
// one of the lowest value.
func defaultPriorityClassOf(c resource.Cluster) (lowest map[string]any) {
	var least int64
	for _, class := range c.List(priorityClassKind, "") {
		value, _ := object.Int(class, "value")
		if object.Bool(class, "globalDefault") && (lowest == nil || value < least) {
			lowest, least = class, value
		}
	}
	return lowest
}

// admitPriorityClass lets one class alone be the default.
func admitPriorityClass(w *resource.Write) error {
	if !object.Bool(w.Object, "globalDefault") {
		return nil
	}
	name := object.String(defaultPriorityClassOf(w), "metadata", "name")
	if name != "" && (w.Old == nil || name != object.String(w.Object, "metadata", "name")) {
		return fmt.Errorf("PriorityClass %s is already marked as default. Only one default can exist", name)
	}
	return nil
}

// tolerateEviction lets a pod stay on nodes that are unwell for less than five
// minutes.
func tolerateEviction(spec map[string]any) {
	for _, taint := range []string{"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"} {
		tolerations := object.List(spec, "tolerations")
		if slices.ContainsFunc(tolerations, func(t any) bool { return toleratesEviction(t, taint) }) {
			continue
		}
		spec["tolerations"] = append(tolerations, map[string]any{
			"key": taint, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": int64(300),
		})
	}
}

func toleratesEviction(toleration any, taint string) bool {
	t, _ := toleration.(map[string]any)
	key, effect := object.String(t, "key"), object.String(t, "effect")
	return (key == taint || key == "") && (effect == "NoExecute" || effect == "")
}

// runtimeClass is the class that a pod names; nil if it names none.
func runtimeClass(c resource.Cluster, spec map[string]any) (map[string]any, error) {
	name, named := spec["runtimeClassName"].(string)
	if !named {
		return nil, nil
	}
	class := c.Get(runtimeClassKind, "", name)
	if class == nil {
		return nil, fmt.Errorf("pod rejected: RuntimeClass %q not found", name)
	}
	return class, nil
}

// setRuntime gives a new pod the overhead of its runtime class, and has it run
// on the nodes that have the runtime.
func setRuntime(c resource.Cluster, spec map[string]any) error {
	class, err := runtimeClass(c, spec)
	if class == nil {
		return err
	}
	if overhead := object.Map(class, "overhead"); overhead != nil {
		fixed := object.Map(overhead, "podFixed")
		if own := object.Map(spec, "overhead"); len(own) > 0 && !sameQuantities(own, fixed) {
			return errOverhead
		}
		spec["overhead"] = object.Copy(fixed)
	}
	scheduling := object.Map(class, "scheduling")
	selector := object.Map(scheduling, "nodeSelector")
	for _, key := range slices.Sorted(maps.Keys(selector)) {
		own := child(spec, "nodeSelector")
		if v, ok := own[key]; ok && v != selector[key] {
			return fmt.Errorf("conflict: runtimeClass.scheduling.nodeSelector[%s] = %s; pod.spec.nodeSelector[%s] = %s", key, selector[key], key, v)
		}
		own[key] = selector[key]
	}
	if more := object.List(scheduling, "tolerations"); len(more) > 0 {
		spec["tolerations"] = mergeTolerations(slices.Concat(object.List(spec, "tolerations"), more))
	}
	return nil
}

// mergeTolerations leaves out what another one of the list covers: of equal
// ones, all but the first.
func mergeTolerations(all []any) []any {
	var merged []any
	for i, t := range all {
		if slices.ContainsFunc(merged, func(m any) bool { return covers(m, t) }) {
			continue
		}
		if slices.ContainsFunc(all[i+1:], func(later any) bool { return !validation.Equal(later, t) && covers(later, t) }) {
			continue
		}
		merged = append(merged, t)
	}
	return merged
}

// covers reports whether a toleration tolerates all that another one does.
func covers(wide, narrow any) bool {
	if validation.Equal(wide, narrow) {
		return true
	}
	a, _ := wide.(map[string]any)
	b, _ := narrow.(map[string]any)
	exists := a["operator"] == "Exists"
	if a["key"] != b["key"] && (object.String(a, "key") != "" || !exists) {
		return false
	}
	if effect := object.String(a, "effect"); effect != "" && effect != b["effect"] {
		return false
	}
	if a["effect"] == "NoExecute" {
		if longest, bounded := object.Int(a, "tolerationSeconds"); bounded {
			if seconds, ok := object.Int(b, "tolerationSeconds"); !ok || seconds > longest {
				return false
			}
		}
	}
	return exists || b["operator"] == "Equal" && a["value"] == b["value"]
}

// TopologyLabels are the labels that a pod takes from the node it is bound to.
func TopologyLabels(c resource.Cluster, node string) map[string]any {
	if node == "" {
		return nil
	}
	var labels map[string]any
	of := object.Map(c.Get(nodeKind, "", node), "metadata", "labels")
	for _, key := range []string{"topology.kubernetes.io/zone", "topology.kubernetes.io/region"} {
		if v, ok := of[key]; ok {
			if labels == nil {
				labels = map[string]any{}
			}
			labels[key] = v
		}
	}
	return labels
}
