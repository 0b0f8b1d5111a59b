package certificateapproval_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/admission/admissiontest"
	"github.com/kubefake/kubefake/internal/admission/plugin/certificateapproval"
)

func TestPlugin(t *testing.T) {
	const resource = "certificatesigningrequests.certificates.k8s.io"
	csr := func(status string) string { return `{"spec":{"signerName":"example.com/s"},"status":{` + status + `}}` }
	admissiontest.Run(t, certificateapproval.Plugin{}, []admissiontest.Request{
		{Name: "permitted", Resource: resource, Subresource: "approval", Object: csr(`"conditions":[{"type":"Approved","status":"True"}]`), Old: csr("")},
		{Name: "permitted for the domain", Resource: resource, Subresource: "approval", Object: csr(`"conditions":[{"type":"Approved","status":"True"}]`), Old: csr(""), Forbidden: []string{"approve signers example.com/s"}},
		{Name: "forbidden", Resource: resource, Subresource: "approval", Object: csr(`"conditions":[{"type":"Approved","status":"True"}]`), Old: csr(""), Forbidden: []string{"approve signers example.com/s", "approve signers example.com/*"}, Error: `user not permitted to approve requests with signerName "example.com/s"`},
		{Name: "metadata", Resource: resource, Object: csr(`"conditions":[{"type":"Approved","status":"True"}]`), Old: csr(""), Forbidden: []string{"approve signers example.com/s", "approve signers example.com/*"}},
	})
}
