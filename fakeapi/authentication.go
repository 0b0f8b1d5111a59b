package fakeapi

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/authn/serviceaccount"
)

// Authentication configures how the server authenticates clients, beside WithToken
// and WithClientCA. Its fields are the flags of kube-apiserver of similar names. Keys
// and certificates are in PEM.
type Authentication struct {
	// NoAnonymous refuses requests without credentials with 401, as
	// --anonymous-auth=false does.
	NoAnonymous bool

	// ServiceAccountIssuers are the issuers whose tokens of service accounts are
	// accepted. The first one is the issuer of new tokens. The default is
	// https://kubernetes.default.svc.cluster.local.
	ServiceAccountIssuers []string

	// APIAudiences are the audiences of the server. The default is
	// ServiceAccountIssuers.
	APIAudiences []string

	// ServiceAccountSigningKey is the private key that signs new tokens: RSA or
	// ECDSA. By default the process generates one.
	ServiceAccountSigningKey []byte

	// ServiceAccountKeys have the public keys that verify tokens. Private keys and
	// certificates count as their public keys. The default is the public key of
	// ServiceAccountSigningKey.
	ServiceAccountKeys [][]byte

	// RequestHeader authenticates a proxy, such as an aggregator, by a client
	// certificate. The proxy names the user in headers. Nil means that headers have
	// no effect.
	RequestHeader *RequestHeader
}

// RequestHeader configures the authentication of a proxy. Its fields are the flags of
// kube-apiserver that begin with --requestheader.
type RequestHeader struct {
	// ClientCA issues the certificates of proxies.
	ClientCA []byte

	// AllowedNames are the common names that the certificate of a proxy may have.
	// None allows all.
	AllowedNames []string

	// UsernameHeaders, UIDHeaders and GroupHeaders are names of headers, and
	// ExtraHeaderPrefixes beginnings of names.
	UsernameHeaders, UIDHeaders, GroupHeaders, ExtraHeaderPrefixes []string
}

// WithAuthentication configures how the server authenticates clients. With it, a
// request without credentials is made by the user system:anonymous, and one with an
// unknown token fails with 401. A key or certificate that does not parse is an
// ErrInvalidOption.
func WithAuthentication(a Authentication) Option {
	return func(c *config) { c.authentication = &a }
}

// setAuthentication applies WithAuthentication.
func (c *config) setAuthentication() error {
	a := c.authentication
	if a == nil {
		return nil
	}
	auth := &c.server.Auth
	auth.Unauthenticated = authn.AsAnonymous
	if a.NoAnonymous {
		auth.Unauthenticated = authn.Refused
	}
	keys := serviceaccount.Config{Issuers: a.ServiceAccountIssuers, Audiences: a.APIAudiences}
	var err error
	if len(a.ServiceAccountSigningKey) > 0 {
		if keys.SigningKey, err = serviceaccount.ParsePrivateKey(a.ServiceAccountSigningKey); err != nil {
			return optionError(fmt.Errorf("the signing key of service accounts: %w", err))
		}
	}
	for _, text := range a.ServiceAccountKeys {
		public, err := serviceaccount.ParsePublicKeys(text)
		if err != nil {
			return optionError(fmt.Errorf("a key of service accounts: %w", err))
		}
		keys.PublicKeys = append(keys.PublicKeys, public...)
	}
	auth.ServiceAccounts = serviceaccount.NewKeys(keys)
	if h := a.RequestHeader; h != nil {
		if c.proxyCAs = parseCertificates(h.ClientCA); c.proxyCAs == nil {
			return optionError(errors.New("the CA of RequestHeader is not a certificate in PEM"))
		}
		roots := x509.NewCertPool()
		for _, ca := range c.proxyCAs {
			roots.AddCert(ca)
		}
		auth.RequestHeader = &authn.RequestHeader{
			CAs: roots, AllowedNames: h.AllowedNames,
			UsernameHeaders: h.UsernameHeaders, UIDHeaders: h.UIDHeaders, GroupHeaders: h.GroupHeaders, ExtraHeaderPrefixes: h.ExtraHeaderPrefixes,
		}
	}
	return nil
}

// parseCertificates returns the certificates in PEM that parse.
func parseCertificates(text []byte) (all []*x509.Certificate) {
	for {
		var block *pem.Block
		if block, text = pem.Decode(text); block == nil {
			return all
		}
		if cert, err := x509.ParseCertificate(block.Bytes); err == nil && block.Type == "CERTIFICATE" {
			all = append(all, cert)
		}
	}
}
