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
