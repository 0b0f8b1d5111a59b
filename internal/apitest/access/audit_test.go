//go:build go1.24

package access_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/fxamacker/cbor/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/apiserver"
	"github.com/kubefake/kubefake/fakeapi/faults"
	"github.com/kubefake/kubefake/internal/apitest"
)

// The events are those of kube-apiserver v1.36.3 for the same requests.
func TestAuditLog(t *testing.T) {
	const policy = `
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- {level: None, nonResourceURLs: ["/readyz*"]}
- {level: RequestResponse, omitManagedFields: true, resources: [{group: "", resources: [configmaps, pods/log]}]}
- {level: RequestResponse, nonResourceURLs: [/version]}
- {level: Request, resources: [{group: "", resources: [secrets, serviceaccounts/token]}, {group: rbac.authorization.k8s.io}]}
- {level: Metadata}`
	const configMaps = "/api/v1/namespaces/default/configmaps"
	var log bytes.Buffer
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithRBAC(), fakeapi.WithAPIServer(apiserver.Config{AuditPolicy: policy, AuditLog: &log}),
		fakeapi.WithObjects(`{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"sa","namespace":"default"}}`),
		fakeapi.WithToken("admin", fakeapi.User{Name: "admin", Groups: []string{"system:masters"}}), fakeapi.WithToken("alice", fakeapi.User{Name: "alice"}))
	const ref, admin = `"objectRef":{"resource":"configmaps","namespace":"default","name":"a","apiVersion":"v1"}`, `"user":{"username":"admin","groups":["system:masters","system:authenticated"]}`
	for _, tt := range []struct {
		name, token, method, path, body string
		want                            []string // parts of the events
	}{
		{"create", "admin", "POST", configMaps, `{"metadata":{"name":"a"},"data":{"k":"v"}}`, []string{
			`"level":"RequestResponse"`, `"stage":"ResponseComplete","requestURI":"` + configMaps + `","verb":"create",` + admin, ref + `,"responseStatus":{"metadata":{},"code":201}`,
			`"requestObject":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"},"data":{"k":"v"}}`, `"responseObject":{`,
			`"annotations":{"authorization.k8s.io/decision":"allow","authorization.k8s.io/reason":""}`}},
		{"patch", "admin", "PATCH", configMaps + "/a", `{"data":{"k":"w"}}`, []string{`"verb":"patch"`, ref, `"requestObject":{"data":{"k":"w"}}`}},
		{"not found", "admin", "GET", configMaps + "/none", "", []string{`"responseStatus":{"metadata":{},"status":"Failure","message":"configmaps \"none\" not found","reason":"NotFound","details":{"name":"none","kind":"configmaps"},"code":404}`}},
		{"answer that the client does not accept", "admin", "GET", configMaps + "/none?accept=image/png", "", []string{`"responseStatus":{"metadata":{},"code":406},"requestReceivedTimestamp"`}},
		{"forbidden", "alice", "GET", configMaps, "", []string{`"verb":"list"`, `"authorization.k8s.io/decision":"forbid"`, `"code":403},"responseObject":{`}},
		{"unauthorized", "wrong", "GET", configMaps, "", []string{`"stage":"ResponseStarted"`, `"user":{}`, `"responseStatus":{"metadata":{},"status":"Failure","message":"Unauthorized","reason":"Unauthorized","code":401}`}},
		{"level Request", "admin", "POST", "/api/v1/namespaces/default/secrets", `{"metadata":{"name":"s"}}`, []string{`"level":"Request"`, `"requestObject":{"kind":"Secret"`, `"type":"Opaque"`}},
		{"protobuf", "admin", "GET", configMaps + "/a?accept=application/vnd.kubernetes.protobuf", "", []string{`"responseObject":{"apiVersion":"v1","data":{"k":"w"},"kind":"ConfigMap",`}},
		{"list in protobuf", "admin", "GET", configMaps + "?accept=application/vnd.kubernetes.protobuf", "", []string{`"responseObject":{"apiVersion":"v1","items":[{"data":{"k":"w"},"metadata":{`, `"kind":"ConfigMapList"`}},
		{"metadata in protobuf", "admin", "GET", configMaps + "/a?accept=application/vnd.kubernetes.protobuf%3Bas=PartialObjectMetadata%3Bg=meta.k8s.io%3Bv=v1", "", []string{
			`"responseObject":{"apiVersion":"meta.k8s.io/v1","kind":"PartialObjectMetadata","metadata":{`}},
		{"error in protobuf", "admin", "GET", configMaps + "/none?accept=application/vnd.kubernetes.protobuf", "", []string{
			`"responseObject":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"configmaps \"none\" not found","reason":"NotFound"`}},
		{"YAML", "admin", "GET", configMaps + "/a?accept=application/yaml", "", []string{`"responseObject":{"apiVersion":"v1","data":{"k":"w"},"kind":"ConfigMap",`}},
		{"options of a delete", "admin", "DELETE", configMaps + "/a?dryRun=All", `{"propagationPolicy":"Background","dryRun":["All"],"x":1}`, []string{
			`"requestObject":{"kind":"DeleteOptions","apiVersion":"meta.k8s.io/__internal","propagationPolicy":"Background","dryRun":["All"]}`}},
		{"delete", "admin", "DELETE", configMaps + "/a", "", []string{`"responseStatus":{"metadata":{},"status":"Success","details":{"name":"a","kind":"configmaps","uid":"`}},
		{"watch", "admin", "GET", configMaps + "?watch=1&timeoutSeconds=1", "", []string{`"stage":"ResponseStarted"`, `"stage":"ResponseComplete"`, `"verb":"watch"`}},
		{"level Metadata", "admin", "GET", "/healthz", "", []string{`"level":"Metadata"`, `"requestURI":"/healthz","verb":"get"`}},
		{"impersonation", "admin", "GET", configMaps + "?as=bob", "", []string{
			admin + `,"impersonatedUser":{"username":"bob","groups":["system:authenticated"]},"authenticationMetadata":{"impersonationConstraint":"impersonate:user-info"}`}},
		{"empty list", "admin", "POST", "/apis/rbac.authorization.k8s.io/v1/clusterroles", `{"metadata":{"name":"r"},"rules":[]}`, []string{`"requestObject":{"kind":"ClusterRole","apiVersion":"rbac.authorization.k8s.io/v1","metadata":{"name":"r"},"rules":[]}`}},
		{"failed connection", "admin", "GET", "/api/v1/namespaces/default/pods/p/log", "", []string{
			`"stage":"ResponseComplete"`, `"responseObject":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"pods \"p\" not found"`}},
		{"token", "admin", "POST", "/api/v1/namespaces/default/serviceaccounts/sa/token", `{}`, []string{`"authentication.kubernetes.io/issued-credential-id":"JTI=`}},
		{"wrong timeout", "admin", "GET", configMaps + "?timeout=x", "", []string{`"stage":"ResponseStarted"`, `"user":{}`, `"code":400}`}},
		{"no API object", "admin", "GET", "/version", "", []string{`"responseStatus":{"metadata":{},"code":200},"requestReceivedTimestamp"`}},
		{"level None", "admin", "GET", "/readyz", "", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			log.Reset()
			req, err := http.NewRequestWithContext(t.Context(), tt.method, srv.URL+tt.path, strings.NewReader(tt.body))
			require.NoError(t, err)
			req.Header.Set("Authorization", "Bearer "+tt.token)
			req.Header.Set("Content-Type", "application/json")
			if as := req.URL.Query().Get("as"); as != "" {
				req.Header.Set("Impersonate-User", as)
			}
			if accept := req.URL.Query().Get("accept"); accept != "" {
				req.Header.Set("Accept", accept)
			}
			if tt.method == "PATCH" {
				req.Header.Set("Content-Type", "application/merge-patch+json")
			}
			w := &dropped{header: http.Header{}}
			srv.ServeHTTP(w, req) // the event is written when it returns
			for _, part := range tt.want {
				assert.Contains(t, log.String(), part)
			}
			if tt.want == nil {
				assert.Empty(t, log.String())
			}
			assert.NotContains(t, log.String(), "managedFields")
			for _, line := range strings.Split(strings.TrimSpace(log.String()), "\n") {
				assert.True(t, line == "" || json.Valid([]byte(line)), line)
			}
		})
	}
	for _, policy := range []string{"", "{apiVersion: audit.k8s.io/v1, kind: Policy}", "{apiVersion: audit.k8s.io/v1, kind: Policy, rules: [{level: All}]}"} {
		_, err := fakeapi.New(fakeapi.WithAPIServer(apiserver.Config{AuditPolicy: policy, AuditLog: &log}))
		assert.ErrorIs(t, err, fakeapi.ErrInvalidOption, policy)
	}
}

// The body of an apply in CBOR is in the log as JSON.
func TestAuditLogOfCBOR(t *testing.T) {
	var log bytes.Buffer
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithAPIServer(apiserver.Config{
		AuditPolicy: "{apiVersion: audit.k8s.io/v1, kind: Policy, rules: [{level: Request}]}", AuditLog: &log,
		FeatureGates: map[string]bool{"CBORServingAndStorage": true},
	}))
	body, err := cbor.Marshal(map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a"}})
	require.NoError(t, err)
	req := httptest.NewRequest("PATCH", "/api/v1/namespaces/default/configmaps/a?fieldManager=m", bytes.NewReader(body))
	req.Header.Set("Content-Type", "application/apply-patch+cbor")
	srv.ServeHTTP(&dropped{header: http.Header{}}, req)
	assert.Contains(t, log.String(), `"requestObject":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}`)
}

// A dropped is a ResponseWriter that drops the answer.
type dropped struct{ header http.Header }

func (r *dropped) Header() http.Header         { return r.header }
func (r *dropped) Write(b []byte) (int, error) { return len(b), nil }
func (r *dropped) WriteHeader(int)             {}
func (r *dropped) Flush()                      {}

// The events of requests that faults may hit have the answers that the clients get.
func TestAuditLogWithFaults(t *testing.T) {
	const policy = `{apiVersion: audit.k8s.io/v1, kind: Policy, omitStages: [RequestReceived], rules: [{level: RequestResponse, resources: [{resources: [configmaps]}]}]}`
	const deleted = `"responseStatus":{"metadata":{},"status":"Success","details":{"name":"a","kind":"configmaps","uid":"`
	for _, row := range []struct {
		name           string
		fault          faults.Fault
		create, delete string // parts of the events
	}{
		{"of another resource", faults.Fault{Resource: "secrets", Code: 500}, `"code":201},"requestObject":{`, deleted},
		{"delay", faults.Fault{Delay: 1, ServeFirst: true}, `"responseObject":{"kind":"ConfigMap"`, deleted},
		{"another answer", faults.Fault{Code: 500, Message: "no", ServeFirst: true}, `"responseObject":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"no"`,
			`"responseStatus":{"metadata":{},"status":"Failure","message":"no","code":500}`},
		{"another answer in plain text", faults.Fault{Code: 429, ServeFirst: true}, `"responseStatus":{"metadata":{},"code":429}`, `"responseStatus":{"metadata":{},"code":429}`},
	} {
		t.Run(row.name, func(t *testing.T) {
			var log bytes.Buffer
			srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithAPIServer(apiserver.Config{AuditPolicy: policy, AuditLog: &log}))
			apitest.Inject(t, srv, row.fault)
			for _, r := range [][]string{{"POST", apitest.ConfigMapsPath, `{"metadata":{"name":"a"}}`, row.create}, {"DELETE", apitest.ConfigMapsPath + "/a", "", row.delete}} {
				log.Reset()
				req, err := http.NewRequestWithContext(t.Context(), r[0], srv.URL+r[1], strings.NewReader(r[2]))
				require.NoError(t, err)
				req.Header.Set("Content-Type", "application/json")
				srv.ServeHTTP(&dropped{header: http.Header{}}, req) // the event is written when it returns
				assert.Contains(t, log.String(), r[3])
				assert.Equal(t, row.fault.Code != 429, strings.Contains(log.String(), `"responseObject":{`), log.String())
			}
		})
	}
}
