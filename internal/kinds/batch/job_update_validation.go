package batch

import (
	"maps"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

// checkJobSpecUpdate checks that an update keeps the immutable fields.
func checkJobSpecUpdate(p validation.View, old map[string]any) {
	was := validation.View{Obj: object.Map(old, "spec")}
	indexed := p.String("completionMode") == "Indexed"
	switch {
	case !indexed:
		p.Immutable(was.Obj, "completions")
	case p.Has("completions") && p.Obj["completions"] != was.Obj["completions"] && p.Int("completions") != p.Int("parallelism"):
		p.Invalid("completions", "can only be modified in tandem with spec.parallelism")
	}
	p.ImmutableAs("selector", "*metav1.LabelSelector", was.Obj)
	checkJobTemplateUpdate(p, old)
	if p.String("completionMode") != was.String("completionMode") {
		p.InvalidNamed("completionMode", "field is immutable")
	}
	p.ImmutableAs("podFailurePolicy", "*batch.PodFailurePolicy", was.Obj)
	p.Immutable(was.Obj, "backoffLimitPerIndex", "managedBy")
	p.ImmutableAs("successPolicy", "*batch.SuccessPolicy", was.Obj)
	checkJobSchedulingUpdate(p, was.Obj)
}

// checkJobTemplateUpdate checks that an update keeps the pod template. The scheduling
// directives and resources of a suspended Job without pods may change, by gates.
func checkJobTemplateUpdate(p validation.View, old map[string]any) {
	const (
		directivesGate = "MutableSchedulingDirectivesForSuspendedJobs"
		resourcesGate  = "MutablePodResourcesForSuspendedJobs"
	)
	if validation.Equal(object.Map(p.Obj, "template"), object.Map(old, "spec", "template")) {
		return
	}
	suspended, started := object.Bool(old, "spec", "suspend"), object.Value(old, "status", "startTime") != nil
	active, _ := object.Int(old, "status", "active")
	idle := suspended && active == 0 && (!started || object.Condition(old, "Suspended", "True") != nil)
	for _, row := range []struct {
		directives, resources bool // may change
		mark                  func(validation.List) validation.List
	}{
		{idle, idle, func(l validation.List) validation.List { return l.WithGate(directivesGate).WithGate(resourcesGate) }},
		{idle, false, func(l validation.List) validation.List { return l.WithGate(directivesGate).WithoutGate(resourcesGate) }},
		{suspended && !started, idle, func(l validation.List) validation.List { return l.WithoutGate(directivesGate).WithGate(resourcesGate) }},
		{suspended && !started, false, func(l validation.List) validation.List {
			return l.WithoutGate(directivesGate).WithoutGate(resourcesGate)
		}},
	} {
		p.AddList(row.mark(checkTemplateChange(p, old, row.directives, row.resources)))
	}
}

// checkTemplateChange checks that nothing of a pod template changes but what may.
func checkTemplateChange(p validation.View, old map[string]any, directives, resources bool) validation.List {
	template, was := object.Map(p.Obj, "template"), maps.Clone(object.Map(old, "spec", "template"))
	spec, oldSpec := object.Map(template, "spec"), maps.Clone(object.Map(was, "spec"))
	if oldSpec == nil {
		return nil
	}
	if directives {
		for _, name := range []string{"nodeSelector", "tolerations", "schedulingGates"} {
			object.Keep(oldSpec, spec, name)
		}
		keepNodeAffinity(oldSpec, spec)
		if now := object.Map(template, "metadata"); now != nil {
			meta := maps.Clone(object.EnsureMap(was, "metadata"))
			for _, name := range []string{"annotations", "labels"} {
				object.Keep(meta, now, name)
			}
			was["metadata"] = meta
		}
	}
	was["spec"] = oldSpec
	if !resources {
		if validation.Equal(template, was) {
			return nil
		}
		return validation.List{validation.Invalid(p.At("template"), validation.AsGoType("core.PodTemplateSpec", template), "field is immutable")}
	}
	for _, list := range []string{"containers", "initContainers"} {
		keepResources(oldSpec, spec, list)
	}
	if validation.Equal(spec, oldSpec) {
		return nil
	}
	return validation.List{validation.Invalid(p.At("template.spec"), validation.AsGoType("core.PodSpec", spec), "field is immutable")}
}

// keepNodeAffinity copies the node affinity from src to dst. It deletes it from dst
// if src does not have it.
func keepNodeAffinity(dst, src map[string]any) {
	affinity := maps.Clone(object.Map(dst, "affinity"))
	if affinity == nil {
		affinity = map[string]any{}
	}
	object.Keep(affinity, object.Map(src, "affinity"), "nodeAffinity")
	if len(affinity) == 0 && src["affinity"] == nil {
		delete(dst, "affinity")
		return
	}
	dst["affinity"] = affinity
}

// keepResources copies the resources of the containers in a list from src to dst, if
// both lists have the same length. It skips containers whose names differ.
func keepResources(dst, src map[string]any, list string) {
	was, now := object.List(dst, list), object.List(src, list)
	if len(was) != len(now) {
		return
	}
	kept := make([]any, len(was))
	for i := range was {
		container, _ := was[i].(map[string]any)
		next, _ := now[i].(map[string]any)
		if container["name"] == next["name"] {
			container = maps.Clone(container)
			object.Keep(container, next, "resources")
		}
		kept[i] = container
	}
	if len(kept) > 0 {
		dst[list] = kept
	}
}
