package certificates_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/kinds/certificates"
	"github.com/kubefake/kubefake/internal/kinds/kindtest"
	"github.com/kubefake/kubefake/internal/metrics"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
)

func TestSigningRequests(t *testing.T) {
	typ := kindtest.TypeOf(t, "certificatesigningrequests.certificates.k8s.io")
	old := kindtest.Create(t, typ, `{"spec":{"username":"forged","uid":"forged","signerName":"s"},"status":{"certificate":"eA=="}}`)
	typ.PrepareWithAuthor(old, object.View{}, resource.Author{User: authn.User{Name: "alice", Groups: []string{"devs"}, Extra: map[string][]string{"k": {"v"}}}})
	kindtest.CheckRow(t, kindtest.Row{Path: "spec", Want: `{"username":"alice","groups":["devs"],"extra":{"k":["v"]},"signerName":"s","request":null}`}, old)
	kindtest.CheckRow(t, kindtest.Row{Path: "status", Want: `{}`}, old)

	changed := kindtest.Decode(t, typ, `{"spec":{"signerName":"t"}}`)
	typ.Prepare(changed, object.ViewOf(old))
	assert.Equal(t, old["spec"], changed["spec"])

	old["status"] = map[string]any{"conditions": []any{map[string]any{"type": "Approved", "status": "True", "lastTransitionTime": "2024-01-02T03:04:05Z"}}}
	obj := kindtest.Decode(t, typ, `{"status":{"conditions":[{"type":"Approved","status":"True"},{"type":"Failed","status":"True"}]}}`)
	typ.SubresourceStrategies["status"].Prepare(obj, object.ViewOf(old))
	typ.PrepareWithAuthor(obj, object.ViewOf(old), resource.Author{Now: "2024-01-02T03:04:06Z"})
	kindtest.CheckRow(t, kindtest.Row{Path: "status.conditions", Want: `[
		{"type":"Approved","status":"True","lastTransitionTime":"2024-01-02T03:04:05Z","lastUpdateTime":"2024-01-02T03:04:06Z"},
		{"type":"Failed","status":"True","lastTransitionTime":"2024-01-02T03:04:06Z","lastUpdateTime":"2024-01-02T03:04:06Z"}]`}, obj)
}

func TestValidateSigningRequests(t *testing.T) {
	request := signingRequestPEM(t)
	spec := func(members string) string { return `{"spec":{"request":"` + request + `",` + members + `}}` }
	const usages = `"usages":["client auth"]`
	const form = "must be a fully qualified domain and path of the form 'example.com/signer-name'"
	kindtest.TestValidation(t, "certificatesigningrequests.certificates.k8s.io", []kindtest.ValidationRow{
		{"valid", "", spec(usages + `,"signerName":"a.io/b","expirationSeconds":600`), ""},
		{"empty", "", `{}`, "[spec.request: Invalid value: null: PEM block type must be CERTIFICATE REQUEST, spec.usages: Required value, spec.signerName: Required value]"},
		{"no PEM", "", `{"spec":{"request":"YQ==",` + usages + `,"signerName":"a.io/b"}}`, `spec.request: Invalid value: "YQ==": PEM block type must be CERTIFICATE REQUEST`},
		{"usages", "", spec(`"usages":["any","any"],"signerName":"a.io/b"`), `spec.usages[1]: Duplicate value: "any"`},
		{"no path", "", spec(usages + `,"signerName":"a.io"`), `spec.signerName: Invalid value: "a.io": ` + form},
		{"two paths", "", spec(usages + `,"signerName":"a.io/b/c"`), `spec.signerName: Invalid value: "a.io/b/c": ` + form},
		{"no domain", "", spec(usages + `,"signerName":"a/b"`), `spec.signerName: Invalid value: "a": should be a domain with at least two segments separated by dots`},
		{"labels", "", spec(usages + `,"signerName":"a..io/b"`), `spec.signerName: Invalid value: "a..io": validating label "": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')`},
		{"legacy", "", spec(usages + `,"signerName":"kubernetes.io/legacy-unknown"`), `spec.signerName: Invalid value: "kubernetes.io/legacy-unknown": the legacy signerName is not allowed via this API version`},
		{"short expiration", "", spec(usages + `,"signerName":"a.io/b","expirationSeconds":599`), "spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 600 seconds (10 minutes)"},
		{"long name", "", spec(usages + `,"signerName":"` + strings.Repeat("a.", 127) + `a/b"`), "spec.signerName: Too long: may not be more than 253 bytes"},
	})
}

func TestValidateSigningRequestStatus(t *testing.T) {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{SerialNumber: big.NewInt(1)}, &x509.Certificate{}, key.Public(), key)
	require.NoError(t, err)
	certificate := inBase64("CERTIFICATE", der)
	status := func(members string) string { return `{"status":{` + members + `}}` }
	const approved = `"conditions":[{"type":"Approved","status":"True"}]`
	kindtest.TestStatusValidation(t, "certificatesigningrequests.certificates.k8s.io", []kindtest.ValidationRow{
		{"issued", status(approved), status(approved + `,"certificate":"` + certificate + `"`), ""},
		{"issued again", status(`"certificate":"YQ=="`), status(`"certificate":"` + certificate + `"`), "status.certificate: Forbidden: updates may not modify existing certificate content"},
		{"certificate unchanged", status(`"certificate":"YQ=="`), status(`"certificate":"YQ=="`), ""},
		{"no certificate", `{}`, status(`"certificate":"YQ=="`), `status.certificate: Invalid value: "<certificate data>": must contain at least one CERTIFICATE PEM block`},
		{"another block", `{}`, status(`"certificate":"` + inBase64("KEY", nil) + `"`), `status.certificate: Invalid value: "<certificate data>": only CERTIFICATE PEM blocks are allowed, found "KEY"`},
		{"empty block", `{}`, status(`"certificate":"` + inBase64("CERTIFICATE", nil) + `"`), `status.certificate: Invalid value: "<certificate data>": found CERTIFICATE PEM block containing 0 certificates`},
		{"decided", `{}`, status(approved), `status.conditions: Forbidden: updates may not add a condition of type "Approved"`},
		{"decision withdrawn", status(approved), `{}`, `status.conditions: Forbidden: updates may not remove a condition of type "Approved"`},
		{"decision kept", status(approved), status(`"conditions":[{"type":"Approved","status":"False"}]`), ""},
		{"conditions", `{}`, status(`"conditions":[{"type":"","status":""},{"type":"a","status":"b"},{"type":"a","status":"True"},{"type":"Failed","status":"False"}]`), `[status.conditions[0].type: Required value, status.conditions[0].status: Required value, status.conditions[1].status: Unsupported value: "b": supported values: "False", "True", "Unknown", status.conditions[2].type: Duplicate value: "a", status.conditions[3].status: Unsupported value: "False": supported values: "True"]`},
	})
}

func TestApproval(t *testing.T) {
	const approved = `{"type":"Approved","status":"True"}`
	const denied = `{"type":"Denied","status":"True"}`
	typ := kindtest.TypeOf(t, "certificatesigningrequests.certificates.k8s.io")
	for _, r := range []kindtest.ValidationRow{
		{"approved", `[]`, `[` + approved + `]`, ""},
		{"withdrawn", `[` + denied + `]`, `[]`, `status.conditions: Forbidden: updates may not remove a condition of type "Denied"`},
		{"both", `[` + approved + `]`, `[` + approved + `,` + denied + `]`, "status.conditions: Invalid value: \"{conditions[{\\\"type\\\": \\\"Approved\\\"}], conditions[{\\\"type\\\": \\\"Denied\\\"}]}\": must specify at most one of: `conditions[{\"type\": \"Approved\"}]`, `conditions[{\"type\": \"Denied\"}]`"},
	} {
		t.Run(r.Name, func(t *testing.T) {
			old := kindtest.Decode(t, typ, `{"spec":{"signerName":"s"},"status":{"certificate":"YQ==","conditions":`+r.Old+`}}`)
			obj := kindtest.Decode(t, typ, `{"spec":{"signerName":"t"},"status":{"certificate":"Yg==","conditions":`+r.Body+`}}`)
			kept := object.Copy(old)
			typ.SubresourceStrategies["approval"].Prepare(obj, object.ViewOf(old))
			assert.Equal(t, kept, old)
			kindtest.CheckRow(t, kindtest.Row{Path: "status.certificate", Want: `"YQ=="`}, obj)
			kindtest.CheckRow(t, kindtest.Row{Path: "spec.signerName", Want: `"s"`}, obj)
			kindtest.CheckValidation(t, r, typ.SubresourceStrategies["approval"].Validate, obj, old)
		})
	}
}

// A certificate counts once, if its request has a duration, and honors it within 5% and five
// minutes.
func TestCountIssued(t *testing.T) {
	typ := kindtest.TypeOf(t, "certificatesigningrequests.certificates.k8s.io")
	_, key, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	issue := func(valid time.Duration) string {
		from := time.Unix(0, 0)
		der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: from, NotAfter: from.Add(valid)}, &x509.Certificate{}, key.Public(), key)
		require.NoError(t, err)
		return `"status":{"certificate":"` + inBase64("CERTIFICATE", der) + `"}`
	}
	var counts metrics.Values
	for _, r := range []struct{ spec, old, now string }{
		{`"spec":{"expirationSeconds":36000,"signerName":"example.com/s"}`, "", issue(10*time.Hour + 34*time.Minute)},
		{`"spec":{"expirationSeconds":36000,"signerName":"example.com/s"}`, "", issue(10*time.Hour + 35*time.Minute)},
		{`"spec":{"expirationSeconds":36000,"signerName":"kubernetes.io/s"}`, "", issue(10 * time.Hour)},
		{`"spec":{"expirationSeconds":36000,"signerName":"kubernetes.io/s"}`, issue(time.Hour), issue(10 * time.Hour)},
		{`"spec":{"expirationSeconds":36000,"signerName":"kubernetes.io/s"}`, "", ""},
		{`"spec":{"signerName":"kubernetes.io/s"}`, "", issue(10 * time.Hour)},
	} {
		request := func(status string) map[string]any {
			return kindtest.Decode(t, typ, `{`+strings.TrimSuffix(r.spec+`,`+status, ",")+`}`)
		}
		typ.Updated(request(r.now), object.ViewOf(request(r.old)), &counts)
	}
	samples := func(vec *metrics.Vec) (out []string) {
		for _, s := range counts.Family(vec).Samples {
			out = append(out, fmt.Sprint(s.Labels[1], " ", s.Value))
		}
		return out
	}
	vecs := certificates.Metrics()
	assert.Equal(t, []string{"kubernetes.io/s 1", "other 2"}, samples(vecs[0]), "requested")
	assert.Equal(t, []string{"kubernetes.io/s 1", "other 1"}, samples(vecs[1]), "honored")
}

func TestResetFields(t *testing.T) {
	typ := kindtest.TypeOf(t, "certificatesigningrequests.certificates.k8s.io")
	assert.Equal(t, []string{"status", "spec"}, typ.ResetFields)
	assert.Equal(t, []string{"spec", "status.conditions"}, typ.SubresourceStrategies["status"].ResetFields)
	assert.Equal(t, []string{"spec", "status.certificate"}, typ.SubresourceStrategies["approval"].ResetFields)
	claims := kindtest.TypeOf(t, "resourceclaims.resource.k8s.io")
	assert.Equal(t, []string{"spec", "metadata"}, claims.SubresourceStrategies["status"].ResetFields)

	const requests = "podcertificaterequests.certificates.k8s.io"
	typ = kindtest.TypeIn(t, "v1.37-all", requests)
	assert.Equal(t, []string{"status"}, typ.ResetFields)
	assert.Equal(t, []string{"spec", "metadata"}, typ.SubresourceStrategies["status"].ResetFields)
	typ = kindtest.TypeIn(t, "v1.36-all", requests)
	assert.Empty(t, typ.ResetFields)
	assert.Equal(t, []string{"spec"}, typ.SubresourceStrategies["status"].ResetFields)
}

// signingRequestPEM returns a signed request in PEM, encoded in base64.
func signingRequestPEM(t *testing.T) string {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{}, key)
	require.NoError(t, err)
	return inBase64("CERTIFICATE REQUEST", der)
}

func inBase64(kind string, der []byte) string {
	return base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

func TestCheckRequestSignature(t *testing.T) {
	broken, err := base64.StdEncoding.DecodeString(signingRequestPEM(t))
	require.NoError(t, err)
	block, _ := pem.Decode(broken)
	block.Bytes[len(block.Bytes)-1] ^= 1
	typ := kindtest.TypeOf(t, "certificatesigningrequests.certificates.k8s.io")
	message := func(request *pem.Block) string {
		text := base64.StdEncoding.EncodeToString(pem.EncodeToMemory(request))
		obj := kindtest.Decode(t, typ, `{"spec":{"request":"`+text+`","usages":["client auth"],"signerName":"a.io/b"}}`)
		return typ.Validate(obj, object.View{}).Message()
	}
	assert.Contains(t, message(block), "x509")
	assert.Contains(t, message(&pem.Block{Type: "CERTIFICATE REQUEST"}), "spec.request: Invalid value")
}
