package httptest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// Certificates are valid for a fixed century, so that they are valid at any time
// that a test's clock may show.
var (
	notBefore = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	notAfter  = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
)

// An authority is a CA. All servers share serverKey, because generating keys is
// most of the cost of a certificate.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	pem         []byte
	serverKey   *ecdsa.PrivateKey
}

// throwaway generates the CA of the process.
var throwaway = sync.OnceValue(func() *authority {
	a := &authority{key: newKey(), serverKey: newKey()}
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: "throwaway CA"},
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		BasicConstraintsValid: true,
		IsCA:                  true,
	}
	der, err := sign(template, template, a.key, a.key)
	if err != nil { // unreachable: the template is valid
		panic(err)
	}
	if a.certificate, err = x509.ParseCertificate(der); err != nil { // unreachable: CreateCertificate returned it
		panic(err)
	}
	a.pem = encodeCertificate(der)
	return a
})

// defaultCertificate issues the certificate of servers without extra names.
var defaultCertificate = sync.OnceValues(func() (*certificate, error) {
	return throwaway().issueServer(nil)
})

func newKey() *ecdsa.PrivateKey {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil { // unreachable: rand.Reader does not fail
		panic(err)
	}
	return key
}

// A certificate is the certificate of a server.
type certificate struct {
	pair   tls.Certificate
	bundle []byte // the chain in PEM
	ca     []byte // what clients trust, in PEM
}

func (a *authority) issueServer(names []string) (*certificate, error) {
	template := &x509.Certificate{
		Subject:     pkix.Name{CommonName: "throwaway server"},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	for _, name := range append([]string{"localhost", "127.0.0.1", "::1"}, names...) {
		if ip := net.ParseIP(name); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, name)
		}
	}
	der, err := a.issue(template, a.serverKey)
	if err != nil {
		return nil, err
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil { // unreachable: issue returned it
		return nil, err
	}
	return &certificate{
		pair:   tls.Certificate{Certificate: [][]byte{der, a.certificate.Raw}, PrivateKey: a.serverKey, Leaf: leaf},
		bundle: slices.Concat(encodeCertificate(der), a.pem),
		ca:     a.pem,
	}, nil
}

// issue signs a certificate for the public half of key.
func (a *authority) issue(template *x509.Certificate, key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := sign(template, a.certificate, key, a.key)
	if err != nil {
		return nil, fmt.Errorf("httptest: issuing a certificate: %w", err)
	}
	return der, nil
}

// sign creates a certificate for the public half of key, with a validity and a
// random serial number, which crypto/x509 of Go 1.23 does not generate.
func sign(template, parent *x509.Certificate, key, by *ecdsa.PrivateKey) ([]byte, error) {
	var err error
	if template.SerialNumber, err = newSerialNumber(); err != nil {
		return nil, err
	}
	template.NotBefore, template.NotAfter = notBefore, notAfter
	return x509.CreateCertificate(rand.Reader, template, parent, key.Public(), by)
}

func newSerialNumber() (*big.Int, error) {
	return rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
}

// serverCertificate returns the certificate that the options give, read from CertDir,
// or issued with extra names. It writes an issued one to CertDir.
func serverCertificate(o *Options) (*certificate, error) {
	names, dir := o.Names, o.CertDir
	if len(o.Certificate) > 0 || len(o.Key) > 0 {
		pair, err := tls.X509KeyPair(o.Certificate, o.Key)
		if err != nil {
			return nil, fmt.Errorf("httptest: reading the certificate: %w", err)
		}
		return &certificate{pair: pair, bundle: o.Certificate, ca: o.Certificate}, nil
	}
	if dir == "" && len(names) == 0 {
		return defaultCertificate()
	}
	if dir == "" {
		return throwaway().issueServer(names)
	}
	certPath, keyPath := filepath.Join(dir, "apiserver.crt"), filepath.Join(dir, "apiserver.key")
	certPEM, certErr := os.ReadFile(certPath)
	keyPEM, keyErr := os.ReadFile(keyPath)
	if errors.Is(certErr, fs.ErrNotExist) && errors.Is(keyErr, fs.ErrNotExist) {
		return writeCertificate(names, certPath, keyPath)
	}
	if err := errors.Join(certErr, keyErr); err != nil {
		return nil, fmt.Errorf("httptest: certificate and key must be a pair: %w", err)
	}
	pair, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		return nil, fmt.Errorf("httptest: reading %s and %s: %w", certPath, keyPath, err)
	}
	return &certificate{pair: pair, bundle: certPEM, ca: certPEM}, nil
}

func writeCertificate(names []string, certPath, keyPath string) (*certificate, error) {
	cert, err := throwaway().issueServer(names)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(certPath), 0o755); err != nil {
		return nil, err
	}
	if err := os.WriteFile(certPath, cert.bundle, 0o644); err != nil {
		return nil, err
	}
	if err := os.WriteFile(keyPath, encodeKey(throwaway().serverKey), 0o600); err != nil {
		return nil, err
	}
	return cert, nil
}

// ClientCA returns the CA certificate of [IssueClient] and [IssueServer] in PEM. It is
// the same for the life of the process.
func ClientCA() []byte {
	return slices.Clone(throwaway().pem)
}

// IssueServer returns a server certificate for DNS names and IP addresses, beside
// localhost, 127.0.0.1 and ::1, and its key, in PEM. The certificate is signed by the
// throwaway CA and followed by the CA's. It fails if a name is not valid.
func IssueServer(names ...string) (certPEM, keyPEM []byte, err error) {
	cert, err := throwaway().issueServer(names)
	if err != nil {
		return nil, nil, err
	}
	return cert.bundle, encodeKey(throwaway().serverKey), nil
}

// IssueClient returns a client certificate and its key in PEM, signed by the
// throwaway CA. In Kubernetes the common name is the name of the user and the
// organizations are its groups. It fails if one of them is not valid UTF-8.
//
// A [Server] requests a certificate from clients but does not verify it. The handler
// verifies the chain in Request.TLS with [ClientCA].
func IssueClient(commonName string, organizations []string) (certPEM, keyPEM []byte, err error) {
	key := newKey()
	der, err := throwaway().issue(&x509.Certificate{
		Subject:     pkix.Name{CommonName: commonName, Organization: organizations},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}, key)
	if err != nil {
		return nil, nil, err
	}
	return encodeCertificate(der), encodeKey(key), nil
}

// IssueCertificate returns a certificate of a public key in PEM, signed by the throwaway CA.
// The template has all but the serial number; see x509.CreateCertificate. The certificate is
// not valid after the CA's end, in 2100. It fails if the template or the key is not valid.
func IssueCertificate(template *x509.Certificate, public crypto.PublicKey) (certPEM []byte, err error) {
	a := throwaway()
	t := *template
	if t.SerialNumber, err = newSerialNumber(); err != nil {
		return nil, err
	}
	if t.NotAfter.After(notAfter) {
		t.NotAfter = notAfter
	}
	der, err := x509.CreateCertificate(rand.Reader, &t, a.certificate, public, a.key)
	if err != nil {
		return nil, fmt.Errorf("httptest: issuing a certificate: %w", err)
	}
	return encodeCertificate(der), nil
}

func encodeCertificate(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

func encodeKey(key *ecdsa.PrivateKey) []byte {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil { // unreachable: P-256 keys marshal
		panic(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}
