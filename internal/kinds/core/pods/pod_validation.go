package pods

import (
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

// ValidatePodTemplate checks the pod template at path: of a workload, or alone.
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
	checkSeccompAgrees(spec, annotations)
	checkAppArmorAgrees(spec, annotations)
	if spec.Len("ephemeralContainers") > 0 {
		spec.Forbidden("ephemeralContainers", "ephemeral containers not allowed in pod template")
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

// CheckPodAnnotations checks the annotations that mean something to pods; spec is the
// pod's.
func CheckPodAnnotations(p, spec validation.View) {
	if p.Has(mirrorAnnotation) && spec.String("nodeName") == "" {
		p.Add(validation.Invalid(p.Path.Key(mirrorAnnotation), p.String(mirrorAnnotation), "must set spec.nodeName if mirror pod annotation is set"))
	}
	if cost, ok := p.Obj[deletionCostAnnotation].(string); ok && !isDeletionCost(cost) {
		p.Add(validation.Invalid(p.Path.Key(deletionCostAnnotation), cost, "must be a 32bit integer"))
	}
	if p.Has(seccompAnnotation) {
		checkSeccompProfileName(p, seccompAnnotation)
	}
	for _, key := range validation.SortedKeys(p.Obj) {
		if strings.HasPrefix(key, seccompPrefix) {
			checkSeccompProfileName(p, key)
		}
	}
	for _, key := range validation.SortedKeys(p.Obj) {
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

// validatePod checks a new pod, and what may become of an old one.
func validatePod(pod, old map[string]any) validation.List {
	if old == nil {
		return validation.Collect(pod, nil, checkWholePod, checkNewPod)
	}
	return validation.Collect(pod, nil, checkPodMetadata, checkWholePod, podUpdate(old))
}

// checkWholePod checks the annotations and the specification of a pod.
func checkWholePod(p validation.View) {
	meta, spec := p.Field("metadata"), p.Field("spec")
	annotations := meta.Field("annotations")
	CheckPodAnnotations(annotations, spec)
	checkPodSpec(spec, podMeta{isPod: true, name: meta.String("name"), isMirror: annotations.Has(mirrorAnnotation)})
	if spec.String("serviceAccountName") == "" {
		checkTokensNeedAccount(spec)
	}
	for _, list := range []string{"containers", "initContainers"} {
		for _, c := range spec.Each(list) {
			checkPaddedImage(c)
		}
	}
}

// checkTokensNeedAccount refuses tokens of a service account that is not named.
func checkTokensNeedAccount(spec validation.View) {
	for _, v := range spec.Each("volumes") {
		for _, source := range v.Field("projected").Each("sources") {
			if source.Has("serviceAccountToken") {
				source.Forbidden("serviceAccountToken", "must not be specified when serviceAccountName is not set")
			}
		}
	}
}

// checkNewPod checks what holds for pods at their creation.
func checkNewPod(p validation.View) {
	spec, annotations := p.Field("spec"), object.Map(p.Obj, "metadata", "annotations")
	if spec.Len("ephemeralContainers") > 0 {
		spec.Forbidden("ephemeralContainers", "cannot be set on create")
	}
	if spec.String("nodeName") != "" && spec.Len("schedulingGates") > 0 {
		spec.Forbidden("nodeName", "cannot be set until all schedulingGates have been cleared")
	}
	checkSeccompAgrees(spec, annotations)
	checkAppArmorAgrees(spec, annotations)
}
