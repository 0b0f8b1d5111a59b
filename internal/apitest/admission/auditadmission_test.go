//go:build go1.24

package admission_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/apiserver"
)

// The annotations are those of kube-apiserver v1.36.3 for the same requests.
func TestAuditAnnotationsOfAdmission(t *testing.T) {
	hook := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review struct{ Request struct{ UID string } }
		if json.NewDecoder(r.Body).Decode(&review) != nil || r.URL.Path == "/down" {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		patch := ""
		if r.URL.Path == "/mutate" {
			patch = `,"patchType":"JSONPatch","patch":"W3sib3AiOiJhZGQiLCJwYXRoIjoiL2RhdGEiLCJ2YWx1ZSI6eyJhIjoiYiJ9fV0="` // [{"op":"add","path":"/data","value":{"a":"b"}}]
		}
		fmt.Fprintf(w, `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":%q,"allowed":true,"auditAnnotations":{"by":"me","not valid":"x"}%s}}`, review.Request.UID, patch)
	}))
	t.Cleanup(hook.Close)
	ca := caBundle(hook)
	webhooks := func(kind string, hooks ...string) string {
		var list []string
		for _, h := range hooks {
			list = append(list, fmt.Sprintf("{name: %s.example.com, admissionReviewVersions: [v1], sideEffects: None, failurePolicy: Ignore, clientConfig: {url: '%s/%s', caBundle: %s}, rules: [{operations: [CREATE], apiGroups: [''], apiVersions: [v1], resources: [configmaps]}]}", h, hook.URL, h, ca))
		}
		return fmt.Sprintf("apiVersion: admissionregistration.k8s.io/v1\nkind: %sWebhookConfiguration\nmetadata: {name: hooks}\nwebhooks: [%s]\n", kind, strings.Join(list, ", "))
	}
	objects := strings.Join([]string{
		"apiVersion: v1\nkind: Namespace\nmetadata: {name: secure, labels: {pod-security.kubernetes.io/enforce: baseline, pod-security.kubernetes.io/audit: restricted}}\n",
		webhooks("Mutating", "idle", "mutate", "down"),
		webhooks("Validating", "validate", "down"),
		`apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: p.example.com}
spec:
  matchConstraints: {resourceRules: [{operations: [CREATE], apiGroups: [''], apiVersions: [v1], resources: [secrets]}]}
  validations: [{expression: 'true'}, {expression: "has(object.data)", message: no data}]
  auditAnnotations: [{key: who, valueExpression: "'name=' + object.metadata.name"}, {key: none, valueExpression: "null"}]
`,
		"apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\nmetadata: {name: b}\nspec: {policyName: p.example.com, validationActions: [Audit, Warn]}\n",
	}, "---\n")
	const decision = `"authorization.k8s.io/decision":"allow","authorization.k8s.io/reason":""`
	const pod = `{"metadata":{"name":"%s"},"spec":{%s"containers":[{"name":"c","image":"i"}]}}`
	const restricted = `would violate PodSecurity \"restricted:latest\": allowPrivilegeEscalation != false (container \"c\" must set securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (container \"c\" must set securityContext.capabilities.drop=[\"ALL\"]), runAsNonRoot != true (pod or container \"c\" must set securityContext.runAsNonRoot=true), seccompProfile (pod or container \"c\" must set securityContext.seccompProfile.type to \"RuntimeDefault\" or \"Localhost\")`
	mutation := func(hook string, mutated bool) string {
		return fmt.Sprintf(`"{\"configuration\":\"hooks\",\"webhook\":\"%s.example.com\",\"mutated\":%t}"`, hook, mutated)
	}
	ofHooks := `"failed-open.mutation.webhook.admission.k8s.io/round_0_index_2":"down.example.com","failed-open.validating.webhook.admission.k8s.io/round_0_index_1":"down.example.com",` +
		`"idle.example.com/by":"me","mutate.example.com/by":"me",` +
		`"mutation.webhook.admission.k8s.io/round_0_index_0":` + mutation("idle", false) + `,"mutation.webhook.admission.k8s.io/round_0_index_1":` + mutation("mutate", true) + `,"mutation.webhook.admission.k8s.io/round_0_index_2":` + mutation("down", false)
	const patch = `,"patch.webhook.admission.k8s.io/round_0_index_1":"{\"configuration\":\"hooks\",\"webhook\":\"mutate.example.com\",\"patch\":[{\"op\":\"add\",\"path\":\"/data\",\"value\":{\"a\":\"b\"}}],\"patchType\":\"JSONPatch\"}"`
	for _, tt := range []struct{ name, level, path, body, want string }{
		{"Pod Security", "Metadata", "namespaces/secure/pods", fmt.Sprintf(pod, "a", ""), `{` + decision + `,"pod-security.kubernetes.io/audit-violations":"` + restricted + `","pod-security.kubernetes.io/enforce-policy":"baseline:latest"}`},
		{"a namespace without labels", "Metadata", "namespaces/default/pods", fmt.Sprintf(pod, "a", ""), `{` + decision + `,"pod-security.kubernetes.io/enforce-policy":"privileged:latest"}`},
		{"a policy", "Metadata", "namespaces/default/secrets", `{"metadata":{"name":"s"}}`, `{` + decision + `,"p.example.com/who":"name=s","validation.policy.admission.k8s.io/validation_failure":"[{\"message\":\"no data\",\"policy\":\"p.example.com\",\"binding\":\"b\",\"expressionIndex\":1,\"validationActions\":[\"Audit\",\"Warn\"]}]"}`},
		{"webhooks at the level Metadata", "Metadata", "namespaces/default/configmaps", `{"metadata":{"name":"c"}}`, `{` + decision + `,` + ofHooks + `,"validate.example.com/by":"me"}`},
		{"webhooks at the level Request", "Request", "namespaces/default/configmaps", `{"metadata":{"name":"d"}}`, `{` + decision + `,` + ofHooks + patch + `,"validate.example.com/by":"me"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var log bytes.Buffer
			srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithObjects(strings.NewReader(objects)),
				fakeapi.WithAPIServer(apiserver.Config{AuditPolicy: "{apiVersion: audit.k8s.io/v1, kind: Policy, omitStages: [RequestReceived], rules: [{level: " + tt.level + "}]}", AuditLog: &log}))
			w := httptest.NewRecorder()
			r := httptest.NewRequest(http.MethodPost, "/api/v1/"+tt.path, strings.NewReader(tt.body))
			r.Header.Set("Content-Type", "application/json")
			srv.ServeHTTP(w, r)
			require.Equal(t, http.StatusCreated, w.Code, w.Body)
			var event struct{ Annotations json.RawMessage }
			require.NoError(t, json.Unmarshal(log.Bytes(), &event), log.String())
			assert.JSONEq(t, tt.want, string(event.Annotations))
		})
	}
}

// The annotation of the action Audit has all failures since v1.37, and the first one before.
func TestAuditFailures(t *testing.T) {
	const policy = `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: p.example.com}
spec:
  matchConstraints: {resourceRules: [{operations: [CREATE], apiGroups: [''], apiVersions: [v1], resources: [configmaps]}]}
  validations: [{expression: 'false', message: one}, {expression: 'false', message: two}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: b}
spec: {policyName: p.example.com, validationActions: [Audit]}
`
	for release, want := range map[string][]string{"v1.37": {"one", "two"}, "v1.36": {"one"}} {
		var log bytes.Buffer
		srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithRelease(release), fakeapi.WithObjects(strings.NewReader(policy)),
			fakeapi.WithAPIServer(apiserver.Config{AuditPolicy: "{apiVersion: audit.k8s.io/v1, kind: Policy, omitStages: [RequestReceived], rules: [{level: Metadata}]}", AuditLog: &log}))
		r := httptest.NewRequest(http.MethodPost, "/api/v1/namespaces/default/configmaps", strings.NewReader(`{"metadata":{"name":"a"}}`))
		r.Header.Set("Content-Type", "application/json")
		srv.ServeHTTP(httptest.NewRecorder(), r)
		var event struct{ Annotations map[string]string }
		require.NoError(t, json.Unmarshal(log.Bytes(), &event), log.String())
		var failures []struct{ Message string }
		require.NoError(t, json.Unmarshal([]byte(event.Annotations["validation.policy.admission.k8s.io/validation_failure"]), &failures), log.String())
		var got []string
		for _, f := range failures {
			got = append(got, f.Message)
		}
		assert.Equal(t, want, got, release)
	}
}

// caBundle returns the certificate of a server as the caBundle of a webhook.
func caBundle(s *httptest.Server) string {
	return base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}))
}
