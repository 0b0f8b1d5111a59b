package batch

import (
	"maps"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

// checkJobSpecUpdate checks that an update keeps the immutable fields.
func checkJobSpecUpdate(p validation.View, old object.View) {
	was := old.At("spec")
	indexed := p.String("completionMode") == "Indexed"
	switch {
	case !indexed:
		p.Immutable(was, "completions")
	case p.Has("completions") && !was.At("completions").EqualTo(p.Obj["completions"]) && p.Int("completions") != p.Int("parallelism"):
		p.Invalid("completions", "can only be modified in tandem with spec.parallelism")
	}
	p.ImmutableAs("selector", "*metav1.LabelSelector", was)
	checkJobTemplateUpdate(p, old)
	if p.String("completionMode") != was.String("completionMode") {
		p.InvalidNamed("completionMode", "field is immutable")
	}
	p.ImmutableAs("podFailurePolicy", "*batch.PodFailurePolicy", was)
	p.Immutable(was, "backoffLimitPerIndex", "managedBy")
	p.ImmutableAs("successPolicy", "*batch.SuccessPolicy", was)
	checkJobSchedulingUpdate(p, was)
}

// checkJobTemplateUpdate checks that an update keeps the pod template. The scheduling
// directives and resources of a suspended Job without pods may change, by gates.
func checkJobTemplateUpdate(p validation.View, old object.View) {
	const (
		directivesGate = "MutableSchedulingDirectivesForSuspendedJobs"
		resourcesGate  = "MutablePodResourcesForSuspendedJobs"
	)
	if validation.Equal(object.Map(p.Obj, "template"), old.At("spec", "template")) {
		return
	}
	suspended, started := old.Bool("spec", "suspend"), !old.IsNil("status", "startTime")
	active, _ := old.Int("status", "active")
	idle := suspended && active == 0 && (!started || !old.Condition("Suspended", "True").IsNil())
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
func checkTemplateChange(p validation.View, old object.View, directives, resources bool) validation.List {
	template, spec := object.Map(p.Obj, "template"), object.ViewOf(p.Obj["template"]).At("spec")
	if old.IsNil("spec", "template", "spec") {
		return nil
	}
	was, oldSpec := old.At("spec", "template").ShallowCopy(), old.At("spec", "template", "spec").ShallowCopy()
	if directives {
		for _, name := range []string{"nodeSelector", "tolerations", "schedulingGates"} {
			object.Keep(oldSpec, spec, name)
		}
		keepNodeAffinity(oldSpec, spec)
		if now := object.ViewOf(template["metadata"]); !now.IsNil() {
			meta := old.At("spec", "template", "metadata").ShallowCopy()
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
	return validation.List{validation.Invalid(p.At("template.spec"), validation.AsGoType("core.PodSpec", spec.Shared()), "field is immutable")}
}

// keepNodeAffinity copies the node affinity from src to dst. It deletes it from dst
// if src does not have it.
func keepNodeAffinity(dst map[string]any, src object.View) {
	affinity := object.ShallowCopy(object.Map(dst, "affinity"))
	object.Keep(affinity, src.At("affinity"), "nodeAffinity")
	if len(affinity) == 0 && src.IsNil("affinity") {
		delete(dst, "affinity")
		return
	}
	dst["affinity"] = affinity
}

// keepResources copies the resources of the containers in a list from src to dst, if
// both lists have the same length. It skips containers whose names differ.
func keepResources(dst map[string]any, src object.View, list string) {
	was, now := object.List(dst, list), src.At(list)
	if len(was) != now.Len() {
		return
	}
	kept := make([]any, len(was))
	for i := range was {
		container, _ := was[i].(map[string]any)
		next := now.Item(i)
		if next.At("name").EqualTo(container["name"]) {
			container = maps.Clone(container)
			object.Keep(container, next, "resources")
		}
		kept[i] = container
	}
	if len(kept) > 0 {
		dst[list] = kept
	}
}
