package apiserver

import "github.com/kubefake/kubefake/internal/authn"

// Auth configures authentication and authorization. With the zero value every
// user is an administrator.
type Auth struct {
	// Tokens are the users of static bearer tokens. With a nil map requests need
	// no token.
	Tokens map[string]authn.User

	// RBAC authorizes requests by roles. Without it every user may do everything.
	RBAC bool
}

// authenticate returns the user of the request's bearer token.
func (r *request) authenticate() (*authn.User, error) {
	user, warning, err := r.server.authenticator.Authenticate(r.http.Header.Get("Authorization"))
	if warning != "" {
		r.warn(warning)
	}
	return user, err
}
