package admission_test

import (
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

// writeFile writes a file of a new folder and returns its path.
func writeFile(t *testing.T, name, text string) string {
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

const admissionConfig = `
apiVersion: apiserver.config.k8s.io/v1
kind: AdmissionConfiguration
plugins:
- name: ResourceQuota
  configuration:
    apiVersion: apiserver.config.k8s.io/v1
    kind: ResourceQuotaConfiguration
    limitedResources:
    - {resource: pods, matchScopes: [{scopeName: PriorityClass, operator: In, values: [high]}]}
    - {resource: configmaps, matchContains: [configmaps]}
- name: PodSecurity
  configuration:
    apiVersion: pod-security.admission.config.k8s.io/v1
    kind: PodSecurityConfiguration
    defaults: {enforce: baseline}
    exemptions: {usernames: [alice], namespaces: [free], runtimeClasses: [kata]}
`

func TestAdmissionControlConfig(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithAPIServer(apiserver.Config{AdmissionControlConfigFile: writeFile(t, "admission.yaml", admissionConfig)}),
		fakeapi.WithToken("root-token", fakeapi.User{Name: "root"}), fakeapi.WithToken("alice-token", fakeapi.User{Name: "alice"}),
		fakeapi.WithObjects(`
{apiVersion: v1, kind: Namespace, metadata: {name: free}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: covered}}
---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 1}
---
{apiVersion: node.k8s.io/v1, kind: RuntimeClass, metadata: {name: kata}, handler: k}
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: q, namespace: covered}
spec: {hard: {pods: 5}, scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: Exists}]}}
status: {hard: {pods: 5}, used: {pods: 0}}
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: c, namespace: covered}
spec: {hard: {configmaps: 5, count/configmaps: 5}}
status: {hard: {configmaps: 5, count/configmaps: 5}, used: {configmaps: 0, count/configmaps: 0}}
`))
	const (
		privileged = `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i","securityContext":{"privileged":true}}]}}`
		kata       = `{"metadata":{"name":"k"},"spec":{"runtimeClassName":"kata","containers":[{"name":"c","image":"i","securityContext":{"privileged":true}}]}}`
		high       = `{"metadata":{"name":"h"},"spec":{"priorityClassName":"high","containers":[{"name":"c","image":"i"}]}}`
		configMap  = `{"metadata":{"name":"c"}}`
	)
	for _, tt := range []struct {
		name, token, path, body string
		code                    int
		message                 string
	}{
		{"default level", "root-token", "default/pods", privileged, 403, `pods "p" is forbidden: violates PodSecurity "baseline:latest": privileged (container "c" must not set securityContext.privileged=true)`},
		{"exempt user", "alice-token", "default/pods", privileged, 201, ""},
		{"exempt namespace", "root-token", "free/pods", privileged, 201, ""},
		{"exempt runtime class", "root-token", "default/pods", kata, 201, ""},
		{"scope without a quota", "root-token", "default/pods", high, 500, "insufficient quota to match these scopes: [{PriorityClass In [high]}]"},
		{"scope with a quota", "root-token", "covered/pods", high, 201, ""},
		{"quantity without a quota", "root-token", "default/configmaps", configMap, 403, `configmaps "c" is forbidden: insufficient quota to consume: configmaps,count/configmaps`},
		{"quantity with a quota", "root-token", "covered/configmaps", configMap, 201, ""},
		{"other resource", "root-token", "default/secrets", configMap, 201, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			code, obj := apitest.DoWithHeaders(t, srv, "POST", "/api/v1/namespaces/"+tt.path, tt.body, "Authorization", "Bearer "+tt.token)
			assert.Equal(t, tt.code, code)
			if tt.message != "" {
				assert.Equal(t, tt.message, obj["message"])
			}
		})
	}
}

func TestExemptNamespaceWarns(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithAPIServer(apiserver.Config{AdmissionControlConfigFile: writeFile(t, "admission.yaml", admissionConfig)}))
	warning := func(method, path, body string) string {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		if method == http.MethodPatch {
			r.Header.Set("Content-Type", "application/merge-patch+json")
		}
		srv.ServeHTTP(w, r)
		return w.Header().Get("Warning")
	}
	want := `299 - "namespace \"free\" is exempt from Pod Security, and the policy (enforce=restricted:latest, audit=baseline:v1.30) will be ignored"`
	assert.Equal(t, want, warning("POST", "/api/v1/namespaces", `{"metadata":{"name":"free","labels":{"pod-security.kubernetes.io/enforce":"restricted","pod-security.kubernetes.io/audit":"baseline","pod-security.kubernetes.io/audit-version":"v1.30","pod-security.kubernetes.io/warn":"privileged"}}}`))
	assert.Empty(t, warning("PATCH", "/api/v1/namespaces/free", `{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"baseline"}}}`))
	assert.NotEmpty(t, warning("PATCH", "/api/v1/namespaces/free", `{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"restricted"}}}`))
}

// A webhook gets the credentials that the kubeconfig file has for its host.
func TestWebhookCredentials(t *testing.T) {
	var got string
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { got = r.Header.Get("Authorization") }))
	t.Cleanup(hook.Close)
	kubeconfig := writeFile(t, "kubeconfig", `{kind: Config, users: [{name: "*", user: {token: any}}, {name: "`+hook.Listener.Addr().String()+`", user: {token: its}}]}`)
	config := writeFile(t, "admission.yaml", `
apiVersion: apiserver.config.k8s.io/v1
kind: AdmissionConfiguration
plugins:
- name: ValidatingAdmissionWebhook
  configuration: {apiVersion: apiserver.config.k8s.io/v1, kind: WebhookAdmissionConfiguration, kubeConfigFile: `+kubeconfig+`}
`)
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithAPIServer(apiserver.Config{AdmissionControlConfigFile: config}))
	webhooks := func(kind string) string {
		return `{apiVersion: admissionregistration.k8s.io/v1, kind: ` + kind + `, metadata: {name: h}, webhooks: [{name: h.example.com, failurePolicy: Ignore, sideEffects: None, admissionReviewVersions: [v1],
  clientConfig: {url: "` + hook.URL + `"}, rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]}]}`
	}
	_, err := srv.Store(webhooks("ValidatingWebhookConfiguration"))
	require.NoError(t, err)
	apitest.Do(t, srv, "POST", apitest.ConfigMapsPath, `{"metadata":{"name":"a"}}`)
	assert.Equal(t, "Bearer its", got)
}

func TestWrongManifestsDir(t *testing.T) {
	file := writeFile(t, "a", "")
	for dir, want := range map[string]string{
		"a":            `staticManifestsDir: Invalid value: "a": must be an absolute file path`,
		"/nosuch/path": `staticManifestsDir: Invalid value: "/nosuch/path": unable to read: stat /nosuch/path: no such file or directory`,
		file:           `staticManifestsDir: Invalid value: "` + file + `": must be a directory`,
	} {
		_, err := fakeapi.New(fakeapi.WithInMemory(), fakeapi.WithAPIServer(apiserver.Config{FeatureGates: map[string]bool{"ManifestBasedAdmissionControlConfig": true}}), fakeapi.WithAPIServer(apiserver.Config{AdmissionControlConfigFile: writeFile(t, "admission.yaml", `
apiVersion: apiserver.config.k8s.io/v1
kind: AdmissionConfiguration
plugins:
- name: MutatingAdmissionPolicy
  configuration: {apiVersion: apiserver.config.k8s.io/v1, kind: MutatingAdmissionPolicyConfiguration, staticManifestsDir: "`+dir+`"}
`)}))
		require.ErrorIs(t, err, fakeapi.ErrInvalidOption)
		assert.ErrorContains(t, err, `couldn't init admission plugin "MutatingAdmissionPolicy": `+want)
	}
}

func TestWrongAdmissionControlConfig(t *testing.T) {
	const head = "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n"
	plugin := func(name, config string) string {
		return head + "- {name: " + name + ", configuration: " + config + "}"
	}
	const initFailed = "failed to apply admission: couldn't init admission plugin "
	for _, tt := range []struct{ name, text, want string }{
		{"no kind", "{}", `failed to apply admission: failed to read plugin config: Object 'Kind' is missing in '{}'`},
		{"another kind", "apiVersion: v1\nkind: Pod", `failed to apply admission: failed to read plugin config: no kind "Pod" is registered for version "v1"`},
		{"unknown field", head + "- {nope: 1}", `failed to apply admission: failed to read plugin config: strict decoding error: unknown field "plugins[0].nope"`},
		{"no resource", plugin("ResourceQuota", "{apiVersion: resourcequota.admission.k8s.io/v1, kind: Configuration, limitedResources: [{}]}"), initFailed + `"ResourceQuota": limitedResources[0].resource: Required value`},
		{"wrong kind of a plugin", plugin("ResourceQuota", "{apiVersion: v1, kind: Pod}"), initFailed + `"ResourceQuota": no kind "Pod" is registered for version "v1"`},
		{"wrong levels", plugin("PodSecurity", "{apiVersion: pod-security.admission.config.k8s.io/v1, kind: PodSecurityConfiguration, defaults: {enforce: x, warn-version: v1}}"), `failed to apply admission: failed to initialize admission plugin "PodSecurity": PodSecurity configuration error: [enforce: must be one of privileged, baseline, restricted, warn-version: must be "latest" or "v1.x"]`},
		{"wrong exemptions", plugin("PodSecurity", "{apiVersion: pod-security.admission.config.k8s.io/v1, kind: PodSecurityConfiguration, exemptions: {namespaces: [a, a], usernames: ['']}}"), `failed to apply admission: failed to initialize admission plugin "PodSecurity": PodSecurity invalid: [exemptions.namespaces[1]: Duplicate value: "a", exemptions.usernames[0]: Invalid value: "": username must not be empty]`},
		{"empty file", head + "- {name: ResourceQuota, path: " + writeFile(t, "empty", "") + "}", initFailed + `"ResourceQuota": Object 'Kind' is missing in ''`},
		{"older version of a plugin", plugin("MutatingAdmissionWebhook", "{apiVersion: apiserver.config.k8s.io/v1alpha1, kind: WebhookAdmission}"), initFailed + `"MutatingAdmissionWebhook": no kind "WebhookAdmission" is registered for version "apiserver.config.k8s.io/v1alpha1" in scheme "pkg/runtime/scheme.go:111"`},
		{"relative kubeconfig", plugin("MutatingAdmissionWebhook", "{apiVersion: apiserver.config.k8s.io/v1, kind: WebhookAdmissionConfiguration, kubeConfigFile: a}"), initFailed + `"MutatingAdmissionWebhook": kubeConfigFile: Invalid value: "a": must be an absolute file path`},
		{"missing kubeconfig", plugin("MutatingAdmissionWebhook", "{apiVersion: apiserver.config.k8s.io/v1, kind: WebhookAdmissionConfiguration, kubeConfigFile: /nosuch/file}"), initFailed + `"MutatingAdmissionWebhook": stat /nosuch/file: no such file or directory`},
		{"folder that is missing", plugin("ValidatingAdmissionWebhook", "{apiVersion: apiserver.config.k8s.io/v1, kind: WebhookAdmissionConfiguration, staticManifestsDir: /a}"), initFailed + `"ValidatingAdmissionWebhook": staticManifestsDir: Invalid value: "/a": unable to read: stat /a: no such file or directory`},
		{"kind of another plugin", plugin("ValidatingAdmissionPolicy", "{apiVersion: apiserver.config.k8s.io/v1, kind: MutatingAdmissionPolicyConfiguration}"), initFailed + `"ValidatingAdmissionPolicy": unexpected type: *policyconfig.MutatingAdmissionPolicyConfiguration`},
		{"wrong type of a field", plugin("ValidatingAdmissionPolicy", "{apiVersion: apiserver.config.k8s.io/v1, kind: ValidatingAdmissionPolicyConfiguration, staticManifestsDir: 1}"), `"ValidatingAdmissionPolicy": staticManifestsDir: expected a string, not a number`},
		{"missing file of a plugin", head + "- {name: PodSecurity, path: /nosuch/file}", "Couldn't open admission plugin configuration /nosuch/file: /nosuch/file: no such file or directory"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := fakeapi.New(fakeapi.WithInMemory(), fakeapi.WithAPIServer(apiserver.Config{AdmissionControlConfigFile: writeFile(t, "admission.yaml", tt.text)}))
			require.ErrorIs(t, err, fakeapi.ErrInvalidOption)
			assert.ErrorContains(t, err, tt.want)
		})
	}
	_, err := fakeapi.New(fakeapi.WithInMemory(), fakeapi.WithAPIServer(apiserver.Config{EnableAdmissionPlugins: []string{"EventRateLimit"}}))
	assert.ErrorContains(t, err, initFailed+`"EventRateLimit": limits: Invalid value: null: must not be empty`)
	empty := writeFile(t, "admission.yaml", head+"- {name: PodSecurity, path: "+writeFile(t, "empty", "")+"}")
	fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithAPIServer(apiserver.Config{AdmissionControlConfigFile: empty})).Close()
	folder := writeFile(t, "admission.yaml", plugin("ValidatingAdmissionWebhook", "{apiVersion: apiserver.config.k8s.io/v1, kind: WebhookAdmissionConfiguration, staticManifestsDir: /a}"))
	const gate = "ManifestBasedAdmissionControlConfig"
	_, err = fakeapi.New(fakeapi.WithInMemory(), fakeapi.WithAPIServer(apiserver.Config{FeatureGates: map[string]bool{gate: false}, AdmissionControlConfigFile: folder}))
	assert.ErrorContains(t, err, "staticManifestsDir: Forbidden: staticManifestsDir requires the "+gate+" feature gate to be enabled")
	selector := writeFile(t, "admission.yaml", "podNodeSelectorPluginConfig: {clusterDefaultNodeSelector: a=b}")
	fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithAPIServer(apiserver.Config{EnableAdmissionPlugins: []string{"PodNodeSelector"}, AdmissionControlConfigFile: selector})).Close()
	older := writeFile(t, "admission.yaml", plugin("MutatingAdmissionWebhook", "{apiVersion: apiserver.config.k8s.io/v1alpha1, kind: WebhookAdmission}"))
	fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithRelease("1.35"), fakeapi.WithAPIServer(apiserver.Config{AdmissionControlConfigFile: older})).Close()
	disabled := writeFile(t, "admission.yaml", plugin("ResourceQuota", "{}"))
	fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithAPIServer(apiserver.Config{DisableAdmissionPlugins: []string{"ResourceQuota"}}), fakeapi.WithAPIServer(apiserver.Config{AdmissionControlConfigFile: disabled})).Close()
}
