package manifests_test

import (
	"context"
	"encoding/base64"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/manifests"
	"github.com/kubefake/kubefake/httptest"
	"github.com/kubefake/kubefake/internal/apitest"
)

// The webhooks of a Service are called at its address. Without addresses, no webhook is called.
func TestWebhookServices(t *testing.T) {
	hooks, err := httptest.Start(http.HandlerFunc(apitest.Admit), httptest.Options{TLS: true, Names: []string{"hooks.shop.svc"}})
	require.NoError(t, err)
	defer hooks.Close()
	configuration := strings.Replace(apitest.HookConfiguration("ValidatingWebhookConfiguration", "/deny"),
		"caBundle: Cg==", "caBundle: "+base64.StdEncoding.EncodeToString(hooks.CACertificate()), 1)
	input := `{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: b, labels: {hooked: "yes"}}}
---
` + configuration
	for _, row := range []struct {
		name     string
		services map[string]string
		want     string
	}{
		{"none", nil, "<stdin>:1:1: ConfigMap default/a valid\n<stdin>:3:1: ConfigMap default/b valid\n"},
		{"its address", map[string]string{"shop/hooks": strings.TrimPrefix(hooks.URL, "https://")}, `<stdin>:1:1: ConfigMap default/a invalid
  1:1: error: Unknown: admission webhook "hook.shop.example.com" denied the request without explanation
<stdin>:3:1: ConfigMap default/b valid
`},
		{"that of another", map[string]string{"shop/other": "127.0.0.1:1"}, `<stdin>:1:1: ConfigMap default/a invalid
  1:1: error: InternalError: Internal error occurred: failed calling webhook "hook.shop.example.com": failed to call webhook: Post "https://hooks.shop.svc:443/deny?timeout=10s": service "hooks" not found
<stdin>:3:1: ConfigMap default/b invalid
`},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := lines(validate(t, manifests.Config{WebhookServices: row.services}, input))
			assert.True(t, strings.HasPrefix(got, row.want), got)
			assert.Contains(t, got, "ValidatingWebhookConfiguration /shop valid\n")
		})
	}
	for _, err := range manifests.Validate(context.Background(), manifests.Config{WebhookServices: map[string]string{"hooks": "127.0.0.1:1"}}, "-") {
		assert.ErrorIs(t, err, fakeapi.ErrInvalidOption)
		assert.ErrorContains(t, err, `the Service "hooks" of a webhook is not namespace/name`)
	}
}
