package apiserver

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/internal/validation"
)

const (
	// defaultExpiration is how long a token is good for, in seconds, if the
	// request does not say.
	defaultExpiration = 60 * 60
	minExpiration     = 10 * 60
	maxExpiration     = 1 << 32

	// projectedExpiration is what kubelets ask for on behalf of pods. Tokens
	// bound to pods that ask for it live for a year instead.
	projectedExpiration = 60*60 + 7
	extendedExpiration  = 365 * 24 * 60 * 60
)

// createToken issues a token of a service account.
//
// See https://kubernetes.io/docs/reference/kubernetes-api/authentication-resources/token-request-v1/.
func (r *request) createToken() error {
	obj, o, err := r.readOrder()
	if err != nil {
		return err
	}
	if err := r.validate(obj, nil, o); err != nil {
		return err
	}
	account, err := r.tokenAccount(object.Meta(obj))
	if err != nil {
		return err
	}
	spec := object.Map(obj, "spec")
	if spec == nil {
		spec = map[string]any{}
		obj["spec"] = spec
	}
	if spec["expirationSeconds"] == nil {
		spec["expirationSeconds"] = int64(defaultExpiration)
	}
	if len(object.List(spec, "audiences")) == 0 {
		spec["audiences"] = object.Texts(apiAudiences)
	}
	expiration, _ := object.Int(spec, "expirationSeconds")
	if errs := validateExpiration(expiration); len(errs) > 0 {
		return status.Invalid(tokenRequestKind, "", errs)
	}
	now := r.server.clock.Now()
	c := &claims{
		Audience: object.Strings(spec, "audiences"),
		IssuedAt: now.Unix(), NotBefore: now.Unix(), Expires: now.Unix() + expiration,
		Issuer:     issuer,
		ID:         r.server.ids.uid(),
		Subject:    authn.ServiceAccountName(account.Namespace, account.Name),
		Kubernetes: accountClaims{Namespace: account.Namespace, Account: *refTo(account)},
	}
	if ref := object.Map(spec, "boundObjectRef"); ref != nil {
		if err := r.bindToken(&c.Kubernetes, ref); err != nil {
			return err
		}
	}
	if c.Kubernetes.Pod != nil && expiration == projectedExpiration && slices.Equal(c.Audience, apiAudiences) {
		c.Kubernetes.WarnAfter = c.Expires
		c.Expires = now.Unix() + extendedExpiration
	}
	token, err := signingKey().sign(c)
	if err != nil {
		return status.Internal("failed to generate token: " + err.Error())
	}
	object.Meta(obj)["creationTimestamp"] = timestamp(now)
	obj["status"] = map[string]any{
		"token":               token,
		"expirationTimestamp": timestamp(now.Add(time.Duration(expiration) * time.Second)),
	}
	_, codec := r.bodyKind()
	return r.answerMade(obj, codec)
}

var tokenRequestKind = status.GroupKind{Group: authenticationGroup, Kind: "TokenRequest"}

// tokenAccount is the account that a token is asked for, and fills in its name
// and uid.
func (r *request) tokenAccount(meta map[string]any) (*storage.Object, error) {
	if name := object.String(meta, "name"); name != "" && name != r.Name {
		return nil, status.Invalid(tokenRequestKind, r.Name, validation.List{
			validation.Invalid(metadataPath.Child("name"), name, "must match the service account name if specified"),
		})
	}
	account := r.server.newest("serviceaccounts", r.Namespace, r.Name)
	if account == nil {
		return nil, status.NotFound(r.groupResource(), r.Name)
	}
	if uid := object.String(meta, "uid"); uid != "" && uid != account.UID {
		return nil, status.Conflict(status.GroupResource{Group: tokenRequestKind.Group, Resource: tokenRequestKind.Kind}, r.Name,
			fmt.Sprintf("the UID in the token request (%s) does not match the UID of the service account (%s)", uid, account.UID))
	}
	meta["name"], meta["namespace"], meta["uid"] = account.Name, account.Namespace, account.UID
	return account, nil
}

func validateExpiration(seconds int64) (errs validation.List) {
	path := validation.NewPath("spec").Child("expirationSeconds")
	if seconds < minExpiration {
		errs = append(errs, validation.Invalid(path, seconds, "may not specify a duration less than 10 minutes"))
	}
	if seconds > maxExpiration {
		errs = append(errs, validation.Invalid(path, seconds, "may not specify a duration larger than 2^32 seconds"))
	}
	return errs
}

// bindToken binds a token to an object: it is good for no longer than that is
// there.
func (r *request) bindToken(k *accountClaims, to map[string]any) error {
	gv, err := resource.ParseGroupVersion(object.String(to, "apiVersion"))
	if err != nil {
		gv = resource.GroupVersion{}
	}
	kind := resource.Kind{GroupVersion: gv, Kind: object.String(to, "kind")}
	resources := map[string]string{"Pod": "pods", "Node": "nodes", "Secret": "secrets"}
	name, namespace := object.String(to, "name"), r.Namespace
	if gv.Group != "" || resources[kind.Kind] == "" {
		return status.BadRequest(fmt.Sprintf("cannot bind token to object of type %s/%s, Kind=%s", gv.Group, gv.Version, kind.Kind))
	}
	if kind.Kind == "Node" {
		namespace = ""
	}
	if name == "" {
		return status.BadRequest("Name parameter required.")
	}
	if wrong := validation.PathSegment(name); len(wrong) > 0 {
		return status.BadRequest(fmt.Sprintf("Name parameter invalid: %q: %s", name, strings.Join(wrong, ";")))
	}
	o := r.server.newest(resources[kind.Kind], namespace, name)
	if o == nil {
		return status.NotFound(status.GroupResource{Resource: resources[kind.Kind]}, name)
	}
	switch kind.Kind {
	case "Pod":
		if err := r.bindTokenToPod(k, o); err != nil {
			return err
		}
	case "Node":
		k.Node = refTo(o)
	case "Secret":
		k.Secret = refTo(o)
	}
	if uid := object.String(to, "uid"); uid != "" && uid != o.UID {
		return status.Conflict(status.GroupResource{Resource: kind.Kind}, name,
			fmt.Sprintf("the UID in the bound object reference (%s) does not match the UID in record. The object might have been deleted and then recreated", uid))
	}
	return nil
}

// bindTokenToPod binds a token to a pod of the account, and tells of its node.
func (r *request) bindTokenToPod(k *accountClaims, o *storage.Object) error {
	pod := o.Decode(r.registry.Lookup("", "v1", "pods"))
	if object.String(pod, "spec", "serviceAccountName") != r.Name {
		return status.BadRequest(fmt.Sprintf("cannot bind token for serviceaccount %q to pod running with different serviceaccount name.", r.Name))
	}
	k.Pod = refTo(o)
	if name := object.String(pod, "spec", "nodeName"); name != "" {
		k.Node = &ref{Name: name}
		if node := r.server.newest("nodes", "", name); node != nil {
			k.Node = refTo(node)
		}
	}
	return nil
}

// answerMade answers with an object that was made for the answer alone.
func (r *request) answerMade(obj map[string]any, codec resource.Codec) error {
	normal, _, err := codec.Normalize(obj, false)
	if err != nil {
		return status.Internal(err.Error())
	}
	return r.answerJSON(http.StatusCreated, append(codec.Append(nil, normal), '\n'), codec.Wire())
}

// list is a list of strings in generic form.
