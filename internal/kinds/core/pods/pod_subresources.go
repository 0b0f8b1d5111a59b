package pods

import (
	"fmt"
	"maps"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/release/behavior"
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

// keepMetadata keeps the metadata of old, its managed fields included. What identifies the
// version to update is that of pod.
func keepMetadata(pod, old map[string]any) {
	meta, was := object.Meta(pod), object.Meta(old)
	kept := maps.Clone(was)
	for _, name := range []string{"name", "namespace", "uid", "resourceVersion"} {
		object.Keep(kept, meta, name)
	}
	clear(meta)
	maps.Copy(meta, kept)
}

// ephemeralContainersIn prepares writes of ephemeral containers in a release.
func ephemeralContainersIn(r *release.Release) func(pod, old map[string]any) {
	if r.Has(behavior.PodSubresourcesOwnFields) {
		return prepareEphemeralContainers
	}
	return func(pod, old map[string]any) {
		prepareEphemeralContainers(pod, old)
		keepMetadata(pod, old)
	}
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
