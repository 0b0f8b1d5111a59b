//go:build go1.24

package admission_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/apiserver"
	"github.com/kubefake/kubefake/internal/apitest"
)

// The configurations of plugins that have a folder, with the path of the folder as DIR.
const (
	staticHooks    = "{apiVersion: apiserver.config.k8s.io/v1, kind: WebhookAdmissionConfiguration, staticManifestsDir: 'DIR'}"
	staticPolicies = "{apiVersion: apiserver.config.k8s.io/v1, kind: ValidatingAdmissionPolicyConfiguration, staticManifestsDir: 'DIR'}"
)

// withManifests configures a plugin with a folder, and turns its feature gate on.
func withManifests(t *testing.T, plugin, configuration, dir string) []fakeapi.Option {
	return []fakeapi.Option{
		fakeapi.WithInMemory(), fakeapi.WithAPIServer(apiserver.Config{FeatureGates: map[string]bool{"ManifestBasedAdmissionControlConfig": true}}),
		fakeapi.WithAPIServer(apiserver.Config{AdmissionControlConfigFile: manifestConfig(t, plugin, configuration, dir)}),
	}
}

// manifestConfig writes an AdmissionConfiguration with a folder for a plugin, and returns
// its name.
func manifestConfig(t *testing.T, plugin, configuration, dir string) string {
	return writeFile(t, "admission.yaml", `
apiVersion: apiserver.config.k8s.io/v1
kind: AdmissionConfiguration
plugins:
- name: `+plugin+`
  configuration: `+strings.ReplaceAll(configuration, "DIR", dir)+"\n")
}

// A policy with a binding; the policy forbids objects whose name begins with a word.
func staticPolicy(name, group, resource, word string) string {
	return `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: ` + name + `}
spec:
  matchConstraints: {resourceRules: [{apiGroups: ["` + group + `"], apiVersions: [v1], operations: [CREATE], resources: [` + resource + `]}]}
  validations: [{expression: "!object.metadata.name.startsWith('` + word + `')", message: no ` + word + `}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: ` + name + `}
spec: {policyName: ` + name + `, validationActions: [Deny]}
`
}

func TestStaticPolicies(t *testing.T) {
	f := apitest.NewWatchedFiles(t)
	f.Write("a.yaml", []byte(staticPolicy("a.static.k8s.io", "", "configmaps", "bad")))
	f.Write("note.txt", []byte("no manifest"))
	srv := fakeapi.Start(t, append(withManifests(t, "ValidatingAdmissionPolicy", staticPolicies, f.Dir), fakeapi.WithAPIServer(apiserver.Config{Files: &apiserver.Files{OnReload: f.OnReload}}))...)
	create := func(name string) string {
		_, obj := apitest.DoWithHeaders(t, srv, "POST", apitest.ConfigMapsPath, `{"metadata":{"name":"`+name+`"}}`)
		message, _ := obj["message"].(string)
		return message
	}
	const denied = `configmaps "bad" is forbidden: ValidatingAdmissionPolicy 'a.static.k8s.io' with binding 'a.static.k8s.io' denied request: no bad`
	assert.Equal(t, denied, create("bad"))
	assert.Empty(t, create("good"))
	fork := srv.Fork(t)

	// Files do not appear in the API, and policies of the API are bound to those of the API.
	_, list := apitest.DoWithHeaders(t, srv, "GET", "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies", "")
	assert.Empty(t, list["items"])

	require.NoError(t, f.Rewrite("b.yml", []byte(staticPolicy("b.static.k8s.io", "admissionregistration.k8s.io", "validatingadmissionpolicies", "x"))))
	code, obj := apitest.DoWithHeaders(t, fork, "POST", "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies", `{"metadata":{"name":"x"},"spec":{"matchConstraints":{"resourceRules":[{"apiGroups":[""],"apiVersions":["v1"],"operations":["CREATE"],"resources":["pods"]}]},"validations":[{"expression":"true"}]}}`)
	assert.Equal(t, http.StatusUnprocessableEntity, code)
	assert.Contains(t, obj["message"], "'b.static.k8s.io' denied request: no x", "policies in files handle policies")

	assert.ErrorContains(t, f.Rewrite("b.yml", []byte("kind: Pod")), "Object 'apiVersion' is missing")
	assert.Equal(t, denied, create("bad"), "a wrong file changes nothing")
	require.NoError(t, os.Remove(filepath.Join(f.Dir, "b.yml")))
	require.NoError(t, <-f.Reloads)
	require.NoError(t, os.Remove(filepath.Join(f.Dir, "a.yaml")))
	require.NoError(t, <-f.Reloads)
	assert.Empty(t, create("bad"))

	w := httptest.NewRecorder()
	srv.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	body, _ := io.ReadAll(w.Body)
	for _, line := range []string{
		`automatic_reloads_total\{apiserver_id_hash="sha256:[0-9a-f]{64}",plugin="ValidatingAdmissionPolicy",status="failure"\} 1`,
		`automatic_reloads_total\{apiserver_id_hash="sha256:[0-9a-f]{64}",plugin="ValidatingAdmissionPolicy",status="success"\} 4`,
		`last_config_info\{apiserver_id_hash="sha256:[0-9a-f]{64}",hash="",plugin="ValidatingAdmissionPolicy"\} 1`,
	} {
		assert.Regexp(t, "apiserver_manifest_admission_config_controller_"+line, string(body))
	}
}

// A release without folders ignores them. After an upgrade they are read, and watched.
func TestStaticPoliciesAfterUpgrade(t *testing.T) {
	f := apitest.NewWatchedFiles(t)
	f.Write("a.yaml", []byte(staticPolicy("a.static.k8s.io", "", "configmaps", "bad")))
	const plugin, path = "ValidatingAdmissionPolicy", apitest.ConfigMapsPath
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithRelease("1.35"), fakeapi.WithAPIServer(apiserver.Config{FeatureGates: map[string]bool{"AllAlpha": true}}),
		fakeapi.WithAPIServer(apiserver.Config{AdmissionControlConfigFile: manifestConfig(t, plugin, staticPolicies, f.Dir)}), fakeapi.WithAPIServer(apiserver.Config{Files: &apiserver.Files{OnReload: f.OnReload}}))
	reloads := func() string {
		w := httptest.NewRecorder()
		srv.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
		assert.Equal(t, http.StatusOK, w.Code)
		return w.Body.String()
	}
	code, _ := apitest.DoWithHeaders(t, srv, "POST", path, `{"metadata":{"name":"bad1"}}`)
	assert.Equal(t, http.StatusCreated, code)
	assert.NotContains(t, reloads(), "manifest_admission")

	require.NoError(t, srv.Upgrade("1.36"))
	code, _ = apitest.DoWithHeaders(t, srv, "POST", path, `{"metadata":{"name":"bad2"}}`)
	assert.Equal(t, http.StatusUnprocessableEntity, code)
	require.NoError(t, f.Rewrite("a.yaml", nil))
	code, _ = apitest.DoWithHeaders(t, srv, "POST", path, `{"metadata":{"name":"bad2"}}`)
	assert.Equal(t, http.StatusCreated, code)
	assert.Regexp(t, `manifest_admission_config_controller_automatic_reloads_total\{[^}]*,status="success"\} 2`, reloads())
}

func TestStaticWebhooks(t *testing.T) {
	reviews := make(chan string, 10)
	hook := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { reviews <- r.URL.Path }))
	t.Cleanup(hook.Close)
	reviewed := func() (paths []string) {
		for len(reviews) > 0 {
			paths = append(paths, <-reviews)
		}
		return paths
	}
	config := func(kind, name string) string {
		return `{apiVersion: admissionregistration.k8s.io/v1, kind: ` + kind + `, metadata: {name: ` + name + `}, webhooks: [{name: h.example.com, failurePolicy: Ignore, sideEffects: None, admissionReviewVersions: [v1],
  clientConfig: {url: "` + hook.URL + "/" + name + `", caBundle: ` + caBundle(hook) + `}, rules: [{apiGroups: ["*"], apiVersions: [v1], operations: [CREATE], resources: ["*"]}]}]}`
	}
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "z.yaml"), []byte("apiVersion: v1\nkind: List\nitems:\n- "+config("ValidatingWebhookConfiguration", "z.static.k8s.io")), 0o600))
	srv := fakeapi.Start(t, withManifests(t, "ValidatingAdmissionWebhook", staticHooks, dir)...)
	_, err := srv.Store(config("ValidatingWebhookConfiguration", "a"))
	require.NoError(t, err)
	apitest.Do(t, srv, "POST", apitest.ConfigMapsPath, `{"metadata":{"name":"c"}}`)
	assert.ElementsMatch(t, []string{"/z.static.k8s.io", "/a"}, reviewed())
	apitest.DoWithHeaders(t, srv, "POST", "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations", `{"metadata":{"name":"m"}}`)
	assert.Equal(t, []string{"/z.static.k8s.io"}, reviewed(), "webhooks in files handle configurations of webhooks")
}

func TestReservedNames(t *testing.T) {
	const path, body = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations", `{"metadata":{"name":"a.static.k8s.io"}}`
	const reserved = `names ending with ".static.k8s.io" are reserved for static manifest-based configurations and cannot be managed via the API`
	with := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithAPIServer(apiserver.Config{FeatureGates: map[string]bool{"ManifestBasedAdmissionControlConfig": true}}))
	code, obj := apitest.DoWithHeaders(t, with, "POST", path, body)
	assert.Equal(t, http.StatusUnprocessableEntity, code)
	assert.Equal(t, `MutatingWebhookConfiguration.admissionregistration.k8s.io "a.static.k8s.io" is invalid: metadata.name: Invalid value: "a.static.k8s.io": `+reserved, obj["message"])
	for release, want := range map[string]string{"1.35": "", "1.36": `299 - "metadata.name: ` + strings.ReplaceAll(reserved, `"`, `\"`) + `"`} {
		srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithRelease(release))
		w := httptest.NewRecorder()
		r := httptest.NewRequest("POST", path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		srv.ServeHTTP(w, r)
		assert.Equal(t, http.StatusCreated, w.Code)
		assert.Equal(t, want, w.Header().Get("Warning"), release)
	}
}

func TestWrongManifests(t *testing.T) {
	const (
		head   = "apiVersion: admissionregistration.k8s.io/v1\n"
		policy = "{matchConstraints: {resourceRules: [{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [pods]}]}, validations: [{expression: 'true'}]}"
		bind   = "{policyName: p.static.k8s.io, validationActions: [Deny]}"
		client = "name: h.example.com, sideEffects: None, admissionReviewVersions: [v1], clientConfig: "
	)
	hook := func(name, hook string) string {
		return head + "kind: ValidatingWebhookConfiguration\nmetadata: {name: '" + name + "'}\nwebhooks: [{" + hook + "}]\n"
	}
	object := func(kind, name, spec string) string {
		return "---\n" + head + "kind: " + kind + "\nmetadata: {name: '" + name + "'}\nspec: " + spec + "\n"
	}
	const vap, vapb = "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"
	for _, tt := range []struct {
		name          string
		configuration string // of the plugin; its kind selects the plugin
		text          string // of the file
		want          string // after the words for the folder; FILE is its path
	}{
		{"another kind", staticHooks, "apiVersion: v1\nkind: Pod", `error loading FILE: no kind "Pod" is registered for version "v1"`},
		{"another version", staticHooks, strings.Replace(hook("a", ""), "/v1\n", "/v1beta1\n", 1), `error loading FILE: unsupported resource type *v1beta1.ValidatingWebhookConfiguration`},
		{"kind of another plugin", staticHooks, object(vap, "a", policy), `error loading FILE: unsupported resource type *v1.ValidatingAdmissionPolicy`},
		{"list of another plugin", staticPolicies, head + "kind: MutatingWebhookConfigurationList", `error loading FILE: unsupported resource type *v1.MutatingWebhookConfigurationList`},
		{"status", staticHooks, "apiVersion: v1\nkind: Status", `error loading FILE: unsupported resource type *v1.Status`},
		{"no kind", staticHooks, "metadata: {}", `error loading FILE: Object 'Kind' is missing in 'metadata: {}'`},
		{"unknown field", staticHooks, hook("a", "nope: 1"), `error loading FILE: strict decoding error: unknown field "webhooks[0].nope"`},
		{"item of a list", staticHooks, "apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: Pod}]", `error loading FILE: failed to decode list item: no kind "Pod" is registered for version "v1"`},
		{"item of a typed list", staticHooks, head + "kind: ValidatingWebhookConfigurationList\nitems: [{metadata: {name: a}}]", `error loading FILE: "a" in file "FILE" must have a name ending with ".static.k8s.io"`},
		{"name", staticHooks, hook("a", client+"{url: 'https://h/'}"), `error loading FILE: "a" in file "FILE" must have a name ending with ".static.k8s.io"`},
		{"name of another form", staticHooks, hook("_", client+"{url: 'https://h/'}"), `error loading FILE: ValidatingWebhookConfiguration "_": metadata.name: Invalid value: "_": a lowercase RFC 1123 subdomain must consist of`},
		{"no name", staticHooks, hook("", client+"{url: 'https://h/'}"), `error loading FILE: ValidatingWebhookConfiguration "": metadata.name: Required value: name or generateName is required`},
		{"same name", staticHooks, hook("a.static.k8s.io", client+"{url: 'https://h/'}") + "---\n" + hook("a.static.k8s.io", client+"{url: 'https://h/'}"), `error loading FILE: duplicate name "a.static.k8s.io" found in file "FILE" (previously seen in "FILE")`},
		{"service", staticHooks, hook("a.static.k8s.io", client+"{service: {name: s, namespace: default}}"), `error loading FILE: webhook "h.example.com" in "a.static.k8s.io" (file "FILE"): clientConfig.service is not supported for static manifests; use clientConfig.url instead`},
		{"not valid", staticHooks, hook("a.static.k8s.io", client+"{}"), `error loading FILE: ValidatingWebhookConfiguration "a.static.k8s.io": webhooks[0].clientConfig: Required value: exactly one of url or service is required`},
		{"parameters", staticPolicies, object(vap, "p.static.k8s.io", "{paramKind: {apiVersion: v1, kind: ConfigMap}, "+policy[1:]), `error loading FILE: ValidatingAdmissionPolicy "p.static.k8s.io": spec.paramKind is not supported for static manifests`},
		{"expression", staticPolicies, object(vap, "p.static.k8s.io", strings.Replace(policy, "true", "x y", 1)), `error loading FILE: ValidatingAdmissionPolicy "p.static.k8s.io": spec.validations[0].expression: Invalid value: "x y": compilation failed`},
		{"no policy", staticPolicies, object(vapb, "b.static.k8s.io", bind), `binding "b.static.k8s.io" references policy "p.static.k8s.io" which does not exist in the manifest directory`},
		{"name of the policy", staticPolicies, object(vapb, "b.static.k8s.io", strings.Replace(bind, ".static.k8s.io", "", 1)), `error loading FILE: binding "b.static.k8s.io": spec.policyName "p" must end with ".static.k8s.io"`},
		{"parameters of a binding", staticPolicies, object(vapb, "b.static.k8s.io", "{paramRef: {name: a, parameterNotFoundAction: Deny}, "+bind[1:]), `error loading FILE: binding "b.static.k8s.io": spec.paramRef is not supported for static manifests`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			plugin, what := "ValidatingAdmissionWebhook", "webhook"
			if tt.configuration == staticPolicies {
				plugin, what = vap, "policy"
			}
			dir := t.TempDir()
			file := filepath.Join(dir, "a.yaml")
			require.NoError(t, os.WriteFile(file, []byte(tt.text), 0o600))
			_, err := fakeapi.New(withManifests(t, plugin, tt.configuration, dir)...)
			require.ErrorIs(t, err, fakeapi.ErrInvalidOption)
			want := `failed to apply admission: failed to initialize admission plugin "` + plugin + `": failed to load static ` + what + ` manifests from "` + dir + `": ` + tt.want
			assert.ErrorContains(t, err, strings.ReplaceAll(want, "FILE", file))
		})
	}
}
