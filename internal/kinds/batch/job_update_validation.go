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
}

// checkJobTemplateUpdate checks that an update keeps the pod template. The scheduling
// directives and resources of a suspended Job without pods may change.
func checkJobTemplateUpdate(p validation.View, old map[string]any) {
	template, was := object.Map(p.Obj, "template"), object.Map(old, "spec", "template")
	if !idle(old) {
		if !validation.Equal(template, was) {
			p.Add(validation.Invalid(p.At("template"), validation.AsGoType("core.PodTemplateSpec", template), "field is immutable"))
		}
		return
	}
	spec, oldSpec := object.Map(template, "spec"), maps.Clone(object.Map(was, "spec"))
	if oldSpec == nil {
		return
	}
	for _, name := range []string{"nodeSelector", "tolerations", "schedulingGates"} {
		object.Keep(oldSpec, spec, name)
	}
	keepNodeAffinity(oldSpec, spec)
	for _, list := range []string{"containers", "initContainers"} {
		keepResources(oldSpec, spec, list)
	}
	if !validation.Equal(spec, oldSpec) {
		p.Add(validation.Invalid(p.At("template.spec"), validation.AsGoType("core.PodSpec", spec), "field is immutable"))
	}
}

// idle reports whether a Job is suspended and has no pods: it never started, or its
// pods are deleted.
func idle(job map[string]any) bool {
	active, _ := object.Int(job, "status", "active")
	return object.Bool(job, "spec", "suspend") && active == 0 &&
		(object.Value(job, "status", "startTime") == nil || object.Condition(job, "Suspended", "True") != nil)
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
