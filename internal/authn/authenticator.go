package authn

import (
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/status"
)

var (
	administrator = &User{Name: "admin", Groups: []string{MastersGroup, AuthenticatedGroup}}
	anonymous     = &User{Name: AnonymousUser, Groups: []string{UnauthenticatedGroup}}
)

// Administrator returns the user of Authenticator.AdministratorToken, and of
// requests to a server without static tokens. It is shared: do not change it.
func Administrator() *User { return administrator }

// A TokenAuthenticator finds the user of a bearer token.
type TokenAuthenticator interface {
	// AuthenticateToken returns the user of a token, and those of the audiences
	// that the token is valid for. The user is nil for a token of an unknown
	// form. The error says why a token that this authenticator issued is not
	// valid.
	AuthenticateToken(token string, audiences []string) (*User, []string, error)
}

// An Authenticator finds the user of a request. It is safe for concurrent use.
type Authenticator struct {
	// Tokens are the users of static bearer tokens. With a nil map every request
	// without the token of a service account is made by [Administrator].
	Tokens map[string]User

	// AdministratorToken is a further token, of [Administrator]. "" is no token.
	AdministratorToken string

	// ServiceAccounts authenticates the tokens of service accounts.
	ServiceAccounts TokenAuthenticator

	// Audiences are those of this server.
	Audiences []string
}

// Authenticate returns the user of a request with this Authorization header. It
// fails with 401 for an unknown token. Without a token the user is
// system:anonymous. If Tokens is nil, the user is [Administrator] in both cases.
// warning, if not "", is for the client.
//
// Differs from kube-apiserver: Clients of a server without users: kube-apiserver
// answers 401 to an unknown token, and treats a client without one as anonymous.
// Here every client is an administrator until a user is added. Request: GET
// /api/v1/pods with Authorization: Bearer x.
func (a *Authenticator) Authenticate(authorization string) (user *User, warning string, err error) {
	open := a.Tokens == nil
	token, spaced := bearerToken(authorization)
	if spaced {
		warning = "the provided Authorization header contains extra space before the bearer token, and is ignored"
	}
	if token != "" {
		user, _, err = a.AuthenticateToken(token, a.Audiences)
	}
	switch {
	case err != nil:
		return nil, warning, status.Unauthorized()
	case user != nil:
		return user, warning, nil
	case open:
		return administrator, warning, nil
	case token == "":
		return anonymous, warning, nil
	}
	return nil, warning, status.Unauthorized()
}

// AuthenticateToken implements [TokenAuthenticator]. Static tokens are valid for
// the audiences of the server.
func (a *Authenticator) AuthenticateToken(token string, audiences []string) (*User, []string, error) {
	if user := a.staticUser(token); user != nil {
		if common := Intersect(a.Audiences, audiences); len(common) > 0 {
			return user, common, nil
		}
	}
	found, common, err := a.ServiceAccounts.AuthenticateToken(token, audiences)
	if found == nil || err != nil {
		return nil, nil, err
	}
	user := found.WithGroup(AuthenticatedGroup)
	return &user, common, nil
}

// staticUser returns the user of a static token, nil if there is none.
func (a *Authenticator) staticUser(token string) *User {
	if user, ok := a.Tokens[token]; ok {
		user = user.WithGroup(AuthenticatedGroup)
		return &user
	}
	if token != "" && token == a.AdministratorToken {
		return administrator
	}
	return nil
}

// bearerToken returns the token of an Authorization header, "" if it has none. A
// token ends at a space. spaced reports a space in place of the first character
// of the token.
func bearerToken(header string) (token string, spaced bool) {
	scheme, rest, ok := strings.Cut(strings.TrimSpace(header), " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return "", false
	}
	token, _, spaced = strings.Cut(rest, " ")
	return token, spaced && token == ""
}

// Intersect returns the audiences in a that are in b too, in the order of a.
func Intersect(a, b []string) []string {
	var out []string
	for _, x := range a {
		if slices.Contains(b, x) {
			out = append(out, x)
		}
	}
	return out
}
