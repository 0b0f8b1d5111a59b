package webhook_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/kubeconfig"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/webhook"
)

// An answer to a review may leave out what it is.
func TestReview(t *testing.T) {
	const noObject = `into Go value of type struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }`
	kind := resource.Kind{GroupVersion: resource.GroupVersion{Group: "authentication.k8s.io", Version: "v1"}, Kind: "TokenReview"}
	for _, tt := range []struct{ name, answer, err string }{
		{"complete", `{"kind":"TokenReview","apiVersion":"authentication.k8s.io/v1","status":{"ok":true}}`, ""},
		{"without kind and version", `{"status":{"ok":true}}`, ""},
		{"without a kind", `{"apiVersion":"authentication.k8s.io/v1","status":{"ok":true}}`, ""},
		{"YAML", "kind: TokenReview\nstatus:\n  ok: true\n", ""},
		{"another kind", `{"kind":"Pod","apiVersion":"v1"}`, "converting (v1.Pod) to (v1.TokenReview): unknown conversion"},
		{"another version", `{"kind":"TokenReview","apiVersion":"authentication.k8s.io/v1beta1"}`, "converting (v1beta1.TokenReview) to (v1.TokenReview): unknown conversion"},
		{"text", "no", "couldn't get version/kind; json parse error: json: cannot unmarshal bool " + noObject},
		{"list", "[]", "couldn't get version/kind; json parse error: json: cannot unmarshal array " + noObject},
		{"a part of JSON", "{", "couldn't get version/kind; json parse error: unexpected end of JSON input"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var asked string
			hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				asked = string(body)
				io.WriteString(w, tt.answer)
			}))
			defer hook.Close()
			client := &webhook.Client{}
			defer client.Close()
			r := &webhook.Reviewer{Client: client, Cluster: kubeconfig.At(hook.URL), Timeout: time.Minute}
			var got struct{ Status struct{ OK bool } }
			err := r.Review(context.Background(), webhook.Review{Kind: kind, Spec: map[string]any{"token": "a"}, Status: map[string]any{}}, &got)
			assert.Equal(t, `{"kind":"TokenReview","apiVersion":"authentication.k8s.io/v1","metadata":{},"spec":{"token":"a"},"status":{}}`+"\n", asked)
			if tt.err != "" {
				assert.EqualError(t, err, tt.err)
				return
			}
			require.NoError(t, err)
			assert.True(t, got.Status.OK)
		})
	}
}
