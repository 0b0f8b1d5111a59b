package kinds

import (
	"fmt"
	"slices"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/podsecurity"
	"github.com/kubefake/kubefake/internal/resource"
)

var podKind = resource.Kind{GroupVersion: resource.GroupVersion{Version: "v1"}, Kind: "Pod"}

// podPolicy is how secure the pods of the written object's namespace are to be.
func podPolicy(w *resource.Write) podsecurity.Policy {
	policy, _ := podsecurity.PolicyOf(w.Get(namespaceKind, "", object.String(w.Object, "metadata", "namespace")))
	return policy
}

// admitSecurePod is what PodSecurity says of a pod that is new, or gets other
// containers or images.
//
// See https://kubernetes.io/docs/concepts/security/pod-security-admission/.
func admitSecurePod(w *resource.Write) error {
	if w.Old != nil && slices.Equal(images(w.Object), images(w.Old)) {
		return nil
	}
	policy := podPolicy(w)
	if broken := policy.Enforce.Violations(w.Object); len(broken) > 0 {
		return fmt.Errorf("violates PodSecurity %q: %s", policy.Enforce, podsecurity.Details(broken))
	}
	warnInsecure(w, policy.Warn, w.Object)
	return nil
}

// images are those of a pod's containers, which are never renamed.
func images(pod map[string]any) (all []string) {
	for _, member := range []string{"containers", "initContainers", "ephemeralContainers"} {
		for c := range object.Each(object.Value(pod, "spec", member)) {
			all = append(all, object.String(c, "image"))
		}
		all = append(all, "")
	}
	return all
}

func warnInsecure(w *resource.Write, standard podsecurity.Standard, pod map[string]any) {
	if broken := standard.Violations(pod); len(broken) > 0 {
		w.Warn(fmt.Sprintf("would violate PodSecurity %q: %s", standard, podsecurity.Details(broken)))
	}
}

// admitSecureTemplate warns of a pod template at the path, whose pods will be
// judged when they are made.
func admitSecureTemplate(path ...string) func(w *resource.Write) error {
	return func(w *resource.Write) error {
		if template := object.Map(w.Object, path...); template != nil {
			warnInsecure(w, podPolicy(w).Warn, template)
		}
		return nil
	}
}

// admitPodPolicy checks the labels of a namespace, and warns of pods that are in
// the namespace already and that a new policy would refuse.
func admitPodPolicy(w *resource.Write) error {
	policy, mistakes := podsecurity.PolicyOf(w.Object)
	if w.Old == nil {
		if len(mistakes) > 0 {
			return &resource.Invalid{Errors: mistakes}
		}
		return nil
	}
	old, oldMistakes := podsecurity.PolicyOf(w.Old)
	if len(mistakes) > 0 && mistakes.Message() != oldMistakes.Message() {
		return &resource.Invalid{Errors: mistakes}
	}
	sooner := policy.Enforce.Version == old.Enforce.Version && policy.Enforce.Level <= old.Enforce.Level
	if policy.Enforce.Level != podsecurity.Privileged && !sooner {
		warnOfPods(w, policy.Enforce)
	}
	return nil
}

// warnOfPods tells of the pods in a namespace that violate a standard, those
// that do so in one way together.
func warnOfPods(w *resource.Write, standard podsecurity.Standard) {
	name := object.String(w.Object, "metadata", "name")
	pods := map[string][]string{}
	for _, pod := range w.List(podKind, name) {
		if broken := standard.Violations(pod); len(broken) > 0 {
			reasons := podsecurity.Reasons(broken)
			pods[reasons] = append(pods[reasons], object.String(pod, "metadata", "name"))
		}
	}
	if len(pods) == 0 {
		return
	}
	w.Warn(fmt.Sprintf("existing pods in namespace %q violate the new PodSecurity enforce level %q", name, standard))
	var warnings []string
	for reasons, names := range pods {
		first := slices.Min(names)
		switch others := len(names) - 1; others {
		case 0:
		case 1:
			first += " (and 1 other pod)"
		default:
			first = fmt.Sprintf("%s (and %d other pods)", first, others)
		}
		warnings = append(warnings, first+": "+reasons)
	}
	slices.Sort(warnings)
	for _, warning := range warnings {
		w.Warn(warning)
	}
}
