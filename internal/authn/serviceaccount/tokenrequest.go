package serviceaccount

import (
	"fmt"
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
	webhookExpiration = 10 * 60 // at most, if bound to a webhook

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

// An Issued says of a request for a token, which may have failed, what its answer does not.
type Issued struct {
	Annotations map[string]string // for the audit log
	Warnings    []string          // for the client
}

// Checks are what Request asks its caller.
type Checks struct {
	// Admit admits the request, whose status is empty, before the object to bind is looked at.
	Admit func() error
	// Attest returns an error if the service account may not send reviews of admission of an API
	// group, "*" for all.
	Attest func(account *authn.User, group string) error
}

// Request issues a token of the service account for a TokenRequest, by the rules of a release. It sets the
// defaults, the metadata and the status of obj. Errors are of type *status.Status, or those of checks.
//
// See https://kubernetes.io/docs/reference/kubernetes-api/authentication-resources/token-request-v1/.
func (t *Tokens) Request(r *release.Release, obj map[string]any, namespace, name string, checks Checks) (issued Issued, err error) {
	issued.Annotations = map[string]string{}
	meta := object.Meta(obj)
	account, err := t.account(r, &issued, meta, namespace, name)
	if err != nil {
		return issued, err
	}
	SetDefaults(obj)
	spec := object.Map(obj, "spec")
	if len(object.List(spec, "audiences")) == 0 {
		spec["audiences"] = object.FromStrings(t.Keys.Audiences())
	}
	if errs := validateRequest(r, spec); len(errs) > 0 {
		return issued, status.Invalid(requestKind, "", errs)
	}
	now := t.Now()
	meta["creationTimestamp"] = clock.Timestamp(now)
	obj["status"] = map[string]any{"token": "", "expirationTimestamp": nil}
	if err := checks.Admit(); err != nil {
		return issued, err
	}
	c := &claims{
		Audience: object.Strings(spec, "audiences"),
		IssuedAt: numericDate(now.Unix()), NotBefore: numericDate(now.Unix()),
		Issuer:     t.Keys.config.Issuers[0],
		ID:         t.NewUID(),
		Subject:    authn.ServiceAccountName(account.Namespace, account.Name),
		Kubernetes: kubernetes{Namespace: account.Namespace, Account: *refTo(account)},
	}
	if object.Map(spec, "boundObjectRef") != nil {
		if err := t.bind(r, c, spec, checks.Attest); err != nil {
			return issued, err
		}
	}
	issued.Annotations["authentication.kubernetes.io/issued-credential-id"] = authn.CredentialID(c.ID)
	expiration, _ := object.Int(spec, "expirationSeconds")
	if most := int64(t.Keys.config.MaxExpiration / time.Second); most > 0 && expiration > most {
		issued.Warnings = append(issued.Warnings, fmt.Sprintf("requested expiration of %d seconds shortened to %d seconds", expiration, most))
		expiration = most
		spec["expirationSeconds"] = expiration
	}
	expires := c.IssuedAt + numericDate(expiration)
	if !t.Keys.config.NoExtension && c.Kubernetes.Pod != nil && expiration == projectedExpiration && t.isOurs(c.Audience) {
		c.Kubernetes.WarnAfter = expires
		expires = c.IssuedAt + extendedExpiration
	}
	c.Expires = &expires
	token, err := sign(t.Keys.signer(), c)
	if err != nil {
		return issued, status.Internal("failed to generate token: " + err.Error())
	}
	obj["status"] = map[string]any{
		"token":               token,
		"expirationTimestamp": clock.Timestamp(now.Add(time.Duration(expiration) * time.Second)),
	}
	return issued, nil
}

// isOurs reports whether all audiences are those of the API server.
func (t *Tokens) isOurs(audiences []string) bool {
	return len(authn.Intersect(t.Keys.Audiences(), audiences)) == len(audiences)
}

// account returns the service account, and sets its name, namespace and uid in
// the metadata of the request.
func (t *Tokens) account(r *release.Release, issued *Issued, meta map[string]any, namespace, name string) (*storage.Object, error) {
	if requested := object.String(meta, "name"); requested != "" && requested != name {
		return nil, status.Invalid(requestKind, name, validation.List{
			validation.Invalid(validation.NewPath("metadata", "name"), requested, "must match the service account name if specified"),
		})
	}
	_, account := t.newest(coreGroup, "serviceaccounts", namespace, name)
	if account == nil {
		return nil, status.NotFound(status.GroupResource{Resource: "serviceaccounts"}, name)
	}
	meta["name"], meta["namespace"] = account.Name, account.Namespace
	uid := object.String(meta, "uid")
	switch {
	case !r.Has(behavior.TokenRequestUIDs):
		delete(meta, "uid")
	case uid == "":
		meta["uid"] = account.UID
	case uid != account.UID:
		mismatch := fmt.Sprintf("the UID in the token request (%s) does not match the UID of the service account (%s)", uid, account.UID)
		if r.Enabled(uidGate) {
			return nil, status.Conflict(status.GroupResource{Group: requestKind.Group, Resource: requestKind.Kind}, name, mismatch)
		}
		issued.Annotations["authentication.k8s.io/token-request-uid-mismatch"] = mismatch
		issued.Warnings = append(issued.Warnings, mismatch+" but "+uidGate+" is not enabled. In the future, this will return a conflict error")
	}
	return account, nil
}

// uidGate is the feature gate by which a request fails that has the UID of another service account.
const uidGate = "TokenRequestServiceAccountUIDValidation"

func validateRequest(r *release.Release, spec map[string]any) validation.List {
	expiration, _ := object.Int(spec, "expirationSeconds")
	errs := validateExpiration(expiration)
	if isWebhook(r, object.Map(spec, "boundObjectRef")) {
		return append(errs, validateForWebhook(spec)...)
	}
	if attestations := object.Map(spec, "attestations"); len(attestations) > 0 {
		return validation.List{validation.Invalid(attestationsPath, attestations, "attestations may only be specified with a webhook bound object reference")}
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

// bind binds a token to the object of the boundObjectRef of a spec.
func (t *Tokens) bind(r *release.Release, c *claims, spec map[string]any, attest func(*authn.User, string) error) error {
	to := object.Map(spec, "boundObjectRef")
	gv, err := resource.ParseGroupVersion(object.String(to, "apiVersion"))
	if err != nil {
		gv = resource.GroupVersion{}
	}
	kind := object.String(to, "kind")
	var o *storage.Object
	switch {
	case gv.Group == coreGroup && boundResources[kind] != "":
		o, err = t.bindToCore(&c.Kubernetes, to, kind)
	case isWebhook(r, to) && r.Enabled(webhookTokenGate):
		o, err = t.bindToWebhook(c, spec, kind, attest)
	default:
		message := fmt.Sprintf("cannot bind token to object of type %s/%s, Kind=%s", gv.Group, gv.Version, kind)
		if isWebhook(r, to) {
			message += " (feature gate " + webhookTokenGate + " is disabled)"
		}
		err = status.BadRequest(message)
	}
	if err != nil {
		return err
	}
	if uid := object.String(to, "uid"); uid != "" && uid != o.UID {
		return status.Conflict(status.GroupResource{Group: gv.Group, Resource: kind}, object.String(to, "name"),
			fmt.Sprintf("the UID in the bound object reference (%s) does not match the UID in record. The object might have been deleted and then recreated", uid))
	}
	return nil
}

// boundResources are the resources of the core group that tokens are bound to, by their kinds.
var boundResources = map[string]string{"Pod": "pods", "Node": "nodes", "Secret": "secrets"}

// bindToCore binds a token to an object of the core group, which it returns.
func (t *Tokens) bindToCore(k *kubernetes, to map[string]any, kind string) (*storage.Object, error) {
	name, namespace, plural := object.String(to, "name"), k.Namespace, boundResources[kind]
	if kind == "Node" {
		namespace = ""
	}
	if err := resource.CheckName(name); err != nil {
		return nil, err
	}
	typ, o := t.newest(coreGroup, plural, namespace, name)
	if o == nil {
		return nil, status.NotFound(status.GroupResource{Resource: plural}, name)
	}
	switch kind {
	case "Pod":
		return o, t.bindToPod(k, o, typ)
	case "Node":
		k.Node = refTo(o)
	case "Secret":
		k.Secret = refTo(o)
	}
	return o, nil
}

// bindToPod binds a token to a pod that runs as the service account, and records
// the node of the pod.
func (t *Tokens) bindToPod(k *kubernetes, o *storage.Object, typ *resource.Type) error {
	pod := o.Decode(typ)
	if object.String(pod, "spec", "serviceAccountName") != k.Account.Name {
		return status.BadRequest(fmt.Sprintf("cannot bind token for serviceaccount %q to pod running with different serviceaccount name.", k.Account.Name))
	}
	k.Pod = refTo(o)
	if name := object.String(pod, "spec", "nodeName"); name != "" {
		k.Node = &ref{Name: name}
		if _, node := t.newest(coreGroup, "nodes", "", name); node != nil {
			k.Node = refTo(node)
		}
	}
	return nil
}
