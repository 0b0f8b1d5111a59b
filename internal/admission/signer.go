package admission

import (
	"strings"

	"github.com/kubefake/kubefake/internal/authz"
)

// AuthorizedForSigner reports whether the user may act for the signer of certificates:
// verb is "approve", "sign" or "attest". The permission is for the name of the signer,
// or for all signers of its domain, as in example.com/*.
//
// See https://kubernetes.io/docs/reference/access-authn-authz/certificate-signing-requests/#authorization.
func AuthorizedForSigner(access Access, verb, signer string) bool {
	domain, _, _ := strings.Cut(signer, "/")
	for _, name := range []string{signer, domain + "/*"} {
		at := authz.Attributes{Verb: verb, IsResource: true, Group: "certificates.k8s.io", Version: authz.AnyVersion, Resource: "signers", Name: name}
		if access.Authorize(at).Allowed {
			return true
		}
	}
	return false
}
