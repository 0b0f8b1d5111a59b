package podsecurity

import (
	"fmt"
	"slices"

	"github.com/kubefake/kubefake/internal/admission"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/validation"
)

// Plugin implements [admission.Validator].
type Plugin struct{ Configuration *Configuration }

var _ admission.Validator = Plugin{}

// Name returns "PodSecurity".
func (Plugin) Name() string { return "PodSecurity" }

var (
	pods       = status.GroupResource{Resource: "pods"}
	namespaces = status.GroupResource{Resource: "namespaces"}
)

// templatePaths are the paths of the pod templates, by resource.
var templatePaths = map[status.GroupResource][]string{
	{Resource: "podtemplates"}:                {"template"},
	{Resource: "replicationcontrollers"}:      {"spec", "template"},
	{Group: "apps", Resource: "daemonsets"}:   {"spec", "template"},
	{Group: "apps", Resource: "deployments"}:  {"spec", "template"},
	{Group: "apps", Resource: "replicasets"}:  {"spec", "template"},
	{Group: "apps", Resource: "statefulsets"}: {"spec", "template"},
	{Group: "batch", Resource: "cronjobs"}:    {"spec", "jobTemplate", "spec", "template"},
	{Group: "batch", Resource: "jobs"}:        {"spec", "template"},
}

// Resources returns pods, namespaces, and the resources that have pod templates.
func (Plugin) Resources() []status.GroupResource {
	all := []status.GroupResource{pods, namespaces}
	for r := range templatePaths {
		all = append(all, r)
	}
	return all
}

var (
	namespaceKind = resource.Kind{GroupVersion: resource.GroupVersion{Version: "v1"}, Kind: "Namespace"}
	podKind       = resource.Kind{GroupVersion: resource.GroupVersion{Version: "v1"}, Kind: "Pod"}
)

// Validate refuses pods that violate the enforce level of their namespace, and
// invalid labels of namespaces. It warns of pods and pod templates that violate
// the warn level, and of existing pods that violate a stricter enforce level of
// their namespace.
func (p Plugin) Validate(a *admission.Attributes) error {
	c := p.Configuration
	switch a.GroupResource() {
	case pods:
		switch a.Subresource {
		case "", "ephemeralcontainers", "resize":
			return c.validatePod(a)
		}
		return nil
	case namespaces:
		if a.Subresource == "" {
			return c.validateNamespace(a)
		}
		return nil
	}
	if a.Subresource == "" {
		c.validateController(a)
	}
	return nil
}

// validateController checks the pod template of an object.
func (c *Configuration) validateController(a *admission.Attributes) {
	if c.exempts(a) {
		return
	}
	policy, errs := c.policyOf(a)
	if len(errs) == 0 && policy.warn.level == levelPrivileged && policy.audit.level == levelPrivileged {
		return
	}
	template := object.Map(a.Object, templatePaths[a.GroupResource()]...)
	if template == nil || c.exemptsClass(a, template) {
		return
	}
	noteErrors(a, errs)
	auditViolations(a, policy.audit, template)
	warn(a, policy.warn, template)
}

// policyOf returns the policy of the namespace of a request, and the errors of its labels.
func (c *Configuration) policyOf(a *admission.Attributes) (policy, validation.List) {
	return c.parsePolicy(a.Reader.Get(namespaceKind, "", a.Namespace))
}

// noteErrors counts errors of the labels of a namespace, and annotates the audit log.
func noteErrors(a *admission.Attributes, errs validation.List) {
	if len(errs) > 0 {
		a.Annotate(labelPrefix+"error", "Failed to parse policy: "+errs.Message())
		countError(a, false)
	}
}

// validatePod checks a pod that is new or has new containers or images.
func (c *Configuration) validatePod(a *admission.Attributes) error {
	if c.exempts(a) {
		return nil
	}
	policy, errs := c.policyOf(a)
	if len(errs) == 0 && policy.privileged() {
		a.Annotate(enforceAnnotation, privilegedPolicy)
		countEvaluation(a, true, "enforce", policy.enforce)
		return nil
	}
	if a.Operation == admission.Update && slices.Equal(images(object.ViewOf(a.Object)), images(a.Old)) || c.exemptsClass(a, a.Object) {
		return nil
	}
	noteErrors(a, errs)
	a.Annotate(enforceAnnotation, policy.enforce.String())
	violations := policy.enforce.violations(object.ViewOf(a.Object), newest(a))
	countEvaluation(a, len(violations) == 0, "enforce", policy.enforce)
	auditViolations(a, policy.audit, a.Object)
	if len(violations) > 0 {
		return fmt.Errorf("violates PodSecurity %q: %s", policy.enforce, joinDetails(violations))
	}
	warn(a, policy.warn, a.Object)
	return nil
}

const enforceAnnotation = labelPrefix + "enforce-policy"

// privilegedPolicy is the text of the policy that nothing violates.
var privilegedPolicy = levelVersion{levelPrivileged, latest}.String()

// images returns the images of a pod, with "" after each list of containers. It
// changes if a container does, as containers cannot be renamed.
func images(pod object.View) (all []string) {
	for _, field := range []string{"containers", "initContainers", "ephemeralContainers"} {
		for c := range pod.At("spec", field).Objects() {
			all = append(all, c.String("image"))
		}
		all = append(all, "")
	}
	return all
}

// auditViolations annotates the audit log with the violations of a level.
func auditViolations(a *admission.Attributes, level levelVersion, pod map[string]any) {
	if violations := level.violations(object.ViewOf(pod), newest(a)); len(violations) > 0 {
		countEvaluation(a, false, "audit", level)
		a.Annotate(labelPrefix+"audit-violations", fmt.Sprintf("would violate PodSecurity %q: %s", level, joinDetails(violations)))
	}
}

func warn(a *admission.Attributes, level levelVersion, pod map[string]any) {
	if violations := level.violations(object.ViewOf(pod), newest(a)); len(violations) > 0 {
		countEvaluation(a, false, "warn", level)
		a.Warn(fmt.Sprintf("would violate PodSecurity %q: %s", level, joinDetails(violations)))
	}
}

func (c *Configuration) validateNamespace(a *admission.Attributes) error {
	policy, errs := c.parsePolicy(object.ViewOf(a.Object))
	invalid := func() error {
		return status.Invalid(status.GroupKind{Kind: "Namespace"}, a.Name, errs)
	}
	if a.Operation == admission.Create {
		if len(errs) > 0 {
			return invalid()
		}
		if c.exemptsNamespace(a.Name) {
			c.warnOfExemption(a, policy)
		}
		return nil
	}
	old, oldErrs := c.parsePolicy(a.Old)
	if len(errs) > 0 && errs.Message() != oldErrs.Message() {
		return invalid()
	}
	relaxed := policy.enforce.version == old.enforce.version && policy.enforce.level <= old.enforce.level
	switch {
	case policy.enforce.level == levelPrivileged || relaxed:
	case c.exemptsNamespace(a.Name):
		c.warnOfExemption(a, policy)
	default:
		c.warnOfPods(a, policy.enforce)
	}
	return nil
}

// warnOfPods warns of the pods in the namespace a.Name that violate a level.
// Pods with the same violations share a warning.
func (c *Configuration) warnOfPods(a *admission.Attributes, level levelVersion) {
	pods := map[string][]string{}
	for _, pod := range a.Reader.List(podKind, a.Name) {
		if c.hasExemptClass(pod) {
			continue
		}
		if violations := level.violations(pod, newest(a)); len(violations) > 0 {
			reasons := joinReasons(violations)
			pods[reasons] = append(pods[reasons], pod.String("metadata", "name"))
		}
	}
	if len(pods) == 0 {
		return
	}
	a.Warn(fmt.Sprintf("existing pods in namespace %q violate the new PodSecurity enforce level %q", a.Name, level))
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
	a.Warnings = append(a.Warnings, warnings...)
}
