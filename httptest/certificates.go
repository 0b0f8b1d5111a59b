package httptest

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
)

// Certificates are what a [Server] with TLS presents to clients.
type Certificates struct {
	// Certificate and Key are the certificate and its key in PEM. If both are empty, the
	// server keeps its certificate.
	Certificate, Key []byte

	// Named and ClientCAs are those of [Options].
	Named     []NamedCertificate
	ClientCAs *x509.CertPool
}

// A NamedCertificate is a certificate for clients that ask for one of its names.
type NamedCertificate struct {
	// Certificate and Key are the certificate and its key in PEM.
	Certificate, Key []byte

	// Names are DNS names, which may begin with "*.", and IP addresses that clients connect
	// to. They take precedence over the names of certificates without Names. None means the
	// common name and the DNS names of the certificate.
	Names []string
}

// SetCertificates replaces the certificates that clients get in handshakes from then on.
// Open connections continue. Transport and CACertificate keep the certificate that the
// server started with. It fails without TLS and for a certificate that does not parse, and
// changes nothing then.
func (s *Server) SetCertificates(c Certificates) error {
	old := s.tls.Load()
	if old == nil {
		return errors.New("httptest: the server has no TLS")
	}
	pair := old.config.Certificates[0]
	if len(c.Certificate) > 0 || len(c.Key) > 0 {
		var err error
		if pair, err = tls.X509KeyPair(c.Certificate, c.Key); err != nil {
			return fmt.Errorf("httptest: reading the certificate: %w", err)
		}
	}
	named, err := namedCertificates(c.Named)
	if err != nil {
		return err
	}
	s.tls.Store(s.newTLS(pair, named, c.ClientCAs))
	return nil
}

// tlsSettings are what handshakes use. They are immutable.
type tlsSettings struct {
	config *tls.Config
	named  map[string]*tls.Certificate // by name in lower case
}

// newTLS returns the settings for a certificate.
func (s *Server) newTLS(pair tls.Certificate, named map[string]*tls.Certificate, clientCAs *x509.CertPool) *tlsSettings {
	out := &tlsSettings{named: named}
	out.config = &tls.Config{
		Certificates: []tls.Certificate{pair},
		ClientAuth:   tls.RequestClientCert,
		ClientCAs:    clientCAs,
		NextProtos:   []string{"h2", "http/1.1"},
		MinVersion:   s.minVersion,
		CipherSuites: s.cipherSuites,
	}
	if len(named) > 0 {
		out.config.GetCertificate = out.byServerName
	}
	return out
}

// checkCipherSuites returns an error if HTTP/2 needs another cipher suite.
func checkCipherSuites(o *Options) error {
	if len(o.CipherSuites) == 0 || o.MinVersion >= tls.VersionTLS13 ||
		slices.Contains(o.CipherSuites, tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256) ||
		slices.Contains(o.CipherSuites, tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256) {
		return nil
	}
	return errors.New("httptest: error configuring http2: http2: TLSConfig.CipherSuites is missing an HTTP/2-required AES_128_GCM_SHA256 cipher " +
		"(need at least one of TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 or TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256)")
}

// configFor returns the settings for a client. A client without a server name gets the
// certificate of the IP address that it connects to, if there is one.
func (s *Server) configFor(hello *tls.ClientHelloInfo) (*tls.Config, error) {
	settings := s.tls.Load()
	if hello.ServerName != "" || len(settings.named) == 0 {
		return settings.config, nil
	}
	host, _, err := net.SplitHostPort(hello.Conn.LocalAddr().String())
	if pair := settings.named[host]; err == nil && pair != nil {
		config := settings.config.Clone()
		config.Certificates = []tls.Certificate{*pair}
		return config, nil
	}
	return settings.config, nil
}

// byServerName returns the certificate for the server name of a client, nil if no
// certificate has it. A "*" stands for the first label.
func (s *tlsSettings) byServerName(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	name := strings.TrimRight(strings.ToLower(hello.ServerName), ".")
	if pair := s.named[name]; pair != nil {
		return pair, nil
	}
	_, rest, _ := strings.Cut(name, ".")
	return s.named["*."+rest], nil
}

// namedCertificates returns the certificates by name. Names that are given take precedence
// over those in certificates, and earlier certificates over later ones.
func namedCertificates(list []NamedCertificate) (map[string]*tls.Certificate, error) {
	given, found := map[string]*tls.Certificate{}, map[string]*tls.Certificate{}
	for _, c := range slices.Backward(list) {
		pair, err := tls.X509KeyPair(c.Certificate, c.Key)
		if err != nil {
			return nil, fmt.Errorf("httptest: reading a named certificate: %w", err)
		}
		out, names := given, c.Names
		if len(names) == 0 {
			leaf, err := x509.ParseCertificate(pair.Certificate[0])
			if err != nil { // unreachable: X509KeyPair has parsed it
				return nil, err
			}
			out, names = found, append([]string{leaf.Subject.CommonName}, leaf.DNSNames...)
			if net.ParseIP(names[0]) != nil {
				names = names[1:]
			}
		}
		for _, name := range names {
			out[strings.ToLower(name)] = &pair
		}
	}
	for name, pair := range given {
		found[name] = pair
	}
	return found, nil
}
