package serviceaccount

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/internal/validation"
)

// webhookTokenGate is the feature gate of tokens that are bound to webhooks: an API server
// sends them with its reviews of admission.
const webhookTokenGate = "APIServerWebhookAuthenticationToken"

// isWebhook reports whether a boundObjectRef is to a configuration of webhooks, as it can be since v1.37.
func isWebhook(r *release.Release, ref map[string]any) bool {
	kind := object.String(ref, "kind")
	return r.Has(behavior.WebhookTokens) && object.String(ref, "apiVersion") == webhookGroup+"/v1" &&
		(kind == "ValidatingWebhookConfiguration" || kind == "MutatingWebhookConfiguration")
}

// reviewGroups is the attestation of the API group of an AdmissionReview.
const reviewGroups = "admissionReviewAPIGroups"

var attestationsPath = validation.NewPath("spec", "attestations")

// validateForWebhook validates the spec of a request for a token that is bound to webhooks.
func validateForWebhook(spec map[string]any) (errs validation.List) {
	if audiences := object.List(spec, "audiences"); len(audiences) != 1 {
		errs = append(errs, validation.Invalid(validation.NewPath("spec", "audiences"), audiences, "must be length 1 when bound to a webhook config"))
	}
	return append(errs, validateAttestations(object.Map(spec, "attestations"))...)
}

func validateAttestations(attestations map[string]any) validation.List {
	at := attestationsPath
	if len(attestations) != 1 {
		return validation.List{validation.Invalid(at, attestations, "webhook bound requests require exactly one admissionReviewAPIGroups attestation")}
	}
	for key := range attestations {
		if key != reviewGroups {
			return validation.List{validation.NotSupported(at.Key(key), validation.NamedString(key), []string{reviewGroups})}
		}
	}
	groups := object.Strings(attestations, reviewGroups)
	at = at.Key(reviewGroups)
	switch {
	case len(groups) != 1:
		return validation.List{validation.Invalid(at, attestations[reviewGroups], "must specify a single value")}
	case groups[0] == "":
		return validation.List{validation.Invalid(at.Index(0), "", "may not be an empty string")}
	case groups[0] == "*":
		return nil
	}
	var errs validation.List
	for _, reason := range validation.DNS1123Subdomain(groups[0]) {
		errs = append(errs, validation.Invalid(at.Index(0), groups[0], "must specify a valid API Group: "+reason))
	}
	return errs
}

// bindToWebhook binds a token to a configuration of webhooks, which it returns. One of the webhooks
// must be the audience, and be called for the API group that the spec attests.
func (t *Tokens) bindToWebhook(c *claims, spec map[string]any, kind string, attest func(*authn.User, string) error) (*storage.Object, error) {
	if len(authn.Intersect(c.Audience, t.Keys.Audiences())) > 0 {
		return nil, status.BadRequest("api server audiences are invalid for webhook token requests")
	}
	if expiration, _ := object.Int(spec, "expirationSeconds"); expiration > webhookExpiration {
		spec["expirationSeconds"] = int64(webhookExpiration)
	}
	k := &c.Kubernetes
	group := object.Strings(spec, "attestations", reviewGroups)[0]
	if err := attest(authn.ServiceAccount(k.Namespace, k.Account.Name, k.Account.UID), group); err != nil {
		return nil, err
	}
	typ, o := t.newest(webhookGroup, strings.ToLower(kind)+"s", "", object.String(spec, "boundObjectRef", "name"))
	if o == nil || deletedBefore(o, t.Now()) || group != "*" && !hasWebhook(o.Decode(typ), c.Audience[0], group) {
		return nil, status.Forbidden(status.GroupResource{Resource: "serviceaccounts/token"}, k.Account.Name, "token request denied")
	}
	k.Attestations = map[string][]string{reviewGroups: {group}}
	if kind == "MutatingWebhookConfiguration" {
		k.MutatingWebhook = refTo(o)
	} else {
		k.ValidatingWebhook = refTo(o)
	}
	return o, nil
}

// hasWebhook reports whether a configuration has a webhook at the URL audience that is called for
// objects of an API group.
func hasWebhook(config map[string]any, audience, group string) bool {
	for hook := range object.Each(config["webhooks"]) {
		if webhookURL(object.Map(hook, "clientConfig")) != audience {
			continue
		}
		for rule := range object.Each(hook["rules"]) {
			groups := object.Strings(rule, "apiGroups")
			if slices.Contains(groups, "*") || slices.Contains(groups, group) {
				return true
			}
		}
	}
	return false
}

// webhookURL returns the URL of a webhook. That of a Service has its port.
func webhookURL(config map[string]any) string {
	service := object.Map(config, "service")
	if service == nil {
		return object.String(config, "url")
	}
	port, ok := object.Int(service, "port")
	if !ok {
		port = 443
	}
	return fmt.Sprintf("https://%s.%s.svc:%d/%s", object.String(service, "name"), object.String(service, "namespace"),
		port, strings.TrimPrefix(object.String(service, "path"), "/"))
}
