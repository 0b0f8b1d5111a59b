package authn

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/status"
)

// accountTokens authenticates the token "account" and fails for "expired".
type accountTokens struct{}

func (accountTokens) AuthenticateToken(_ context.Context, token string, audiences []string) (*User, []string, error) {
	switch token {
	case "account":
		return &User{Name: ServiceAccountName("ns", "a")}, Intersect([]string{"api", "vault"}, audiences), nil
	case "expired":
		return nil, nil, errors.New("expired")
	}
	return nil, nil, nil
}

// recorder is a Recorder that keeps the last warning.
type recorder struct{ warning string }

func (r *recorder) Warn(text string)           { r.warning = text }
func (r *recorder) Annotate(key, value string) {}

func TestAuthenticate(t *testing.T) {
	const spaceWarning = "the provided Authorization header contains extra space before the bearer token, and is ignored"
	static := map[string]User{"secret": {Name: "alice", Groups: []string{"devs"}}}
	tokens := NewUserTokens()
	admin := tokens.Issue(*Administrator())
	for _, tt := range []struct {
		name            string
		unauthenticated Unauthenticated
		authorization   string
		user            string // "" for 401
		warning         string
	}{
		{"no token", AsAnonymous, "", "system:anonymous", ""},
		{"static token", AsAnonymous, "Bearer secret", "alice", ""},
		{"token of a user", AsAnonymous, "Bearer " + admin, "admin", ""},
		{"scheme in lower case", AsAnonymous, "bearer secret", "alice", ""},
		{"token ends at a space", AsAnonymous, "Bearer secret more", "alice", ""},
		{"space before the token", AsAnonymous, "Bearer  secret", "system:anonymous", spaceWarning},
		{"basic authentication", AsAnonymous, "Basic secret", "system:anonymous", ""},
		{"unknown token", AsAnonymous, "Bearer other", "", ""},
		{"service account", AsAnonymous, "Bearer account", "system:serviceaccount:ns:a", ""},
		{"expired token of a service account", AsAnonymous, "Bearer expired", "", ""},
		{"open: no token", AsAdministrator, "", "admin", ""},
		{"open: static token", AsAdministrator, "Bearer secret", "alice", ""},
		{"open: token of a user", AsAdministrator, "Bearer " + admin, "admin", ""},
		{"open: unknown token", AsAdministrator, "Bearer other", "admin", ""},
		{"open: service account", AsAdministrator, "Bearer account", "system:serviceaccount:ns:a", ""},
		{"open: expired token of a service account", AsAdministrator, "Bearer expired", "", ""},
		{"refused: no token", Refused, "", "", ""},
		{"refused: static token", Refused, "Bearer secret", "alice", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := &Authenticator{Config: Config{Tokens: static, UserTokens: tokens, Unauthenticated: tt.unauthenticated}, ServiceAccounts: accountTokens{}, Audiences: []string{"api"}}
			var got recorder
			user, err := a.Authenticate(context.Background(), &http.Request{Header: http.Header{"Authorization": {tt.authorization}}, URL: &url.URL{Path: "/version"}}, &got)
			assert.Equal(t, tt.warning, got.warning)
			if tt.user == "" {
				assert.Equal(t, status.Unauthorized(), err)
				return
			}
			if assert.NoError(t, err) {
				assert.Equal(t, tt.user, user.Name)
				assert.Equal(t, tt.user != AnonymousUser, user.InGroup(AuthenticatedGroup))
			}
		})
	}
}

func TestAuthenticateToken(t *testing.T) {
	a := &Authenticator{Config: Config{Tokens: map[string]User{"secret": {Name: "alice"}}}, ServiceAccounts: accountTokens{}, Audiences: []string{"api"}}
	user, audiences, err := a.AuthenticateToken(context.Background(), "secret", []string{"vault", "api"})
	assert.NoError(t, err)
	assert.Equal(t, &User{Name: "alice", Groups: []string{AuthenticatedGroup}}, user)
	assert.Equal(t, []string{"api"}, audiences)

	user, _, err = a.AuthenticateToken(context.Background(), "secret", []string{"vault"})
	assert.NoError(t, err)
	assert.Nil(t, user, "a static token is valid for the server's audiences only")

	_, audiences, err = a.AuthenticateToken(context.Background(), "account", []string{"vault"})
	assert.NoError(t, err)
	assert.Equal(t, []string{"vault"}, audiences)
}

func TestReviewToken(t *testing.T) {
	a := &Authenticator{Config: Config{Tokens: map[string]User{"secret": {Name: "alice"}}}, ServiceAccounts: accountTokens{}, Audiences: []string{"api"}}
	for _, tt := range []struct {
		name   string
		spec   map[string]any
		status map[string]any
	}{
		{"static token", map[string]any{"token": "secret"}, map[string]any{
			"authenticated": true, "audiences": []any{"api"},
			"user": map[string]any{"username": "alice", "groups": []any{AuthenticatedGroup}},
		}},
		{"other audience", map[string]any{"token": "secret", "audiences": []any{"vault"}}, map[string]any{"error": "invalid bearer token"}},
		{"unknown token", map[string]any{"token": "other"}, map[string]any{"error": "invalid bearer token"}},
		{"expired token", map[string]any{"token": "expired"}, map[string]any{"error": "[invalid bearer token, expired]"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			review := map[string]any{"spec": tt.spec}
			assert.NoError(t, a.ReviewToken(context.Background(), review))
			assert.Equal(t, tt.status, review["status"])
		})
	}
	for _, tt := range []struct {
		name            string
		unauthenticated Unauthenticated
		status          map[string]any
	}{
		{"of spaces", Refused, nil},
		{"of spaces, of an anonymous client", AsAnonymous, map[string]any{
			"authenticated": true, "audiences": []any{"vault"},
			"user": map[string]any{"username": AnonymousUser, "groups": []any{"system:unauthenticated"}},
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := *a
			b.Unauthenticated = tt.unauthenticated
			review := map[string]any{"spec": map[string]any{"token": "  ", "audiences": []any{"vault"}}}
			assert.NoError(t, b.ReviewToken(context.Background(), review))
			assert.Equal(t, tt.status, object.Map(review, "status"))
		})
	}
	assert.Equal(t, []string{"b", "a"}, Intersect([]string{"a", "b", "b", "c"}, []string{"b", "d", "a"}), "the order is that of the client")
	review := map[string]any{"spec": map[string]any{"token": "secret"}, "status": map[string]any{"authenticated": false, "error": "e"}}
	assert.NoError(t, a.ReviewToken(context.Background(), review))
	assert.Equal(t, "e", object.String(review, "status", "error"), "what is not set stays as it was sent")
	assert.Equal(t, "alice", object.String(review, "status", "user", "username"))
	assert.EqualError(t, a.ReviewToken(context.Background(), map[string]any{}), "token is required for TokenReview in authentication")
}
