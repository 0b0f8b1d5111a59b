// Package certificatesubjectrestriction is the CertificateSubjectRestriction admission
// plugin. Client certificates of the group system:masters cannot be requested.
package certificatesubjectrestriction

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"

	"github.com/kubefake/kubefake/internal/admission"
	"github.com/kubefake/kubefake/internal/authn"
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
	request, err := parse(object.String(a.Object, "spec", "request"))
	if err != nil {
		return fmt.Errorf("failed to parse CSR: %v", err)
	}
	if slices.Contains(request.Subject.Organization, authn.MastersGroup) {
		return fmt.Errorf("use of %s signer with %s group is not allowed", clientSigner, authn.MastersGroup)
	}
	return nil
}

func parse(text string) (*x509.CertificateRequest, error) {
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(data)
	if block == nil || block.Type != "CERTIFICATE REQUEST" {
		return nil, errors.New("PEM block type must be CERTIFICATE REQUEST")
	}
	return x509.ParseCertificateRequest(block.Bytes)
}
