package apiserver

import (
	"strconv"
	"strings"

	"github.com/kubefake/kubefake/internal/authz"
	"github.com/kubefake/kubefake/internal/selector"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/validation"
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
type User = authz.User

var (
	administrator = &User{Name: "admin", Groups: []string{authz.Masters, authz.Authenticated}}
	anonymous     = &User{Name: authz.Anonymous, Groups: []string{authz.Unauthenticated}}
)

// authenticate finds out who makes the request. A bearer token that nobody has
// is refused; no token at all is the anonymous user's.
//
// Where no tokens are known, everybody is an administrator, but for the service
// accounts that show a token of this server.
func (s *Server) authenticate(r *request) (*User, error) {
	nobody, open := anonymous, s.config.Auth.Tokens == nil
	if open {
		nobody = administrator
	}
	token, spaced := bearerToken(r.http.Header.Get("Authorization"))
	if spaced {
		r.warn("the provided Authorization header contains extra space before the bearer token, and is ignored")
	}
	if token == "" {
		return nobody, nil
	}
	user, _, err := s.identify(token, apiAudiences)
	switch {
	case err != nil:
		return nil, status.Unauthorized()
	case user != nil:
		return user, nil
	case open:
		return administrator, nil
	}
	return nil, status.Unauthorized()
}

// bearerToken is the token of an Authorization header, "" if it has none. It
// ends at a space; spaced tells that one stands where it should begin.
func bearerToken(header string) (token string, spaced bool) {
	scheme, rest, ok := strings.Cut(strings.TrimSpace(header), " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return "", false
	}
	token, _, spaced = strings.Cut(rest, " ")
	return token, spaced && token == ""
}

// identify finds whose the token is, and for which of the audiences. No user is
// nobody that the server knows; an error says what is wrong with a token that
// the server has signed, or pretends to be such.
func (s *Server) identify(token string, audiences []string) (*User, []string, error) {
	if user, ok := s.config.Auth.Tokens[token]; ok {
		if meant := intersection(apiAudiences, audiences); len(meant) > 0 {
			user = user.Joined(authz.Authenticated)
			return &user, meant, nil
		}
	}
	user, meant, err := s.identifyAccount(token, audiences)
	if user == nil || err != nil {
		return nil, nil, err
	}
	joined := user.Joined(authz.Authenticated)
	return &joined, meant, nil
}

// intersection are the elements of a that b has, too.
func intersection(a, b []string) []string {
	var out []string
	for _, x := range a {
		for _, y := range b {
			if x == y {
				out = append(out, x)
				break
			}
		}
	}
	return out
}

// authorize refuses what the user may not do.
func (r *request) authorize() error {
	a := r.server.authorizer()
	if a.Policy == nil || r.user.In(authz.Masters) {
		return nil
	}
	at := r.attributes()
	if d := a.Authorize(r.user, &at); !d.Allowed {
		return forbidden(r.user, at, d.Reason)
	}
	return nil
}

// attributes are what the request asks for. A list or watch of one name, by a
// field selector, asks for that name.
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

// unmarked keeps what a user sends from looking like HTML.
var unmarked = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// forbidden says what the user may not do, and why if there is more to say.
func forbidden(u *User, at authz.Attributes, reason string) error {
	message := unmarked.Replace("User " + strconv.Quote(u.Name) + " cannot " + at.String())
	if reason != "" {
		message += ": " + reason
	}
	return status.Forbidden(status.GroupResource{Group: at.Group, Resource: at.Resource}, at.Name, message)
}
