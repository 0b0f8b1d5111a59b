package chain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/cel-go/common/types"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/authz"
	"github.com/kubefake/kubefake/internal/cel"
	"github.com/kubefake/kubefake/internal/kubeconfig"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/ttlcache"
	"github.com/kubefake/kubefake/internal/webhook"
)

// A Chain is the modes of a valid configuration. It is immutable.
type Chain struct{ modes []mode }

// A mode is the type of a mode, and its configuration.
type mode struct {
	name       string
	authorizer string         // the name of the Authorizer
	webhook    *webhookConfig // of Webhook
	abac       *authz.ABAC    // of ABAC
}

// AllowsAnonymous reports whether requests without credentials may be those of
// system:anonymous: kube-apiserver refuses them with the mode AlwaysAllow.
func (c *Chain) AllowsAnonymous() bool {
	for _, m := range c.modes {
		if m.name == typeAlwaysAllow {
			return false
		}
	}
	return true
}

// A Server is what the modes of one server need of it.
type Server struct {
	Policy authz.Policy // of RBAC
	Node   authz.Mode
	// Webhooks calls webhooks. Their answers are cached on its clock.
	Webhooks *webhook.Client
	// NamesAuthorizers puts the name of an Authorizer without an opinion before its reason, as
	// kube-apiserver v1.37 begins to do.
	NamesAuthorizers bool
}

// A namedMode is a mode whose reasons have the name of its Authorizer if it has no opinion.
type namedMode struct {
	authz.Mode
	name string
}

// Authorize implements [authz.Mode].
func (m namedMode) Authorize(ctx context.Context, u *authn.User, at *authz.Attributes) authz.Decision {
	d := m.Mode.Authorize(ctx, u, at)
	if !d.Allowed && !d.Denied && d.Reason != "" {
		d.Reason = m.name + ": " + d.Reason
	}
	return d
}

// Modes returns the modes of one server.
func (c *Chain) Modes(s Server) []authz.Mode {
	var out []authz.Mode
	for _, m := range c.modes {
		switch m.name {
		case typeAlwaysAllow:
			out = append(out, authz.AlwaysAllow{})
		case typeAlwaysDeny:
			out = append(out, authz.AlwaysDeny{})
		case typeABAC:
			out = append(out, m.abac)
		case typeRBAC:
			out = append(out, authz.RBAC{Policy: s.Policy})
		case typeNode:
			out = append(out, s.Node)
		case typeWebhook:
			out = append(out, &webhookMode{
				webhookConfig: m.webhook,
				reviewer:      &webhook.Reviewer{Client: s.Webhooks, Cluster: m.webhook.cluster, Timeout: m.webhook.Timeout.Duration},
				answers:       ttlcache.New[answer](maxAnswers),
			})
		}
		if last := len(out) - 1; s.NamesAuthorizers {
			out[last] = namedMode{out[last], m.authorizer}
		}
	}
	return out
}

// A webhookConfig is a Webhook with compiled conditions.
type webhookConfig struct {
	*Webhook
	Options
	cluster    *kubeconfig.Cluster
	conditions []*cel.Condition
}

const (
	// maxAnswers is the number of answers of a webhook that are cached.
	maxAnswers = 8192
	// maxCached is the length of the attributes of the longest request whose answer is
	// cached, in bytes.
	maxCached = 10000
)

// A webhookMode is the mode Webhook.
type webhookMode struct {
	*webhookConfig
	reviewer *webhook.Reviewer
	answers  *ttlcache.Cache[answer]
}

// An answer is the status of a SubjectAccessReview.
type answer struct {
	Allowed bool   `json:"allowed"`
	Denied  bool   `json:"denied"`
	Reason  string `json:"reason"`
}

// Authorize implements [authz.Mode].
func (w *webhookMode) Authorize(ctx context.Context, u *authn.User, at *authz.Attributes) authz.Decision {
	matches, err := w.matches(ctx, u, at)
	if err != nil {
		return w.failed(err)
	}
	if !matches {
		return authz.Decision{}
	}
	spec := w.spec(u, at)
	key, err := json.Marshal(spec)
	if err != nil {
		return w.failed(err)
	}
	got, ok := w.answers.Get(string(key), w.reviewer.Client.Clock.Now())
	if !ok {
		var review struct{ Status answer }
		err := w.reviewer.Review(ctx, webhook.Review{
			Kind: resource.Kind{GroupVersion: resource.GroupVersion{Group: "authorization.k8s.io", Version: w.SubjectAccessReviewVersion}, Kind: "SubjectAccessReview"},
			Spec: spec, Status: map[string]any{"allowed": false},
		}, &review)
		if err != nil {
			return w.failed(err)
		}
		got = review.Status
		w.cache(string(key), at, got)
	}
	d := authz.Decision{Allowed: got.Allowed && !got.Denied, Denied: got.Denied, Reason: got.Reason}
	if got.Allowed && got.Denied {
		d.Err = errors.New("webhook subject access review returned both allow and deny response")
	}
	return d
}

// failed returns the decision by the failure policy.
func (w *webhookMode) failed(err error) authz.Decision {
	return authz.Decision{Denied: w.FailurePolicy == deny, Err: err}
}

// cache caches an answer unless the attributes are too long.
func (w *webhookMode) cache(key string, at *authz.Attributes, got answer) {
	length := len(at.Namespace) + len(at.Verb) + len(at.Group) + len(at.Version) + len(at.Resource) + len(at.Subresource) + len(at.Name) + len(at.Path)
	ttl, cached := w.UnauthorizedTTL, w.CacheUnauthorizedRequests
	if got.Allowed {
		ttl, cached = w.AuthorizedTTL, w.CacheAuthorizedRequests
	}
	if length < maxCached && *cached {
		w.answers.Add(key, got, w.reviewer.Client.Clock.Now(), ttl.Duration)
	}
}

// Rules implements [authz.Mode].
func (w *webhookMode) Rules(*authn.User, string) ([]authz.Rule, []error) {
	return nil, []error{authz.NoRulesError{Mode: "webhook"}}
}

// matches reports whether all match conditions are true. A condition that is false
// counts before one that fails.
func (w *webhookMode) matches(ctx context.Context, u *authn.User, at *authz.Attributes) (bool, error) {
	if len(w.conditions) == 0 {
		return true, nil
	}
	value := w.celSpec(u, at)
	var errs []error
	for _, c := range w.conditions {
		v, err := c.Eval(ctx, value)
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("cel evaluation error: expression '%s' resulted in error: %w", c, err))
		case v != types.True:
			return false, nil
		}
	}
	if len(errs) > 0 {
		return false, errors.New(status.Aggregate(errs))
	}
	return true, nil
}

// A reviewSpec is the spec of a SubjectAccessReview. Its fields have the order of kube-apiserver.
type reviewSpec struct {
	ResourceAttributes    *resourceAttributes `json:"resourceAttributes,omitempty"`
	NonResourceAttributes *pathAttributes     `json:"nonResourceAttributes,omitempty"`
	User                  string              `json:"user,omitempty"`
	Groups                []string            `json:"groups,omitempty"` // of v1
	Group                 []string            `json:"group,omitempty"`  // of v1beta1
	Extra                 map[string][]string `json:"extra,omitempty"`
	UID                   string              `json:"uid,omitempty"`
}

type resourceAttributes struct {
	Namespace     string        `json:"namespace,omitempty"`
	Verb          string        `json:"verb,omitempty"`
	Group         string        `json:"group,omitempty"`
	Version       string        `json:"version,omitempty"`
	Resource      string        `json:"resource,omitempty"`
	Subresource   string        `json:"subresource,omitempty"`
	Name          string        `json:"name,omitempty"`
	FieldSelector *requirements `json:"fieldSelector,omitempty"`
	LabelSelector *requirements `json:"labelSelector,omitempty"`
}

type requirements struct {
	Requirements []authz.Requirement `json:"requirements"`
}

type pathAttributes struct {
	Path string `json:"path,omitempty"`
	Verb string `json:"verb,omitempty"`
}

// spec returns the spec of the review.
func (w *webhookMode) spec(u *authn.User, at *authz.Attributes) *reviewSpec {
	spec := &reviewSpec{User: u.Name, Extra: u.Extra, UID: u.UID}
	if w.SubjectAccessReviewVersion == "v1beta1" {
		spec.Group = u.Groups
	} else {
		spec.Groups = u.Groups
	}
	if !at.IsResource {
		spec.NonResourceAttributes = &pathAttributes{at.Path, at.Verb}
		return spec
	}
	in := &resourceAttributes{
		Namespace: at.Namespace, Verb: at.Verb, Group: at.Group, Version: at.Version,
		Resource: at.Resource, Subresource: at.Subresource, Name: at.Name,
	}
	if w.Selectors {
		if fields := at.FieldSelector.Fields(); len(fields) > 0 {
			in.FieldSelector = &requirements{fields}
		}
		if labels := at.LabelSelector.Labels(); len(labels) > 0 {
			in.LabelSelector = &requirements{labels}
		}
	}
	spec.ResourceAttributes = in
	return spec
}

// celSpec returns the variable request of match conditions, which has all fields of text.
func (w *webhookMode) celSpec(u *authn.User, at *authz.Attributes) map[string]any {
	extra := map[string]any{}
	for key, values := range u.Extra {
		extra[key] = object.FromStrings(values)
	}
	out := map[string]any{"user": u.Name, "uid": u.UID, "groups": object.FromStrings(u.Groups), "extra": extra}
	if !at.IsResource {
		out["nonResourceAttributes"] = map[string]any{"path": at.Path, "verb": at.Verb}
		return out
	}
	in := map[string]any{
		"namespace": at.Namespace, "verb": at.Verb, "group": at.Group, "version": at.Version,
		"resource": at.Resource, "subresource": at.Subresource, "name": at.Name,
	}
	if w.Selectors {
		if fields := at.FieldSelector.Fields(); len(fields) > 0 {
			in["fieldSelector"] = celSelector(fields)
		}
		if labels := at.LabelSelector.Labels(); len(labels) > 0 {
			in["labelSelector"] = celSelector(labels)
		}
	}
	out["resourceAttributes"] = in
	return out
}

func celSelector(requirements []authz.Requirement) map[string]any {
	list := make([]any, len(requirements))
	for i, r := range requirements {
		list[i] = map[string]any{"key": r.Key, "operator": r.Operator, "values": object.FromStrings(r.Values)}
	}
	return map[string]any{"requirements": list}
}
