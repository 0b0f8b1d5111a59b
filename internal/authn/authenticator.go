package authn

import (
	"cmp"
	"context"
	"crypto/x509"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/kubefake/kubefake/internal/header"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/websocket"
)

var (
	administrator = &User{Name: "admin", Groups: []string{MastersGroup, AuthenticatedGroup}}
	anonymous     = &User{Name: AnonymousUser, Groups: []string{UnauthenticatedGroup}}
)

// Administrator returns the user of kubeconfig files, and of requests
// without credentials where they are allowed. It is shared: do not change it.
func Administrator() *User { return administrator }

// A TokenAuthenticator finds the user of a bearer token.
type TokenAuthenticator interface {
	// AuthenticateToken returns the user of a token, and those of the audiences
	// that the token is valid for. The user is nil for a token of an unknown
	// form. The error says why a token that this authenticator issued is not
	// valid.
	AuthenticateToken(ctx context.Context, token string, audiences []string) (*User, []string, error)
}

// An Authenticator finds the user of a request. It is safe for concurrent use.
type Authenticator struct {
	// Config has the credentials that the server accepts.
	Config

	// Now returns the time at which certificates must be valid.
	Now func() time.Time

	// ServiceAccounts authenticates the tokens of service accounts.
	ServiceAccounts TokenAuthenticator

	// Further authenticate the tokens that neither Config nor ServiceAccounts do, each those
	// that the ones before do not authenticate. They may call other servers.
	Further []TokenAuthenticator

	// Audiences are those of this server.
	Audiences []string
}

// Unauthenticated is what happens to a request without credentials.
type Unauthenticated int

const (
	// AsAdministrator has requests made by [Administrator]. So are those with an
	// unknown token.
	//
	// Differs from kube-apiserver: Clients of a server without users: kube-apiserver
	// answers 401 to an unknown token, and treats a client without one as anonymous.
	// Here every client is an administrator until a user is added. Request: GET
	// /api/v1/pods with Authorization: Bearer x.
	AsAdministrator Unauthenticated = iota
	// AsAnonymous has requests made by system:anonymous.
	AsAnonymous
	// Refused fails requests with 401.
	Refused
)

// Config has the credentials that a server accepts besides the tokens of service
// accounts.
type Config struct {
	// Unauthenticated is what happens to a request without credentials.
	Unauthenticated Unauthenticated

	// AnonymousPaths are the paths at which AsAnonymous applies. Requests without
	// credentials for others fail with 401. None means all paths.
	AnonymousPaths []string

	// Tokens are the users of static bearer tokens. The map must not change.
	Tokens map[string]User

	// UserTokens verifies further tokens; nil verifies none.
	UserTokens *UserTokens

	// ClientCAs issue the certificates of clients. Nil means that no certificate
	// identifies a client.
	ClientCAs *CAs

	// RequestHeader authenticates the requests of a proxy.
	RequestHeader *RequestHeader
}

// Authenticate returns the user of a request. The first credential that identifies a
// user counts, in the order of kube-apiserver: the headers of a proxy, the certificate
// of the client, the bearer token, the token in the subprotocols of a WebSocket, which
// Authenticate removes from the header. It fails with 401 if there are credentials and
// none is valid, and soon after ctx ends. Warnings for the client and annotations for
// the audit log go to recorder.
func (a *Authenticator) Authenticate(ctx context.Context, r *http.Request, recorder Recorder) (*User, error) {
	token, spaced := bearerToken(header.Get(r.Header, "Authorization"))
	if spaced {
		recorder.Warn("the provided Authorization header contains extra space before the bearer token, and is ignored")
	}
	if token != "" || websocket.IsRequest(r.Header) { // others have nothing to record
		ctx = WithRecorder(ctx, recorder)
	}
	user, err := a.identify(ctx, r, token)
	if user == nil && websocket.IsRequest(r.Header) {
		protocolToken, others, tokenErr := websocket.Token(r.Header)
		if protocolToken != "" {
			token = protocolToken
			user, _, tokenErr = a.AuthenticateToken(ctx, token, a.Audiences)
			if user != nil || a.Unauthenticated == AsAdministrator {
				websocket.SetProtocols(r.Header, others)
			}
		}
		err = cmp.Or(err, tokenErr)
	}
	switch {
	case user != nil:
		return user, nil
	case err != nil:
		return nil, status.Unauthorized()
	case token == "" || a.Unauthenticated == AsAdministrator:
		user = a.withoutToken(r.URL.Path)
	}
	if user == nil {
		return nil, status.Unauthorized()
	}
	return user, nil
}

// withoutToken returns the user of a request to a path without credentials, nil if it has none.
func (a *Authenticator) withoutToken(path string) *User {
	switch {
	case a.Unauthenticated == AsAdministrator:
		return administrator
	case a.Unauthenticated == AsAnonymous && (len(a.AnonymousPaths) == 0 || slices.Contains(a.AnonymousPaths, path)):
		return anonymous
	}
	return nil
}

// identify returns the user of the first valid credential; nil if there is none.
// The error is why a credential is not valid.
func (a *Authenticator) identify(ctx context.Context, r *http.Request, token string) (*User, error) {
	var chain []*x509.Certificate // that the client sent
	if r.TLS != nil {
		chain = r.TLS.PeerCertificates
	}
	user, headerErr := a.headerUser(r.Header, chain)
	if user != nil {
		return authenticated(user), nil
	}
	user, certificateErr := a.certificateUser(chain)
	if user != nil {
		return authenticated(user), nil
	}
	var tokenErr error
	if token != "" {
		user, _, tokenErr = a.AuthenticateToken(ctx, token, a.Audiences)
	}
	return user, cmp.Or(headerErr, certificateErr, tokenErr)
}

// authenticated returns the user as a member of system:authenticated.
func authenticated(user *User) *User {
	out := user.WithGroup(AuthenticatedGroup)
	return &out
}

// AuthenticateToken implements [TokenAuthenticator]. Static tokens are valid for
// the audiences of the server. The error may be of several authenticators.
func (a *Authenticator) AuthenticateToken(ctx context.Context, token string, audiences []string) (*User, []string, error) {
	if user := a.staticUser(token); user != nil {
		if common := Intersect(a.Audiences, audiences); len(common) > 0 {
			return user, common, nil
		}
	}
	user, common, err := a.ServiceAccounts.AuthenticateToken(ctx, token, audiences)
	var errs tokenErrors
	for _, further := range a.Further {
		if user != nil && err == nil {
			break
		}
		if err != nil {
			errs = append(errs, err)
		}
		user, common, err = further.AuthenticateToken(ctx, token, audiences)
	}
	switch {
	case err == nil && user != nil:
		return authenticated(user), common, nil
	case err != nil:
		errs = append(errs, err)
	}
	if errs == nil {
		return nil, nil, nil
	}
	return nil, nil, errs
}

// tokenErrors are the errors of several authenticators for one token.
type tokenErrors []error

func (e tokenErrors) Error() string   { return status.Aggregate(e) }
func (e tokenErrors) Unwrap() []error { return e }

// staticUser returns the user of a token in Config, nil if there is none.
func (a *Authenticator) staticUser(token string) *User {
	if user, ok := a.Tokens[token]; ok {
		return authenticated(&user)
	}
	if user := a.UserTokens.userOf(token); user != nil {
		return authenticated(user)
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

// Intersect returns the audiences in wanted that are in valid too, in the order of wanted.
func Intersect(valid, wanted []string) []string {
	var out []string
	for _, x := range wanted {
		if slices.Contains(valid, x) {
			out = append(out, x)
		}
	}
	return out
}
