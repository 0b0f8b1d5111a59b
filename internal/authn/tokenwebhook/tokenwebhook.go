// Package tokenwebhook authenticates bearer tokens by a webhook, which answers
// TokenReviews.
//
// See https://kubernetes.io/docs/reference/access-authn-authz/authentication/#webhook-token-authentication.
package tokenwebhook

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/kubeconfig"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/ttlcache"
	"github.com/kubefake/kubefake/internal/webhook"
)

const (
	// timeout bounds each call.
	timeout = 30 * time.Second
	// maxAnswers is the number of answers that are cached.
	maxAnswers = 4096
)

// A Config is a webhook for tokens. It is immutable.
type Config struct {
	Cluster  *kubeconfig.Cluster
	Version  string        // of TokenReviews: v1 or v1beta1
	CacheTTL time.Duration // how long answers are cached
}

// Load returns the Config of a kubeconfig file, with the errors of a minor release.
func Load(file, version string, cacheTTL time.Duration, minor int) (*Config, error) {
	if !slices.Contains([]string{"v1", "v1beta1"}, version) {
		return nil, fmt.Errorf("unsupported authentication webhook version %q, supported versions are %q, %q", version, "v1", "v1beta1")
	}
	cluster, err := kubeconfig.LoadClient(context.Background(), file, minor)
	if err != nil {
		return nil, err
	}
	return &Config{cluster, version, cacheTTL}, nil
}

// An Authenticator authenticates tokens by a webhook. It is safe for concurrent use.
type Authenticator struct {
	config    *Config
	reviewer  *webhook.Reviewer
	audiences []string // of the server
	answers   *ttlcache.Cache[answer]
}

var _ authn.TokenAuthenticator = (*Authenticator)(nil)

// An answer is the result of AuthenticateToken without an error.
type answer struct {
	user      *authn.User
	audiences []string
}

// New returns an Authenticator that calls the webhook by the client and caches answers
// on its clock. audiences are those of the server.
func New(c *Config, client *webhook.Client, audiences []string) *Authenticator {
	return &Authenticator{
		config:   c,
		reviewer: &webhook.Reviewer{Client: client, Cluster: c.Cluster, Timeout: timeout},
		answers:  ttlcache.New[answer](maxAnswers), audiences: audiences,
	}
}

// A review is a TokenReview with the fields that AuthenticateToken reads.
type review struct {
	Status struct {
		Authenticated bool     `json:"authenticated"`
		Audiences     []string `json:"audiences"`
		Error         string   `json:"error"`
		User          struct {
			Username string              `json:"username"`
			UID      string              `json:"uid"`
			Groups   []string            `json:"groups"`
			Extra    map[string][]string `json:"extra"`
		} `json:"user"`
	} `json:"status"`
}

// A reviewSpec is the spec of a TokenReview.
type reviewSpec struct {
	Token     string   `json:"token,omitempty"`
	Audiences []string `json:"audiences,omitempty"`
}

// AuthenticateToken implements [authn.TokenAuthenticator].
func (a *Authenticator) AuthenticateToken(ctx context.Context, token string, audiences []string) (*authn.User, []string, error) {
	hash := sha256.Sum256([]byte(token + "\x00" + strings.Join(audiences, "\x00")))
	key := string(hash[:])
	if known, ok := a.answers.Get(key, a.now()); ok {
		return known.user, known.audiences, nil
	}
	user, common, err := a.call(ctx, token, audiences)
	if err != nil {
		return nil, nil, err
	}
	a.answers.Add(key, answer{user, common}, a.now(), a.config.CacheTTL)
	return user, common, nil
}

func (a *Authenticator) now() time.Time { return a.reviewer.Client.Clock.Now() }

func (a *Authenticator) call(ctx context.Context, token string, audiences []string) (*authn.User, []string, error) {
	var r review
	err := a.reviewer.Review(ctx, webhook.Review{
		Kind: resource.Kind{GroupVersion: resource.GroupVersion{Group: "authentication.k8s.io", Version: a.config.Version}, Kind: "TokenReview"},
		Spec: reviewSpec{token, audiences}, Status: map[string]any{"user": map[string]any{}},
	}, &r)
	if err != nil {
		return nil, nil, err
	}
	got := r.Status.Audiences
	if len(got) == 0 {
		got = a.audiences
	}
	common := authn.Intersect(audiences, got)
	switch {
	case len(common) == 0:
		return nil, nil, nil
	case !r.Status.Authenticated && r.Status.Error != "":
		return nil, nil, errors.New(r.Status.Error)
	case !r.Status.Authenticated:
		return nil, nil, nil
	}
	u := r.Status.User
	return &authn.User{Name: u.Username, UID: u.UID, Groups: u.Groups, Extra: u.Extra}, common, nil
}
