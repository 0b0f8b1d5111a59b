package certificates

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"fmt"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

// The maximum sizes of fields of bytes.
const (
	maxRequestField = 10 << 10 // stubPKCS10Request, pkixPublicKey and proofOfPossession
	maxUID          = 128
)

// validatePodCertificateRequest checks a new request. Updates cannot change the spec.
func validatePodCertificateRequest(obj map[string]any, old object.View) validation.List {
	return validation.Collect(obj, nil, func(request validation.View) {
		if !old.IsNil() {
			request.ImmutableAs("spec", "certificates.PodCertificateRequestSpec", old)
			return
		}
		checkPodCertificateRequest(request.Field("spec"))
	})
}

func checkPodCertificateRequest(spec validation.View) {
	signer := spec.String("signerName")
	spec.AddList(validation.SignerName(signer, spec.At("signerName")))
	spec.AddList(validation.UserAnnotations(object.Map(spec.Obj, "unverifiedUserAnnotations"), spec.At("unverifiedUserAnnotations")))
	for _, of := range []string{"pod", "serviceAccount", "node"} {
		spec.Format(of+"Name", validation.Subdomain)
		uid := spec.String(of + "UID")
		if uid == "" {
			spec.InvalidNamed(of+"UID", "must not be empty")
		}
		if len(uid) > maxUID {
			spec.Add(validation.TooLong(spec.At(of+"UID"), maxUID))
		}
	}
	shortest, longest := validation.PodCertificateSeconds(signer)
	if n := spec.Int("maxExpirationSeconds"); n < shortest || n > longest {
		spec.Invalid("maxExpirationSeconds", fmt.Sprintf("must be in the range [%d, %d]", shortest, longest))
	}
	switch stub, key, proof := spec.String("stubPKCS10Request") != "", spec.String("pkixPublicKey") != "", spec.String("proofOfPossession") != ""; {
	case stub && !key && !proof:
		checkStubRequest(spec)
	case !stub && key && proof:
		checkPossession(spec)
	default:
		spec.Add(validation.Inconsistent(spec.Path, "exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set"))
	}
}

// checkStubRequest checks the field stubPKCS10Request, of whose contents only the key and
// the signature count.
func checkStubRequest(spec validation.View) {
	path := spec.At("stubPKCS10Request")
	der := spec.Bytes("stubPKCS10Request")
	if len(der) > maxRequestField {
		spec.Add(validation.TooLong(path, maxRequestField))
		return
	}
	request, err := x509.ParseCertificateRequest(der)
	if err != nil {
		spec.Add(validation.Inconsistent(path, "must be a valid PKCS#10 CSR"))
		return
	}
	if e := checkKey(request.PublicKey, path, "elliptic public keys must use curve P256, P384, or P521", validation.NoValue{}); e != nil {
		spec.Add(e)
		return
	}
	if request.CheckSignature() != nil {
		spec.Add(validation.Inconsistent(path, "invalid signature"))
	}
}

// checkPossession checks the fields pkixPublicKey and proofOfPossession: the key, and a
// signature of the UID of the Pod by it.
func checkPossession(spec validation.View) {
	path, proofPath := spec.At("pkixPublicKey"), spec.At("proofOfPossession")
	der, proof := spec.Bytes("pkixPublicKey"), spec.Bytes("proofOfPossession")
	if len(der) > maxRequestField {
		spec.Add(validation.TooLong(path, maxRequestField))
		return
	}
	if len(proof) > maxRequestField {
		spec.Add(validation.TooLong(proofPath, maxRequestField))
		return
	}
	key, err := x509.ParsePKIXPublicKey(der)
	if err != nil {
		spec.Add(validation.Invalid(path, bytesValue(spec.Obj["pkixPublicKey"]), "must be a valid PKIX-serialized public key"))
		return
	}
	if e := checkKey(key, path, "elliptic public keys must use curve P256 or P384", bytesValue(spec.Obj["pkixPublicKey"])); e != nil {
		spec.Add(e)
		return
	}
	if !verifies(key, spec.String("podUID"), proof) {
		spec.Add(validation.Inconsistent(proofPath, "could not verify proof-of-possession signature"))
	}
}

// checkKey checks the type and the size of a key. curves says which elliptic curves there
// are, value is what the error about another type quotes.
func checkKey(key crypto.PublicKey, path *validation.Path, curves string, value any) *validation.Error {
	switch key := key.(type) {
	case ed25519.PublicKey:
	case *ecdsa.PublicKey:
		if key.Curve != elliptic.P256() && key.Curve != elliptic.P384() && key.Curve != elliptic.P521() {
			return validation.Invalid(path, "curve "+key.Curve.Params().Name, curves)
		}
	case *rsa.PublicKey:
		if bits := key.Size() * 8; bits != 3072 && bits != 4096 {
			return validation.Invalid(path, fmt.Sprintf("%d-bit modulus", bits), "RSA keys must have modulus size 3072 or 4096")
		}
	default:
		return validation.Invalid(path, value, "unknown public key type; supported types are Ed25519, ECDSA, and RSA")
	}
	return nil
}

// verifies reports whether a signature of a text is by the key.
func verifies(key crypto.PublicKey, text string, signature []byte) bool {
	digest := sha256.Sum256([]byte(text))
	switch key := key.(type) {
	case ed25519.PublicKey:
		return ed25519.Verify(key, []byte(text), signature)
	case *ecdsa.PublicKey:
		return ecdsa.VerifyASN1(key, digest[:], signature)
	case *rsa.PublicKey:
		return rsa.VerifyPSS(key, crypto.SHA256, digest[:], signature, nil) == nil
	}
	return false
}
