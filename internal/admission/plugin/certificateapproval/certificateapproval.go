// Package certificateapproval is the CertificateApproval admission plugin. It checks
// who may approve CertificateSigningRequests.
package certificateapproval

import (
	"fmt"

	"github.com/kubefake/kubefake/internal/admission"
	"github.com/kubefake/kubefake/internal/status"
)

// Plugin implements [admission.Validator].
type Plugin struct{}

var _ admission.Validator = Plugin{}

// Name returns "CertificateApproval".
func (Plugin) Name() string { return "CertificateApproval" }

// Resources returns certificatesigningrequests.
func (Plugin) Resources() []status.GroupResource {
	return []status.GroupResource{{Group: "certificates.k8s.io", Resource: "certificatesigningrequests"}}
}

// Validate refuses an approval by a user who may not approve for the signer.
func (Plugin) Validate(a *admission.Attributes) error {
	if a.Operation != admission.Update || a.Subresource != "approval" {
		return nil
	}
	if signer := a.Old.String("spec", "signerName"); !admission.AuthorizedForSigner(a.Access, "approve", signer) {
		return fmt.Errorf("user not permitted to approve requests with signerName %q", signer)
	}
	return nil
}
