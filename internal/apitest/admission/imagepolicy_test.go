package admission_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/apiserver"
	"github.com/kubefake/kubefake/internal/apitest"
)

// imagePolicy returns an AdmissionConfiguration with a webhook for images.
func imagePolicy(t *testing.T, url, more string) apiserver.Config {
	kubeconfig := writeFile(t, "kubeconfig", `
clusters: [{name: c, cluster: {server: "`+url+`"}}]
contexts: [{name: c, context: {cluster: c}}]
current-context: c
`)
	return apiserver.Config{
		EnableAdmissionPlugins: []string{"ImagePolicyWebhook"},
		AdmissionControlConfigFile: writeFile(t, "admission.yaml", `
apiVersion: apiserver.config.k8s.io/v1
kind: AdmissionConfiguration
plugins: [{name: ImagePolicyWebhook, configuration: {imagePolicy: {kubeConfigFile: "`+kubeconfig+`"`+more+`}}}]
`),
	}
}

// A webhook decides which images Pods may have, and is not asked again for some time.
func TestImagePolicyWebhook(t *testing.T) {
	var asked atomic.Pointer[string]
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		text := string(body)
		asked.Store(&text)
		status := `{"allowed": true, "auditAnnotations": {"by": "hook"}}`
		switch {
		case strings.Contains(text, "bad"):
			status = `{"allowed": false, "reason": "it is bad"}`
		case strings.Contains(text, "silent"):
			status = `{"allowed": false}`
		case strings.Contains(text, "broken"):
			w.WriteHeader(http.StatusBadRequest)
		}
		fmt.Fprintf(w, `{"kind": "ImageReview", "apiVersion": "imagepolicy.k8s.io/v1alpha1", "status": %s}`, status)
	}))
	defer hook.Close()
	var log strings.Builder
	config := imagePolicy(t, hook.URL, "")
	config.AuditLog, config.AuditPolicy = &log, "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata, omitStages: [RequestReceived], resources: [{resources: [pods]}]}]"
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithManualClock(apitest.Epoch), fakeapi.WithAPIServer(config))
	const pods = "/api/v1/namespaces/default/pods"
	pod := func(name, image string) string {
		return fmt.Sprintf(`{"metadata":{"name":%q,"annotations":{"a.image-policy.k8s.io/ticket":"1","other":"2"}},"spec":{"initContainers":[{"name":"i","image":"init"}],"containers":[{"name":"c","image":%q}]}}`, name, image)
	}
	for _, tt := range []struct{ name, method, path, contentType, body, message, asked string }{
		{"allowed", "POST", pods, "", pod("a", "good"), "",
			`{"kind":"ImageReview","apiVersion":"imagepolicy.k8s.io/v1alpha1","metadata":{},"spec":{"containers":[{"image":"good"},{"image":"init"}],"annotations":{"a.image-policy.k8s.io/ticket":"1"},"namespace":"default"},"status":{"allowed":false}}` + "\n"},
		{"the same images", "POST", pods, "", pod("b", "good"), "", ""},
		{"refused", "POST", pods, "", pod("c", "bad"), `pods "c" is forbidden: image policy webhook backend denied one or more images: it is bad`, `"bad"`},
		{"refused without a reason", "POST", pods, "", pod("c", "silent"), `pods "c" is forbidden: one or more images rejected by webhook backend`, `"silent"`},
		{"a webhook that fails", "POST", pods, "", pod("c", "broken"), `pods "c" is forbidden: the server rejected our request for an unknown reason`, `"broken"`},
		{"dry run", "POST", pods + "?dryRun=All", "", pod("c", "bad2"), `pods "c" is forbidden: image policy webhook backend denied one or more images: it is bad`, `"bad2"`},
		{"another image", "PATCH", pods + "/a", "application/strategic-merge-patch+json", `{"spec":{"containers":[{"name":"c","image":"bad3"}]}}`, `pods "a" is forbidden: image policy webhook backend denied one or more images: it is bad`, `"bad3"`},
		{"status", "PATCH", pods + "/a/status", "application/merge-patch+json", `{"status":{"phase":"Running"}}`, "", ""},
		{"ephemeral container", "PATCH", pods + "/a/ephemeralcontainers", "application/strategic-merge-patch+json", `{"spec":{"ephemeralContainers":[{"name":"e","image":"bad4"}]}}`,
			`pods "a" is forbidden: image policy webhook backend denied one or more images: it is bad`, `"containers":[{"image":"bad4"}]`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			none := ""
			asked.Store(&none)
			code, answer := apitest.DoWithHeaders(t, srv, tt.method, tt.path, tt.body, "Content-Type", tt.contentType)
			if tt.message == "" {
				assert.Less(t, code, 300, answer)
			} else {
				assert.Equal(t, 403, code)
				assert.Equal(t, tt.message, answer["message"])
			}
			if tt.asked == "" {
				assert.Empty(t, *asked.Load(), "the server knows the answer")
			}
			assert.Contains(t, *asked.Load(), tt.asked)
		})
	}
	var event struct{ Annotations map[string]string }
	line, _, _ := strings.Cut(log.String(), "\n")
	require.NoError(t, json.Unmarshal([]byte(line), &event))
	assert.Equal(t, "hook", event.Annotations["imagepolicywebhook.image-policy.k8s.io/by"])

	none := ""
	asked.Store(&none)
	srv.Clock().Advance(5*time.Minute + 1)
	code, _ := apitest.Do(t, srv, "POST", pods, pod("d", "good"))
	assert.Equal(t, 201, code)
	assert.NotEmpty(t, *asked.Load(), "the answer has expired")
	asked.Store(&none)
	fork := srv.Fork(t)
	code, _ = apitest.Do(t, fork, "POST", pods, pod("e", "good"))
	assert.Equal(t, 201, code)
	assert.NotEmpty(t, *asked.Load(), "a fork asks again")
}

// Without the webhook, Pods are refused or, on request, admitted.
func TestMissingImagePolicyWebhook(t *testing.T) {
	const pods, pod = "/api/v1/namespaces/default/pods", `{"metadata":{"name":"a"},"spec":{"containers":[{"name":"c","image":"i"}]}}`
	for more, want := range map[string]int{"": 403, ", defaultAllow: true": 201} {
		srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithAPIServer(imagePolicy(t, "http://127.0.0.1:1", more)))
		code, answer := apitest.Do(t, srv, "POST", pods, pod)
		assert.Equal(t, want, code, answer)
	}
}
