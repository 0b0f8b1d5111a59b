package oidc

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/authn/jwt"
	"github.com/kubefake/kubefake/internal/clock"
)

// An Authenticator authenticates the tokens of issuers. It is safe for concurrent use.
type Authenticator struct {
	ctx       context.Context
	clock     *clock.Clock
	source    *Source
	audiences []string // of the server

	mu        sync.Mutex // guards the fields below
	issuers   *Issuers   // of verifiers
	verifiers []*verifier
}

// A Source holds issuers that may be replaced while Authenticators use them. It is safe
// for concurrent use.
type Source struct{ issuers atomic.Pointer[Issuers] }

// NewSource returns a Source of issuers.
func NewSource(issuers *Issuers) *Source {
	s := &Source{}
	s.Replace(issuers)
	return s
}

// Replace replaces the issuers. Authenticators fetch the keys of the new ones when the first
// token of each arrives.
func (s *Source) Replace(issuers *Issuers) { s.issuers.Store(issuers) }

var _ authn.TokenAuthenticator = (*Authenticator)(nil)

// A verifier verifies the tokens of one issuer.
type verifier struct {
	*issuer
	provider *provider

	mu     sync.Mutex           // guards claims
	claims map[string]*provider // of distributed claims, by issuer
}

// New returns an Authenticator. Its requests to issuers end with ctx, and their timeouts
// are of the clock. audiences are those of the server.
func New(ctx context.Context, c *clock.Clock, source *Source, audiences []string) *Authenticator {
	return &Authenticator{ctx: ctx, clock: c, source: source, audiences: audiences}
}

// current returns the verifiers of the newest issuers.
func (a *Authenticator) current() []*verifier {
	issuers := a.source.issuers.Load()
	a.mu.Lock()
	defer a.mu.Unlock()
	if issuers == a.issuers {
		return a.verifiers
	}
	a.issuers, a.verifiers = issuers, nil
	for _, i := range issuers.list {
		client := client{a.ctx, a.clock, &tls.Config{RootCAs: i.roots}}
		a.verifiers = append(a.verifiers, &verifier{issuer: i, provider: newProvider(client, i.Issuer.URL, i.Issuer.DiscoveryURL)})
	}
	return a.verifiers
}

// AuthenticateToken implements [authn.TokenAuthenticator]. Tokens are valid for the
// audiences of the server; the audiences in a token are those of its issuer.
func (a *Authenticator) AuthenticateToken(ctx context.Context, token string, audiences []string) (*authn.User, []string, error) {
	common := authn.Intersect(a.audiences, audiences)
	if len(common) == 0 {
		return nil, nil, nil
	}
	name, ok := issuerOf(token)
	if !ok {
		return nil, nil, nil
	}
	for _, v := range a.current() {
		if v.Issuer.URL != name {
			continue
		}
		user, err := v.authenticate(ctx, token)
		if err != nil {
			return nil, nil, err
		}
		return user, common, nil
	}
	return nil, nil, nil
}

const (
	googleIssuer    = "https://accounts.google.com"
	googleOldIssuer = "accounts.google.com"
)

// issuerOf returns the issuer that a token names, without verifying it. ok is false for
// what is not a token.
func issuerOf(token string) (name string, ok bool) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return "", false
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	var c struct {
		Issuer string `json:"iss"`
	}
	if err != nil || json.Unmarshal(payload, &c) != nil {
		return "", false
	}
	if c.Issuer == googleOldIssuer {
		return googleIssuer, true
	}
	return c.Issuer, true
}

// claims are the claims of a token.
type claims map[string]json.RawMessage

// get decodes a claim.
func (c claims) get(name string, v any) error {
	text, ok := c[name]
	if !ok {
		return errors.New("claim not present")
	}
	return json.Unmarshal(text, v)
}

// authenticate returns the user of a token of the issuer.
func (v *verifier) authenticate(ctx context.Context, token string) (*authn.User, error) {
	c, err := v.verify(ctx, v.provider, token)
	if err != nil {
		return nil, fmt.Errorf("oidc: verify token: %w", err)
	}
	if err := v.expand(ctx, c); err != nil {
		return nil, fmt.Errorf("oidc: could not expand distributed claims: %w", err)
	}
	return v.user(ctx, c)
}

// registered are the claims with a type of their own, as in go-oidc. A token with one of
// another type is invalid.
type registered struct {
	Issuer          string                 `json:"iss"`
	Subject         string                 `json:"sub"`
	Audience        audience               `json:"aud"`
	Expires         unixTime               `json:"exp"`
	IssuedAt        unixTime               `json:"iat"`
	NotBefore       *unixTime              `json:"nbf"`
	Nonce           string                 `json:"nonce"`
	AccessTokenHash string                 `json:"at_hash"`
	ClaimNames      map[string]string      `json:"_claim_names"`
	ClaimSources    map[string]claimSource `json:"_claim_sources"`
}

// A claimSource is where a distributed claim is fetched.
type claimSource struct {
	Endpoint    string `json:"endpoint"`
	AccessToken string `json:"access_token"`
}

// checkSources checks that each distributed claim has a source.
func (r *registered) checkSources() error {
	for _, source := range r.ClaimNames {
		if source == "" {
			return errors.New("oidc: failed to obtain source from claim name")
		}
		if _, ok := r.ClaimSources[source]; !ok {
			return errors.New("oidc: source does not exist")
		}
	}
	return nil
}

// notBeforeLeeway is the difference between clocks that verify accepts.
const notBeforeLeeway = time.Minute

// verify returns the claims of a token of a provider, which is for the audiences of the
// issuer.
func (v *verifier) verify(ctx context.Context, p *provider, token string) (claims, error) {
	t, err := jwt.Parse(token)
	if err != nil {
		return nil, fmt.Errorf("oidc: %w", err)
	}
	if !slices.Contains(v.algorithms, t.Algorithm) {
		return nil, fmt.Errorf("oidc: id token signed with unsupported algorithm, expected %q got %q", v.algorithms, t.Algorithm)
	}
	if err := p.verify(ctx, t); err != nil {
		return nil, fmt.Errorf("failed to verify signature: %w", err)
	}
	var r registered
	if err := json.Unmarshal(t.Payload, &r); err != nil {
		return nil, fmt.Errorf("oidc: failed to unmarshal claims: %w", err)
	}
	if err := r.checkSources(); err != nil {
		return nil, err
	}
	now := p.client.clock.Now()
	switch {
	case r.Issuer != p.url && !(p.url == googleIssuer && r.Issuer == googleOldIssuer):
		return nil, fmt.Errorf("oidc: id token issued by a different provider, expected %q got %q", p.url, r.Issuer)
	case len(v.Issuer.Audiences) == 1 && !slices.Contains(r.Audience, v.Issuer.Audiences[0]):
		return nil, fmt.Errorf("oidc: expected audience %q got %q", v.Issuer.Audiences[0], []string(r.Audience))
	case r.Expires.Before(now):
		return nil, fmt.Errorf("oidc: token is expired (Token Expiry: %v)", r.Expires.Time)
	case r.NotBefore != nil && now.Add(notBeforeLeeway).Before(r.NotBefore.Time):
		return nil, fmt.Errorf("oidc: current time %v before the nbf (not before) time: %v", now, r.NotBefore.Time)
	case len(authn.Intersect(v.Issuer.Audiences, r.Audience)) == 0:
		wanted := slices.Sorted(slices.Values(v.Issuer.Audiences))
		return nil, fmt.Errorf("oidc: expected audience in %q got %q", wanted, []string(r.Audience))
	}
	var c claims
	if err := json.Unmarshal(t.Payload, &c); err != nil {
		return nil, fmt.Errorf("oidc: parse claims: %w", err)
	}
	return c, nil
}

// An audience is one text or a list.
type audience []string

// UnmarshalJSON implements [json.Unmarshaler].
func (a *audience) UnmarshalJSON(text []byte) error {
	var list textOrList
	err := json.Unmarshal(text, &list)
	*a = audience(list)
	return err
}

// textOrList is one text or a list.
type textOrList []string

// UnmarshalJSON implements [json.Unmarshaler].
func (l *textOrList) UnmarshalJSON(text []byte) error {
	var list []string
	if json.Unmarshal(text, &list) == nil {
		*l = list
		return nil
	}
	var one string
	err := json.Unmarshal(text, &one)
	*l = textOrList{one}
	return err
}

// A unixTime is a number of seconds.
type unixTime struct{ time.Time }

// UnmarshalJSON implements [json.Unmarshaler].
func (t *unixTime) UnmarshalJSON(text []byte) error {
	var seconds json.Number
	if err := json.Unmarshal(text, &seconds); err != nil {
		return err
	}
	n, err := seconds.Int64()
	if err != nil {
		var f float64
		if f, err = seconds.Float64(); err != nil {
			return err
		}
		n = int64(f)
	}
	t.Time = time.Unix(n, 0)
	return nil
}

// maxClaimIssuers is the maximum number of issuers of distributed claims.
const maxClaimIssuers = 64

// expand fetches the claim with the groups if the token names a source for it.
//
// See https://openid.net/specs/openid-connect-core-1_0.html#AggregatedDistributedClaims.
func (v *verifier) expand(ctx context.Context, c claims) error {
	name := v.ClaimMappings.Groups.Claim
	if name == "" || c[name] != nil || c["_claim_names"] == nil {
		return nil
	}
	var names map[string]string
	if err := c.get("_claim_names", &names); err != nil {
		return fmt.Errorf("oidc: error parsing distributed claim names: %w", err)
	}
	var sources map[string]claimSource
	if err := c.get("_claim_sources", &sources); err != nil {
		return fmt.Errorf("oidc: error parsing distributed claim sources: %w", err)
	}
	source, ok := names[name]
	if !ok {
		return nil
	}
	endpoint, ok := sources[source]
	if !ok {
		return fmt.Errorf("id token _claim_names contained a source %s missing in _claims_sources", source)
	}
	if endpoint.Endpoint == "" {
		return nil
	}
	body, _, err := v.provider.client.get(ctx, endpoint.Endpoint, endpoint.AccessToken)
	if err != nil {
		return fmt.Errorf("while getting distributed claim %q: %w", name, err)
	}
	issuer, ok := issuerOf(string(body))
	if !ok {
		return fmt.Errorf("getting untrusted issuer from endpoint %v failed for claim %q: malformed token", endpoint.Endpoint, name)
	}
	p, err := v.claimProvider(issuer)
	if err != nil {
		return err
	}
	fetched, err := v.verify(ctx, p, string(body))
	if err != nil {
		return fmt.Errorf("verify distributed claim token: %w", err)
	}
	value, ok := fetched[name]
	if !ok {
		return fmt.Errorf("jwt returned by distributed claim endpoint %q did not contain claim: %v", endpoint.Endpoint, name)
	}
	c[name] = value
	return nil
}

// claimProvider returns the provider of an issuer of distributed claims.
func (v *verifier) claimProvider(issuer string) (*provider, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if p := v.claims[issuer]; p != nil {
		return p, nil
	}
	if len(v.claims) >= maxClaimIssuers {
		return nil, fmt.Errorf("more than %d issuers of distributed claims", maxClaimIssuers)
	}
	if v.claims == nil {
		v.claims = map[string]*provider{}
	}
	p := newProvider(v.provider.client, issuer, "")
	v.claims[issuer] = p
	return p, nil
}
