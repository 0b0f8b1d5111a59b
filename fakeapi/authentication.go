package fakeapi

import (
	"cmp"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/authn/oidc"
	"github.com/kubefake/kubefake/internal/authn/serviceaccount"
	"github.com/kubefake/kubefake/internal/authn/tokenwebhook"
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

	// OIDC authenticates the tokens of an OpenID Connect issuer.
	OIDC *OIDC

	// TokenWebhook authenticates the tokens that nothing else authenticates.
	TokenWebhook *TokenWebhook

	// Config is an AuthenticationConfiguration in YAML or JSON, as the file of
	// --authentication-config is: issuers of tokens, and paths for requests without
	// credentials, which take precedence over NoAnonymous. It excludes OIDC.
	//
	// See https://kubernetes.io/docs/reference/access-authn-authz/authentication/#using-authentication-configuration.
	Config []byte
}

// TokenWebhook configures a webhook that authenticates tokens. A request waits for it
// for up to 30 seconds. The server caches up to 4096 answers.
type TokenWebhook struct {
	// Kubeconfig is the name of a kubeconfig file: its cluster is the webhook, and its
	// user has the credentials for it.
	Kubeconfig string

	// Version of TokenReviews is v1 or v1beta1, the default.
	Version string

	// CacheTTL is how long answers are cached, by default two minutes. A negative
	// duration caches nothing.
	CacheTTL time.Duration
}

// OIDC configures an OpenID Connect issuer. Its fields are the flags of kube-apiserver
// that begin with --oidc. The server fetches the keys of the issuer when the first token
// of it arrives.
type OIDC struct {
	// IssuerURL has the scheme https. Its discovery document and its keys must be
	// reachable. ClientID is the audience that tokens must have.
	IssuerURL, ClientID string

	// CA issues the certificate of the issuer, in PEM. Empty means the CAs of the host.
	CA []byte

	// UsernameClaim is the claim with the name of the user, by default "sub".
	UsernameClaim string

	// UsernamePrefix precedes the names of users. The default is the URL of the issuer
	// and "#", and none for the claim "email". "-" is no prefix.
	UsernamePrefix string

	// GroupsClaim is the claim with the groups of the user, one or a list; "" is none.
	// GroupsPrefix precedes them.
	GroupsClaim, GroupsPrefix string

	// RequiredClaims are claims that tokens must have, with their values.
	RequiredClaims map[string]string

	// SigningAlgs are the signature algorithms that tokens may have, by default RS256.
	SigningAlgs []string
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
	if err := c.setIssuers(a, keys.Issuers); err != nil {
		return optionError(err)
	}
	if w := a.TokenWebhook; w != nil {
		if auth.TokenWebhook, err = tokenwebhook.Load(w.Kubeconfig, cmp.Or(w.Version, "v1beta1"), ttl(w.CacheTTL, 2*time.Minute)); err != nil {
			return optionError(err)
		}
	}
	if h := a.RequestHeader; h != nil {
		if c.proxyCAs = parseCertificates(h.ClientCA); c.proxyCAs == nil {
			return optionError(errors.New("the CA of RequestHeader is not a certificate in PEM"))
		}
		auth.RequestHeader = &authn.RequestHeader{
			CAs: authn.NewCAs(poolOf(c.proxyCAs)), AllowedNames: h.AllowedNames,
			UsernameHeaders: h.UsernameHeaders, UIDHeaders: h.UIDHeaders, GroupHeaders: h.GroupHeaders, ExtraHeaderPrefixes: h.ExtraHeaderPrefixes,
		}
	}
	return nil
}

// setIssuers configures the issuers of tokens. accounts are those of the tokens of
// service accounts.
func (c *config) setIssuers(a *Authentication, accounts []string) error {
	switch {
	case a.Config != nil && a.OIDC != nil:
		return errors.New("authentication-config file and oidc-* flags are mutually exclusive")
	case a.Config != nil && !c.enabled("StructuredAuthenticationConfiguration"):
		return errors.New("set --feature-gates=StructuredAuthenticationConfiguration=true to use authentication-config file")
	case a.OIDC != nil && (a.OIDC.IssuerURL == "" || a.OIDC.ClientID == ""):
		return errors.New("oidc-issuer-url and oidc-client-id must be specified together when any oidc-* flags are set")
	case a.Config == nil && a.OIDC == nil:
		return nil
	}
	file, issuers, err := c.issuers(a, accounts)
	if err != nil {
		return err
	}
	auth := &c.server.Auth
	auth.Issuers = oidc.NewSource(issuers)
	if anonymous := file.Anonymous; anonymous != nil {
		auth.Unauthenticated = authn.Refused
		if anonymous.Enabled {
			auth.Unauthenticated = authn.AsAnonymous
		}
		for _, condition := range anonymous.Conditions {
			auth.AnonymousPaths = append(auth.AnonymousPaths, condition.Path)
		}
	}
	return nil
}

// issuers returns the issuers of Config or OIDC, and their configuration.
func (c *config) issuers(a *Authentication, accounts []string) (*oidc.Configuration, *oidc.Issuers, error) {
	options := oidc.Options{Minor: c.server.Release.Minor(), Disallowed: accounts}
	var file *oidc.Configuration
	if a.Config != nil {
		var err error
		if file, err = oidc.Parse(a.Config, options.Minor); err != nil {
			return nil, nil, fmt.Errorf("failed to load authentication configuration: %w", err)
		}
	} else {
		file, options.SigningAlgorithms = a.OIDC.configuration(), a.OIDC.SigningAlgs
		if len(options.SigningAlgorithms) == 0 {
			options.SigningAlgorithms = []string{"RS256"}
		}
	}
	issuers, err := file.Compile(options)
	return file, issuers, err
}

// configuration returns the configuration of the issuer.
func (o *OIDC) configuration() *oidc.Configuration {
	j := oidc.JWT{Issuer: oidc.Issuer{URL: o.IssuerURL, Audiences: []string{o.ClientID}, CertificateAuthority: string(o.CA)}}
	username, prefix := cmp.Or(o.UsernameClaim, "sub"), o.UsernamePrefix
	switch {
	case prefix == "-":
		prefix = ""
	case prefix == "" && username != "email":
		prefix = o.IssuerURL + "#"
	}
	j.ClaimMappings.Username = oidc.Mapping{Claim: username, Prefix: &prefix}
	if o.GroupsClaim != "" {
		j.ClaimMappings.Groups = oidc.Mapping{Claim: o.GroupsClaim, Prefix: &o.GroupsPrefix}
	}
	for _, claim := range slices.Sorted(maps.Keys(o.RequiredClaims)) {
		j.ClaimValidationRules = append(j.ClaimValidationRules, oidc.ClaimRule{Claim: claim, RequiredValue: o.RequiredClaims[claim]})
	}
	return &oidc.Configuration{JWT: []oidc.JWT{j}}
}

// poolOf returns a pool of certificates.
func poolOf(list []*x509.Certificate) *x509.CertPool {
	pool := x509.NewCertPool()
	for _, certificate := range list {
		pool.AddCert(certificate)
	}
	return pool
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
