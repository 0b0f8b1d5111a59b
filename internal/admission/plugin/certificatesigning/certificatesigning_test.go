package certificatesigning_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/admission/admissiontest"
	"github.com/kubefake/kubefake/internal/admission/plugin/certificatesigning"
)

func TestPlugin(t *testing.T) {
	const resource = "certificatesigningrequests.certificates.k8s.io"
	csr := func(status string) string { return `{"spec":{"signerName":"example.com/s"},"status":{` + status + `}}` }
	admissiontest.Run(t, certificatesigning.Plugin{}, []admissiontest.Request{
		{Name: "permitted", Resource: resource, Subresource: "status", Object: csr(`"certificate":"eA=="`), Old: csr("")},
		{Name: "permitted for the domain", Resource: resource, Subresource: "status", Object: csr(`"certificate":"eA=="`), Old: csr(""), Forbidden: []string{"sign signers example.com/s"}},
		{Name: "forbidden", Resource: resource, Subresource: "status", Object: csr(`"certificate":"eA=="`), Old: csr(""), Forbidden: []string{"sign signers example.com/s", "sign signers example.com/*"}, Error: `user not permitted to sign requests with signerName "example.com/s"`},
		{Name: "an empty list of conditions", Resource: resource, Subresource: "status", Object: csr(`"conditions":[]`), Old: csr(""), Forbidden: []string{"sign signers example.com/s", "sign signers example.com/*"}},
		{Name: "no conditions any more", Resource: resource, Subresource: "status", Object: csr(`"conditions":[]`), Old: csr(`"conditions":[{"type":"Approved"}]`), Forbidden: []string{"sign signers example.com/s", "sign signers example.com/*"}, Error: `user not permitted to sign requests with signerName "example.com/s"`},
		{Name: "metadata", Resource: resource, Object: csr(`"certificate":"eA=="`), Old: csr(""), Forbidden: []string{"sign signers example.com/s", "sign signers example.com/*"}},
	})
}
