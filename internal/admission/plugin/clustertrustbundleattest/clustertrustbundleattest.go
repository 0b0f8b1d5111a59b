// Package clustertrustbundleattest is the ClusterTrustBundleAttest admission plugin. It
// checks who may write the trust anchors of a signer.
//
// See https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/#clustertrustbundleattest.
package clustertrustbundleattest

import (
	"fmt"

	"github.com/kubefake/kubefake/internal/admission"
	"github.com/kubefake/kubefake/internal/authz"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/status"
)

// Plugin implements [admission.Validator].
type Plugin struct{}

var _ admission.Validator = Plugin{}

// Name returns "ClusterTrustBundleAttest".
func (Plugin) Name() string { return "ClusterTrustBundleAttest" }

// Resources returns clustertrustbundles.
func (Plugin) Resources() []status.GroupResource {
	return []status.GroupResource{{Group: "certificates.k8s.io", Resource: "clustertrustbundles"}}
}

// Validate refuses a ClusterTrustBundle of a signer by a user who may not attest for the
// signer. Updates for the garbage collector pass.
func (Plugin) Validate(a *admission.Attributes) error {
	signer := object.String(a.Object, "spec", "signerName")
	if a.Object == nil || signer == "" || authz.ChangesOwnersOnly(a.Object, a.Old) {
		return nil
	}
	if !admission.AuthorizedForSigner(a.Access, "attest", signer) {
		return fmt.Errorf("user not permitted to attest for signerName %q", signer)
	}
	return nil
}
