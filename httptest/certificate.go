package httptest

import (
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
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// Certificates are valid for a fixed century, so that they suit every clock a
// test may set.
var (
	notBefore = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	notAfter  = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
)

// authority is the throwaway CA of the process, made on first use. Servers
// share one key, since making keys is most of the cost of a certificate.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	pem         []byte
	serverKey   *ecdsa.PrivateKey
}

var throwaway = sync.OnceValue(func() *authority {
	a := &authority{key: newKey(), serverKey: newKey()}
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: "throwaway CA"},
		NotBefore:             notBefore,
		NotAfter:              notAfter,
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		BasicConstraintsValid: true,
		IsCA:                  true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, a.key.Public(), a.key)
	if err != nil { // the template is constant and right
		panic(err)
	}
	if a.certificate, err = x509.ParseCertificate(der); err != nil { // just made
		panic(err)
	}
	a.pem = encodeCertificate(der)
	return a
})

// defaultCertificate is what servers without extra names present.
var defaultCertificate = sync.OnceValues(func() (*certificate, error) {
	return throwaway().issueServer(nil)
})

func newKey() *ecdsa.PrivateKey {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil { // rand.Reader never fails
		panic(err)
	}
	return key
}

// certificate is what a server presents.
type certificate struct {
	pair tls.Certificate
	// bundle is the chain as PEM. Clients that trust it trust the server.
	bundle []byte
	// ca is the part of bundle to hand to clients.
	ca []byte
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
	return &certificate{
		pair:   tls.Certificate{Certificate: [][]byte{der, a.certificate.Raw}, PrivateKey: a.serverKey},
		bundle: slices.Concat(encodeCertificate(der), a.pem),
		ca:     a.pem,
	}, nil
}

// issue signs a certificate over the public half of key.
func (a *authority) issue(template *x509.Certificate, key *ecdsa.PrivateKey) ([]byte, error) {
	template.NotBefore, template.NotAfter = notBefore, notAfter
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		return nil, fmt.Errorf("httptest: issuing a certificate: %w", err)
	}
	return der, nil
}

// serverCertificate returns the certificate for a server with extra names. With
// a directory it is the one found there, or a new one that is left there.
func serverCertificate(names []string, dir string) (*certificate, error) {
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
		return nil, fmt.Errorf("httptest: certificate and key come as a pair: %w", err)
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

// ClientCA returns the certificate of the throwaway CA that signs what
// [IssueClient] issues, as PEM. It is the same for the life of the process.
func ClientCA() []byte {
	return slices.Clone(throwaway().pem)
}

// IssueClient returns a client certificate signed by the throwaway CA, with its
// key, as PEM. Kubernetes takes the common name for the user's name and the
// organizations for the user's groups. It fails if one of them cannot be
// written in a certificate, for it is no valid UTF-8.
//
// A [Server] asks clients for a certificate but does not verify it: that is the
// handler's part, which finds the chain in Request.TLS and the CA in [ClientCA].
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

func encodeCertificate(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

func encodeKey(key *ecdsa.PrivateKey) []byte {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil { // P-256 keys always marshal
		panic(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}
