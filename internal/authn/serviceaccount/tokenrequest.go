package serviceaccount

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/internal/validation"
)

// Lifetimes of tokens in seconds.
const (
	defaultExpiration = 60 * 60
	minExpiration     = 10 * 60
	maxExpiration     = 1 << 32

	// projectedExpiration is what kubelets request for pods. A token that is
	// bound to a pod and requested with it expires after extendedExpiration.
	projectedExpiration = 60*60 + 7
	extendedExpiration  = 365 * 24 * 60 * 60
)

var requestKind = status.GroupKind{Group: "authentication.k8s.io", Kind: "TokenRequest"}

// SetDefaults sets the defaults of a TokenRequest.
func SetDefaults(obj map[string]any) {
	spec := object.Map(obj, "spec")
	if spec == nil {
		spec = map[string]any{}
		obj["spec"] = spec
	}
	if spec["expirationSeconds"] == nil {
		spec["expirationSeconds"] = int64(defaultExpiration)
	}
}

// An Issued says of a token what its request does not.
type Issued struct {
	Credential string // by which the users of the token are known
	Warning    string // for the client; "" for none
}

// Request issues a token of the service account for a TokenRequest, by the rules of a release. It sets the
// defaults, the metadata and the status of obj. It calls admit with the status empty, before it looks at
// the object to bind. Errors are of type *status.Status, or of admit.
//
// See https://kubernetes.io/docs/reference/kubernetes-api/authentication-resources/token-request-v1/.
func (t *Tokens) Request(r *release.Release, obj map[string]any, namespace, name string, admit func() error) (Issued, error) {
	meta := object.Meta(obj)
	account, err := t.account(meta, namespace, name)
	if err != nil {
		return Issued{}, err
	}
	SetDefaults(obj)
	spec := object.Map(obj, "spec")
	if len(object.List(spec, "audiences")) == 0 {
		spec["audiences"] = object.FromStrings(t.Keys.Audiences())
	}
	expiration, _ := object.Int(spec, "expirationSeconds")
	if errs := validateRequest(r, spec, expiration); len(errs) > 0 {
		return Issued{}, status.Invalid(requestKind, "", errs)
	}
	now := t.Now()
	meta["creationTimestamp"] = clock.Timestamp(now)
	obj["status"] = map[string]any{"token": "", "expirationTimestamp": nil}
	if err := admit(); err != nil {
		return Issued{}, err
	}
	c := &claims{
		Audience: object.Strings(spec, "audiences"),
		IssuedAt: now.Unix(), NotBefore: now.Unix(),
		Issuer:     t.Keys.config.Issuers[0],
		ID:         t.NewUID(),
		Subject:    authn.ServiceAccountName(account.Namespace, account.Name),
		Kubernetes: accountClaims{Namespace: account.Namespace, Account: *refTo(account)},
	}
	if ref := object.Map(spec, "boundObjectRef"); ref != nil {
		if err := t.bind(r, &c.Kubernetes, ref); err != nil {
			return Issued{}, err
		}
	}
	issued := Issued{Credential: authn.CredentialID(c.ID)}
	if most := int64(t.Keys.config.MaxExpiration / time.Second); most > 0 && expiration > most {
		issued.Warning = fmt.Sprintf("requested expiration of %d seconds shortened to %d seconds", expiration, most)
		expiration = most
		spec["expirationSeconds"] = expiration
	}
	c.Expires = now.Unix() + expiration
	if !t.Keys.config.NoExtension && c.Kubernetes.Pod != nil && expiration == projectedExpiration && slices.Equal(c.Audience, t.Keys.Audiences()) {
		c.Kubernetes.WarnAfter = c.Expires
		c.Expires = now.Unix() + extendedExpiration
	}
	token, err := sign(t.Keys.signer(), c)
	if err != nil {
		return Issued{}, status.Internal("failed to generate token: " + err.Error())
	}
	obj["status"] = map[string]any{
		"token":               token,
		"expirationTimestamp": clock.Timestamp(now.Add(time.Duration(expiration) * time.Second)),
	}
	return issued, nil
}

// account returns the service account, and sets its name, namespace and uid in
// the metadata of the request.
func (t *Tokens) account(meta map[string]any, namespace, name string) (*storage.Object, error) {
	if requested := object.String(meta, "name"); requested != "" && requested != name {
		return nil, status.Invalid(requestKind, name, validation.List{
			validation.Invalid(validation.NewPath("metadata", "name"), requested, "must match the service account name if specified"),
		})
	}
	account := t.newest("serviceaccounts", namespace, name)
	if account == nil {
		return nil, status.NotFound(status.GroupResource{Resource: "serviceaccounts"}, name)
	}
	if uid := object.String(meta, "uid"); uid != "" && uid != account.UID {
		return nil, status.Conflict(status.GroupResource{Group: requestKind.Group, Resource: requestKind.Kind}, name,
			fmt.Sprintf("the UID in the token request (%s) does not match the UID of the service account (%s)", uid, account.UID))
	}
	meta["name"], meta["namespace"], meta["uid"] = account.Name, account.Namespace, account.UID
	return account, nil
}

// webhookTokenGate is the feature gate of tokens that are bound to webhooks.
const webhookTokenGate = "APIServerWebhookAuthenticationToken"

// isWebhook reports whether a boundObjectRef is to a configuration of webhooks, as it can be since v1.37.
func isWebhook(r *release.Release, ref map[string]any) bool {
	kind := object.String(ref, "kind")
	return r.Has(behavior.WebhookTokens) && object.String(ref, "apiVersion") == "admissionregistration.k8s.io/v1" &&
		(kind == "ValidatingWebhookConfiguration" || kind == "MutatingWebhookConfiguration")
}

func validateRequest(r *release.Release, spec map[string]any, expiration int64) validation.List {
	path, attestations := validation.NewPath("spec"), object.Map(spec, "attestations")
	at := path.Child("attestations")
	if !isWebhook(r, object.Map(spec, "boundObjectRef")) {
		if len(attestations) > 0 {
			return validation.List{validation.Invalid(at, attestations, "attestations may only be specified with a webhook bound object reference")}
		}
		return validateExpiration(expiration)
	}
	errs := validateExpiration(expiration)
	if audiences := object.List(spec, "audiences"); len(audiences) != 1 {
		errs = append(errs, validation.Invalid(path.Child("audiences"), audiences, "must be length 1 when bound to a webhook config"))
	}
	return append(errs, validateAttestations(attestations, at)...)
}

// reviewGroups is the attestation of the API group of an AdmissionReview.
const reviewGroups = "admissionReviewAPIGroups"

func validateAttestations(attestations map[string]any, at *validation.Path) validation.List {
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

func validateExpiration(seconds int64) (errs validation.List) {
	path := validation.NewPath("spec", "expirationSeconds")
	if seconds < minExpiration {
		errs = append(errs, validation.Invalid(path, seconds, "may not specify a duration less than 10 minutes"))
	}
	if seconds > maxExpiration {
		errs = append(errs, validation.Invalid(path, seconds, "may not specify a duration larger than 2^32 seconds"))
	}
	return errs
}

// bind binds a token to the object of a boundObjectRef.
func (t *Tokens) bind(r *release.Release, k *accountClaims, to map[string]any) error {
	gv, err := resource.ParseGroupVersion(object.String(to, "apiVersion"))
	if err != nil {
		gv = resource.GroupVersion{}
	}
	kind := object.String(to, "kind")
	plural := map[string]string{"Pod": "pods", "Node": "nodes", "Secret": "secrets"}[kind]
	name, namespace := object.String(to, "name"), k.Namespace
	if gv.Group != "" || plural == "" {
		message := fmt.Sprintf("cannot bind token to object of type %s/%s, Kind=%s", gv.Group, gv.Version, kind)
		switch {
		case !isWebhook(r, to):
		case r.Enabled(webhookTokenGate):
			return status.NotImplemented("tokens that are bound to webhooks")
		default:
			message += " (feature gate " + webhookTokenGate + " is disabled)"
		}
		return status.BadRequest(message)
	}
	if kind == "Node" {
		namespace = ""
	}
	if name == "" {
		return status.BadRequest("Name parameter required.")
	}
	if wrong := validation.PathSegment(name); len(wrong) > 0 {
		return status.BadRequest(fmt.Sprintf("Name parameter invalid: %q: %s", name, strings.Join(wrong, ";")))
	}
	o := t.newest(plural, namespace, name)
	if o == nil {
		return status.NotFound(status.GroupResource{Resource: plural}, name)
	}
	switch kind {
	case "Pod":
		if err := t.bindToPod(k, o); err != nil {
			return err
		}
	case "Node":
		k.Node = refTo(o)
	case "Secret":
		k.Secret = refTo(o)
	}
	if uid := object.String(to, "uid"); uid != "" && uid != o.UID {
		return status.Conflict(status.GroupResource{Resource: kind}, name,
			fmt.Sprintf("the UID in the bound object reference (%s) does not match the UID in record. The object might have been deleted and then recreated", uid))
	}
	return nil
}

// bindToPod binds a token to a pod that runs as the service account, and records
// the node of the pod.
func (t *Tokens) bindToPod(k *accountClaims, o *storage.Object) error {
	pod := o.Decode(t.Types.Lookup("", "v1", "pods"))
	if object.String(pod, "spec", "serviceAccountName") != k.Account.Name {
		return status.BadRequest(fmt.Sprintf("cannot bind token for serviceaccount %q to pod running with different serviceaccount name.", k.Account.Name))
	}
	k.Pod = refTo(o)
	if name := object.String(pod, "spec", "nodeName"); name != "" {
		k.Node = &ref{Name: name}
		if node := t.newest("nodes", "", name); node != nil {
			k.Node = refTo(node)
		}
	}
	return nil
}
