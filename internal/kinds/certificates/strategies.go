// Package certificates has the strategies of the certificates.k8s.io group: CertificateSigningRequests,
// ClusterTrustBundles and PodCertificateRequests.
package certificates

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
)

// Strategies returns the strategies of the package, by resource and group.
func Strategies() map[string]kind.Strategy {
	return map[string]kind.Strategy{
		"certificatesigningrequests.certificates.k8s.io": certificateSigningRequestStrategy,
		"clustertrustbundles.certificates.k8s.io":        clusterTrustBundleStrategy,
		"podcertificaterequests.certificates.k8s.io":     podCertificateRequestStrategy,
	}
}
