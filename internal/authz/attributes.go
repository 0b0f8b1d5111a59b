package authz

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/status"
)

// Attributes describe an action that needs authorization.
type Attributes struct {
	Verb string

	// IsResource reports whether the action is on a resource. Without it only
	// Verb and Path count, with it Path does not.
	IsResource                   bool
	Path                         string
	Group, Resource, Subresource string
	Namespace, Name              string // "" for all of them
}

// String returns the action as a 403 error prints it.
func (at Attributes) String() string {
	if !at.IsResource {
		return fmt.Sprintf("%s path %q", at.Verb, at.Path)
	}
	resource := at.Resource
	if at.Subresource != "" {
		resource += "/" + at.Subresource
	}
	where := "at the cluster scope"
	if at.Namespace != "" {
		where = fmt.Sprintf("in the namespace %q", at.Namespace)
	}
	return fmt.Sprintf("%s resource %q in API group %q %s", at.Verb, resource, at.Group, where)
}

// escapeHTML escapes what a client sent, as kube-apiserver does in this message.
var escapeHTML = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// Forbidden returns the 403 error of a user that may not do at. reason may be
// "".
func Forbidden(u *authn.User, at Attributes, reason string) error {
	message := escapeHTML.Replace("User " + strconv.Quote(u.Name) + " cannot " + at.String())
	if reason != "" {
		message += ": " + reason
	}
	return status.Forbidden(status.GroupResource{Group: at.Group, Resource: at.Resource}, at.Name, message)
}
