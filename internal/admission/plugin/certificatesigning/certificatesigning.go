// Package certificatesigning is the CertificateSigning admission plugin. It checks who
// may sign CertificateSigningRequests.
package certificatesigning

import (
	"fmt"

	"github.com/kubefake/kubefake/internal/admission"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/validation"
)

// Plugin implements [admission.Validator].
type Plugin struct{}

var _ admission.Validator = Plugin{}

// Name returns "CertificateSigning".
func (Plugin) Name() string { return "CertificateSigning" }

// Resources returns certificatesigningrequests.
func (Plugin) Resources() []status.GroupResource {
	return []status.GroupResource{{Group: "certificates.k8s.io", Resource: "certificatesigningrequests"}}
}

// Validate refuses a new certificate or new conditions by a user who may not sign for
// the signer.
func (Plugin) Validate(a *admission.Attributes) error {
	if a.Operation != admission.Update || a.Subresource != "status" {
		return nil
	}
	old := a.Old.At("status")
	if old.At("certificate").EqualTo(object.Value(a.Object, "status", "certificate")) &&
		validation.Equal(object.Value(a.Object, "status", "conditions"), old.At("conditions")) {
		return nil
	}
	if signer := a.Old.String("spec", "signerName"); !admission.AuthorizedForSigner(a.Access, "sign", signer) {
		return fmt.Errorf("user not permitted to sign requests with signerName %q", signer)
	}
	return nil
}
