package clustertrustbundleattest_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/admission/admissiontest"
	"github.com/kubefake/kubefake/internal/admission/plugin/clustertrustbundleattest"
)

func TestPlugin(t *testing.T) {
	const bundles, refused = "clustertrustbundles.certificates.k8s.io", `user not permitted to attest for signerName "example.com/s"`
	bundle := func(meta, spec string) string { return `{"metadata":{` + meta + `},"spec":{` + spec + `}}` }
	const signer = `"signerName":"example.com/s"`
	forbidden := []string{"attest signers example.com/s", "attest signers example.com/*"}
	admissiontest.Run(t, clustertrustbundleattest.Plugin{}, []admissiontest.Request{
		{Name: "permitted", Resource: bundles, Object: bundle("", signer)},
		{Name: "permitted for the domain", Resource: bundles, Object: bundle("", signer), Forbidden: forbidden[:1]},
		{Name: "forbidden", Resource: bundles, Object: bundle("", signer), Forbidden: forbidden, Error: refused},
		{Name: "without a signer", Resource: bundles, Object: bundle("", ""), Forbidden: forbidden},
		{Name: "forbidden update", Resource: bundles, Object: bundle(`"labels":{"a":"b"}`, signer), Old: bundle("", signer), Forbidden: forbidden, Error: refused},
		{Name: "update of finalizers", Resource: bundles, Object: bundle(`"finalizers":["a/b"]`, signer), Old: bundle("", signer), Forbidden: forbidden},
	})
}
