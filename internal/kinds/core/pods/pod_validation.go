package pods

import (
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/kinds/core/nodes"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

// ValidatePodTemplate validates the pod template at path.
func ValidatePodTemplate(template map[string]any, path *validation.Path) validation.List {
	return validation.Collect(template, path, checkTemplate)
}

func checkTemplate(p validation.View) {
	annotations := object.Map(p.Obj, "metadata", "annotations")
	p.AddList(validation.Labels(object.Map(p.Obj, "metadata", "labels"), p.At("labels")))
	p.AddList(validation.Annotations(annotations, p.At("annotations")))
	spec := p.Field("spec")
	CheckPodAnnotations(validation.View{Obj: annotations, Path: p.At("annotations"), Errs: p.Errs}, spec)
	checkPodSpec(spec, podMeta{})
	checkSeccompMatches(spec, annotations)
	checkAppArmorMatches(spec, annotations)
	if spec.Len("ephemeralContainers") > 0 {
		spec.Forbidden("ephemeralContainers", "ephemeral containers not allowed in pod template")
	}
}

// MirrorAnnotation is the annotation of a Pod that shows one which a kubelet runs from a
// file.
const MirrorAnnotation = "kubernetes.io/config.mirror"

// Other annotations of Pods that are validated.
const (
	deletionCostAnnotation = "controller.kubernetes.io/pod-deletion-cost"
	seccompAnnotation      = "seccomp.security.alpha.kubernetes.io/pod"
	seccompPrefix          = "container.seccomp.security.alpha.kubernetes.io/" // followed by the container's name
	appArmorPrefix         = "container.apparmor.security.beta.kubernetes.io/" // followed by the container's name
	localhostPrefix        = "localhost/"
)

// CheckPodAnnotations validates annotations with a meaning for Pods. spec is the
// spec of the Pod.
func CheckPodAnnotations(p, spec validation.View) {
	if p.Has(MirrorAnnotation) && spec.String("nodeName") == "" {
		p.Add(validation.Invalid(p.Path.Key(MirrorAnnotation), p.String(MirrorAnnotation), "must set spec.nodeName if mirror pod annotation is set"))
	}
	nodes.CheckTolerationsAnnotation(p)
	if cost, ok := p.Obj[deletionCostAnnotation].(string); ok && !isDeletionCost(cost) {
		p.Add(validation.Invalid(p.Path.Key(deletionCostAnnotation), cost, "must be a 32bit integer"))
	}
	if p.Has(seccompAnnotation) {
		checkSeccompProfileName(p, seccompAnnotation)
	}
	profiles := keysWhere(p.Object(), func(key string) bool {
		return strings.HasPrefix(key, seccompPrefix) || strings.HasPrefix(key, appArmorPrefix)
	})
	for _, key := range profiles {
		if strings.HasPrefix(key, seccompPrefix) {
			checkSeccompProfileName(p, key)
		}
	}
	for _, key := range profiles {
		container, ok := strings.CutPrefix(key, appArmorPrefix)
		if !ok {
			continue
		}
		if !hasContainer(spec.Obj, container) {
			p.Add(validation.Invalid(p.Path.Key(key), container, "container not found"))
		}
		checkAppArmorProfileName(p, key)
	}
}

// keysWhere returns the keys of m for which is returns true, in order.
func keysWhere(m object.View, is func(key string) bool) (keys []string) {
	for key := range m.Fields() {
		if is(key) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

func validatePod(pod map[string]any, old object.View) validation.List {
	if old.IsNil() {
		return validation.Collect(pod, nil, checkPod, checkNewPod)
	}
	return validation.Collect(pod, nil, checkPod, podUpdateRule(old))
}

// validatePodMetadata is validatePod for a Pod whose spec is valid.
func validatePodMetadata(pod map[string]any, old object.View) validation.List {
	spec := object.Map(pod, "spec")
	hasClaims := slices.ContainsFunc(object.List(spec, "volumes"), func(v any) bool { return object.Value(v.(map[string]any), "ephemeral") != nil })
	switch {
	case isMirror(object.ViewOf(pod)) || hasClaims: // the rules of the spec depend on the metadata
		return validatePod(pod, old)
	case old.IsNil() && len(object.Map(pod, "metadata", "annotations")) == 0:
		return nil
	case old.IsNil():
		return validation.Collect(pod, nil, checkPodAnnotations, checkNewPodAnnotations)
	}
	return validation.Collect(pod, nil, checkPodAnnotations, func(p validation.View) { checkAnnotationsUpdate(p, old) })
}

func checkPodAnnotations(p validation.View) {
	CheckPodAnnotations(p.Field("metadata").Field("annotations"), p.Field("spec"))
}

// checkPod validates the annotations and the spec of a Pod.
func checkPod(p validation.View) {
	checkPodAnnotations(p)
	meta, spec := p.Field("metadata"), p.Field("spec")
	annotations := meta.Field("annotations")
	checkPodSpec(spec, podMeta{isPod: true, name: meta.String("name"), isMirror: annotations.Has(MirrorAnnotation)})
	if spec.String("serviceAccountName") == "" {
		forbidTokenProjections(spec)
	}
	for _, list := range []string{"containers", "initContainers"} {
		for _, c := range spec.Each(list) {
			checkImageWhitespace(c)
		}
	}
}

// forbidTokenProjections reports projected service account tokens. They need a
// serviceAccountName.
func forbidTokenProjections(spec validation.View) {
	for _, v := range spec.Each("volumes") {
		for _, source := range v.Field("projected").Each("sources") {
			if source.Has("serviceAccountToken") {
				source.Forbidden("serviceAccountToken", "must not be specified when serviceAccountName is not set")
			}
		}
	}
}

// checkNewPod validates what applies only to the creation of a Pod.
func checkNewPod(p validation.View) {
	spec := p.Field("spec")
	if spec.Len("ephemeralContainers") > 0 {
		spec.Forbidden("ephemeralContainers", "cannot be set on create")
	}
	if spec.String("nodeName") != "" && spec.Len("schedulingGates") > 0 {
		spec.Forbidden("nodeName", "cannot be set until all schedulingGates have been cleared")
	}
	checkNewPodAnnotations(p)
}

// checkNewPodAnnotations checks that the annotations of a new Pod match its spec.
func checkNewPodAnnotations(p validation.View) {
	spec, annotations := p.Field("spec"), object.Map(p.Obj, "metadata", "annotations")
	checkSeccompMatches(spec, annotations)
	checkAppArmorMatches(spec, annotations)
}
