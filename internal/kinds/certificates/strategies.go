// Package certificates has the strategies of the certificates.k8s.io group: CertificateSigningRequests,
// and the columns of the kinds that no release serves without a feature gate.
package certificates

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
)

// Strategies returns the strategies of the package, by resource and group.
func Strategies() map[string]kind.Strategy {
	return map[string]kind.Strategy{
		"certificatesigningrequests.certificates.k8s.io": certificateSigningRequestStrategy,
		"clustertrustbundles.certificates.k8s.io":        {Cells: clusterTrustBundleCells},
		"podcertificaterequests.certificates.k8s.io":     {Cells: podCertificateRequestCells},
	}
}
