package serviceaccount

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// putWebhooks stores configurations w of webhooks.
func putWebhooks(t *testing.T, tokens *Tokens, store mapStore, meta string) {
	for _, plural := range []string{"validatingwebhookconfigurations", "mutatingwebhookconfigurations"} {
		store.put(t, tokens.Types, webhookGroup, plural, fmt.Sprintf(`{"metadata":{"name":"w","uid":"uw"%s},"webhooks":[
			{"clientConfig":{"url":"https://example.com/x"},"rules":[{"apiGroups":["apps"]}]},
			{"clientConfig":{"service":{"name":"s","namespace":"n"}},"rules":[{"apiGroups":["batch"]},{"apiGroups":["",  "policy"]}]},
			{"clientConfig":{"service":{"name":"s","namespace":"n","port":8443,"path":"/p"}},"rules":[{"apiGroups":["*"]}]},
			{"clientConfig":{"service":{"name":"s","namespace":"n","path":"/none"}}}]}`, meta))
	}
}

func forWebhook(kind, name, audience, group string) string {
	return fmt.Sprintf(`"boundObjectRef":{"apiVersion":"admissionregistration.k8s.io/v1","kind":%q,"name":%q},"audiences":[%q],"attestations":{"admissionReviewAPIGroups":[%q]},"expirationSeconds":3600`,
		kind, name, audience, group)
}

func TestRequestForWebhook(t *testing.T) {
	const mutating, validating, denied = "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration", `serviceaccounts/token "a" is forbidden: token request denied`
	gates := withGates(t, map[string]bool{webhookTokenGate: true})
	for _, tt := range []struct{ name, kind, config, audience, group, err string }{
		{"url", mutating, "w", "https://example.com/x", "apps", ""},
		{"url of another group", mutating, "w", "https://example.com/x", "batch", denied},
		{"other url", mutating, "w", "https://example.com/x/", "apps", denied},
		{"service", validating, "w", "https://s.n.svc:443/", "policy", ""},
		{"service without its port", validating, "w", "https://s.n.svc/", "policy", denied},
		{"service with port and path", validating, "w", "https://s.n.svc:8443/p", "example.com", ""},
		{"service without rules", validating, "w", "https://s.n.svc:443/none", "apps", denied},
		{"all groups", mutating, "w", "https://example.com", "*", ""},
		{"all groups, missing", mutating, "gone", "https://example.com", "*", denied},
		{"missing", validating, "gone", "https://example.com/x", "apps", denied},
		{"no name", validating, "", "https://example.com/x", "apps", denied},
		{"the audience of the server", validating, "w", defaultIssuer, "apps", "api server audiences are invalid for webhook token requests"},
		{"a group that is not allowed", mutating, "w", "https://s.n.svc:8443/p", "secret.example.com", "attests secret.example.com"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			now := time.Unix(1000, 0)
			tokens, store := newTokens(t, &now)
			putWebhooks(t, tokens, store, "")
			obj := decode(t, request(forWebhook(tt.kind, tt.config, tt.audience, tt.group)))
			_, err := tokens.Request(gates, obj, "ns", "a", Checks{Admit: admitAll.Admit, Attest: func(u *authn.User, group string) error {
				assert.Equal(t, authn.ServiceAccount("ns", "a", "ua"), u)
				if group == "secret.example.com" {
					return errors.New("attests " + group)
				}
				return nil
			}})
			if tt.err != "" {
				assert.EqualError(t, err, tt.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, "1970-01-01T00:26:40Z", object.String(obj, "status", "expirationTimestamp"), "at most ten minutes")
			user, _, err := tokens.AuthenticateToken(context.Background(), object.String(obj, "status", "token"), []string{tt.audience})
			require.NoError(t, err)
			name, uid := authn.ExtraMutatingWebhookName, authn.ExtraMutatingWebhookUID
			if tt.kind == validating {
				name, uid = authn.ExtraValidatingWebhookName, authn.ExtraValidatingWebhookUID
			}
			assert.Equal(t, map[string][]string{
				authn.ExtraCredentialID: {"JTI=id"}, name: {"w"}, uid: {"uw"}, authn.ExtraReviewGroups: {tt.group},
			}, user.Extra)
		})
	}
}

// TestAuthenticateForWebhook changes what a token is bound to.
func TestAuthenticateForWebhook(t *testing.T) {
	now := time.Unix(1000, 0)
	tokens, store := newTokens(t, &now)
	putWebhooks(t, tokens, store, "")
	obj := decode(t, request(forWebhook("ValidatingWebhookConfiguration", "w", "https://example.com/x", "apps")))
	_, err := tokens.Request(withGates(t, map[string]bool{webhookTokenGate: true}), obj, "ns", "a", admitAll)
	require.NoError(t, err)
	authenticate := func() error {
		_, _, err := tokens.AuthenticateToken(context.Background(), object.String(obj, "status", "token"), []string{"https://example.com/x"})
		return err
	}
	require.NoError(t, authenticate())

	putWebhooks(t, tokens, store, `,"deletionTimestamp":"1970-01-01T00:16:40Z"`)
	now = now.Add(leeway)
	assert.NoError(t, authenticate(), "marked for deletion a minute ago")
	now = now.Add(time.Second)
	assert.EqualError(t, authenticate(), "service account token has been invalidated")

	store.put(t, tokens.Types, webhookGroup, "validatingwebhookconfigurations", `{"metadata":{"name":"w","uid":"another"}}`)
	assert.EqualError(t, authenticate(), "ValidatingWebhookConfiguration UID (another) does not match service account validating ref claim (uw)")

	assert.EqualError(t, tokens.checkObjects(&kubernetes{Namespace: "ns", Account: ref{"a", "ua"}, MutatingWebhook: &ref{"w", "uw"}}),
		`bound object was a webhook config, but "admissionReviewAPIGroups" attestation is missing`)
}
