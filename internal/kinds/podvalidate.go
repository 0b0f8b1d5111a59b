package kinds

import (
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

// validatePodTemplate checks the pod template at path: of a workload, or alone.
func validatePodTemplate(template map[string]any, path *validation.Path) validation.List {
	return mistakes(template, path, podTemplate)
}

func podTemplate(p part) {
	annotations := object.Map(p.obj, "metadata", "annotations")
	p.add(validation.Labels(object.Map(p.obj, "metadata", "labels"), p.at("labels")))
	p.add(validation.Annotations(annotations, p.at("annotations")))
	spec := p.within("spec")
	podAnnotations(part{annotations, p.at("annotations"), p.errs}, spec)
	podSpec(spec, podMeta{})
	seccompAgrees(spec, annotations)
	appArmorAgrees(spec, annotations)
	if spec.size("ephemeralContainers") > 0 {
		spec.forbid("ephemeralContainers", "ephemeral containers not allowed in pod template")
	}
}

// The annotations that pods have rules for.
const (
	mirrorAnnotation       = "kubernetes.io/config.mirror" // of a pod that stands for a kubelet's own
	deletionCostAnnotation = "controller.kubernetes.io/pod-deletion-cost"
	seccompAnnotation      = "seccomp.security.alpha.kubernetes.io/pod"
	seccompPrefix          = "container.seccomp.security.alpha.kubernetes.io/" // and the container's name
	appArmorPrefix         = "container.apparmor.security.beta.kubernetes.io/" // and the container's name
	localhostPrefix        = "localhost/"
)

// podAnnotations checks the annotations that mean something to pods; spec is the
// pod's.
func podAnnotations(p, spec part) {
	if p.has(mirrorAnnotation) && spec.text("nodeName") == "" {
		p.note(validation.Invalid(p.path.Key(mirrorAnnotation), p.text(mirrorAnnotation), "must set spec.nodeName if mirror pod annotation is set"))
	}
	if cost, ok := p.obj[deletionCostAnnotation].(string); ok && !isDeletionCost(cost) {
		p.note(validation.Invalid(p.path.Key(deletionCostAnnotation), cost, "must be a 32bit integer"))
	}
	if p.has(seccompAnnotation) {
		seccompProfileName(p, seccompAnnotation)
	}
	for _, key := range sortedKeys(p.obj) {
		if strings.HasPrefix(key, seccompPrefix) {
			seccompProfileName(p, key)
		}
	}
	for _, key := range sortedKeys(p.obj) {
		container, ok := strings.CutPrefix(key, appArmorPrefix)
		if !ok {
			continue
		}
		if !hasContainer(spec.obj, container) {
			p.note(validation.Invalid(p.path.Key(key), container, "container not found"))
		}
		appArmorProfileName(p, key)
	}
}

// validatePod checks a new pod, and what may become of an old one.
func validatePod(pod, old map[string]any) validation.List {
	if old == nil {
		return mistakes(pod, nil, wholePod, newPod)
	}
	return mistakes(pod, nil, podMetadata, wholePod, podUpdate(old))
}

// validatePodTemplateObject checks an object that is a template alone.
func validatePodTemplateObject(obj, _ map[string]any) validation.List {
	return validatePodTemplate(object.Map(obj, "template"), validation.NewPath("template"))
}

// wholePod checks the annotations and the specification of a pod.
func wholePod(p part) {
	meta, spec := p.within("metadata"), p.within("spec")
	annotations := meta.within("annotations")
	podAnnotations(annotations, spec)
	podSpec(spec, podMeta{isPod: true, name: meta.text("name"), isMirror: annotations.has(mirrorAnnotation)})
	if spec.text("serviceAccountName") == "" {
		tokensNeedAccount(spec)
	}
	for _, list := range []string{"containers", "initContainers"} {
		for _, c := range spec.each(list) {
			paddedImage(c)
		}
	}
}

// tokensNeedAccount refuses tokens of a service account that is not named.
func tokensNeedAccount(spec part) {
	for _, v := range spec.each("volumes") {
		for _, source := range v.within("projected").each("sources") {
			if source.has("serviceAccountToken") {
				source.forbid("serviceAccountToken", "must not be specified when serviceAccountName is not set")
			}
		}
	}
}

// newPod checks what holds for pods at their creation.
func newPod(p part) {
	spec, annotations := p.within("spec"), object.Map(p.obj, "metadata", "annotations")
	if spec.size("ephemeralContainers") > 0 {
		spec.forbid("ephemeralContainers", "cannot be set on create")
	}
	if spec.text("nodeName") != "" && spec.size("schedulingGates") > 0 {
		spec.forbid("nodeName", "cannot be set until all schedulingGates have been cleared")
	}
	seccompAgrees(spec, annotations)
	appArmorAgrees(spec, annotations)
}
