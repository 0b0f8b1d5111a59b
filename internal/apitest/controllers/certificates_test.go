package controllers_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/object"
)

// signingRequest returns a CertificateSigningRequest.
func signingRequest(t *testing.T, name, user, signer, usages string, subject x509.CertificateRequest, status string) string {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	der, err := x509.CreateCertificateRequest(rand.Reader, &subject, key)
	require.NoError(t, err)
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})
	return fmt.Sprintf(`{"apiVersion":"certificates.k8s.io/v1","kind":"CertificateSigningRequest","metadata":{"name":%q},
"spec":{"request":%q,"signerName":%q,"usages":[%s],"username":%q},"status":{%s}}`,
		name, base64.StdEncoding.EncodeToString(text), signer, usages, user, status)
}

const (
	kubeletSigner = "kubernetes.io/kube-apiserver-client-kubelet"
	clientUsages  = `"digital signature","client auth"`

	// mayCreateCSR lets a user create a subresource of CertificateSigningRequests.
	mayCreateCSR = `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRoleBinding","metadata":{"name":%[1]q},
"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"system:certificates.k8s.io:certificatesigningrequests:%[1]s"},
"subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":%[2]q}]}`
)

func nodeSubject(name string) x509.CertificateRequest {
	return x509.CertificateRequest{Subject: pkix.Name{CommonName: name, Organization: []string{"system:nodes"}}}
}

func TestCSRApproving(t *testing.T) {
	t.Parallel()
	named := nodeSubject("system:node:a")
	named.DNSNames = []string{"a"}
	tests := []struct {
		name    string
		user    string
		signer  string
		usages  string
		subject x509.CertificateRequest
		status  string
		message string // of the condition Approved; "" if it is not approved
	}{
		{"a bootstrap token", "bootstrap", kubeletSigner, clientUsages, nodeSubject("system:node:a"), "", "Auto approving kubelet client certificate after SubjectAccessReview."},
		{"a node for itself", "system:node:a", kubeletSigner, clientUsages, nodeSubject("system:node:a"), "", "Auto approving self kubelet client certificate after SubjectAccessReview."},
		{"a node for another", "system:node:a", kubeletSigner, clientUsages, nodeSubject("system:node:b"), "", ""},
		{"another user", "eve", kubeletSigner, clientUsages, nodeSubject("system:node:a"), "", ""},
		{"another signer", "bootstrap", "kubernetes.io/kube-apiserver-client", clientUsages, nodeSubject("system:node:a"), "", ""},
		{"another usage", "bootstrap", kubeletSigner, clientUsages + `,"server auth"`, nodeSubject("system:node:a"), "", ""},
		{"key encipherment", "bootstrap", kubeletSigner, clientUsages + `,"key encipherment"`, nodeSubject("system:node:a"), "", "Auto approving kubelet client certificate after SubjectAccessReview."},
		{"no node", "bootstrap", kubeletSigner, clientUsages, nodeSubject("a"), "", ""},
		{"a DNS name", "bootstrap", kubeletSigner, clientUsages, named, "", ""},
		{"denied", "bootstrap", kubeletSigner, clientUsages, nodeSubject("system:node:a"), `"conditions":[{"type":"Denied","status":"True","reason":"No"}]`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := startCluster(t, "certificatesigningrequest-approving-controller")
			c.Put(fmt.Sprintf(mayCreateCSR, "nodeclient", "bootstrap"), fmt.Sprintf(mayCreateCSR, "selfnodeclient", "system:node:a"))
			c.Put(signingRequest(t, "r", tt.user, tt.signer, tt.usages, tt.subject, tt.status))
			c.Settle()
			csr := c.Get("certificatesigningrequests", "", "r")
			require.NotNil(t, csr)
			message := object.String(conditionOf(csr, "Approved"), "message")
			assert.Equal(t, tt.message, message)
		})
	}
}

func TestCSRCleaner(t *testing.T) {
	t.Parallel()
	condition := func(typ string) string {
		return fmt.Sprintf(`"conditions":[{"type":%q,"status":"True","lastUpdateTime":"2026-01-01T00:00:00Z"}]`, typ)
	}
	c := startCluster(t, "certificatesigningrequest-cleaner-controller")
	for name, status := range map[string]string{
		"pending": "", "denied": condition("Denied"), "failed": condition("Failed"), "approved": condition("Approved"),
		"issued": condition("Approved") + `,"certificate":"eA=="`,
	} {
		c.Put(signingRequest(t, name, "u", kubeletSigner, clientUsages, nodeSubject("system:node:a"), status))
	}
	after := func(d time.Duration) []string {
		c.SettleWithin(d)
		return c.Names("certificatesigningrequests")
	}
	assert.Len(t, after(time.Hour), 5)
	assert.Equal(t, []string{"approved", "pending"}, after(time.Hour))
	assert.Equal(t, []string{"approved", "pending"}, after(22*time.Hour))
	assert.Empty(t, after(time.Hour))
}
