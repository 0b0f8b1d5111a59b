package apiserver

import (
	"strconv"
	"strings"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/authz"
	"github.com/kubefake/kubefake/internal/selector"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/validation"
)

// authorize fails with 403 if the user may not make the request.
func (r *request) authorize() error {
	if a := r.server.authorizer(); a.Policy == nil || r.user.InGroup(authn.MastersGroup) {
		return nil
	}
	return r.check(r.attributes())
}

// check fails with 403 if the request's user may not do at.
func (r *request) check(at authz.Attributes) error {
	if d := r.server.authorizer().Authorize(r.user, &at); !d.Allowed {
		return forbidden(r.user, at, d.Reason)
	}
	return nil
}

// allows reports whether the request's user may do at.
func (r *request) allows(at *authz.Attributes) bool {
	return r.server.authorizer().Authorize(r.user, at).Allowed
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

// escapeHTML escapes what a client sent, as kube-apiserver does in this message.
var escapeHTML = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// forbidden returns the error of a user that may not do at. reason may be "".
func forbidden(u *authn.User, at authz.Attributes, reason string) error {
	message := escapeHTML.Replace("User " + strconv.Quote(u.Name) + " cannot " + at.String())
	if reason != "" {
		message += ": " + reason
	}
	return status.Forbidden(status.GroupResource{Group: at.Group, Resource: at.Resource}, at.Name, message)
}
