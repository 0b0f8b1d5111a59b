// Package certificatesubjectrestriction is the CertificateSubjectRestriction admission
// plugin. Client certificates of the group system:masters cannot be requested.
package certificatesubjectrestriction

import (
	"fmt"
	"slices"

	"github.com/kubefake/kubefake/internal/admission"
	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/kinds/certificates"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/status"
)

// Plugin implements [admission.Validator].
type Plugin struct{}

var _ admission.Validator = Plugin{}

// Name returns "CertificateSubjectRestriction".
func (Plugin) Name() string { return "CertificateSubjectRestriction" }

// Resources returns certificatesigningrequests.
func (Plugin) Resources() []status.GroupResource {
	return []status.GroupResource{{Group: "certificates.k8s.io", Resource: "certificatesigningrequests"}}
}

const clientSigner = "kubernetes.io/kube-apiserver-client"

// Validate refuses a new request for a client certificate of system:masters.
func (Plugin) Validate(a *admission.Attributes) error {
	if a.Operation != admission.Create || a.Subresource != "" || object.String(a.Object, "spec", "signerName") != clientSigner {
		return nil
	}
	request, err := certificates.ParseRequest(object.String(a.Object, "spec", "request"))
	if err != nil {
		return fmt.Errorf("failed to parse CSR: %v", err)
	}
	if slices.Contains(request.Subject.Organization, authn.MastersGroup) {
		return fmt.Errorf("use of %s signer with %s group is not allowed", clientSigner, authn.MastersGroup)
	}
	return nil
}
