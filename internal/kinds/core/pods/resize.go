package pods

import (
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/quantity"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/validation"
)

// A resize has the rules of pods/resize in a release.
//
// See
// https://kubernetes.io/docs/tasks/configure-pod-container/resize-container-resources/.
type resize struct {
	release  *release.Release
	podLevel bool // the Pod's own resources can change
	init     bool // init containers other than sidecars can change
	volumes  bool // the sizeLimit of emptyDir volumes in memory can change
	defaults bool // pod-level resources get their defaults
	qos      qosRule
}

func resizeIn(r *release.Release) resource.SubresourceStrategy {
	z := resize{
		release:  r,
		podLevel: r.Enabled("InPlacePodLevelResourcesVerticalScaling"),
		qos:      qosRuleIn(r),
		init:     r.Enabled("InPlacePodVerticalScalingInitContainers"),
		volumes:  r.Enabled("InPlacePodVerticalScalingMemoryBackedVolumes"),
		defaults: r.Enabled(deferredResources),
	}
	return resource.SubresourceStrategy{Prepare: z.prepare, Validate: z.validate}
}

// prepare replaces only the resources and volumes of the Pod and the resources and resizePolicy of
// containers, as far as they can change. If containers are added, removed, renamed or reordered, it keeps the change,
// and validation reports it.
func (z resize) prepare(pod map[string]any, old object.View) {
	was, now := old.At("spec"), object.EnsureMap(pod, "spec")
	for _, list := range []string{"containers", "initContainers"} {
		if len(object.List(now, list)) != was.Len(list) {
			return
		}
	}
	spec := was.ShallowCopy()
	if z.podLevel {
		object.Keep(spec, object.ViewOf(now), "resources")
	}
	if z.volumes {
		object.Keep(spec, object.ViewOf(now), "volumes")
	}
	for _, list := range []string{"containers", "initContainers"} {
		if containers := withResources(was.At(list), object.List(now, list)); containers != nil {
			spec[list] = containers
		}
	}
	if z.defaults {
		keepPodResources(spec, was)
		defaultResourcesAfterAdmission(spec)
	}
	replaceSpec(pod, old, spec)
	if !z.release.Has(behavior.PodSubresourcesOwnFields) {
		keepMetadata(pod, old)
	}
}

// withResources returns containers with the resources and resizePolicy of now. If
// the names differ, it returns now.
func withResources(containers object.View, now []any) []any {
	var out []any
	for i, was := range containers.Items() {
		resized := object.ViewOf(now[i])
		if was.String("name") != resized.String("name") {
			return now
		}
		c := was.ShallowCopy()
		object.Keep(c, resized, "resources")
		object.Keep(c, resized, "resizePolicy")
		out = append(out, c)
	}
	return out
}

// validate checks that only CPU and memory change.
func (z resize) validate(pod map[string]any, old object.View) validation.List {
	switch {
	case !z.release.Has(behavior.ResizesPodResources) && hasPodResources(object.ViewOf(pod), old):
		return validation.List{forbidPod("pods with pod-level resources cannot be resized")}
	case isMirror(old):
		return validation.List{forbidPod("static pods cannot be resized")}
	case old.String("spec", "os", "name") == "windows":
		return validation.List{forbidPod("windows pods cannot be resized")}
	}
	return validation.Collect(pod, nil, checkPodMetadata, checkPod, func(p validation.View) { z.check(p, old) })
}

// hasPodResources reports whether one of the Pods has resources of its own.
func hasPodResources(pods ...object.View) bool {
	for _, pod := range pods {
		resources := pod.At("spec", "resources")
		if resources.Len("requests")+resources.Len("limits") > 0 {
			return true
		}
	}
	return false
}

func (z resize) check(p validation.View, old object.View) {
	spec, was := p.Field("spec"), old.At("spec")
	class := old.String("status", "qosClass")
	if class == "" {
		class = z.qos.class(was)
	}
	if class != z.qos.class(spec.Object()) {
		p.Add(validation.Invalid(spec.Path, validation.NamedString(object.String(p.Obj, "status", "qosClass")), "Pod QOS Class may not change as a result of resizing"))
	}
	if !canResize(old) {
		p.Add(validation.Forbidden(spec.Path, "Pod running on node without support for resize"))
	}
	masked := object.ShallowCopy(spec.Obj)
	if hasPodResources(p.Object(), old) {
		if !z.podLevel {
			p.Add(forbidPod("resize of pods with pod-level resources is forbidden when InPlacePodLevelResourcesVerticalScalingEnabled feature gate is disabled"))
			return
		}
		checkPodLevelResize(spec, was, masked)
		checkClaimsCovered(p)
	}
	if old.Len("status", allocatableClaims) > 0 {
		p.Add(validation.Forbidden(spec.Path, "pods with node allocatable resource claims cannot be resized").Until(behavior.AllocatableMappings))
	}
	if !checkSameContainers(spec, was) {
		return
	}
	for _, list := range []string{"initContainers", "containers"} {
		for i, c := range spec.Each(list) {
			before := was.At(list).Item(i)
			if list == "containers" || z.resizes(before) {
				z.checkContainer(c, before)
			}
		}
	}
	for i, c := range spec.Each("containers") {
		before := was.At("containers").Item(i)
		if !validation.Equal(z.withOldCompute(c.Obj, before), before) {
			p.Add(validation.Forbidden(spec.Path, onlyCompute))
		}
	}
	for i, c := range spec.Each("initContainers") {
		before := was.At("initContainers").Item(i)
		z.checkInit(spec, c, before)
	}
	if z.volumes {
		checkVolumeResize(spec, was)
		object.Keep(masked, was, "volumes")
	}
	for _, list := range []string{"containers", "initContainers"} {
		object.Keep(masked, was, list)
	}
	if len(p.Errs.List) == 0 && !validation.Equal(masked, was) {
		p.Add(validation.Forbidden(spec.Path, onlyCompute))
	}
}

const onlyCompute = "only cpu and memory resources are mutable"

// resizes reports whether an init container can change.
func (z resize) resizes(c object.View) bool { return z.init || c.String("restartPolicy") == "Always" }

// canResize reports whether the Pod's node supports resizing: then it reports the
// resources of running containers.
func canResize(pod object.View) bool {
	for c := range pod.At("status", "containerStatuses").Objects() {
		if !c.IsNil("state", "running") {
			return !c.IsNil("resources")
		}
	}
	return true
}

// checkPodLevelResize validates the change of the pod-level resources, and sets
// their CPU and memory in masked to the old values.
func checkPodLevelResize(spec validation.View, was object.View, masked map[string]any) {
	resources, before := spec.Field("resources"), was.At("resources")
	if !before.IsNil() && resources.Obj == nil {
		spec.Forbidden("resources", "pod-level resources cannot be removed")
		return
	}
	if !before.IsNil() {
		checkResourcesKept(resources, before, "pod-level resource requests cannot be removed", "pod-level resource limits cannot be removed")
	}
	same := maskCompute(resources.Obj, before)
	if before.IsNil() && len(same) == 0 {
		delete(masked, "resources")
	} else {
		masked["resources"] = same
	}
	if !validation.Equal(masked["resources"], was.At("resources")) {
		spec.Add(validation.Forbidden(spec.Path, "only cpu and memory resources are mutable at pod-level"))
	}
}

// checkSameContainers reports added, removed, renamed and reordered containers, and
// returns whether there are none.
func checkSameContainers(spec validation.View, was object.View) bool {
	before := len(spec.Errs.List)
	for _, list := range []string{"containers", "initContainers"} {
		old := was.At(list)
		if spec.Len(list) != old.Len() {
			spec.Forbidden(list, list+" may not be added or removed on resize")
			continue
		}
		for i, c := range spec.Each(list) {
			same := old.Item(i)
			if c.String("name") != same.String("name") {
				c.Forbidden("name", list+" may not be renamed or reordered on resize")
			}
		}
	}
	return spec.NoErrorsSince(before)
}

// checkVolumeResize checks that only the sizeLimit of emptyDir volumes in memory changes.
func checkVolumeResize(spec validation.View, was object.View) {
	old := was.At("volumes")
	if spec.Len("volumes") != old.Len() {
		spec.Forbidden("volumes", "volumes may not be added or removed on resize")
		return
	}
	for i, v := range spec.Each("volumes") {
		before := old.Item(i)
		if v.String("name") != before.String("name") {
			v.Forbidden("name", "volumes may not be renamed or reordered on resize")
			continue
		}
		limit, oldLimit := object.Value(v.Obj, "emptyDir", "sizeLimit"), before.At("emptyDir", "sizeLimit")
		masked := object.ShallowCopy(v.Obj)
		if v.Obj["emptyDir"] != nil && !before.IsNil("emptyDir") {
			masked["emptyDir"] = object.ShallowCopy(object.Map(v.Obj, "emptyDir"))
			object.Keep(object.Map(masked, "emptyDir"), before.At("emptyDir"), "sizeLimit")
		}
		switch {
		case !validation.Equal(masked, before):
			v.Add(validation.Forbidden(v.Path, "only sizeLimit of memory-backed emptyDir volumes is mutable on resize"))
		case isZeroQuantity(object.ViewOf(limit)) != isZeroQuantity(oldLimit):
			v.Field("emptyDir").Forbidden("sizeLimit", "adding or removing sizeLimit on an existing volume is not allowed")
		case SizeLimitChanges(v.Obj, before) && object.String(v.Obj, "emptyDir", "medium") != "Memory":
			v.Field("emptyDir").Forbidden("sizeLimit", "sizeLimit is only mutable for memory-backed emptyDir volumes")
		}
	}
}

// SizeLimitChanges reports whether both volumes have a sizeLimit, and these differ.
func SizeLimitChanges(volume map[string]any, old object.View) bool {
	now, before := object.String(volume, "emptyDir", "sizeLimit"), old.String("emptyDir", "sizeLimit")
	return now != "" && before != "" && quantity.Compare(now, before) != 0
}

// isZeroQuantity reports whether a quantity is zero or missing.
func isZeroQuantity(v object.View) bool {
	text := v.String()
	return text == "" || quantity.Compare(text, "0") == 0
}

// checkResourcesKept checks that no request or limit is removed.
func checkResourcesKept(p validation.View, was object.View, requests, limits string) {
	for _, kind := range []struct{ name, why string }{{"requests", requests}, {"limits", limits}} {
		now := object.Map(p.Obj, kind.name)
		for name := range was.At(kind.name).Fields() {
			if _, ok := now[name]; !ok {
				p.Forbidden(kind.name, kind.why)
				break
			}
		}
	}
}

// checkContainer checks the resources of a container that can change.
func (z resize) checkContainer(c validation.View, was object.View) {
	resources := c.Field("resources")
	checkResourcesKept(resources, was.At("resources"), "resource requests cannot be removed", "resource limits cannot be removed")
	if z.release.Has(behavior.DecreasesMemoryLimits) || restartsForMemory(c.Obj) {
		return
	}
	memory := resources.At("limits").Key("memory")
	switch now, before := object.String(resources.Obj, "limits", "memory"), was.String("resources", "limits", "memory"); {
	case now == "":
	case before == "": // without a limit, the limit is the memory of the node
		c.Add(validation.Forbidden(memory, "memory limits cannot be added unless resizePolicy is RestartContainer"))
	case quantity.Compare(now, before) < 0:
		c.Add(validation.Forbidden(memory, "memory limits cannot be decreased unless resizePolicy is RestartContainer"))
	}
}

// restartsForMemory reports whether a container restarts when its memory changes.
func restartsForMemory(c map[string]any) bool {
	for policy := range object.Each(c["resizePolicy"]) {
		if policy["resourceName"] == "memory" {
			return policy["restartPolicy"] == "RestartContainer"
		}
	}
	return false
}

// checkInit checks that only CPU and memory of an init container of spec change.
func (z resize) checkInit(spec, c validation.View, was object.View) {
	changed := !validation.Equal(c.Obj, was)
	switch {
	case !changed:
		return
	case !z.resizes(c.Object()):
		c.Add(validation.Forbidden(spec.Path, "resources for non-sidecar init containers are immutable"))
		return
	case validation.Equal(z.withOldCompute(c.Obj, was), was):
	case !z.release.Has(behavior.InitContainerResizes):
		c.Add(validation.Forbidden(spec.Path, "only cpu and memory resources for sidecar containers are mutable"))
	default:
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
//
// Releases before 1.35 ignore all requests of a container that had none, and all limits.
func (z resize) withOldCompute(container map[string]any, old object.View) map[string]any {
	container = object.ShallowCopy(container)
	was := old.At("resources")
	masked := maskCompute(object.Map(container, "resources"), was)
	delete(masked, "claims")
	for _, kind := range []string{"requests", "limits"} {
		if !z.release.Has(behavior.ResizesPodResources) && was.Len(kind) == 0 {
			delete(masked, kind)
		}
	}
	container["resources"] = masked
	return container
}

// maskCompute returns resources with the CPU and memory of old.
func maskCompute(resources map[string]any, old object.View) map[string]any {
	masked := object.ShallowCopy(resources)
	for _, kind := range []string{"requests", "limits"} {
		list := object.ShallowCopy(object.Map(resources, kind))
		for _, name := range []string{"cpu", "memory"} {
			object.Keep(list, old.At(kind), name)
		}
		if masked[kind] = list; len(list) == 0 {
			delete(masked, kind)
		}
	}
	return masked
}
