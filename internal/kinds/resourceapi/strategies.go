// Package resourceapi has the strategies of the resource.k8s.io group: dynamic resource allocation.
package resourceapi

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
)

// Strategies returns the strategies of the package, by resource and group.
func Strategies() map[string]kind.Strategy {
	return map[string]kind.Strategy{
		"deviceclasses.resource.k8s.io":              deviceClassStrategy,
		"devicetaintrules.resource.k8s.io":           deviceTaintRuleStrategy,
		"resourceclaims.resource.k8s.io":             resourceClaimStrategy,
		"resourceclaimtemplates.resource.k8s.io":     resourceClaimTemplateStrategy,
		"resourcepoolstatusrequests.resource.k8s.io": resourcePoolStatusRequestStrategy,
		"resourceslices.resource.k8s.io":             resourceSliceStrategy,
	}
}
