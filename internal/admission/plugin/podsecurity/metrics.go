package podsecurity

import (
	"strconv"

	"github.com/kubefake/kubefake/internal/admission"
	"github.com/kubefake/kubefake/internal/metrics"
)

var (
	evaluations = &metrics.Vec{
		Name: "pod_security_evaluations_total", Type: metrics.Counter, Stability: metrics.Alpha,
		Help:   "Number of policy evaluations that occurred, not counting ignored or exempt requests.",
		Labels: []string{"decision", "mode", "policy_level", "policy_version", "request_operation", "resource", "subresource"},
		Initial: [][]string{
			{"allow", "enforce", "privileged", "latest", "create", "pod", ""},
			{"allow", "enforce", "privileged", "latest", "update", "pod", ""},
		},
	}
	exemptions = &metrics.Vec{
		Name: "pod_security_exemptions_total", Type: metrics.Counter, Stability: metrics.Alpha,
		Help:   "Number of exempt requests, not counting ignored or out of scope requests.",
		Labels: []string{"request_operation", "resource", "subresource"},
		Initial: [][]string{
			{"create", "controller", ""}, {"create", "pod", ""}, {"update", "controller", ""}, {"update", "pod", ""},
		},
	}
	errorCounts = &metrics.Vec{
		Name: "pod_security_errors_total", Type: metrics.Counter, Stability: metrics.Alpha,
		Help:   "Number of errors preventing normal evaluation. Non-fatal errors may result in the latest restricted profile being used for evaluation.",
		Labels: []string{"fatal", "request_operation", "resource", "subresource"},
	}
)

// Metrics returns the metrics of the plugin.
func Metrics() []*metrics.Vec { return []*metrics.Vec{evaluations, exemptions, errorCounts} }

// countEvaluation counts the decision of a mode: "enforce", "audit" or "warn".
func countEvaluation(a *admission.Attributes, allowed bool, mode string, policy levelVersion) {
	decision := "deny"
	if allowed {
		decision = "allow"
	}
	version := policy.version.String()
	switch {
	case policy.version == latest || policy.level == levelPrivileged: // privileged is the same in all versions
		version = latest.String()
	case int(policy.version) > a.Access.Release().Minor():
		version = "future"
	}
	operation, resource := requestLabels(a)
	a.Counts.Add(evaluations, decision, mode, policy.level.String(), version, operation, resource, a.Subresource)
}

func countExemption(a *admission.Attributes) {
	operation, resource := requestLabels(a)
	a.Counts.Add(exemptions, operation, resource, a.Subresource)
}

// countError counts an error. One that is fatal leaves the policy unknown.
func countError(a *admission.Attributes, fatal bool) {
	operation, resource := requestLabels(a)
	a.Counts.Add(errorCounts, strconv.FormatBool(fatal), operation, resource, a.Subresource)
}

// requestLabels returns the values of the labels of a request.
func requestLabels(a *admission.Attributes) (operation, resource string) {
	operation, resource = "create", "controller"
	if a.Operation == admission.Update {
		operation = "update"
	}
	switch a.GroupResource() {
	case pods:
		resource = "pod"
	case namespaces:
		resource = "namespace"
	}
	return operation, resource
}
