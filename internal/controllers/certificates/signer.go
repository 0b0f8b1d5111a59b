package certificates

import (
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/kinds/certificates"
	"github.com/kubefake/kubefake/internal/object"
)

const (
	// duration is the default of --cluster-signing-duration, and the longest one.
	duration         = 8760 * time.Hour
	shortestDuration = 10 * time.Minute

	// backdate is how long before now a certificate begins. A certificate that is valid for
	// less than short ends as much later.
	backdate = 5 * time.Minute
	short    = 8 * time.Hour
)

// signers are the signers of kube-controller-manager by name. They check requests.
var signers = map[string]func(request *x509.CertificateRequest, usages []string) error{
	"kubernetes.io/kubelet-serving":       checkKubeletServing,
	kubeletClient:                         checkKubeletClient,
	"kubernetes.io/kube-apiserver-client": checkClient,
	"kubernetes.io/legacy-unknown":        func(*x509.CertificateRequest, []string) error { return nil },
}

type signer struct {
	env      *controller.Env
	client   *controller.Client
	requests *controller.Informer
}

// StartSigning starts the certificatesigningrequest-signing-controller, which signs
// approved requests to the signers of kubernetes.io.
func StartSigning(e *controller.Env) {
	c := &signer{env: e, client: e.Client(account)}
	queue := e.Queue(c.sync, controller.QueueOptions{MinBackoff: 200 * time.Millisecond})
	c.requests = e.Informer(controller.CertificateSigningRequests, func(_, csr *controller.Object) {
		if csr != nil {
			queue.Add(csr.Key())
		}
	})
}

// sync signs a request that is approved, or marks it as failed.
func (c *signer) sync(k controller.Key) error {
	csr := c.requests.Get("", k.Name)
	if csr == nil {
		return nil
	}
	obj := csr.View()
	check := signers[obj.String("spec", "signerName")]
	if check == nil || obj.String("status", "certificate") != "" || controller.Condition(obj, "Approved").IsNil() ||
		!controller.Condition(obj, "Denied").IsNil() || controller.HasCondition(obj, "Failed", "True") {
		return nil
	}
	request, err := certificates.ParseRequest(obj.String("spec", "request"))
	if err != nil {
		return fmt.Errorf("unable to parse csr %q: %w", csr.Name, err)
	}
	usages := obj.Strings("spec", "usages")
	changed := csr.Copy()
	status := object.EnsureMap(changed, "status")
	if err := check(request, usages); err != nil {
		controller.SetCondition(status, map[string]any{
			"type": "Failed", "status": "True", "reason": "SignerValidationFailure", "message": err.Error(),
			"lastUpdateTime": clock.Timestamp(c.env.Now()),
		})
	} else {
		certificate, err := c.sign(request, usages, obj)
		if err != nil {
			return fmt.Errorf("error auto signing csr: %w", err)
		}
		status["certificate"] = base64.StdEncoding.EncodeToString(certificate)
	}
	_, err = c.client.UpdateStatus(controller.CertificateSigningRequests, changed)
	return err
}

// sign returns the certificate of a request in PEM.
func (c *signer) sign(request *x509.CertificateRequest, usages []string, csr object.View) ([]byte, error) {
	if err := request.CheckSignature(); err != nil {
		return nil, fmt.Errorf("unable to verify certificate request signature: %w", err)
	}
	ttl := duration
	if seconds, ok := csr.Int("spec", "expirationSeconds"); ok {
		ttl = max(shortestDuration, min(duration, time.Duration(seconds)*time.Second))
	}
	begin := c.env.Now().Add(-backdate)
	end := begin.Add(ttl)
	if ttl < short {
		end = end.Add(backdate)
	}
	template := &x509.Certificate{
		Subject: request.Subject, DNSNames: request.DNSNames, IPAddresses: request.IPAddresses,
		EmailAddresses: request.EmailAddresses, URIs: request.URIs,
		BasicConstraintsValid: true, NotBefore: begin, NotAfter: end,
	}
	var unknown []string
	for _, usage := range usages {
		if bit, ok := keyUsages[usage]; ok {
			template.KeyUsage |= bit
		} else if extended, ok := extendedKeyUsages[usage]; ok {
			template.ExtKeyUsage = append(template.ExtKeyUsage, extended)
		} else {
			unknown = append(unknown, usage)
		}
	}
	if len(unknown) > 0 {
		return nil, fmt.Errorf("unrecognized usage values: %q", unknown)
	}
	slices.Sort(template.ExtKeyUsage)
	template.ExtKeyUsage = slices.Compact(template.ExtKeyUsage)
	return c.env.Sign(template, request.PublicKey)
}

var keyUsages = map[string]x509.KeyUsage{
	"signing": x509.KeyUsageDigitalSignature, "digital signature": x509.KeyUsageDigitalSignature,
	"content commitment": x509.KeyUsageContentCommitment, "key encipherment": x509.KeyUsageKeyEncipherment,
	"key agreement": x509.KeyUsageKeyAgreement, "data encipherment": x509.KeyUsageDataEncipherment,
	"cert sign": x509.KeyUsageCertSign, "crl sign": x509.KeyUsageCRLSign,
	"encipher only": x509.KeyUsageEncipherOnly, "decipher only": x509.KeyUsageDecipherOnly,
}

var extendedKeyUsages = map[string]x509.ExtKeyUsage{
	"any": x509.ExtKeyUsageAny, "server auth": x509.ExtKeyUsageServerAuth, "client auth": x509.ExtKeyUsageClientAuth,
	"code signing": x509.ExtKeyUsageCodeSigning, "email protection": x509.ExtKeyUsageEmailProtection, "s/mime": x509.ExtKeyUsageEmailProtection,
	"ipsec end system": x509.ExtKeyUsageIPSECEndSystem, "ipsec tunnel": x509.ExtKeyUsageIPSECTunnel, "ipsec user": x509.ExtKeyUsageIPSECUser,
	"timestamping": x509.ExtKeyUsageTimeStamping, "ocsp signing": x509.ExtKeyUsageOCSPSigning,
	"microsoft sgc": x509.ExtKeyUsageMicrosoftServerGatedCrypto, "netscape sgc": x509.ExtKeyUsageNetscapeServerGatedCrypto,
}

// What a request must not have, or have, as kube-controller-manager says it.
var (
	errOrganization = errors.New("subject organization is not system:nodes")
	errCommonName   = errors.New("subject common name does not begin with system:node:")
	errDNSOrIP      = errors.New("DNS or IP subjectAltName is required")
	errDNS          = errors.New("DNS subjectAltNames are not allowed")
	errEmail        = errors.New("Email subjectAltNames are not allowed")
	errIP           = errors.New("IP subjectAltNames are not allowed")
	errURI          = errors.New("URI subjectAltNames are not allowed")
)

// A problem is an error that a request may have.
type problem struct {
	is  bool
	err error
}

// firstOf returns the error of the first problem that there is.
func firstOf(problems ...problem) error {
	for _, p := range problems {
		if p.is {
			return p.err
		}
	}
	return nil
}

func checkKubeletServing(r *x509.CertificateRequest, usages []string) error {
	return firstOf(
		problem{!slices.Equal(r.Subject.Organization, []string{"system:nodes"}), errOrganization},
		problem{len(r.DNSNames)+len(r.IPAddresses) == 0, errDNSOrIP},
		problem{len(r.EmailAddresses) > 0, errEmail},
		problem{len(r.URIs) > 0, errURI},
		problem{!hasUsages(usages, "server auth"), errors.New("usages did not match [digital signature key encipherment server auth]")},
		problem{!strings.HasPrefix(r.Subject.CommonName, "system:node:"), errCommonName},
	)
}

func checkKubeletClient(r *x509.CertificateRequest, usages []string) error {
	return firstOf(
		problem{!slices.Equal(r.Subject.Organization, []string{"system:nodes"}), errOrganization},
		problem{len(r.DNSNames) > 0, errDNS},
		problem{len(r.EmailAddresses) > 0, errEmail},
		problem{len(r.IPAddresses) > 0, errIP},
		problem{len(r.URIs) > 0, errURI},
		problem{!strings.HasPrefix(r.Subject.CommonName, "system:node:"), errCommonName},
		problem{!hasUsages(usages, "client auth"), errors.New("usages did not match [client auth digital signature key encipherment]")},
	)
}

// hasUsages reports whether the usages are those of a TLS certificate for an
// authentication, with or without RSA.
func hasUsages(usages []string, auth string) bool {
	got := slices.Compact(slices.Sorted(slices.Values(usages)))
	want := []string{auth, "digital signature"}
	slices.Sort(want)
	withRSA := append(slices.Clone(want), "key encipherment")
	slices.Sort(withRSA)
	return slices.Equal(got, want) || slices.Equal(got, withRSA)
}

func checkClient(_ *x509.CertificateRequest, usages []string) error {
	for _, usage := range usages {
		if usage != "digital signature" && usage != "key encipherment" && usage != "client auth" {
			return fmt.Errorf("invalid usage for client certificate: %s", usage)
		}
	}
	if !slices.Contains(usages, "client auth") {
		return errors.New("missing required usage for client certificate: client auth")
	}
	return nil
}
