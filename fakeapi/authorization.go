package fakeapi

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/kubefake/kubefake/internal/authz"
	"github.com/kubefake/kubefake/internal/authz/chain"
)

// Authorization configures how the server authorizes requests. Its fields are the flags
// of kube-apiserver of similar names.
type Authorization struct {
	// Modes decide in their order: AlwaysAllow, AlwaysDeny, ABAC, Node, RBAC and Webhook.
	Modes []string

	// Webhook is that of the mode Webhook.
	Webhook *AuthorizationWebhook

	// PolicyFile is the name of the file with the policies of the mode ABAC: a Policy in JSON
	// on each line.
	//
	// See https://kubernetes.io/docs/reference/access-authn-authz/abac/.
	PolicyFile string

	// Config is an AuthorizationConfiguration in YAML or JSON, as the file of
	// --authorization-config is. It excludes Modes and Webhook.
	//
	// See https://kubernetes.io/docs/reference/access-authn-authz/authorization/#using-configuration-file-for-authorization.
	Config []byte
}

// AuthorizationWebhook configures the mode Webhook. A request waits for the webhook for
// up to 30 seconds. The server caches up to 8192 answers.
type AuthorizationWebhook struct {
	// Kubeconfig is the name of a kubeconfig file: its cluster is the webhook, and its
	// user has the credentials for it.
	Kubeconfig string

	// Version of SubjectAccessReviews is v1 or v1beta1, the default.
	Version string

	// AuthorizedTTL and UnauthorizedTTL are how long answers are cached, by default 5
	// minutes and 30 seconds. Negative durations cache nothing.
	AuthorizedTTL, UnauthorizedTTL time.Duration
}

// WithAuthorization configures how the server authorizes requests. It takes precedence
// over WithRBAC and WithAlwaysDeny. Wrong modes and files are an ErrInvalidOption.
func WithAuthorization(a Authorization) Option {
	return func(c *config) { c.authorization = &a }
}

// setAuthorization applies WithAuthorization, WithRBAC and WithAlwaysDeny.
func (c *config) setAuthorization() error {
	a := c.authorization
	if a == nil {
		a = &Authorization{}
		if c.rbac {
			a.Modes = append(a.Modes, "RBAC")
		}
		if c.alwaysDeny {
			a.Modes = append(a.Modes, "AlwaysDeny")
		}
		if a.Modes == nil {
			return nil
		}
	}
	c.abac = sync.OnceValues(func() (*authz.ABAC, error) { return authz.ReadABAC(a.PolicyFile) })
	options := c.authorizationOptions()
	var modes *chain.Chain
	var err error
	switch hasABAC := slices.Contains(a.Modes, "ABAC"); {
	case a.Config == nil && hasABAC && a.PolicyFile == "":
		err = errors.New("authorization-mode ABAC's authorization policy file not passed")
	case a.Config == nil && !hasABAC && a.PolicyFile != "":
		err = errors.New("cannot specify --authorization-policy-file without mode ABAC")
	case a.Config == nil:
		modes, err = chain.OfModes(a.Modes, a.Webhook.legacy(), options)
	case len(a.Modes) > 0 || a.Webhook != nil:
		err = fmt.Errorf("--authorization-config can not be specified when --authorization-mode or --authorization-webhook-* flags are defined")
	default:
		modes, err = chain.Load(a.Config, options)
	}
	if err != nil {
		return optionError(err)
	}
	c.server.Auth.Modes = chain.NewSource(modes)
	return nil
}

// authorizationOptions returns what the modes need beside their configuration.
func (c *config) authorizationOptions() chain.Options {
	return chain.Options{Minor: c.server.Release.Minor(), Selectors: c.enabled("AuthorizeWithSelectors"), ABAC: c.abac}
}

// enabled reports whether a feature gate is on. The server refuses wrong gates later.
func (c *config) enabled(gate string) bool {
	r := c.server.Release
	if set, err := r.WithGates(c.server.FeatureGates); err == nil {
		r = set
	}
	return r.Enabled(gate)
}

// legacy returns the webhook of the flags, nil without one.
func (w *AuthorizationWebhook) legacy() *chain.Webhook {
	if w == nil {
		return nil
	}
	return chain.LegacyWebhook(w.Kubeconfig, cmp.Or(w.Version, "v1beta1"), ttl(w.AuthorizedTTL, 5*time.Minute), ttl(w.UnauthorizedTTL, 30*time.Second))
}

// ttl returns a time to cache: usual for 0, and 0 for a negative one.
func ttl(d, usual time.Duration) time.Duration {
	if d == 0 {
		return usual
	}
	return max(d, 0)
}
