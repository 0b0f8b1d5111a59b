package apiserver

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/status"
)

// Auth says who may ask for what. The zero value lets everybody do everything
// as an administrator.
type Auth struct {
	// Tokens are the users known by bearer token. With a nil map nobody is
	// asked for one.
	Tokens map[string]User

	// RBAC authorizes by role instead of allowing everything.
	RBAC bool
}

// A User is who makes a request.
type User struct {
	Name   string
	UID    string
	Groups []string
}

// Groups with a meaning to the server.
const (
	groupMasters         = "system:masters"
	groupAuthenticated   = "system:authenticated"
	groupUnauthenticated = "system:unauthenticated"
)

var (
	administrator = &User{Name: "admin", Groups: []string{groupMasters, groupAuthenticated}}
	anonymous     = &User{Name: "system:anonymous", Groups: []string{groupUnauthenticated}}
)

// authenticate finds out who makes the request. A bearer token that nobody has
// is refused; no token at all is the anonymous user's.
func (a *Auth) authenticate(r *http.Request) (*User, error) {
	if a.Tokens == nil {
		return administrator, nil
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	token = strings.TrimSpace(token)
	if !strings.EqualFold(scheme, "Bearer") || token == "" {
		return anonymous, nil
	}
	user, ok := a.Tokens[token]
	if !ok {
		return nil, status.Unauthorized()
	}
	if !slices.Contains(user.Groups, groupAuthenticated) {
		user.Groups = append(slices.Clip(user.Groups), groupAuthenticated)
	}
	return &user, nil
}

// openPaths may be read by everybody, discoveryPaths by every authenticated
// user: the roles system:public-info-viewer and system:discovery.
var (
	openPaths      = []string{"/healthz", "/livez", "/readyz", "/version", "/version/"}
	discoveryPaths = []string{"/api", "/api/*", "/apis", "/apis/*", "/openapi", "/openapi/*"}
)

// authorize refuses what the user may not do. Under RBAC the group
// system:masters may do everything, others what the paths above allow.
func (a *Auth) authorize(r *request) error {
	if !a.RBAC || slices.Contains(r.user.Groups, groupMasters) {
		return nil
	}
	if r.isResource {
		return status.Forbidden(r.groupResource(), r.name, a.refusal(r))
	}
	if r.verb == "get" {
		if matchesPath(openPaths, r.path) {
			return nil
		}
		if slices.Contains(r.user.Groups, groupAuthenticated) && matchesPath(discoveryPaths, r.path) {
			return nil
		}
	}
	return status.Forbidden(status.GroupResource{}, "", fmt.Sprintf("User %q cannot %s path %q", r.user.Name, r.verb, r.path))
}

func (a *Auth) refusal(r *request) string {
	resource := r.resource
	if r.subresource != "" {
		resource += "/" + r.subresource
	}
	where := "at the cluster scope"
	if r.namespace != "" {
		where = fmt.Sprintf("in the namespace %q", r.namespace)
	}
	return fmt.Sprintf("User %q cannot %s resource %q in API group %q %s", r.user.Name, r.verb, resource, r.group, where)
}

func matchesPath(patterns []string, path string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		if prefix, ok := strings.CutSuffix(p, "*"); ok {
			return strings.HasPrefix(path, prefix)
		}
		return p == path
	})
}
