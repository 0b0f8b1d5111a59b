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

	"github.com/kubefake/kubefake/fakeapi/apiserver"
	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/authn/oidc"
	"github.com/kubefake/kubefake/internal/authn/serviceaccount"
	"github.com/kubefake/kubefake/internal/authn/tokenwebhook"
)

// setAuthentication applies apiserver.Config.Authentication.
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
	auth.BootstrapTokens = a.BootstrapTokens
	keys := serviceaccount.Config{
		Issuers: a.ServiceAccountIssuers, Audiences: a.APIAudiences,
		MaxExpiration: a.ServiceAccountMaxTokenExpiration, NoExtension: a.NoServiceAccountTokenExtension, KeySetURL: a.ServiceAccountJWKSURI,
	}
	err := keys.Check()
	if err != nil {
		return optionError(err)
	}
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
		if auth.TokenWebhook, err = tokenwebhook.Load(w.Kubeconfig, cmp.Or(w.Version, "v1beta1"), ttl(w.CacheTTL, 2*time.Minute), c.server.Release.Minor()); err != nil {
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
func (c *config) setIssuers(a *apiserver.Authentication, accounts []string) error {
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
func (c *config) issuers(a *apiserver.Authentication, accounts []string) (*oidc.Configuration, *oidc.Issuers, error) {
	options := oidc.Options{Minor: c.server.Release.Minor(), Disallowed: accounts}
	var file *oidc.Configuration
	if a.Config != nil {
		var err error
		if file, err = oidc.Parse(a.Config, options.Minor); err != nil {
			return nil, nil, fmt.Errorf("failed to load authentication configuration: %w", err)
		}
	} else {
		file, options.SigningAlgorithms = oidcConfiguration(a.OIDC), a.OIDC.SigningAlgs
		if len(options.SigningAlgorithms) == 0 {
			options.SigningAlgorithms = []string{"RS256"}
		}
	}
	issuers, err := file.Compile(options)
	return file, issuers, err
}

// oidcConfiguration returns the configuration of the issuer.
func oidcConfiguration(o *apiserver.OIDC) *oidc.Configuration {
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
