package certificates

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"strings"
	"time"

	"github.com/kubefake/kubefake/internal/metrics"
	"github.com/kubefake/kubefake/internal/object"
)

var (
	requestedDurations = &metrics.Vec{
		Name: "apiserver_certificates_registry_csr_requested_duration_total", Type: metrics.Counter, Stability: metrics.Alpha,
		Help:   "Total number of issued CSRs with a requested duration, sliced by signer (only kubernetes.io signer names are specifically identified)",
		Labels: []string{"signerName"},
	}
	honoredDurations = &metrics.Vec{
		Name: "apiserver_certificates_registry_csr_honored_duration_total", Type: metrics.Counter, Stability: metrics.Alpha,
		Help:   "Total number of issued CSRs with a requested duration that was honored, sliced by signer (only kubernetes.io signer names are specifically identified)",
		Labels: []string{"signerName"},
	}
)

// Metrics returns the metrics of signed certificates.
func Metrics() []*metrics.Vec { return []*metrics.Vec{requestedDurations, honoredDurations} }

// countIssued counts an update that issues the certificate of a request with a duration.
func countIssued(obj map[string]any, old object.View, counts *metrics.Values) {
	seconds, ok := old.Int("spec", "expirationSeconds")
	issued := object.String(obj, "status", "certificate")
	if !ok || issued == "" || old.String("status", "certificate") != "" {
		return
	}
	signer := old.String("spec", "signerName")
	if !strings.HasPrefix(signer, "kubernetes.io/") {
		signer = "other"
	}
	counts.Add(requestedDurations, signer)
	if c := firstCertificate(issued); c != nil && honored(time.Duration(seconds)*time.Second, c.NotAfter.Sub(c.NotBefore)) {
		counts.Add(honoredDurations, signer)
	}
}

// firstCertificate returns the first certificate of PEM blocks in base64, nil if there is
// none.
func firstCertificate(text string) *x509.Certificate {
	rest, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil
	}
	for {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			return nil
		}
		if block.Type != "CERTIFICATE" || len(block.Headers) > 0 {
			continue
		}
		if c, err := x509.ParseCertificate(block.Bytes); err == nil {
			return c
		}
		return nil
	}
}

// honored reports whether a certificate is valid for about as long as it was wanted: signers
// may backdate it by five minutes, and 5% do not matter.
func honored(wanted, valid time.Duration) bool {
	return (wanted - valid).Abs() < 5*time.Minute+wanted/20
}
