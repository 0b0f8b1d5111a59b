package certificates_test

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

	"github.com/kubefake/kubefake/internal/controllers/controllertest"
)

// request returns a CertificateSigningRequest.
func request(t *testing.T, name, user, signer, usages string, subject x509.CertificateRequest, status string) string {
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
	kubelet = "kubernetes.io/kube-apiserver-client-kubelet"
	usages  = `"digital signature","client auth"`

	// binding lets a user create a subresource of CertificateSigningRequests.
	binding = `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRoleBinding","metadata":{"name":%[1]q},
"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"system:certificates.k8s.io:certificatesigningrequests:%[1]s"},
"subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":%[2]q}]}`
)

func node(name string) x509.CertificateRequest {
	return x509.CertificateRequest{Subject: pkix.Name{CommonName: name, Organization: []string{"system:nodes"}}}
}

func TestApproving(t *testing.T) {
	named := node("system:node:a")
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
		{"a bootstrap token", "bootstrap", kubelet, usages, node("system:node:a"), "", "Auto approving kubelet client certificate after SubjectAccessReview."},
		{"a node for itself", "system:node:a", kubelet, usages, node("system:node:a"), "", "Auto approving self kubelet client certificate after SubjectAccessReview."},
		{"a node for another", "system:node:a", kubelet, usages, node("system:node:b"), "", ""},
		{"another user", "eve", kubelet, usages, node("system:node:a"), "", ""},
		{"another signer", "bootstrap", "kubernetes.io/kube-apiserver-client", usages, node("system:node:a"), "", ""},
		{"another usage", "bootstrap", kubelet, usages + `,"server auth"`, node("system:node:a"), "", ""},
		{"key encipherment", "bootstrap", kubelet, usages + `,"key encipherment"`, node("system:node:a"), "", "Auto approving kubelet client certificate after SubjectAccessReview."},
		{"no node", "bootstrap", kubelet, usages, node("a"), "", ""},
		{"a DNS name", "bootstrap", kubelet, usages, named, "", ""},
		{"denied", "bootstrap", kubelet, usages, node("system:node:a"), `"conditions":[{"type":"Denied","status":"True","reason":"No"}]`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			srv := controllertest.Start(t, "certificatesigningrequest-approving-controller")
			controllertest.Put(t, srv, fmt.Sprintf(binding, "nodeclient", "bootstrap"), fmt.Sprintf(binding, "selfnodeclient", "system:node:a"))
			controllertest.Put(t, srv, request(t, "r", tt.user, tt.signer, tt.usages, tt.subject, tt.status))
			controllertest.Settle(t, srv)
			csr, err := srv.Get("certificatesigningrequests", "", "r")
			require.NoError(t, err)
			message, _ := controllertest.Field(csr, "status", "conditions", "Approved", "message").(string)
			assert.Equal(t, tt.message, message)
		})
	}
}

func TestCleaner(t *testing.T) {
	condition := func(typ string) string {
		return fmt.Sprintf(`"conditions":[{"type":%q,"status":"True","lastUpdateTime":"2026-01-01T00:00:00Z"}]`, typ)
	}
	srv := controllertest.Start(t, "certificatesigningrequest-cleaner-controller")
	for name, status := range map[string]string{
		"pending": "", "denied": condition("Denied"), "failed": condition("Failed"), "approved": condition("Approved"),
		"issued": condition("Approved") + `,"certificate":"eA=="`,
	} {
		controllertest.Put(t, srv, request(t, name, "u", kubelet, usages, node("system:node:a"), status))
	}
	after := func(d time.Duration) []string {
		controllertest.SettleWithin(t, srv, d)
		return controllertest.Names(t, srv, "certificatesigningrequests")
	}
	assert.Len(t, after(time.Hour), 5)
	assert.Equal(t, []string{"approved", "pending"}, after(time.Hour))
	assert.Equal(t, []string{"approved", "pending"}, after(22*time.Hour))
	assert.Empty(t, after(time.Hour))
}
