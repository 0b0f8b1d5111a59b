// Package networking has the strategies of the networking.k8s.io group: Ingresses, NetworkPolicies,
// IngressClasses, IPAddresses and ServiceCIDRs.
package networking

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
)

// Strategies returns the strategies of the package, by resource and group.
func Strategies() map[string]kind.Strategy {
	return map[string]kind.Strategy{
		"ingressclasses.networking.k8s.io":  ingressClassStrategy,
		"ingresses.networking.k8s.io":       ingressStrategy,
		"ipaddresses.networking.k8s.io":     ipAddressStrategy,
		"networkpolicies.networking.k8s.io": networkPolicyStrategy,
		"servicecidrs.networking.k8s.io":    serviceCIDRStrategy,
	}
}
