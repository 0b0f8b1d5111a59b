package oidc

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kubefake/kubefake/internal/authn/jwt"
	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/webhook"
)

const (
	// fetchTimeout bounds one request to an issuer.
	fetchTimeout = 30 * time.Second
	// patience is how long, in real time, tokens wait for keys from when they are fetched.
	patience = time.Second
	// maxDocument is the maximum length of a document of an issuer in bytes.
	maxDocument = 4 << 20
	// renewBefore is how long before its end the lifetime of keys counts as over.
	renewBefore = 30 * time.Second
)

// A provider has the keys of an issuer. It is safe for concurrent use.
//
// Differs from kube-apiserver: when keys of an issuer are fetched: kube-apiserver fetches the
// discovery document at its start, and tries again every 10 seconds. Here the first token of an
// issuer begins to fetch it and the keys, and each further token after a failure. Tokens that
// come within a second wait for that, later ones are answered 401. Request: GET /api/v1/pods
// with a token of an issuer that starts after the server.
type provider struct {
	url       string // of the issuer
	discovery string // URL of the discovery document
	client    client
	keysURL   string // of the goroutine that fetches; "" before the discovery document is fetched

	mu      sync.Mutex // guards running, and the writes of keys
	running *fetch     // nil without one
	keys    atomic.Pointer[keySet]
}

// A fetch is a goroutine that fetches the keys of an issuer.
type fetch struct {
	late chan struct{} // closed when tokens no longer wait
	done chan struct{} // closed at the end
	err  error         // set before
}

// A keySet are the keys of an issuer. Until expires, no other keys are fetched for a
// token that none of them has signed.
type keySet struct {
	keys    []jwt.Key
	expires time.Time
}

func newProvider(c client, url, discovery string) *provider {
	if discovery == "" {
		discovery = strings.TrimSuffix(url, "/") + "/.well-known/openid-configuration"
	}
	return &provider{url: url, discovery: discovery, client: c}
}

// verify fails if no key of the issuer has signed the token, or if the keys are not there.
func (p *provider) verify(ctx context.Context, t *jwt.Token) error {
	known := p.keys.Load()
	if ok, err := p.check(known, t); ok || err != nil {
		return err
	}
	f := p.fetchAfter(known)
	select {
	case <-f.done:
	case <-f.late:
		return errNoKeys
	case <-ctx.Done():
		return fmt.Errorf("fetching keys %w", context.Cause(ctx))
	}
	if f.err != nil {
		return f.err
	}
	if !p.keys.Load().signed(t) {
		return errSignature
	}
	return nil
}

var (
	errSignature = errors.New("failed to verify id token signature")
	errNoKeys    = errors.New("oidc: authenticator not initialized")
)

// fetched is the end of a fetch of keys that another token has asked for.
var fetched = &fetch{done: closedChannel()}

func closedChannel() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

// fetchAfter returns the fetch that runs, or begins one. It begins none if the keys are
// newer than known.
func (p *provider) fetchAfter(known *keySet) *fetch {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.running != nil:
		return p.running
	case p.keys.Load() != known:
		return fetched
	}
	f := &fetch{late: make(chan struct{}), done: make(chan struct{})}
	p.running = f
	patient := time.AfterFunc(patience, func() { close(f.late) })
	go func() {
		keys, err := p.fetch(p.client.server)
		patient.Stop()
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.running = nil; err == nil {
			p.keys.Store(keys)
		}
		f.err = err
		close(f.done)
	}()
	return f
}

// check reports whether one of the keys has signed the token. It fails if none has and
// the keys have not expired.
func (p *provider) check(known *keySet, t *jwt.Token) (bool, error) {
	switch {
	case known == nil:
		return false, nil
	case known.signed(t):
		return true, nil
	case !p.client.clock.Now().Add(renewBefore).After(known.expires):
		return false, errSignature
	}
	return false, nil
}

func (s *keySet) signed(t *jwt.Token) bool {
	for _, key := range s.keys {
		if (t.KeyID == "" || key.ID == t.KeyID) && key.Verify(t) {
			return true
		}
	}
	return false
}

// fetch fetches the keys, and before them the discovery document, if it is not known.
func (p *provider) fetch(ctx context.Context) (*keySet, error) {
	if p.keysURL == "" {
		if err := p.discover(ctx); err != nil {
			return nil, err
		}
	}
	body, header, err := p.client.get(ctx, p.keysURL, "")
	if err != nil {
		return nil, fmt.Errorf("fetching keys oidc: get keys failed %w", err)
	}
	keys, err := jwt.ParseKeySet(body)
	if err != nil {
		return nil, fmt.Errorf("fetching keys oidc: failed to decode keys: %w %s", contentError(header, err), body)
	}
	return &keySet{keys, p.client.clock.Now().Add(maxAge(header))}, nil
}

func (p *provider) discover(ctx context.Context) error {
	body, header, err := p.client.get(ctx, p.discovery, "")
	if err != nil {
		return err
	}
	var document struct {
		Issuer string `json:"issuer"`
		Keys   string `json:"jwks_uri"`
	}
	if err := json.Unmarshal(body, &document); err != nil {
		return fmt.Errorf("oidc: failed to decode provider discovery object: %w", contentError(header, err))
	}
	switch {
	case document.Issuer != p.url:
		return fmt.Errorf("oidc: issuer did not match the issuer returned by provider, expected %q got %q", p.url, document.Issuer)
	case document.Keys == "":
		return errors.New("provider did not return JWKS URL")
	}
	p.keysURL = document.Keys
	return nil
}

// contentError returns err with the type of a body that is not JSON.
func contentError(header http.Header, err error) error {
	kind := header.Get("Content-Type")
	if media, _, parseErr := mime.ParseMediaType(kind); parseErr == nil && media == "application/json" {
		return fmt.Errorf("got Content-Type = application/json, but could not unmarshal as JSON: %w", err)
	}
	return fmt.Errorf("expected Content-Type = application/json, got %q: %w", kind, err)
}

// maxAge returns how long an answer may be cached.
func maxAge(header http.Header) time.Duration {
	var age time.Duration
	for _, directive := range strings.Split(header.Get("Cache-Control"), ",") {
		name, value, _ := strings.Cut(strings.ToLower(strings.TrimSpace(directive)), "=")
		switch name {
		case "no-store", "no-cache":
			return 0
		case "max-age":
			if seconds, err := strconv.ParseInt(value, 10, 32); err == nil {
				age = time.Duration(seconds) * time.Second
			}
		}
	}
	return age
}

// A client sends the requests to an issuer.
type client struct {
	server context.Context // ends with the server
	clock  *clock.Clock
	trust  *tls.Config
}

// get returns the body of a document. Its request ends with ctx, with the server, and
// after fetchTimeout.
func (c client) get(ctx context.Context, url, token string) ([]byte, http.Header, error) {
	ctx, cancel := c.clock.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	defer context.AfterFunc(c.server, cancel)()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, nil, err
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	transport := webhook.NewTransport(ctx, c.trust)
	transport.Proxy = http.ProxyFromEnvironment
	resp, err := (&http.Client{Transport: transport}).Do(r)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxDocument))
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("unable to read response body: %w", err)
	case resp.StatusCode != http.StatusOK:
		return nil, nil, fmt.Errorf("%s: %s", resp.Status, body)
	}
	return body, resp.Header, nil
}
