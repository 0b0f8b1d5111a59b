package certificates

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/validation"
)

// validateSigningRequest checks a new request. Updates cannot change the spec.
func validateSigningRequest(obj map[string]any, old object.View) validation.List {
	if !old.IsNil() {
		return nil
	}
	return validation.Collect(object.Map(obj, "spec"), validation.NewPath("spec"), checkSigningRequest)
}

func checkSigningRequest(spec validation.View) {
	if err := checkRequest(spec.String("request")); err != nil {
		spec.Add(validation.Invalid(spec.At("request"), bytesValue(spec.Obj["request"]), err.Error()))
	}
	spec.Require("usages")
	usages := spec.Strings("usages")
	for i, usage := range usages {
		if !slices.Contains(keyUsages, usage) {
			spec.Add(validation.NotSupported(spec.At("usages").Index(i), validation.NamedString(usage), keyUsages))
		}
	}
	for i, usage := range usages {
		if slices.Contains(usages[:i], usage) {
			spec.Add(validation.Duplicate(spec.At("usages").Index(i), validation.NamedString(usage)))
		}
	}
	if signer := spec.String("signerName"); signer == "kubernetes.io/legacy-unknown" {
		spec.Invalid("signerName", "the legacy signerName is not allowed via this API version")
	} else {
		spec.AddList(validation.SignerName(signer, spec.At("signerName")))
	}
	if n, ok := object.Int(spec.Obj, "expirationSeconds"); ok && n < 600 {
		spec.Invalid("expirationSeconds", "may not specify a duration less than 600 seconds (10 minutes)")
	}
}

// keyUsages are the valid key usages, sorted.
var keyUsages = []string{
	"any", "cert sign", "client auth", "code signing", "content commitment", "crl sign", "data encipherment",
	"decipher only", "digital signature", "email protection", "encipher only", "ipsec end system", "ipsec tunnel",
	"ipsec user", "key agreement", "key encipherment", "microsoft sgc", "netscape sgc", "ocsp signing", "s/mime",
	"server auth", "signing", "timestamping",
}

// bytesValue returns a field of bytes as error messages quote it.
func bytesValue(v any) any {
	if s, ok := v.(string); ok {
		return validation.AsGoType("[]byte", s)
	}
	return nil
}

// checkRequest checks that a request is a signed PKCS #10 request.
func checkRequest(request string) error {
	parsed, err := ParseRequest(request)
	if err != nil {
		return err
	}
	return parsed.CheckSignature()
}

// ParseRequest returns the certificate request in the field spec.request of a
// CertificateSigningRequest: PEM in base64. It does not check the signature.
func ParseRequest(request string) (*x509.CertificateRequest, error) {
	text, err := base64.StdEncoding.DecodeString(request)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil || block.Type != "CERTIFICATE REQUEST" {
		return nil, errors.New("PEM block type must be CERTIFICATE REQUEST")
	}
	return x509.ParseCertificateRequest(block.Bytes)
}

// validateSigningRequestStatus checks a write of a signer. It must neither add nor
// remove Approved and Denied, and must not change a certificate that is set.
func validateSigningRequestStatus(obj map[string]any, old object.View) validation.List {
	return validation.Collect(object.Map(obj, "status"), validation.NewPath("status"), func(status validation.View) {
		checkRequestConditions(status)
		before := old.At("status")
		certificate, issued := status.Bytes("certificate"), before.String("certificate")
		replaced := status.String("certificate") != issued
		if replaced {
			if err := checkCertificates(certificate); err != nil {
				status.Add(validation.Invalid(status.At("certificate"), "<certificate data>", err.Error()))
			}
		}
		checkKeepsConditions(status, before, certificateApproved, certificateDenied, certificateFailed)
		for _, typ := range []string{certificateApproved, certificateDenied} {
			if len(conditionIndexes(status.Object().At("conditions"), typ)) > len(conditionIndexes(before.At("conditions"), typ)) {
				status.Forbidden("conditions", fmt.Sprintf("updates may not add a condition of type %q", typ))
			}
		}
		if replaced && issued != "" {
			status.Forbidden("certificate", "updates may not modify existing certificate content")
		}
	})
}

// validateApproval checks a write to the approval subresource.
func validateApproval(obj map[string]any, old object.View) validation.List {
	return validation.Collect(object.Map(obj, "status"), validation.NewPath("status"), func(status validation.View) {
		checkRequestConditions(status)
		checkKeepsConditions(status, old.At("status"), certificateApproved, certificateDenied, certificateFailed)
	})
}

func checkKeepsConditions(status validation.View, before object.View, types ...string) {
	for _, typ := range types {
		if len(conditionIndexes(status.Object().At("conditions"), typ)) < len(conditionIndexes(before.At("conditions"), typ)) {
			status.Forbidden("conditions", fmt.Sprintf("updates may not remove a condition of type %q", typ))
		}
	}
}

func checkRequestConditions(status validation.View) {
	seen := validation.Seen{}
	for _, c := range status.Each("conditions") {
		c.Require("type")
		typ := c.String("type")
		switch typ {
		case certificateApproved, certificateDenied, certificateFailed:
			c.RequireOneOf("status", "True")
		default:
			c.RequireOneOf("status", "False", "True", "Unknown")
		}
		if typ == certificateApproved && seen[certificateDenied] || typ == certificateDenied && seen[certificateApproved] {
			status.Add(oneDecision(status.At("conditions"), typ))
		}
		if seen[typ] {
			c.Add(validation.Duplicate(c.At("type"), validation.NamedString(typ)))
		}
		seen[typ] = true
	}
}

// oneDecision is the error of a request that is approved and denied. typ is the second condition.
func oneDecision(path *validation.Path, typ string) *validation.Error {
	const approved, denied = `conditions[{"type": "Approved"}]`, `conditions[{"type": "Denied"}]`
	return validation.Invalid(path, "{"+approved+", "+denied+"}", "must specify at most one of: `"+approved+"`, `"+denied+"`").
		Before(behavior.DeclarativeErrors, validation.Instead(validation.Invalid(path, validation.NamedString(typ), "Approved and Denied conditions are mutually exclusive"))).Declarative()
}

// checkCertificates checks certificates in PEM. An empty text is valid.
func checkCertificates(text []byte) error {
	if len(text) == 0 {
		return nil
	}
	for count := 0; ; count++ {
		block, rest := pem.Decode(text)
		switch {
		case block == nil && count == 0:
			return errors.New("must contain at least one CERTIFICATE PEM block")
		case block == nil:
			return nil
		case block.Type != "CERTIFICATE":
			return fmt.Errorf("only CERTIFICATE PEM blocks are allowed, found %q", block.Type)
		case len(block.Headers) > 0:
			return errors.New("no PEM block headers are permitted")
		}
		certificates, err := x509.ParseCertificates(block.Bytes)
		if err != nil {
			return err
		}
		if len(certificates) == 0 {
			return errors.New("found CERTIFICATE PEM block containing 0 certificates")
		}
		text = rest
	}
}
