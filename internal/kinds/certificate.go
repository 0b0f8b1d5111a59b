package kinds

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/validation"
)

// prepareSigningRequest leaves a request as it was made.
func prepareSigningRequest(obj, old map[string]any) {
	if old != nil {
		object.Keep(obj, old, "spec")
	}
}

// stampSigningRequest says in a new request whose it is, and dates the
// conditions of one that is decided on.
func stampSigningRequest(obj, old map[string]any, by resource.Author) {
	if old == nil {
		spec := child(obj, "spec")
		for name, v := range map[string]any{"username": by.Name, "uid": by.UID, "groups": list(by.Groups), "extra": extra(by.Extra)} {
			if v == nil || v == "" {
				delete(spec, name)
			} else {
				spec[name] = v
			}
		}
		return
	}
	before := object.List(old, "status", "conditions")
	for condition := range object.Each(object.Value(obj, "status", "conditions")) {
		fill(condition, "lastUpdateTime", by.Now)
		if condition["lastTransitionTime"] != nil {
			continue
		}
		condition["lastTransitionTime"] = by.Now
		for c := range object.Each(before) {
			if same(c, condition, "type") && same(c, condition, "status") && c["lastTransitionTime"] != nil {
				condition["lastTransitionTime"] = c["lastTransitionTime"]
				break
			}
		}
	}
}

// list is a list of strings as a generic value, nil if it is empty.
func list(texts []string) any {
	if len(texts) == 0 {
		return nil
	}
	return object.Texts(texts)
}

// extra are a user's attributes as a generic value, nil if there are none.
func extra(attributes map[string][]string) any {
	if len(attributes) == 0 {
		return nil
	}
	out := make(map[string]any, len(attributes))
	for name, values := range attributes {
		out[name] = list(values)
	}
	return out
}

// The conditions of a request. They are never withdrawn, and the first two
// exclude each other.
const (
	certificateApproved = "Approved"
	certificateDenied   = "Denied"
	certificateFailed   = "Failed"
)

// prepareSigningRequestStatus leaves to a write of the status all but the
// decision, which has a subresource of its own.
func prepareSigningRequestStatus(obj, old map[string]any) {
	statusAndMeta.prepare(obj, old)
	conditions := object.List(obj, "status", "conditions")
	before := object.List(old, "status", "conditions")
	for _, typ := range []string{certificateApproved, certificateDenied} {
		mine, theirs := placesOf(conditions, typ), placesOf(before, typ)
		if len(mine) != len(theirs) {
			continue // which is refused
		}
		for i := range mine {
			conditions[mine[i]] = object.Copy(before[theirs[i]])
		}
	}
}

// prepareApproval leaves to a write of the approval the conditions alone.
func prepareApproval(obj, old map[string]any) {
	conditions := object.Value(obj, "status", "conditions")
	statusAndMeta.prepare(obj, old)
	status := object.Copy(object.Map(old, "status"))
	if status == nil {
		status = map[string]any{}
	}
	object.Keep(status, map[string]any{"conditions": conditions}, "conditions")
	if conditions == nil {
		delete(status, "conditions")
	}
	obj["status"] = status
}

// placesOf are where the conditions of a type stand in a list.
func placesOf(conditions []any, typ string) []int {
	var places []int
	for i, c := range conditions {
		if c, _ := c.(map[string]any); c["type"] == typ {
			places = append(places, i)
		}
	}
	return places
}

// validateSigningRequest checks a new request. Afterwards its specification
// stays.
func validateSigningRequest(obj, old map[string]any) validation.List {
	if old != nil {
		return nil
	}
	return mistakes(object.Map(obj, "spec"), validation.NewPath("spec"), signingRequest)
}

func signingRequest(spec part) {
	if err := checkRequest(spec.bytes("request")); err != nil {
		spec.note(validation.Invalid(spec.at("request"), bytesValue(spec.obj["request"]), err.Error()))
	}
	spec.needs("usages")
	usages := spec.texts("usages")
	for i, usage := range usages {
		if !slices.Contains(keyUsages, usage) {
			spec.note(validation.NotSupported(spec.at("usages").Index(i), validation.NamedString(usage), keyUsages))
		}
	}
	for i, usage := range usages {
		if slices.Contains(usages[:i], usage) {
			spec.note(validation.Duplicate(spec.at("usages").Index(i), validation.NamedString(usage)))
		}
	}
	if signer := spec.text("signerName"); signer == "kubernetes.io/legacy-unknown" {
		spec.invalid("signerName", "the legacy signerName is not allowed via this API version")
	} else {
		spec.add(signerName(signer, spec.at("signerName")))
	}
	if n, ok := object.Int(spec.obj, "expirationSeconds"); ok && n < 600 {
		spec.invalid("expirationSeconds", "may not specify a duration less than 600 seconds (10 minutes)")
	}
}

// keyUsages are the purposes of a certificate, sorted.
var keyUsages = []string{
	"any", "cert sign", "client auth", "code signing", "content commitment", "crl sign", "data encipherment",
	"decipher only", "digital signature", "email protection", "encipher only", "ipsec end system", "ipsec tunnel",
	"ipsec user", "key agreement", "key encipherment", "microsoft sgc", "netscape sgc", "ocsp signing", "s/mime",
	"server auth", "signing", "timestamping",
}

// bytes are the bytes that a member has in base64.
func (p part) bytes(name string) []byte {
	b, _ := base64.StdEncoding.DecodeString(p.text(name)) // decoding the object checked it
	return b
}

// bytesValue is a member that has bytes as messages quote it.
func bytesValue(v any) any {
	if s, ok := v.(string); ok {
		return validation.NamedString(s)
	}
	return nil
}

// checkRequest checks a PKCS #10 request in PEM, which must be signed.
func checkRequest(text []byte) error {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != "CERTIFICATE REQUEST" {
		return errors.New("PEM block type must be CERTIFICATE REQUEST")
	}
	request, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil {
		return err
	}
	return request.CheckSignature()
}

// signerName checks the name of a signer: a domain and a path, whose labels may
// be as long as subdomains.
func signerName(name string, path *validation.Path) validation.List {
	if name == "" {
		return validation.List{validation.Required(path, "")}
	}
	domain, rest, ok := strings.Cut(name, "/")
	if !ok || strings.Contains(rest, "/") {
		return validation.List{validation.Invalid(path, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'")}
	}
	const longestDomain = validation.DNS1123SubdomainMaxLength
	const longestPath = validation.DNS1123SubdomainMaxLength + validation.DNS1123LabelMaxLength + 1
	var list validation.List
	if len(domain) > longestDomain {
		list = append(list, validation.TooLong(path, longestDomain))
	}
	list = append(list, signerLabels(domain, validation.DNS1123Label, path)...)
	if !strings.Contains(domain, ".") {
		list = append(list, validation.Invalid(path, domain, "should be a domain with at least two segments separated by dots"))
	}
	list = append(list, signerLabels(rest, validation.DNS1123Subdomain, path)...)
	if longest := longestDomain + longestPath + 1; len(name) > longest {
		list = append(list, validation.TooLong(path, longest))
	}
	return list
}

// signerLabels checks the labels of one side of a signer's name, up to the first
// that is wrong.
func signerLabels(side string, format func(string) []string, path *validation.Path) validation.List {
	for label := range strings.SplitSeq(side, ".") {
		messages := format(label)
		for i, m := range messages {
			messages[i] = fmt.Sprintf("validating label %q: %s", label, m)
		}
		if len(messages) > 0 {
			return validation.Each(path, side, messages)
		}
	}
	return nil
}

// validateSigningRequestStatus checks what a signer writes: not the decision,
// and the certificate once.
func validateSigningRequestStatus(obj, old map[string]any) validation.List {
	return mistakes(object.Map(obj, "status"), validation.NewPath("status"), func(status part) {
		requestConditions(status)
		before := object.Map(old, "status")
		certificate, issued := status.bytes("certificate"), object.String(before, "certificate")
		replaced := status.text("certificate") != issued
		if replaced {
			if err := checkCertificates(certificate); err != nil {
				status.note(validation.Invalid(status.at("certificate"), "<certificate data>", err.Error()))
			}
		}
		keepsConditions(status, before, certificateApproved, certificateDenied, certificateFailed)
		for _, typ := range []string{certificateApproved, certificateDenied} {
			if len(placesOf(object.List(status.obj, "conditions"), typ)) > len(placesOf(object.List(before, "conditions"), typ)) {
				status.forbid("conditions", fmt.Sprintf("updates may not add a condition of type %q", typ))
			}
		}
		if replaced && issued != "" {
			status.forbid("certificate", "updates may not modify existing certificate content")
		}
	})
}

// validateApproval checks a decision, which is final.
func validateApproval(obj, old map[string]any) validation.List {
	return mistakes(object.Map(obj, "status"), validation.NewPath("status"), func(status part) {
		requestConditions(status)
		keepsConditions(status, object.Map(old, "status"), certificateApproved, certificateDenied, certificateFailed)
	})
}

func keepsConditions(status part, before map[string]any, types ...string) {
	for _, typ := range types {
		if len(placesOf(object.List(status.obj, "conditions"), typ)) < len(placesOf(object.List(before, "conditions"), typ)) {
			status.forbid("conditions", fmt.Sprintf("updates may not remove a condition of type %q", typ))
		}
	}
}

func requestConditions(status part) {
	seen := names{}
	for _, c := range status.each("conditions") {
		c.needs("type")
		typ := c.text("type")
		switch typ {
		case certificateApproved, certificateDenied, certificateFailed:
			c.needsOneOf("status", "True")
		default:
			c.needsOneOf("status", "False", "True", "Unknown")
		}
		if typ == certificateApproved && seen[certificateDenied] || typ == certificateDenied && seen[certificateApproved] {
			status.note(validation.Invalid(status.at("conditions"), validation.NamedString(typ), "Approved and Denied conditions are mutually exclusive"))
		}
		if seen[typ] {
			c.note(validation.Duplicate(c.at("type"), validation.NamedString(typ)))
		}
		seen[typ] = true
	}
}

// checkCertificates checks certificates in PEM; none at all are fine.
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
