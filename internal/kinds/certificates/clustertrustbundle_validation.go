package certificates

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"slices"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

// maxTrustBundle is the maximum size of spec.trustBundle, in bytes.
const maxTrustBundle = 1 << 20

// validateTrustBundle checks a ClusterTrustBundle. An update checks trust anchors only if
// they change.
func validateTrustBundle(obj map[string]any, old object.View) validation.List {
	return validation.Collect(obj, nil, func(bundle validation.View) {
		spec := bundle.Field("spec")
		signer := spec.String("signerName")
		bundle.Names(validation.ClusterTrustBundleName(signer))
		if signer != "" {
			spec.AddList(validation.SignerName(signer, spec.At("signerName")))
		}
		if old.IsNil() || spec.String("trustBundle") != old.String("spec", "trustBundle") {
			checkTrustAnchors(spec)
		}
		if !old.IsNil() && signer != old.String("spec", "signerName") {
			spec.InvalidString("signerName", "field is immutable")
		}
	})
}

// checkTrustAnchors checks that spec.trustBundle has certificates of authorities in PEM,
// each of them once.
func checkTrustAnchors(spec validation.View) {
	text := []byte(spec.String("trustBundle"))
	if len(text) > maxTrustBundle {
		spec.Add(validation.TooLong(spec.At("trustBundle"), maxTrustBundle))
		return
	}
	invalid := func(format string, args ...any) {
		spec.Add(validation.Invalid(spec.At("trustBundle"), "<value omitted>", fmt.Sprintf(format, args...)))
	}
	before := len(spec.Errs.List)
	entries := map[string][]int{} // the indexes of each certificate
	for i := 0; ; i++ {
		block, rest := pem.Decode(text)
		if block == nil {
			break
		}
		text = rest
		if wrong := wrongAnchor(block); wrong != "" {
			invalid("entry %d %s", i, wrong)
			continue
		}
		entries[string(block.Bytes)] = append(entries[string(block.Bytes)], i)
	}
	if !spec.NoErrorsSince(before) {
		return
	}
	if len(entries) == 0 {
		invalid("at least one trust anchor must be provided")
	}
	var duplicates [][]int
	for _, indexes := range entries {
		if len(indexes) > 1 {
			duplicates = append(duplicates, indexes)
		}
	}
	slices.SortFunc(duplicates, slices.Compare[[]int])
	for _, indexes := range duplicates {
		invalid("duplicate trust anchor (indices %v)", indexes)
	}
}

// wrongAnchor returns why a block is not the certificate of an authority, or "".
func wrongAnchor(block *pem.Block) string {
	if block.Type != "CERTIFICATE" {
		return "has bad block type: " + block.Type
	}
	if len(block.Headers) > 0 {
		return "has PEM block headers"
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	switch {
	case err != nil:
		return "does not parse as X.509"
	case !certificate.IsCA:
		return "does not have the CA bit set"
	case !certificate.BasicConstraintsValid:
		return "has invalid basic constraints"
	}
	return ""
}
