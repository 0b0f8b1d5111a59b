package certificatesubjectrestriction_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/admission/admissiontest"
	"github.com/kubefake/kubefake/internal/admission/plugin/certificatesubjectrestriction"
)

func TestPlugin(t *testing.T) {
	const resource, signer = "certificatesigningrequests.certificates.k8s.io", "kubernetes.io/kube-apiserver-client"
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	csr := func(signer, group string) string {
		der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{Organization: []string{group}}}, key)
		require.NoError(t, err)
		text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})
		return `{"spec":{"signerName":"` + signer + `","request":"` + base64.StdEncoding.EncodeToString(text) + `"}}`
	}
	admissiontest.Run(t, certificatesubjectrestriction.Plugin{}, []admissiontest.Request{
		{Name: "developers", Resource: resource, Object: csr(signer, "developers")},
		{Name: "masters", Resource: resource, Object: csr(signer, "system:masters"), Error: "use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed"},
		{Name: "other signer", Resource: resource, Object: csr("example.com/s", "system:masters")},
		{Name: "update", Resource: resource, Object: csr(signer, "system:masters"), Old: csr(signer, "system:masters")},
		{Name: "no request", Resource: resource, Object: `{"spec":{"signerName":"` + signer + `","request":"eA=="}}`, Error: "failed to parse CSR: PEM block type must be CERTIFICATE REQUEST"},
	})
}
