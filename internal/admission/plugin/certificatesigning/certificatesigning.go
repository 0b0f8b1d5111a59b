// Package certificatesigning is the CertificateSigning admission plugin. It checks who
// may sign CertificateSigningRequests.
package certificatesigning

import (
	"fmt"

	"github.com/kubefake/kubefake/internal/admission"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/status"
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
	if same(a, "certificate") && same(a, "conditions") {
		return nil
	}
	if signer := a.Old.String("spec", "signerName"); !admission.AuthorizedForSigner(a.Access, "sign", signer) {
		return fmt.Errorf("user not permitted to sign requests with signerName %q", signer)
	}
	return nil
}

// same reports whether a field of the status stays as it is.
func same(a *admission.Attributes, name string) bool {
	return a.Old.At("status", name).EqualTo(object.Value(a.Object, "status", name))
}
