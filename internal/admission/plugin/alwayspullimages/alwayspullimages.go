// Package alwayspullimages is the AlwaysPullImages admission plugin. It sets the pull
// policy of all images of a pod to Always.
package alwayspullimages

import (
	"slices"

	"github.com/kubefake/kubefake/internal/admission"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/validation"
)

// Plugin implements [admission.Mutator] and [admission.Validator].
type Plugin struct{}

var (
	_ admission.Mutator   = Plugin{}
	_ admission.Validator = Plugin{}
)

// Name returns "AlwaysPullImages".
func (Plugin) Name() string { return "AlwaysPullImages" }

// Resources returns pods.
func (Plugin) Resources() []status.GroupResource {
	return []status.GroupResource{{Resource: "pods"}}
}

const always = "Always"

// Mutate sets the policy, unless an update adds no image.
func (Plugin) Mutate(a *admission.Attributes) error {
	if ignores(a) {
		return nil
	}
	a.Object["spec"] = object.Copy(object.Map(a.Object, "spec")) // others may share what is in it
	eachContainer(a.Object, func(c map[string]any, _ *validation.Path) { c["imagePullPolicy"] = always })
	eachImageVolume(a.Object, func(image map[string]any, _ *validation.Path) { image["pullPolicy"] = always })
	return nil
}

// Validate refuses other policies.
func (Plugin) Validate(a *admission.Attributes) error {
	if ignores(a) {
		return nil
	}
	var errs []error
	check := func(name string) func(map[string]any, *validation.Path) {
		return func(obj map[string]any, path *validation.Path) {
			if policy := object.String(obj, name); policy != always {
				errs = append(errs, a.Forbidden(validation.NotSupported(path.Child(name), policy, []string{always})))
			}
		}
	}
	eachContainer(a.Object, check("imagePullPolicy"))
	eachImageVolume(a.Object, check("pullPolicy"))
	switch len(errs) {
	case 0:
		return nil
	case 1:
		return errs[0]
	}
	return status.Internal(status.Aggregate(errs))
}

// ignores reports whether the request adds no image to a pod.
func ignores(a *admission.Attributes) bool {
	if a.Subresource != "" {
		return true
	}
	if a.Operation != admission.Update {
		return false
	}
	var before []string
	for _, name := range containerLists {
		for c := range a.Old.At("spec", name).Objects() {
			before = append(before, c.String("image"))
		}
	}
	added := false
	eachContainer(a.Object, func(c map[string]any, _ *validation.Path) {
		added = added || !slices.Contains(before, object.String(c, "image"))
	})
	return !added
}

var specPath = validation.NewPath("spec")

// containerLists are the lists of containers in the spec of a pod.
var containerLists = [...]string{"initContainers", "containers", "ephemeralContainers"}

// eachContainer calls fn for each container of a pod.
func eachContainer(pod map[string]any, fn func(c map[string]any, path *validation.Path)) {
	for _, name := range containerLists {
		i := 0
		for c := range object.Each(object.Value(pod, "spec", name)) {
			fn(c, specPath.Item(name, i))
			i++
		}
	}
}

// eachImageVolume calls fn for each volume of a pod that is an image.
func eachImageVolume(pod map[string]any, fn func(image map[string]any, path *validation.Path)) {
	i := 0
	for v := range object.Each(object.Value(pod, "spec", "volumes")) {
		if image := object.Map(v, "image"); image != nil {
			fn(image, specPath.Item("volumes", i).Child("image"))
		}
		i++
	}
}
