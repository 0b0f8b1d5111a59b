package fakeapi

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/kubefake/kubefake/fakeapi/apiserver"
	"github.com/kubefake/kubefake/internal/authz"
	"github.com/kubefake/kubefake/internal/authz/chain"
)

// setAuthorization applies apiserver.Config.Authorization and WithRBAC.
func (c *config) setAuthorization() error {
	a := c.authorization
	if a == nil {
		if !c.rbac {
			return nil
		}
		a = &apiserver.Authorization{Modes: []string{"RBAC"}}
	}
	c.abac = sync.OnceValues(func() (*authz.ABAC, error) { return authz.ReadABAC(a.PolicyFile, c.server.Release.Minor()) })
	options := c.authorizationOptions()
	var modes *chain.Chain
	var err error
	switch hasABAC := slices.Contains(a.Modes, "ABAC"); {
	case a.Config == nil && hasABAC && a.PolicyFile == "":
		err = errors.New("authorization-mode ABAC's authorization policy file not passed")
	case a.Config == nil && !hasABAC && a.PolicyFile != "":
		err = errors.New("cannot specify --authorization-policy-file without mode ABAC")
	case a.Config == nil:
		modes, err = chain.OfModes(a.Modes, legacyWebhook(a.Webhook), options)
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

// legacyWebhook returns the webhook of the flags, nil without one.
func legacyWebhook(w *apiserver.AuthorizationWebhook) *chain.Webhook {
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
