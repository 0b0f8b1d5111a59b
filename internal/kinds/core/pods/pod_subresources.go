package pods

import (
	"fmt"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

// replaceSpec sets the spec of pod, and keeps the old status and metadata.
func replaceSpec(pod, old, spec map[string]any) {
	pod["spec"] = spec
	object.Keep(pod, old, "status")
	for _, name := range []string{"labels", "annotations", "finalizers", "ownerReferences"} {
		object.Keep(object.Meta(pod), object.Meta(old), name)
	}
}

// isMirror reports whether the Pod is a mirror Pod: the API object of a kubelet's
// static Pod.
func isMirror(pod map[string]any) bool {
	return object.Value(pod, "metadata", "annotations", MirrorAnnotation) != nil
}

// prepareEphemeralContainers replaces only ephemeralContainers.
//
// See https://kubernetes.io/docs/concepts/workloads/pods/ephemeral-containers/.
func prepareEphemeralContainers(pod, old map[string]any) {
	now := object.EnsureMap(pod, "spec")
	spec := object.ShallowCopy(object.Map(old, "spec"))
	object.Keep(spec, now, "ephemeralContainers")
	replaceSpec(pod, old, spec)
}

// validateEphemeralContainers checks that ephemeral containers are added but not
// changed or removed.
func validateEphemeralContainers(pod, old map[string]any) validation.List {
	if isMirror(old) {
		return validation.List{forbidPod("static pods do not support ephemeral containers")}
	}
	return validation.Collect(pod, nil, checkPodMetadata, checkPod, func(p validation.View) {
		checkAnnotationsUpdate(p, old)
		spec := p.Field("spec")
		present := map[string]map[string]any{}
		for c := range object.Each(spec.Obj["ephemeralContainers"]) {
			present[object.String(c, "name")] = c
		}
		for was := range object.Each(object.Value(old, "spec", "ephemeralContainers")) {
			name := object.String(was, "name")
			switch now, ok := present[name]; {
			case !ok:
				spec.Forbidden("ephemeralContainers", fmt.Sprintf("existing ephemeral containers %q may not be removed\n", name))
			case !validation.Equal(was, now):
				spec.Add(validation.Forbidden(spec.At("ephemeralContainers"), fmt.Sprintf("existing ephemeral containers %q may not be changed\n", name)).
					WithDiff("core.EphemeralContainer", was, now))
			}
		}
	})
}

// prepareResize replaces only the pod-level resources and the resources and
// resizePolicy of containers. If containers are added, removed, renamed or
// reordered, it keeps the change, and validation reports it.
//
// See
// https://kubernetes.io/docs/tasks/configure-pod-container/resize-container-resources/.
func prepareResize(pod, old map[string]any) {
	was, now := object.Map(old, "spec"), object.EnsureMap(pod, "spec")
	for _, list := range []string{"containers", "initContainers"} {
		if len(object.List(now, list)) != len(object.List(was, list)) {
			return
		}
	}
	spec := object.ShallowCopy(was)
	object.Keep(spec, now, "resources")
	for _, list := range []string{"containers", "initContainers"} {
		if containers := withResources(object.List(was, list), object.List(now, list)); containers != nil {
			spec[list] = containers
		}
	}
	replaceSpec(pod, old, spec)
}

// withResources returns containers with the resources and resizePolicy of now. If
// the names differ, it returns now.
func withResources(containers, now []any) []any {
	var out []any
	for i, v := range containers {
		c, _ := v.(map[string]any)
		resized, _ := now[i].(map[string]any)
		if c["name"] != resized["name"] {
			return now
		}
		c = object.ShallowCopy(c)
		object.Keep(c, resized, "resources")
		object.Keep(c, resized, "resizePolicy")
		out = append(out, c)
	}
	return out
}

// validateResize checks that only CPU and memory change.
func validateResize(pod, old map[string]any) validation.List {
	switch {
	case isMirror(old):
		return validation.List{forbidPod("static pods cannot be resized")}
	case object.String(old, "spec", "os", "name") == "windows":
		return validation.List{forbidPod("windows pods cannot be resized")}
	}
	return validation.Collect(pod, nil, checkPodMetadata, checkPod, func(p validation.View) { checkResize(p, old) })
}

func checkResize(p validation.View, old map[string]any) {
	spec, was := p.Field("spec"), object.Map(old, "spec")
	class := object.String(old, "status", "qosClass")
	if class == "" {
		class = qosClass(was)
	}
	if class != qosClass(spec.Obj) {
		p.Add(validation.Invalid(spec.Path, validation.NamedString(object.String(p.Obj, "status", "qosClass")), "Pod QOS Class may not change as a result of resizing"))
	}
	if !canResize(old) {
		p.Add(validation.Forbidden(spec.Path, "Pod running on node without support for resize"))
	}
	masked := object.ShallowCopy(spec.Obj)
	checkPodLevelResize(spec, was, masked)
	if len(object.List(old, "status", "nodeAllocatableResourceClaimStatuses")) > 0 {
		p.Add(validation.Forbidden(spec.Path, "pods with node allocatable resource claims cannot be resized"))
	}
	if !checkSameContainers(spec, was) {
		return
	}
	for _, list := range []string{"initContainers", "containers"} {
		for i, c := range spec.Each(list) {
			before, _ := object.List(was, list)[i].(map[string]any)
			checkResourcesKept(c.Field("resources"), object.Map(before, "resources"), "resource requests cannot be removed", "resource limits cannot be removed")
		}
	}
	for i, c := range spec.Each("containers") {
		before, _ := object.List(was, "containers")[i].(map[string]any)
		if !validation.Equal(withOldCompute(c.Obj, before), before) {
			p.Add(validation.Forbidden(spec.Path, "only cpu and memory resources are mutable"))
		}
	}
	for i, c := range spec.Each("initContainers") {
		before, _ := object.List(was, "initContainers")[i].(map[string]any)
		checkResizeInit(c, before)
	}
	for _, list := range []string{"containers", "initContainers"} {
		object.Keep(masked, was, list)
	}
	if len(*p.Errs) == 0 && !validation.Equal(masked, was) {
		p.Add(validation.Forbidden(spec.Path, "only cpu and memory resources are mutable"))
	}
}

// canResize reports whether the Pod's node supports resizing: then it reports the
// resources of running containers.
func canResize(pod map[string]any) bool {
	for c := range object.Each(object.Value(pod, "status", "containerStatuses")) {
		if object.Value(c, "state", "running") != nil {
			return c["resources"] != nil
		}
	}
	return true
}

// checkPodLevelResize validates the change of the pod-level resources, and sets
// their CPU and memory in masked to the old values.
func checkPodLevelResize(spec validation.View, was, masked map[string]any) {
	resources, before := spec.Field("resources"), object.Map(was, "resources")
	if resources.Len("requests")+resources.Len("limits")+len(object.Map(before, "requests"))+len(object.Map(before, "limits")) == 0 {
		return
	}
	if before != nil && resources.Obj == nil {
		spec.Forbidden("resources", "pod-level resources cannot be removed")
		return
	}
	if before != nil {
		checkResourcesKept(resources, before, "pod-level resource requests cannot be removed", "pod-level resource limits cannot be removed")
	}
	same := maskCompute(resources.Obj, before)
	if before == nil && len(same) == 0 {
		delete(masked, "resources")
	} else {
		masked["resources"] = same
	}
	if !validation.Equal(masked["resources"], was["resources"]) {
		spec.Add(validation.Forbidden(spec.Path, "only cpu and memory resources are mutable at pod-level"))
	}
}

// checkSameContainers reports added, removed, renamed and reordered containers, and
// returns whether there are none.
func checkSameContainers(spec validation.View, was map[string]any) bool {
	before := len(*spec.Errs)
	for _, list := range []string{"containers", "initContainers"} {
		old := object.List(was, list)
		if spec.Len(list) != len(old) {
			spec.Forbidden(list, list+" may not be added or removed on resize")
			continue
		}
		for i, c := range spec.Each(list) {
			same, _ := old[i].(map[string]any)
			if c.Obj["name"] != same["name"] {
				c.Forbidden("name", list+" may not be renamed or reordered on resize")
			}
		}
	}
	return spec.NoErrorsSince(before)
}

// checkResourcesKept checks that no request or limit is removed.
func checkResourcesKept(p validation.View, was map[string]any, requests, limits string) {
	for _, kind := range []struct{ name, why string }{{"requests", requests}, {"limits", limits}} {
		now := object.Map(p.Obj, kind.name)
		for name := range object.Map(was, kind.name) {
			if _, ok := now[name]; !ok {
				p.Forbidden(kind.name, kind.why)
				break
			}
		}
	}
}

func checkResizeInit(c validation.View, was map[string]any) {
	if validation.Equal(c.Obj, was) {
		return
	}
	if !validation.Equal(withOldCompute(c.Obj, was), was) {
		c.Add(validation.Forbidden(c.Path, "only cpu and memory resources for init or sidecar containers are mutable"))
	}
	if c.String("restartPolicy") == "Always" {
		return
	}
	for _, policy := range c.Each("resizePolicy") {
		if policy.String("restartPolicy") == "RestartContainer" {
			c.Add(validation.Forbidden(c.Path, "non-sidecar init containers with a resize policy of RestartContainer cannot be resized"))
		}
	}
}

// withOldCompute returns container with the CPU and memory of old and without
// resource claims. kube-apiserver drops the claims too, so a container with claims
// cannot be resized.
func withOldCompute(container, old map[string]any) map[string]any {
	container = object.ShallowCopy(container)
	masked := maskCompute(object.Map(container, "resources"), object.Map(old, "resources"))
	delete(masked, "claims")
	container["resources"] = masked
	return container
}

// maskCompute returns resources with the CPU and memory of old.
func maskCompute(resources, old map[string]any) map[string]any {
	masked := object.ShallowCopy(resources)
	for _, kind := range []string{"requests", "limits"} {
		list := object.ShallowCopy(object.Map(resources, kind))
		for _, name := range []string{"cpu", "memory"} {
			object.Keep(list, object.Map(old, kind), name)
		}
		if masked[kind] = list; len(list) == 0 {
			delete(masked, kind)
		}
	}
	return masked
}
