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
func replaceSpec(pod map[string]any, old object.View, spec map[string]any) {
	pod["spec"] = spec
	object.Keep(pod, old, "status")
	for _, name := range []string{"labels", "annotations", "finalizers", "ownerReferences"} {
		object.Keep(object.Meta(pod), old.At("metadata"), name)
	}
}

// isMirror reports whether the Pod is a mirror Pod: the API object of a kubelet's
// static Pod.
func isMirror(pod object.View) bool {
	return !pod.IsNil("metadata", "annotations", MirrorAnnotation)
}

// keepMetadata keeps the metadata of old, its managed fields included. What identifies the
// version to update is that of pod.
func keepMetadata(pod map[string]any, old object.View) {
	meta, kept := object.Meta(pod), old.At("metadata").ShallowCopy()
	for _, name := range []string{"name", "namespace", "uid", "resourceVersion"} {
		object.Keep(kept, object.ViewOf(meta), name)
	}
	clear(meta)
	maps.Copy(meta, kept)
}

// ephemeralContainersIn prepares writes of ephemeral containers in a release.
func ephemeralContainersIn(r *release.Release) func(pod map[string]any, old object.View) {
	if r.Has(behavior.PodSubresourcesOwnFields) {
		return prepareEphemeralContainers
	}
	return func(pod map[string]any, old object.View) {
		prepareEphemeralContainers(pod, old)
		keepMetadata(pod, old)
	}
}

// prepareEphemeralContainers replaces only ephemeralContainers.
//
// See https://kubernetes.io/docs/concepts/workloads/pods/ephemeral-containers/.
func prepareEphemeralContainers(pod map[string]any, old object.View) {
	now := object.EnsureMap(pod, "spec")
	spec := old.At("spec").ShallowCopy()
	object.Keep(spec, object.ViewOf(now), "ephemeralContainers")
	replaceSpec(pod, old, spec)
}

// validateEphemeralContainers checks that ephemeral containers are added but not
// changed or removed.
func validateEphemeralContainers(pod map[string]any, old object.View) validation.List {
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
		for was := range old.At("spec", "ephemeralContainers").Objects() {
			name := was.String("name")
			switch now, ok := present[name]; {
			case !ok:
				spec.Forbidden("ephemeralContainers", fmt.Sprintf("existing ephemeral containers %q may not be removed\n", name))
			case !validation.Equal(was, now):
				spec.Add(validation.Forbidden(spec.At("ephemeralContainers"), fmt.Sprintf("existing ephemeral containers %q may not be changed\n", name)).
					WithDiff("core.EphemeralContainer", was.Shared(), now))
			}
		}
	})
}
