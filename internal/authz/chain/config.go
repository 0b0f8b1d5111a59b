// Package chain reads an AuthorizationConfiguration: the modes of an authorizer, in
// their order. It has the mode Webhook.
//
// See https://kubernetes.io/docs/reference/access-authn-authz/authorization/#using-configuration-file-for-authorization.
package chain

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/kubefake/kubefake/internal/authz"
	"github.com/kubefake/kubefake/internal/cel"
	"github.com/kubefake/kubefake/internal/configfile"
	"github.com/kubefake/kubefake/internal/kubeconfig"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/suggest"
	"github.com/kubefake/kubefake/internal/validation"
)

// A Configuration is an AuthorizationConfiguration of apiserver.config.k8s.io.
type Configuration struct {
	Authorizers []Authorizer `json:"authorizers"`
}

// An Authorizer is one mode.
type Authorizer struct {
	Type    string   `json:"type"`
	Name    string   `json:"name"`
	Webhook *Webhook `json:"webhook"` // of the type Webhook
}

// A Webhook configures the mode Webhook.
type Webhook struct {
	AuthorizedTTL                            configfile.Duration `json:"authorizedTTL"`
	CacheAuthorizedRequests                  *bool               `json:"cacheAuthorizedRequests"`
	UnauthorizedTTL                          configfile.Duration `json:"unauthorizedTTL"`
	CacheUnauthorizedRequests                *bool               `json:"cacheUnauthorizedRequests"`
	Timeout                                  configfile.Duration `json:"timeout"`
	SubjectAccessReviewVersion               string              `json:"subjectAccessReviewVersion"`
	MatchConditionSubjectAccessReviewVersion string              `json:"matchConditionSubjectAccessReviewVersion"`
	FailurePolicy                            string              `json:"failurePolicy"`
	ConnectionInfo                           ConnectionInfo      `json:"connectionInfo"`
	MatchConditions                          []MatchCondition    `json:"matchConditions"`
}

// ConnectionInfo says where a webhook is.
type ConnectionInfo struct {
	Type           string  `json:"type"`
	KubeConfigFile *string `json:"kubeConfigFile"`
}

// A MatchCondition is an expression that must be true for a webhook to be called.
type MatchCondition struct {
	Expression string `json:"expression"`
}

// The types of authorizers.
const (
	typeAlwaysAllow = "AlwaysAllow"
	typeAlwaysDeny  = "AlwaysDeny"
	typeABAC        = "ABAC"
	typeNode        = "Node"
	typeRBAC        = "RBAC"
	typeWebhook     = "Webhook"
)

var knownTypes = []string{typeABAC, typeAlwaysAllow, typeAlwaysDeny, typeNode, typeRBAC, typeWebhook}

// Failure policies of webhooks.
const (
	noOpinion = "NoOpinion"
	deny      = "Deny"
)

// The type of a webhook's ConnectionInfo.
const (
	inCluster      = "InClusterConfig"
	kubeConfigFile = "KubeConfigFile"
)

// Options are what Compile and Load need beside a Configuration.
type Options struct {
	// Minor is that of the release, whose CEL libraries expressions may use.
	Minor int
	// Selectors is whether reviews have selectors.
	Selectors bool
	// ABAC returns the policies of the mode ABAC. It is called for that mode only.
	ABAC func() (*authz.ABAC, error)
}

// Load reads, validates and compiles an AuthorizationConfiguration in YAML or JSON. The
// errors are those of kube-apiserver.
func Load(text []byte, o Options) (*Chain, error) {
	c := &Configuration{}
	if len(text) > 0 {
		versions := []string{"v1alpha1", "v1beta1", "v1"}
		if err := configfile.Decode(text, "AuthorizationConfiguration", versions, o.Minor, c); err != nil {
			return nil, fmt.Errorf("failed to load AuthorizationConfiguration from file: %w", err)
		}
	}
	for i := range c.Authorizers {
		if w := c.Authorizers[i].Webhook; w != nil {
			w.setDefaults()
		}
	}
	if errs := c.validate(o); len(errs) > 0 {
		return nil, errors.New(errs.Message())
	}
	var errs []error
	for _, a := range c.Authorizers {
		if want := strings.ToLower(a.Type); a.Type != typeWebhook && a.Name != want {
			errs = append(errs, fmt.Errorf("expected name %s for authorizer %s instead of %s", want, a.Type, a.Name))
		}
	}
	if len(errs) > 0 {
		return nil, errors.New(status.Aggregate(errs))
	}
	return c.compile(o)
}

func (w *Webhook) setDefaults() {
	yes := true
	if w.AuthorizedTTL.Duration == 0 {
		w.AuthorizedTTL.Duration = 5 * time.Minute
	}
	if w.UnauthorizedTTL.Duration == 0 {
		w.UnauthorizedTTL.Duration = 30 * time.Second
	}
	if w.CacheAuthorizedRequests == nil {
		w.CacheAuthorizedRequests = &yes
	}
	if w.CacheUnauthorizedRequests == nil {
		w.CacheUnauthorizedRequests = &yes
	}
}

// OfModes returns the Chain of modes of --authorization-mode. webhook is that of the
// mode Webhook.
func OfModes(modes []string, webhook *Webhook, o Options) (*Chain, error) {
	c := &Configuration{}
	for i, mode := range modes {
		switch {
		case !slices.Contains(knownTypes, mode):
			return nil, fmt.Errorf("authorization-mode %q is not a valid mode%s", mode, suggest.DidYouMean(mode, knownTypes))
		case slices.Contains(modes[:i], mode):
			return nil, fmt.Errorf("authorization-mode %q has mode specified more than once", modes)
		case mode == typeWebhook && webhook == nil:
			return nil, errors.New("authorization-mode Webhook's authorization config file not passed")
		}
		a := Authorizer{Type: mode, Name: strings.ToLower(mode)}
		if mode == typeWebhook {
			a.Name, a.Webhook = "default", webhook
		}
		c.Authorizers = append(c.Authorizers, a)
	}
	if webhook != nil && !slices.Contains(modes, typeWebhook) {
		return nil, errors.New("cannot specify --authorization-webhook-config-file without mode Webhook")
	}
	return c.compile(o)
}

// LegacyWebhook returns the webhook of the flags that begin with
// --authorization-webhook.
func LegacyWebhook(file, version string, authorizedTTL, unauthorizedTTL time.Duration) *Webhook {
	cacheAuthorized, cacheUnauthorized := authorizedTTL != 0, unauthorizedTTL != 0
	return &Webhook{
		AuthorizedTTL: configfile.Duration{Duration: authorizedTTL}, CacheAuthorizedRequests: &cacheAuthorized,
		UnauthorizedTTL: configfile.Duration{Duration: unauthorizedTTL}, CacheUnauthorizedRequests: &cacheUnauthorized,
		Timeout: configfile.Duration{Duration: maxTimeout}, SubjectAccessReviewVersion: version, FailurePolicy: noOpinion,
		ConnectionInfo: ConnectionInfo{Type: kubeConfigFile, KubeConfigFile: &file},
	}
}

// validate returns what is wrong with the configuration.
func (c *Configuration) validate(o Options) validation.List {
	v := &validator{Options: o}
	list := validation.NewPath("authorizers")
	if len(c.Authorizers) == 0 {
		v.add(validation.Required(list, "at least one authorization mode must be defined"))
	}
	var types, names []string
	for i := range c.Authorizers {
		a, at := &c.Authorizers[i], list.Index(i)
		switch {
		case a.Type == "":
			v.add(validation.Required(at.Child("type"), ""))
			continue
		case !slices.Contains(knownTypes, a.Type):
			v.add(validation.NotSupported(at.Child("type"), a.Type, knownTypes))
			continue
		case a.Type != typeWebhook && slices.Contains(types, a.Type):
			v.add(validation.Duplicate(at.Child("type"), a.Type))
			continue
		}
		types = append(types, a.Type)
		name := at.Child("name")
		if a.Name == "" {
			v.add(validation.Required(name, ""))
		} else if slices.Contains(names, a.Name) {
			v.add(validation.Duplicate(name, a.Name))
		} else if wrong := validation.DNS1123Subdomain(a.Name); len(wrong) > 0 {
			v.add(validation.Invalid(name, a.Name, "authorizer name is invalid: "+strings.Join(wrong, ", ")))
		}
		names = append(names, a.Name)
		switch {
		case a.Type == typeWebhook && a.Webhook == nil:
			v.add(validation.Required(at.Child("webhook"), "required when type=Webhook"))
		case a.Type == typeWebhook:
			v.webhook(a.Webhook, at)
		case a.Webhook != nil:
			v.add(validation.Invalid(at.Child("webhook"), "non-null", "may only be specified when type=Webhook"))
		}
	}
	return v.errs
}

// A validator collects errors.
type validator struct {
	Options
	errs validation.List
}

func (v *validator) add(errs ...*validation.Error) { v.errs = append(v.errs, errs...) }

// maxTimeout is the longest timeout of a webhook.
const maxTimeout = 30 * time.Second

func (v *validator) webhook(w *Webhook, at *validation.Path) {
	timeout := at.Child("timeout")
	switch d := w.Timeout.Duration; {
	case d == 0:
		v.add(validation.Required(timeout, ""))
	case d > maxTimeout || d < 0:
		v.add(validation.Invalid(timeout, d.String(), "must be > 0s and <= 30s"))
	}
	for _, ttl := range []struct {
		name  string
		value time.Duration
	}{{"authorizedTTL", w.AuthorizedTTL.Duration}, {"unauthorizedTTL", w.UnauthorizedTTL.Duration}} {
		if ttl.value < 0 {
			v.add(validation.Invalid(at.Child(ttl.name), ttl.value.String(), "must be > 0s"))
		}
	}
	v.oneOf(at.Child("subjectAccessReviewVersion"), w.SubjectAccessReviewVersion, "v1", "v1beta1")
	conditions := at.Child("matchConditionSubjectAccessReviewVersion")
	switch version := w.MatchConditionSubjectAccessReviewVersion; {
	case version != "":
		v.oneOf(conditions, version, "v1")
	case len(w.MatchConditions) > 0:
		v.add(validation.Required(conditions, "required if match conditions are specified"))
	}
	v.oneOf(at.Child("failurePolicy"), w.FailurePolicy, noOpinion, deny)
	v.connection(&w.ConnectionInfo, at.Child("connectionInfo"))
	v.conditions(w.MatchConditions, at)
}

// oneOf checks a required value of an enumeration.
func (v *validator) oneOf(at *validation.Path, value string, supported ...string) {
	switch {
	case value == "":
		v.add(validation.Required(at, ""))
	case !slices.Contains(supported, value):
		v.add(validation.NotSupported(at, value, supported))
	}
}

func (v *validator) connection(c *ConnectionInfo, at *validation.Path) {
	file := at.Child("kubeConfigFile")
	switch c.Type {
	case "":
		v.add(validation.Required(at.Child("type"), ""))
	case inCluster:
		if c.KubeConfigFile != nil {
			v.add(validation.Invalid(file, *c.KubeConfigFile, "can only be set when type=KubeConfigFile"))
		}
	case kubeConfigFile:
		if c.KubeConfigFile == nil || *c.KubeConfigFile == "" {
			v.add(validation.Required(file, ""))
		} else if !filepath.IsAbs(*c.KubeConfigFile) {
			v.add(validation.Invalid(file, *c.KubeConfigFile, "must be an absolute path"))
		} else if info, err := os.Stat(*c.KubeConfigFile); err != nil {
			v.add(validation.Invalid(file, *c.KubeConfigFile, fmt.Sprintf("error loading file: %v", err)))
		} else if !info.Mode().IsRegular() {
			v.add(validation.Invalid(file, *c.KubeConfigFile, "must be a regular file"))
		}
	default:
		printed := struct {
			Type           string
			KubeConfigFile *string
		}{c.Type, c.KubeConfigFile}
		v.add(validation.NotSupported(at.Child("type"), printed, []string{inCluster, kubeConfigFile}))
	}
}

const maxConditions = 64

// conditions checks and compiles match conditions.
func (v *validator) conditions(list []MatchCondition, at *validation.Path) (compiled []*cel.Condition) {
	at = at.Child("matchConditions")
	if len(list) > maxConditions {
		v.add(validation.TooMany(at, len(list), maxConditions))
		return nil
	}
	env := cel.NewAccessReview(cel.Version(v.Minor), v.Selectors)
	var seen []string
	for i, c := range list {
		at := at.Index(i).Child("expression")
		switch {
		case strings.TrimSpace(c.Expression) == "":
			v.add(validation.Required(at, ""))
			continue
		case slices.Contains(seen, c.Expression):
			v.add(validation.Duplicate(at, c.Expression))
			continue
		}
		seen = append(seen, c.Expression)
		condition, err := env.Compile(c.Expression, cel.Bool)
		if err != nil {
			v.add(cel.Invalid(at, c.Expression, err))
			continue
		}
		compiled = append(compiled, condition)
	}
	return compiled
}

// compile returns the Chain of a valid configuration. It reads the kubeconfig files of
// webhooks.
func (c *Configuration) compile(o Options) (*Chain, error) {
	out := &Chain{}
	for _, a := range c.Authorizers {
		switch a.Type {
		case typeABAC:
			policies, err := o.ABAC()
			if err != nil {
				return nil, fmt.Errorf("invalid authorization config: %w", err)
			}
			out.modes = append(out.modes, mode{name: typeABAC, authorizer: a.Name, abac: policies})
		case typeWebhook:
			w, err := a.compile(o)
			if err != nil {
				return nil, fmt.Errorf("invalid authorization config: %w", err)
			}
			out.modes = append(out.modes, mode{name: typeWebhook, authorizer: a.Name, webhook: w})
		default:
			out.modes = append(out.modes, mode{name: a.Type, authorizer: a.Name})
		}
	}
	return out, nil
}

// compile returns the webhook of an authorizer.
func (a *Authorizer) compile(o Options) (*webhookConfig, error) {
	w := a.Webhook
	if !slices.Contains([]string{"v1", "v1beta1"}, w.SubjectAccessReviewVersion) {
		return nil, fmt.Errorf("unsupported webhook authorizer version %q, supported versions are %q, %q", w.SubjectAccessReviewVersion, "v1", "v1beta1")
	}
	if w.ConnectionInfo.Type == inCluster {
		return nil, errors.New("unable to load in-cluster configuration, KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT must be defined")
	}
	cluster, err := kubeconfig.LoadClient(context.Background(), *w.ConnectionInfo.KubeConfigFile, o.Minor)
	if err != nil {
		return nil, err
	}
	v := &validator{Options: o}
	return &webhookConfig{Webhook: w, Options: o, cluster: cluster, conditions: v.conditions(w.MatchConditions, nil)}, nil
}
