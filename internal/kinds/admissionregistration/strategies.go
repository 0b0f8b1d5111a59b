// Package admissionregistration has the strategies of the admissionregistration.k8s.io group: admission policies and webhooks.
package admissionregistration

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
)

// Strategies returns the strategies of the package, by resource and group.
func Strategies() map[string]kind.Strategy {
	return map[string]kind.Strategy{
		"mutatingadmissionpolicies.admissionregistration.k8s.io":         reserveSuffix(mutatingAdmissionPolicyStrategy),
		"mutatingadmissionpolicybindings.admissionregistration.k8s.io":   reserveSuffix(mutatingAdmissionPolicyBindingStrategy),
		"mutatingwebhookconfigurations.admissionregistration.k8s.io":     reserveSuffix(mutatingWebhookConfigurationStrategy),
		"validatingadmissionpolicies.admissionregistration.k8s.io":       reserveSuffix(validatingAdmissionPolicyStrategy),
		"validatingadmissionpolicybindings.admissionregistration.k8s.io": reserveSuffix(validatingAdmissionPolicyBindingStrategy),
		"validatingwebhookconfigurations.admissionregistration.k8s.io":   reserveSuffix(validatingWebhookConfigurationStrategy),
	}
}
