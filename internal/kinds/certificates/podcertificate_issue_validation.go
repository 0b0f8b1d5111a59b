package certificates

import (
	"crypto"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/mail"
	"slices"
	"strings"
	"time"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/validation"
)

// The bounds of an issued certificate.
const (
	maxCertificateChain  = 100 << 10 // bytes
	notBeforeTolerance   = 5 * time.Minute
	refreshMargin        = 10 * time.Minute // between status.beginRefreshAt and the ends of the lifetime
	shortestLifetime     = time.Hour
	certificateBlockType = "CERTIFICATE"
)

// validateIssue checks the status of a PodCertificateRequest: it gets one condition, which
// is final, with a certificate if that is Issued. Only users who may sign for the signer
// change it.
func validateIssue(w *resource.Write) validation.List {
	if w.Old.IsNil() {
		return nil
	}
	now, was := object.Map(w.Object, "status"), w.Old.At("status")
	errs := validation.Collect(now, validation.NewPath("status"), func(status validation.View) { checkIssue(status, was, w) })
	signer := w.Old.String("spec", "signerName")
	if len(errs) == 0 && !validation.Equal(now, was) && !w.MaySign(signer) {
		return validation.List{validation.Forbidden(validation.NewPath("spec", "signerName"),
			fmt.Sprintf("User %q is not permitted to \"sign\" for signer %q", w.Author.Name, signer))}
	}
	return errs
}

func checkIssue(status validation.View, was object.View, w *resource.Write) {
	final := checkFinalConditions(status)
	if len(status.Errs.List) > 0 {
		return
	}
	keeps := func(want object.View, detail string) {
		if !validation.Equal(status.Obj, want) {
			status.Add(validation.Inconsistent(status.Path, detail))
		}
	}
	switch {
	case was.Len("conditions") > 0:
		keeps(was, "immutable after PodCertificateRequest is issued, denied, or failed")
	case final == podCertificateDenied || final == podCertificateFailed:
		keeps(object.ViewOf(map[string]any{"conditions": status.Obj["conditions"]}), "non-condition status fields must be empty when denying or failing the PodCertificateRequest")
	case final == podCertificateIssued:
		if e := checkCertificateChain(status, w); e != nil {
			status.AddList(e)
		}
	default:
		keeps(was, `status is immutable unless transitioning to "Issued", "Denied", or "Failed"`)
	}
}

// checkFinalConditions checks the conditions, and returns the type of the one that there is
// or "".
func checkFinalConditions(status validation.View) (final string) {
	types := []string{podCertificateIssued, podCertificateDenied, podCertificateFailed}
	known := 0
	for i, c := range status.Each("conditions") {
		// kube-apiserver reports the index as a field.
		at := status.At("conditions").Child(fmt.Sprintf("[%d]", i))
		typ := c.String("type")
		if !slices.Contains(types, typ) {
			c.Add(validation.NotSupported(at.Child("type"), typ, types))
			continue
		}
		if known++; known > 1 {
			c.Add(validation.Invalid(at.Child("type"), typ, `There may be at most one condition with type "Issued", "Denied", or "Failed"`))
		}
		if s := c.String("status"); s != "True" {
			c.Add(validation.NotSupported(at.Child("status"), validation.NamedString(s), []string{"True"}))
		}
		final = typ
	}
	status.AddList(validation.Conditions(object.List(status.Obj, "conditions"), status.At("conditions")))
	return final
}

// checkCertificateChain checks the certificate that a signer issues, up to the first error
// of most kinds.
func checkCertificateChain(status validation.View, w *resource.Write) validation.List {
	path, chain := status.At("certificateChain"), status.String("certificateChain")
	wrong := func(detail string) validation.List { return validation.List{validation.Invalid(path, chain, detail)} }
	if len(chain) > maxCertificateChain {
		return validation.List{validation.TooLong(path, maxCertificateChain)}
	}
	block, rest := pem.Decode([]byte(chain))
	if block == nil {
		return wrong("issued certificate chain must contain at least one certificate")
	}
	if block.Type != certificateBlockType {
		return wrong("issued certificate chain must consist entirely of CERTIFICATE PEM blocks")
	}
	leaf, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return wrong("leaf certificate does not parse as valid X.509")
	}
	errs := checkAlternativeNames(leaf, path)
	key, e := requestedKey(w.Old.At("spec"))
	if e != nil {
		return append(errs, e)
	}
	if k, ok := key.(interface{ Equal(crypto.PublicKey) bool }); ok && !k.Equal(leaf.PublicKey) {
		return append(errs, wrong("leaf certificate was not issued to the requested public key")...)
	}
	if errs = append(errs, checkTimesPresent(status)...); len(errs) > 0 {
		return errs
	}
	if e := checkTimes(status, leaf, w); e != nil {
		return validation.List{e}
	}
	for {
		if block, rest = pem.Decode(rest); block == nil {
			return nil
		}
		if block.Type != certificateBlockType {
			return wrong("issued certificate chain must consist entirely of CERTFICATE PEM blocks") // spelled as in kube-apiserver
		}
		if _, err := x509.ParseCertificate(block.Bytes); err != nil {
			return wrong("intermediate certificate does not parse as valid X.509")
		}
	}
}

func checkAlternativeNames(leaf *x509.Certificate, path *validation.Path) (errs validation.List) {
	for _, name := range leaf.DNSNames {
		if name == "" {
			errs = append(errs, validation.Invalid(path, name, "leaf certificate should not contain empty DNSName"))
		}
		if strings.Contains(name, "..") {
			errs = append(errs, validation.Invalid(path, name, "leaf certificate's DNSName should not contain '..'"))
		}
		if strings.HasPrefix(name, ".") || strings.HasSuffix(name, ".") {
			errs = append(errs, validation.Invalid(path, name, "leaf certificate's DNSName should not start or end with '.'"))
		}
	}
	for _, address := range leaf.EmailAddresses {
		if _, err := mail.ParseAddress(address); err != nil {
			errs = append(errs, validation.Invalid(path, address, "leaf certificate should not contain invalid EmailAddress"))
		}
	}
	return errs
}

// requestedKey returns the public key that a request is for.
func requestedKey(spec object.View) (crypto.PublicKey, *validation.Error) {
	request := validation.Of(spec)
	request.Path = validation.NewPath("spec")
	if request.String("stubPKCS10Request") != "" {
		stub, err := x509.ParseCertificateRequest(request.Bytes("stubPKCS10Request"))
		if err != nil {
			return nil, validation.Inconsistent(request.At("stubPKCS10Request"), "must be a valid PKCS#10 CSR")
		}
		return stub.PublicKey, nil
	}
	key, err := x509.ParsePKIXPublicKey(request.Bytes("pkixPublicKey"))
	if err != nil {
		return nil, validation.Inconsistent(request.At("pkixPublicKey"), "must be a valid PKIX-serialized public key")
	}
	return key, nil
}

func checkTimesPresent(status validation.View) (errs validation.List) {
	for _, field := range []struct{ name, detail string }{
		{"notBefore", "must be present and consistent with the issued certificate"},
		{"notAfter", "must be present and consistent with the issued certificate"},
		{"beginRefreshAt", "must be present and in the range [notbefore+10min, notafter-10min]"},
	} {
		if !status.Has(field.name) {
			errs = append(errs, validation.Required(status.At(field.name), field.detail))
		}
	}
	return errs
}

// checkTimes compares the times in the status with those of the certificate and of the
// request.
func checkTimes(status validation.View, leaf *x509.Certificate, w *resource.Write) *validation.Error {
	at := func(name string) time.Time { return rfc3339(status.String(name)) }
	wrong := func(name, detail string) *validation.Error {
		return validation.Invalid(status.At(name), validation.NamedString(status.String(name)), detail)
	}
	now, refresh := rfc3339(w.Author.Now), at("beginRefreshAt")
	lifetime, seconds := leaf.NotAfter.Sub(leaf.NotBefore), validation.Of(w.Old.At("spec")).Int("maxExpirationSeconds")
	switch {
	case !at("notBefore").Equal(leaf.NotBefore):
		return wrong("notBefore", "must be set to the NotBefore time encoded in the leaf certificate")
	case leaf.NotBefore.Sub(now).Abs() >= notBeforeTolerance:
		return wrong("notBefore", "must be set to within 5 minutes of kube-apiserver's current time")
	case !at("notAfter").Equal(leaf.NotAfter):
		return wrong("notAfter", "must be set to the NotAfter time encoded in the leaf certificate")
	case lifetime < shortestLifetime:
		return validation.Invalid(status.At("certificateChain"), int64(lifetime), "leaf certificate lifetime must be >= 1 hour")
	case lifetime > time.Duration(seconds)*time.Second:
		return validation.Invalid(status.At("certificateChain"), int64(lifetime), fmt.Sprintf("leaf certificate lifetime must be <= spec.maxExpirationSeconds (%d)", seconds))
	case refresh.Before(leaf.NotBefore.Add(refreshMargin)):
		return wrong("beginRefreshAt", "must be at least 10 minutes after status.notBefore")
	case refresh.After(leaf.NotAfter.Add(-refreshMargin)):
		return wrong("beginRefreshAt", "must be at least 10 minutes before status.notAfter")
	}
	return nil
}

// rfc3339 returns a time that decoding has checked.
func rfc3339(text string) time.Time {
	t, _ := validation.Timestamp(text)
	return t
}
