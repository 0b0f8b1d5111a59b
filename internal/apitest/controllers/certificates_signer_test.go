package controllers_test

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/httptest"
	"github.com/kubefake/kubefake/internal/object"
)

func TestCSRSigning(t *testing.T) {
	t.Parallel()
	alice := x509.CertificateRequest{Subject: pkix.Name{CommonName: "alice", Organization: []string{"devs"}}}
	serving := nodeSubject("system:node:a")
	serving.DNSNames = []string{"a.example"}
	const approved = `"conditions":[{"type":"Approved","status":"True","reason":"Tested"}]`
	for _, row := range []struct {
		name    string
		signer  string
		usages  string
		more    string // of the spec
		subject x509.CertificateRequest
		status  string
		want    string        // the condition Failed, "signed" or ""
		valid   time.Duration // from now
	}{
		{"a client", "kubernetes.io/kube-apiserver-client", clientUsages, "", alice, approved, "signed", 8760*time.Hour - 5*time.Minute},
		{"a client for an hour", "kubernetes.io/kube-apiserver-client", clientUsages, `"expirationSeconds":3600,`, alice, approved, "signed", time.Hour},
		{"a client with server auth", "kubernetes.io/kube-apiserver-client", `"client auth","server auth"`, "", alice, approved,
			"True SignerValidationFailure invalid usage for client certificate: server auth", 0},
		{"a client without client auth", "kubernetes.io/kube-apiserver-client", `"digital signature"`, "", alice, approved,
			"True SignerValidationFailure missing required usage for client certificate: client auth", 0},
		{"a kubelet", kubeletSigner, clientUsages, "", nodeSubject("system:node:a"), approved, "signed", 8760*time.Hour - 5*time.Minute},
		{"a kubelet with names", kubeletSigner, clientUsages, "", serving, approved, "True SignerValidationFailure DNS subjectAltNames are not allowed", 0},
		{"a kubelet of another name", kubeletSigner, clientUsages, "", nodeSubject("a"), approved, "True SignerValidationFailure subject common name does not begin with system:node:", 0},
		{"a serving kubelet", "kubernetes.io/kubelet-serving", `"digital signature","server auth"`, "", serving, approved, "signed", 8760*time.Hour - 5*time.Minute},
		{"a serving kubelet without names", "kubernetes.io/kubelet-serving", `"digital signature","server auth"`, "", nodeSubject("system:node:a"), approved,
			"True SignerValidationFailure DNS or IP subjectAltName is required", 0},
		{"anything", "kubernetes.io/legacy-unknown", `"any"`, "", alice, approved, "signed", 8760*time.Hour - 5*time.Minute},
		{"not approved", "kubernetes.io/kube-apiserver-client", clientUsages, "", alice, "", "", 0},
		{"denied", "kubernetes.io/kube-apiserver-client", clientUsages, "", alice, approved[:len(approved)-1] + `,{"type":"Denied","status":"True","reason":"Tested"}]`, "", 0},
		{"another signer", "example.com/signer", clientUsages, "", alice, approved, "", 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := startCluster(t, "certificatesigningrequest-signing-controller")
			c.Put(signingRequest(t, "csr", "alice", row.signer, row.usages+`],`+row.more+`"groups":["devs"`, row.subject, row.status))
			c.Settle()
			csr := c.Get("certificatesigningrequests", "", "csr")
			text := object.String(csr, "status", "certificate")
			if row.want != "signed" {
				assert.Empty(t, text)
				assert.Equal(t, row.want, condition(csr, "Failed"))
				return
			}
			require.NotEmpty(t, text)
			data, err := base64.StdEncoding.DecodeString(text)
			require.NoError(t, err)
			block, _ := pem.Decode(data)
			certificate, err := x509.ParseCertificate(block.Bytes)
			require.NoError(t, err)
			assert.Equal(t, row.subject.Subject.CommonName, certificate.Subject.CommonName)
			assert.Equal(t, row.subject.DNSNames, certificate.DNSNames)
			now := c.Clock().Now()
			assert.Equal(t, now.Add(-5*time.Minute), certificate.NotBefore)
			assert.Equal(t, now.Add(row.valid), certificate.NotAfter)
			roots := x509.NewCertPool()
			roots.AppendCertsFromPEM(httptest.ClientCA())
			_, err = certificate.Verify(x509.VerifyOptions{Roots: roots, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}})
			assert.NoError(t, err)
		})
	}
}
