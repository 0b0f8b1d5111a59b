package bootstraptoken_test

import (
	"context"
	"encoding/base64"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/authn/bootstraptoken"
	"github.com/kubefake/kubefake/internal/object"
)

// A secret changes the Secret of a token.
type secret func(obj map[string]any)

// data sets a field of the data.
func data(name, value string) secret {
	return func(obj map[string]any) {
		object.EnsureMap(obj, "data")[name] = base64.StdEncoding.EncodeToString([]byte(value))
	}
}

func TestAuthenticateToken(t *testing.T) {
	const token = "abcdef.0123456789abcdef"
	bootstrappers := func(groups ...string) *authn.User {
		return &authn.User{Name: "system:bootstrap:abcdef", Groups: append([]string{"system:bootstrappers"}, groups...)}
	}
	same := func(map[string]any) {}
	tests := []struct {
		name, token, audience string
		change                secret
		want                  *authn.User
	}{
		{"valid", token, "api", same, bootstrappers()},
		{"of more groups", token, "api", data("auth-extra-groups", "system:bootstrappers:b,system:bootstrappers:a:1,system:bootstrappers:b"), bootstrappers("system:bootstrappers:a:1", "system:bootstrappers:b")},
		{"of another group", token, "api", data("auth-extra-groups", "system:masters"), nil},
		{"before its expiration", token, "api", data("expiration", "2030-01-01T09:00:01Z"), bootstrappers()},
		{"at its expiration", token, "api", data("expiration", "2030-01-01T09:00:00Z"), nil},
		{"with an expiration that is no time", token, "api", data("expiration", "soon"), nil},
		{"that does not authenticate", token, "api", data("usage-bootstrap-authentication", "false"), nil},
		{"for another audience", token, "vault", same, nil},
		{"with another secret", "abcdef.fedcba9876543210", "api", same, nil},
		{"with another ID", token, "api", data("token-id", "fedcba"), nil},
		{"of another type", token, "api", func(obj map[string]any) { obj["type"] = "Opaque" }, nil},
		{"being deleted", token, "api", func(obj map[string]any) {
			obj["metadata"] = map[string]any{"deletionTimestamp": "2030-01-01T08:00:00Z"}
		}, nil},
		{"without a Secret", "fedcba.0123456789abcdef", "api", same, nil},
		{"of another form", token + "0", "api", same, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			obj := map[string]any{"type": "bootstrap.kubernetes.io/token"}
			for _, change := range []secret{data("token-id", "abcdef"), data("token-secret", "0123456789abcdef"), data("usage-bootstrap-authentication", "true"), tt.change} {
				change(obj)
			}
			a := &bootstraptoken.Authenticator{
				Secret: func(name string) object.View {
					if name == "bootstrap-token-abcdef" {
						return object.ViewOf(obj)
					}
					return object.View{}
				},
				Now:       func() time.Time { return time.Date(2030, 1, 1, 9, 0, 0, 0, time.UTC) },
				Audiences: []string{"api"},
			}
			user, audiences, err := a.AuthenticateToken(context.Background(), tt.token, []string{"other", tt.audience})
			require.NoError(t, err)
			assert.Equal(t, tt.want, user)
			if user != nil {
				assert.Equal(t, []string{"api"}, audiences)
			}
		})
	}
}
