package certificates_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
)

func TestValidateClusterTrustBundles(t *testing.T) {
	const name = "clustertrustbundles.certificates.k8s.io"
	anchor, other := certificatePEM(t, authority()), certificatePEM(t, authority())
	leaf := certificatePEM(t, &x509.Certificate{BasicConstraintsValid: true})
	block := func(b *pem.Block) string { return string(pem.EncodeToMemory(b)) }
	bundle := func(name, signer, text string) string {
		return asJSON(t, map[string]any{"metadata": map[string]any{"name": name}, "spec": map[string]any{"signerName": signer, "trustBundle": text}})
	}
	const prefix, omitted = "metadata.name: Invalid value: ", `spec.trustBundle: Invalid value: "<value omitted>": `
	kindtest.TestValidation(t, name, []kindtest.ValidationRow{
		{"anchors", "", bundle("a", "", anchor+other), ""},
		{"anchors of a signer", "", bundle("example.com:s:a", "example.com/s", anchor), ""},
		{"name without a signer", "", bundle("a:b", "", anchor), prefix + `"a:b": ClusterTrustBundle without signer name must not have ":" in its name`},
		{"name of another signer", "", bundle("a", "example.com/s", anchor), prefix + `"a": ClusterTrustBundle for signerName example.com/s must be named with prefix example.com:s:`},
		{"prefix of a name", "", `{"metadata":{"generateName":"a:"},"spec":{"trustBundle":` + asJSON(t, anchor) + `}}`, `metadata.generateName: Invalid value: "a:": ClusterTrustBundle without signer name must not have ":" in its name`},
		{"signer", "", bundle("x:a", "x", anchor), `spec.signerName: Invalid value: "x": must be a fully qualified domain and path of the form 'example.com/signer-name'`},
		{"no anchor", "", bundle("a", "", "x"), omitted + "at least one trust anchor must be provided"},
		{"anchor twice", "", bundle("a", "", anchor+other+anchor), omitted + "duplicate trust anchor (indices [0 2])"},
		{"what is no anchor", "", bundle("a", "", leaf+anchor+block(&pem.Block{Type: "KEY"})+block(&pem.Block{Type: "CERTIFICATE"})+block(&pem.Block{Type: "CERTIFICATE", Headers: map[string]string{"a": "b"}})), kindtest.Errors(
			omitted+"entry 0 does not have the CA bit set", omitted+"entry 2 has bad block type: KEY", omitted+"entry 3 does not parse as X.509", omitted+"entry 4 has PEM block headers")},
		{"too long", "", bundle("a", "", string(make([]byte, 1<<20+1))), "spec.trustBundle: Too long: may not be more than 1048576 bytes"},
		{"same invalid anchors", bundle("a", "", "x"), bundle("a", "", "x"), ""},
		{"other invalid anchors", bundle("a", "", "x"), bundle("a", "", "y"), omitted + "at least one trust anchor must be provided"},
		{"another signer", bundle("example.com:s:a", "example.com/s", "x"), bundle("example.com:s:a", "example.com/t", "x"), kindtest.Errors(
			prefix+`"example.com:s:a": ClusterTrustBundle for signerName example.com/t must be named with prefix example.com:t:`, `spec.signerName: Invalid value: "example.com/t": field is immutable`)},
	})
}

func authority() *x509.Certificate {
	return &x509.Certificate{IsCA: true, BasicConstraintsValid: true}
}

// certificatePEM returns a certificate in PEM, signed by itself with a new key.
func certificatePEM(t *testing.T, template *x509.Certificate) string {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	return certificateOf(t, template, key)
}

// certificateOf returns a certificate of a key in PEM, signed by itself.
func certificateOf(t *testing.T, template *x509.Certificate, key ed25519.PrivateKey) string {
	t.Helper()
	template.SerialNumber = big.NewInt(1)
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	require.NoError(t, err)
	return string(text)
}
