package kinds

import (
	"fmt"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/unversioned"
	"github.com/kubefake/kubefake/internal/validation"
)

// keepAllBut takes of pod, written to a subresource, only what spec has become;
// the rest stays that of the old one.
func keepAllBut(pod, old, spec map[string]any) {
	pod["spec"] = spec
	object.Keep(pod, old, "status")
	for _, name := range []string{"labels", "annotations", "finalizers", "ownerReferences"} {
		object.Keep(object.Meta(pod), object.Meta(old), name)
	}
}

// isMirror reports whether a pod stands for a kubelet's own.
func isMirror(pod map[string]any) bool {
	return object.Value(pod, "metadata", "annotations", mirrorAnnotation) != nil
}

// prepareDebug takes the containers for debugging that the subresource
// ephemeralcontainers brings.
//
// See https://kubernetes.io/docs/concepts/workloads/pods/ephemeral-containers/.
func prepareDebug(pod, old map[string]any) {
	now := child(pod, "spec")
	dropDisabledPodFields(now, object.Map(old, "spec"))
	spec := copied(object.Map(old, "spec"))
	object.Keep(spec, now, "ephemeralContainers")
	keepAllBut(pod, old, spec)
}

// validateDebug checks that containers for debugging are only added.
func validateDebug(pod, old map[string]any) validation.List {
	if isMirror(old) {
		return validation.List{forbidStatic("static pods do not support ephemeral containers")}
	}
	return mistakes(pod, nil, podMetadata, wholePod, func(p part) {
		annotationsUpdate(p, old)
		spec := p.within("spec")
		present := map[string]map[string]any{}
		for c := range object.Each(spec.obj["ephemeralContainers"]) {
			present[object.String(c, "name")] = c
		}
		for was := range object.Each(object.Value(old, "spec", "ephemeralContainers")) {
			name := object.String(was, "name")
			switch now, ok := present[name]; {
			case !ok:
				spec.forbid("ephemeralContainers", fmt.Sprintf("existing ephemeral containers %q may not be removed\n", name))
			case !validation.Equal(was, now):
				spec.forbid("ephemeralContainers", fmt.Sprintf("existing ephemeral containers %q may not be changed\n%s", name, unversioned.Diff("core.EphemeralContainer", was, now)))
			}
		}
	})
}

// prepareResize takes the resources that the subresource resize brings, of a pod
// and of its containers. Where it brings other containers, nothing is taken
// back, for that to be told.
//
// See https://kubernetes.io/docs/tasks/configure-pod-container/resize-container-resources/.
func prepareResize(pod, old map[string]any) {
	was, now := object.Map(old, "spec"), child(pod, "spec")
	dropDisabledPodFields(now, was)
	for _, list := range []string{"containers", "initContainers"} {
		if len(object.List(now, list)) != len(object.List(was, list)) {
			return
		}
	}
	spec := copied(was)
	object.Keep(spec, now, "resources")
	for _, list := range []string{"containers", "initContainers"} {
		if containers := withResources(object.List(was, list), object.List(now, list)); containers != nil {
			spec[list] = containers
		}
	}
	keepAllBut(pod, old, spec)
}

// withResources are the containers with the resources that they have in now. If
// those are others, they are the result.
func withResources(containers, now []any) []any {
	var out []any
	for i, v := range containers {
		c, _ := v.(map[string]any)
		resized, _ := now[i].(map[string]any)
		if c["name"] != resized["name"] {
			return now
		}
		c = copied(c)
		object.Keep(c, resized, "resources")
		object.Keep(c, resized, "resizePolicy")
		out = append(out, c)
	}
	return out
}

// validateResize checks that a pod gets more or less CPU and memory, and nothing
// else.
func validateResize(pod, old map[string]any) validation.List {
	switch {
	case isMirror(old):
		return validation.List{forbidStatic("static pods cannot be resized")}
	case object.String(old, "spec", "os", "name") == "windows":
		return validation.List{forbidStatic("windows pods cannot be resized")}
	}
	return mistakes(pod, nil, podMetadata, wholePod, func(p part) { resize(p, old) })
}

func resize(p part, old map[string]any) {
	start := len(*p.errs)
	spec, was := p.within("spec"), object.Map(old, "spec")
	class := object.String(old, "status", "qosClass")
	if class == "" {
		class = qosClass(was)
	}
	if class != qosClass(spec.obj) {
		p.note(validation.Invalid(spec.path, validation.NamedString(object.String(p.obj, "status", "qosClass")), "Pod QOS Class may not change as a result of resizing"))
	}
	if !canResize(old) {
		p.note(validation.Forbidden(spec.path, "Pod running on node without support for resize"))
	}
	masked := copied(spec.obj)
	resizePod(spec, was, masked)
	if len(object.List(old, "status", "nodeAllocatableResourceClaimStatuses")) > 0 {
		p.note(validation.Forbidden(spec.path, "pods with node allocatable resource claims cannot be resized"))
	}
	if !sameContainers(spec, was) {
		return
	}
	for _, list := range []string{"initContainers", "containers"} {
		for i, c := range spec.each(list) {
			before, _ := object.List(was, list)[i].(map[string]any)
			keepsResources(c.within("resources"), object.Map(before, "resources"), "resource requests cannot be removed", "resource limits cannot be removed")
		}
	}
	for i, c := range spec.each("containers") {
		before, _ := object.List(was, "containers")[i].(map[string]any)
		if !validation.Equal(withCompute(c.obj, before), before) {
			p.note(validation.Forbidden(spec.path, "only cpu and memory resources are mutable"))
		}
	}
	for i, c := range spec.each("initContainers") {
		before, _ := object.List(was, "initContainers")[i].(map[string]any)
		resizeInit(c, before)
	}
	for _, list := range []string{"containers", "initContainers"} {
		object.Keep(masked, was, list)
	}
	if p.sound(start) && !validation.Equal(masked, was) {
		p.note(validation.Forbidden(spec.path, "only cpu and memory resources are mutable"))
	}
}

// canResize reports whether the node of a pod tells the resources of what it
// runs, as those do that can change them.
func canResize(pod map[string]any) bool {
	for c := range object.Each(object.Value(pod, "status", "containerStatuses")) {
		if object.Value(c, "state", "running") != nil {
			return c["resources"] != nil
		}
	}
	return true
}

// resizePod checks the resources of a pod as a whole, and masks what may change
// of them.
func resizePod(spec part, was, masked map[string]any) {
	resources, before := spec.within("resources"), object.Map(was, "resources")
	if resources.size("requests")+resources.size("limits")+len(object.Map(before, "requests"))+len(object.Map(before, "limits")) == 0 {
		return
	}
	if before != nil && resources.obj == nil {
		spec.forbid("resources", "pod-level resources cannot be removed")
		return
	}
	if before != nil {
		keepsResources(resources, before, "pod-level resource requests cannot be removed", "pod-level resource limits cannot be removed")
	}
	same := maskCompute(resources.obj, before)
	if before == nil && len(same) == 0 {
		delete(masked, "resources")
	} else {
		masked["resources"] = same
	}
	if !validation.Equal(masked["resources"], was["resources"]) {
		spec.note(validation.Forbidden(spec.path, "only cpu and memory resources are mutable at pod-level"))
	}
}

// sameContainers notes containers that come, go, move or change their names, and
// reports whether there are none.
func sameContainers(spec part, was map[string]any) bool {
	before := len(*spec.errs)
	for _, list := range []string{"containers", "initContainers"} {
		old := object.List(was, list)
		if spec.size(list) != len(old) {
			spec.forbid(list, list+" may not be added or removed on resize")
			continue
		}
		for i, c := range spec.each(list) {
			same, _ := old[i].(map[string]any)
			if c.obj["name"] != same["name"] {
				c.forbid("name", list+" may not be renamed or reordered on resize")
			}
		}
	}
	return spec.sound(before)
}

// keepsResources notes that resources are no longer requested or limited at all.
func keepsResources(p part, was map[string]any, requests, limits string) {
	for _, kind := range []struct{ name, why string }{{"requests", requests}, {"limits", limits}} {
		now := object.Map(p.obj, kind.name)
		for name := range object.Map(was, kind.name) {
			if _, ok := now[name]; !ok {
				p.forbid(kind.name, kind.why)
				break
			}
		}
	}
}

func resizeInit(c part, was map[string]any) {
	if validation.Equal(c.obj, was) {
		return
	}
	if !validation.Equal(withCompute(c.obj, was), was) {
		c.note(validation.Forbidden(c.path, "only cpu and memory resources for init or sidecar containers are mutable"))
	}
	if c.text("restartPolicy") == "Always" {
		return
	}
	for _, policy := range c.each("resizePolicy") {
		if policy.text("restartPolicy") == "RestartContainer" {
			c.note(validation.Forbidden(c.path, "non-sidecar init containers with a resize policy of RestartContainer cannot be resized"))
		}
	}
}

// withCompute is a container with the CPU and memory that the old one has. It
// loses its resource claims, as it does in kube-apiserver: one that has any
// cannot be resized.
func withCompute(container, old map[string]any) map[string]any {
	container = copied(container)
	masked := maskCompute(object.Map(container, "resources"), object.Map(old, "resources"))
	delete(masked, "claims")
	container["resources"] = masked
	return container
}

// maskCompute are resources with the CPU and memory that the old ones have.
func maskCompute(resources, old map[string]any) map[string]any {
	masked := copied(resources)
	for _, kind := range []string{"requests", "limits"} {
		list := copied(object.Map(resources, kind))
		for _, name := range []string{"cpu", "memory"} {
			object.Keep(list, object.Map(old, kind), name)
		}
		if masked[kind] = list; len(list) == 0 {
			delete(masked, kind)
		}
	}
	return masked
}
