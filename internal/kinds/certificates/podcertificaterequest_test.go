package certificates_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/kinds/kindtest"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
)

const podCertificateRequests = "podcertificaterequests.certificates.k8s.io"

func TestDefaultPodCertificateRequests(t *testing.T) {
	kindtest.TestDefaults(t, podCertificateRequests, []kindtest.Row{
		{"lifetime", `{}`, "spec.maxExpirationSeconds", "86400"},
		{"explicit lifetime", `{"spec":{"maxExpirationSeconds":3600}}`, "spec.maxExpirationSeconds", "3600"},
	})
}

func TestValidatePodCertificateRequests(t *testing.T) {
	newEC := func(curve elliptic.Curve) crypto.Signer {
		key, err := ecdsa.GenerateKey(curve, rand.Reader)
		require.NoError(t, err)
		return key
	}
	newRSA := func(bits int) crypto.Signer {
		key, err := rsa.GenerateKey(rand.Reader, bits)
		require.NoError(t, err)
		return key
	}
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	ec, ec224, rsa2048, rsa3072 := newEC(elliptic.P256()), newEC(elliptic.P224()), newRSA(2048), newRSA(3072)
	digest := sha256.Sum256([]byte("u"))
	sign := func(key crypto.Signer, text []byte, opts crypto.SignerOpts) string {
		signature, err := key.Sign(rand.Reader, text, opts)
		require.NoError(t, err)
		return base64.StdEncoding.EncodeToString(signature)
	}
	public := func(key crypto.Signer) string {
		der, err := x509.MarshalPKIXPublicKey(key.Public())
		require.NoError(t, err)
		return base64.StdEncoding.EncodeToString(der)
	}
	stub := func(key crypto.Signer) string { return stubRequest(t, key) }
	patch := func(fields map[string]any) string { return asJSON(t, map[string]any{"spec": fields}) }
	possession := func(key, proof string) string {
		return patch(map[string]any{"stubPKCS10Request": nil, "pkixPublicKey": key, "proofOfPossession": proof})
	}
	long := strings.Repeat("u", 129)
	const stubPath, proof = "spec.stubPKCS10Request: Invalid value: ", "spec.proofOfPossession: Invalid value: could not verify proof-of-possession signature"
	kindtest.TestPatched(t, podCertificateRequests, podCertificateRequest(t, stub(ec)), []kindtest.PatchRow{
		{"RSA request", patch(map[string]any{"stubPKCS10Request": stub(rsa3072)}), ""},
		{"Ed25519 request", patch(map[string]any{"stubPKCS10Request": stub(ed)}), ""},
		{"small RSA request", patch(map[string]any{"stubPKCS10Request": stub(rsa2048)}), stubPath + `"2048-bit modulus": RSA keys must have modulus size 3072 or 4096`},
		{"small curve", patch(map[string]any{"stubPKCS10Request": stub(ec224)}), stubPath + `"curve P-224": elliptic public keys must use curve P256, P384, or P521`},
		{"no request", patch(map[string]any{"stubPKCS10Request": "AAAA"}), stubPath + "must be a valid PKCS#10 CSR"},
		{"large request", patch(map[string]any{"stubPKCS10Request": strings.Repeat("AAAA", 4<<10)}), "spec.stubPKCS10Request: Too long: may not be more than 10240 bytes"},
		{"request and key", patch(map[string]any{"pkixPublicKey": public(ec)}), "spec: Invalid value: exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set"},
		{"key", possession(public(ec), sign(ec, digest[:], crypto.SHA256)), ""},
		{"RSA key", possession(public(rsa3072), sign(rsa3072, digest[:], &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthAuto, Hash: crypto.SHA256})), ""},
		{"Ed25519 key", possession(public(ed), sign(ed, []byte("u"), crypto.Hash(0))), ""},
		{"no key", possession("AAAA", "AAAA"), `spec.pkixPublicKey: Invalid value: "AAAA": must be a valid PKIX-serialized public key`},
		{"small key", possession(public(ec224), "AAAA"), `spec.pkixPublicKey: Invalid value: "curve P-224": elliptic public keys must use curve P256 or P384`},
		{"no proof", possession(public(ec), "AAAA"), proof},
		{"no RSA proof", possession(public(rsa3072), "AAAA"), proof},
		{"no Ed25519 proof", possession(public(ed), "AAAA"), proof},
		{"no UIDs", patch(map[string]any{"podUID": nil, "serviceAccountUID": nil, "nodeUID": nil}), kindtest.Errors(
			`spec.podUID: Invalid value: "": must not be empty`, `spec.serviceAccountUID: Invalid value: "": must not be empty`, `spec.nodeUID: Invalid value: "": must not be empty`)},
		{"long UIDs", patch(map[string]any{"podUID": long, "serviceAccountUID": long, "nodeUID": long}), kindtest.Errors(
			"spec.podUID: Too long: may not be more than 128 bytes", "spec.serviceAccountUID: Too long: may not be more than 128 bytes", "spec.nodeUID: Too long: may not be more than 128 bytes")},
		{"short lifetime", patch(map[string]any{"maxExpirationSeconds": 3599}), "spec.maxExpirationSeconds: Invalid value: 3599: must be in the range [3600, 7862400]"},
		{"long lifetime of Kubernetes", patch(map[string]any{"maxExpirationSeconds": 86401, "signerName": "a.kubernetes.io/s"}), "spec.maxExpirationSeconds: Invalid value: 86401: must be in the range [3600, 86400]"},
		{"annotations", patch(map[string]any{"unverifiedUserAnnotations": map[string]any{"X.io/Y": "a", "b": "c"}}), `spec.unverifiedUserAnnotations: Invalid value: "b": must be a domain-prefixed key (such as "acme.io/foo")`},
		{"large annotations", patch(map[string]any{"unverifiedUserAnnotations": map[string]any{"x.io/y": strings.Repeat("a", 256<<10)}}), "spec.unverifiedUserAnnotations: Too long: may not be more than 262144 bytes"},
	})
	typ := kindtest.TypeOf(t, podCertificateRequests)
	old := kindtest.Decode(t, typ, podCertificateRequest(t, stub(ec)))
	changed := kindtest.Decode(t, typ, podCertificateRequest(t, stub(ec)))
	changed["spec"].(map[string]any)["podName"] = "q"
	assert.Contains(t, typ.Validate(changed, object.ViewOf(old)).Message(), "field is immutable")
	assert.Empty(t, typ.Validate(old, object.ViewOf(old)))
}

func TestIssuePodCertificates(t *testing.T) {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	now := time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC)
	text := func(after time.Duration) string { return now.Add(after).Format(time.RFC3339) }
	issued := func(key ed25519.PrivateKey, from, to time.Duration, names ...string) string {
		return certificateOf(t, &x509.Certificate{NotBefore: now.Add(from), NotAfter: now.Add(to), DNSNames: names}, key)
	}
	condition := func(typ string) map[string]any {
		return map[string]any{"type": typ, "status": "True", "reason": "R", "message": "m", "lastTransitionTime": text(0)}
	}
	// status returns an issued certificate with changes of its fields.
	status := func(chain string, changes map[string]any) map[string]any {
		s := map[string]any{
			"conditions": []any{condition("Issued")}, "certificateChain": chain,
			"notBefore": text(0), "notAfter": text(20 * time.Hour), "beginRefreshAt": text(10 * time.Hour),
		}
		maps.Copy(s, changes)
		return s
	}
	chain := issued(key, 0, 20*time.Hour)
	_, another, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	denied := map[string]any{"conditions": []any{condition("Denied")}}
	failedIn := condition("Failed")
	failedIn["status"] = "False"
	const chainPath = "status.certificateChain: Invalid value: "
	typ := kindtest.TypeOf(t, podCertificateRequests)
	for _, r := range []struct {
		name     string
		was, now map[string]any
		refused  bool // the author may not sign
		want     string
	}{
		{name: "issued", now: status(chain, nil)},
		{name: "issued with an authority", now: status(chain+certificatePEM(t, authority()), nil)},
		{name: "issued by another user", now: status(chain, nil), refused: true, want: `spec.signerName: Forbidden: User "alice" is not permitted to "sign" for signer "example.com/s"`},
		{name: "denied", now: denied},
		{name: "unchanged", was: denied, now: denied, refused: true},
		{name: "withdrawn", was: denied, now: map[string]any{}, want: "status: Invalid value: immutable after PodCertificateRequest is issued, denied, or failed"},
		{name: "denied with a certificate", now: status(chain, denied), want: "status: Invalid value: non-condition status fields must be empty when denying or failing the PodCertificateRequest"},
		{name: "no condition", now: map[string]any{"certificateChain": chain}, want: `status: Invalid value: status is immutable unless transitioning to "Issued", "Denied", or "Failed"`},
		{name: "two conditions", now: map[string]any{"conditions": []any{condition("Denied"), failedIn, condition("X")}}, want: kindtest.Errors(
			`status.conditions.[1].type: Invalid value: "Failed": There may be at most one condition with type "Issued", "Denied", or "Failed"`,
			`status.conditions.[1].status: Unsupported value: "False": supported values: "True"`,
			`status.conditions.[2].type: Unsupported value: "X": supported values: "Issued", "Denied", "Failed"`)},
		{name: "no certificate", now: status("x", nil), want: chainPath + `"x": issued certificate chain must contain at least one certificate`},
		{name: "no times", now: status(chain, map[string]any{"notBefore": nil, "notAfter": nil, "beginRefreshAt": nil}), want: kindtest.Errors(
			"status.notBefore: Required value: must be present and consistent with the issued certificate", "status.notAfter: Required value: must be present and consistent with the issued certificate",
			"status.beginRefreshAt: Required value: must be present and in the range [notbefore+10min, notafter-10min]")},
		{name: "another start", now: status(chain, map[string]any{"notBefore": text(time.Hour)}), want: `status.notBefore: Invalid value: "2024-01-02T04:04:05Z": must be set to the NotBefore time encoded in the leaf certificate`},
		{name: "another end", now: status(chain, map[string]any{"notAfter": text(time.Hour)}), want: `status.notAfter: Invalid value: "2024-01-02T04:04:05Z": must be set to the NotAfter time encoded in the leaf certificate`},
		{name: "old certificate", now: status(issued(key, -time.Hour, 20*time.Hour), map[string]any{"notBefore": text(-time.Hour)}), want: `status.notBefore: Invalid value: "2024-01-02T02:04:05Z": must be set to within 5 minutes of kube-apiserver's current time`},
		{name: "short lifetime", now: status(issued(key, 0, time.Minute), map[string]any{"notAfter": text(time.Minute)}), want: chainPath + "60000000000: leaf certificate lifetime must be >= 1 hour"},
		{name: "long lifetime", now: status(issued(key, 0, 25*time.Hour), map[string]any{"notAfter": text(25 * time.Hour)}), want: chainPath + "90000000000000: leaf certificate lifetime must be <= spec.maxExpirationSeconds (86400)"},
		{name: "refresh too early", now: status(chain, map[string]any{"beginRefreshAt": text(0)}), want: `status.beginRefreshAt: Invalid value: "2024-01-02T03:04:05Z": must be at least 10 minutes after status.notBefore`},
		{name: "refresh too late", now: status(chain, map[string]any{"beginRefreshAt": text(20 * time.Hour)}), want: `status.beginRefreshAt: Invalid value: "2024-01-02T23:04:05Z": must be at least 10 minutes before status.notAfter`},
		{name: "names", now: status(issued(key, 0, 20*time.Hour, "a..b", ".c"), nil), want: kindtest.Errors(
			chainPath+`"a..b": leaf certificate's DNSName should not contain '..'`, chainPath+`".c": leaf certificate's DNSName should not start or end with '.'`)},
	} {
		t.Run(r.name, func(t *testing.T) {
			request := func(status map[string]any) map[string]any {
				return kindtest.Decode(t, typ, kindtest.MergePatch(t, podCertificateRequest(t, stubRequest(t, key)), asJSON(t, map[string]any{"status": status})))
			}
			w := &resource.Write{Object: request(r.now), Old: object.ViewOf(request(r.was)), Author: resource.Author{User: authn.User{Name: "alice"}, Now: text(0)},
				MaySign: func(signer string) bool { return signer == "example.com/s" && !r.refused }}
			assert.Equal(t, r.want, typ.ValidateInNamespace(w).Message())
		})
	}
	for name, wrong := range map[string]string{
		"issued certificate chain must consist entirely of CERTIFICATE PEM blocks": strings.ReplaceAll(chain, "CERTIFICATE", "KEY"),
		"leaf certificate was not issued to the requested public key":              issued(another, 0, 20*time.Hour),
		"issued certificate chain must consist entirely of CERTFICATE PEM blocks":  chain + strings.ReplaceAll(chain, "CERTIFICATE", "KEY"),
	} {
		t.Run(name, func(t *testing.T) {
			old := kindtest.Decode(t, typ, podCertificateRequest(t, stubRequest(t, key)))
			obj := kindtest.Decode(t, typ, kindtest.MergePatch(t, podCertificateRequest(t, stubRequest(t, key)), asJSON(t, map[string]any{"status": status(wrong, nil)})))
			errs := typ.ValidateInNamespace(&resource.Write{Object: obj, Old: object.ViewOf(old), Author: resource.Author{Now: text(0)}})
			require.Len(t, errs, 1)
			assert.Equal(t, name, errs[0].Detail)
		})
	}
}

// podCertificateRequest returns a valid request with a stub.
func podCertificateRequest(t *testing.T, stub string) string {
	t.Helper()
	return asJSON(t, map[string]any{"metadata": map[string]any{"name": "a"}, "spec": map[string]any{
		"signerName": "example.com/s", "podName": "p", "podUID": "u", "serviceAccountName": "s", "serviceAccountUID": "u", "nodeName": "n", "nodeUID": "u",
		"stubPKCS10Request": stub,
	}})
}

// stubRequest returns an empty certificate request in base64, signed by the key.
func stubRequest(t *testing.T, key crypto.Signer) string {
	t.Helper()
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{}, key)
	require.NoError(t, err)
	return base64.StdEncoding.EncodeToString(der)
}
