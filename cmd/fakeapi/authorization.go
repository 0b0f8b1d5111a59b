package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/apiserver"
	"github.com/kubefake/kubefake/internal/suggest"
)

// authorizationFlags are the flags of authorization, which serve and kube-apiserver have
// in common.
type authorizationFlags struct {
	modes   []string
	config  string
	policy  string // the file of ABAC
	webhook apiserver.AuthorizationWebhook

	sets []*pflag.FlagSet // that have the flags
}

// modes are the modes of --authorization-mode that this server has.
var modes = []string{"AlwaysAllow", "AlwaysDeny", "ABAC", "Node", "RBAC", "Webhook"}

func (a *authorizationFlags) define(fs flagSet) {
	a.sets = append(a.sets, fs.FlagSet)
	w := &a.webhook
	fs.StringSliceVar(&a.modes, "authorization-mode", nil, "authorize with `MODE`,... in their order: AlwaysAllow, AlwaysDeny, ABAC, Node, RBAC, Webhook (default AlwaysAllow)")
	fs.StringVar(&a.config, "authorization-config", "", "authorize with the modes in the AuthorizationConfiguration `FILE`")
	fs.StringVar(&a.policy, "authorization-policy-file", "", "the policies of the mode ABAC, a Policy in JSON on each line of `FILE`")
	fs.StringVar(&w.Kubeconfig, "authorization-webhook-config-file", "", "the webhook of the mode Webhook, in the kubeconfig `FILE`")
	fs.StringVar(&w.Version, "authorization-webhook-version", "v1beta1", "the `VERSION` of the SubjectAccessReviews for the webhook: v1 or v1beta1")
	fs.DurationVar(&w.AuthorizedTTL, "authorization-webhook-cache-authorized-ttl", 5*time.Minute, "cache for `DURATION` that the webhook allows a request")
	fs.DurationVar(&w.UnauthorizedTTL, "authorization-webhook-cache-unauthorized-ttl", 30*time.Second, "cache for `DURATION` that the webhook does not allow a request")
}

// hasLegacy reports whether a flag is set that --authorization-config excludes.
func (a *authorizationFlags) hasLegacy() (has bool) {
	for _, set := range a.sets {
		set.VisitAll(func(f *pflag.Flag) {
			legacy := f.Name == "authorization-mode" || strings.HasPrefix(f.Name, "authorization-webhook-")
			has = has || f.Changed && legacy
		})
	}
	return has
}

// allowsAll reports whether a mode allows every request.
func (a *authorizationFlags) allowsAll() bool {
	return a.config == "" && len(a.modes) == 0 || slices.Contains(a.modes, "AlwaysAllow")
}

// validate returns what is wrong with the flags, in the words of kube-apiserver.
func (a *authorizationFlags) validate() (errs []error) {
	if a.config != "" {
		if a.hasLegacy() {
			errs = append(errs, errors.New("--authorization-config can not be specified when --authorization-mode or --authorization-webhook-* flags are defined"))
		}
		return errs
	}
	has := func(mode string) bool { return slices.Contains(a.modes, mode) }
	repeated := false
	for i, mode := range a.modes {
		repeated = repeated || slices.Contains(a.modes[:i], mode)
		switch {
		case mode == "ABAC" && a.policy == "":
			errs = append(errs, errors.New("authorization-mode ABAC's authorization policy file not passed"))
		case !slices.Contains(modes, mode):
			errs = append(errs, fmt.Errorf("authorization-mode %q is not a valid mode%s", mode, suggest.DidYouMean(mode, modes)))
		case mode == "Webhook" && a.webhook.Kubeconfig == "":
			errs = append(errs, errors.New("authorization-mode Webhook's authorization config file not passed"))
		}
	}
	if a.policy != "" && !has("ABAC") {
		errs = append(errs, errors.New("cannot specify --authorization-policy-file without mode ABAC"))
	}
	if a.webhook.Kubeconfig != "" && !has("Webhook") {
		errs = append(errs, errors.New("cannot specify --authorization-webhook-config-file without mode Webhook"))
	}
	if repeated {
		errs = append(errs, fmt.Errorf("authorization-mode %q has mode specified more than once", a.modes))
	}
	return errs
}

// options returns the options for the flags.
func (a *authorizationFlags) options() ([]fakeapi.Option, error) {
	out := apiserver.Authorization{Modes: a.modes, PolicyFile: a.policy}
	switch {
	case a.config != "": // the server reads the file
		out.Modes = nil
	case len(a.modes) == 0 || slices.Equal(a.modes, []string{"AlwaysAllow"}):
		return nil, nil
	}
	if a.webhook.Kubeconfig != "" {
		w := a.webhook
		w.AuthorizedTTL, w.UnauthorizedTTL = orNone(w.AuthorizedTTL), orNone(w.UnauthorizedTTL)
		out.Webhook = &w
	}
	return []fakeapi.Option{fakeapi.WithAPIServer(apiserver.Config{Authorization: &out})}, nil
}

// orNone returns the time to cache of a flag as options have it: -1 is none.
func orNone(d time.Duration) time.Duration {
	if d <= 0 {
		return -1
	}
	return d
}
