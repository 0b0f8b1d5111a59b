package server

import (
	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/authn/impersonation"
	"github.com/kubefake/kubefake/internal/authz"
	"github.com/kubefake/kubefake/internal/selector"
	"github.com/kubefake/kubefake/internal/validation"
)

// authenticate returns the user of the request's bearer token.
func (r *request) authenticate() (*authn.User, error) {
	user, warning, err := r.server.registry.Authenticator().Authenticate(r.http.Header.Get("Authorization"))
	if warning != "" {
		r.warn(warning)
	}
	return user, err
}

// authorize fails with 403 if the user may not make the request.
func (r *request) authorize() error {
	a := r.server.registry.Authorizer()
	if a.Policy == nil || r.user.InGroup(authn.MastersGroup) {
		return nil
	}
	return a.Check(r.user, r.attributes())
}

// impersonate replaces the request's user by the one that the Impersonate-*
// headers name. It fails if they name one that the user may not impersonate.
func (r *request) impersonate() error {
	requested, err := impersonation.Requested(r.http.Header)
	if requested == nil || err != nil {
		return err
	}
	user, err := impersonation.Authorize(r.server.registry.Authorizer(), requested, r.user, r.attributes())
	if err != nil {
		return err
	}
	r.user = user
	return nil
}

// attributes returns the attributes that authorize the request. A list or watch
// with a field selector on metadata.name has that name.
func (r *request) attributes() authz.Attributes {
	at := authz.Attributes{
		Verb: r.Verb, IsResource: r.IsResource, Path: r.Path,
		Group: r.Group, Resource: r.Resource, Subresource: r.Subresource, Namespace: r.Namespace, Name: r.Name,
	}
	if at.Name == "" && (r.Verb == "list" || r.Verb == "watch") {
		if fields, err := selector.ParseFields(r.query().Get("fieldSelector")); err == nil {
			if name, ok := fields.RequiresExactMatch("metadata.name"); ok && len(validation.PathSegmentName(name, false)) == 0 {
				at.Name = name
			}
		}
	}
	return at
}
