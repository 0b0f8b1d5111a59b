package apiserver

import (
	"fmt"
	"maps"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

// The subresource ephemeralcontainers adds containers to a pod for debugging.
//
// See https://kubernetes.io/docs/concepts/workloads/pods/ephemeral-containers/.

// mirrorAnnotation marks the pods that stand for a kubelet's own.
const mirrorAnnotation = "kubernetes.io/config.mirror"

// prepareEphemeral keeps everything of the old pod but its ephemeral containers.
func prepareEphemeral(pod, old map[string]any) {
	spec := maps.Clone(object.Map(old, "spec"))
	object.Keep(spec, object.Map(pod, "spec"), "ephemeralContainers")
	pod["spec"] = spec
	object.Keep(pod, old, "status")
	for _, name := range []string{"labels", "annotations", "finalizers", "ownerReferences"} {
		object.Keep(object.Meta(pod), object.Meta(old), name)
	}
}

// notEphemeral are the fields of containers that ephemeral ones cannot have, in
// the order of Kubernetes' types.
var notEphemeral = []string{
	"ports", "resources", "resizePolicy", "restartPolicy", "restartPolicyRules", "livenessProbe", "readinessProbe", "startupProbe", "lifecycle",
}

// validateEphemeral checks a pod's ephemeral containers, and that none of the
// old ones is changed or gone.
func validateEphemeral(pod, old map[string]any) (errs validation.List) {
	if object.Value(old, "metadata", "annotations", mirrorAnnotation) != nil {
		var root *validation.Path
		// kube-apiserver prints a path without a name so.
		return validation.List{validation.Forbidden(root.Key(""), "static pods do not support ephemeral containers")}
	}
	path := validation.NewPath("spec", "ephemeralContainers")
	others := map[string]bool{}
	for _, list := range []string{"containers", "initContainers"} {
		for c := range object.Each(object.Value(pod, "spec", list)) {
			others[object.String(c, "name")] = true
		}
	}
	present := map[string]map[string]any{}
	i := 0
	for c := range object.Each(object.Value(pod, "spec", "ephemeralContainers")) {
		at := path.Index(i)
		i++
		name := object.String(c, "name")
		if name == "" {
			errs = append(errs, validation.Required(at.Child("name"), ""))
		}
		for _, problem := range labelProblems(name) {
			errs = append(errs, validation.Invalid(at.Child("name"), name, problem))
		}
		if object.String(c, "image") == "" {
			errs = append(errs, validation.Required(at.Child("image"), ""))
		}
		if others[name] || present[name] != nil {
			errs = append(errs, validation.Duplicate(at.Child("name"), name))
		}
		present[name] = c
		if target := object.String(c, "targetContainerName"); target != "" && !others[target] {
			errs = append(errs, validation.NotFound(at.Child("targetContainerName"), target))
		}
		errs = append(errs, validateEphemeralFields(c, at)...)
	}
	for c := range object.Each(object.Value(old, "spec", "ephemeralContainers")) {
		name := object.String(c, "name")
		switch now, ok := present[name]; {
		case !ok:
			errs = append(errs, validation.Forbidden(path, fmt.Sprintf("existing ephemeral containers %q may not be removed\n", name)))
		case !object.Equal(c, now):
			// Differs from kube-apiserver: that shows what changed.
			errs = append(errs, validation.Forbidden(path, fmt.Sprintf("existing ephemeral containers %q may not be changed\n", name)))
		}
	}
	return errs
}

// labelProblems are what is wrong with a name; a missing one is told elsewhere.
func labelProblems(name string) []string {
	if name == "" {
		return nil
	}
	return validation.DNS1123Label(name)
}

// validateEphemeralFields refuses what an ephemeral container cannot have.
func validateEphemeralFields(c map[string]any, path *validation.Path) (errs validation.List) {
	const why = "cannot be set for an Ephemeral Container"
	for _, name := range notEphemeral {
		none := c[name] == nil || name == "resources" && len(object.Map(c, name)) == 0 // every container has resources
		if !none {
			errs = append(errs, validation.Forbidden(path.Child(name), why))
		}
	}
	for i, m := range object.List(c, "volumeMounts") {
		mount, _ := m.(map[string]any)
		for _, name := range []string{"subPath", "subPathExpr"} {
			if object.String(mount, name) != "" {
				errs = append(errs, validation.Forbidden(path.Child("volumeMounts").Index(i).Child(name), why))
			}
		}
	}
	return errs
}
