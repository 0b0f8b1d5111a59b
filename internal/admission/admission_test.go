package admission

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/cel"
	"github.com/kubefake/kubefake/internal/kinds"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/wire"
)

// registry has the types of the default profile.
func registry(t testing.TB) *resource.Types {
	t.Helper()
	p, err := release.Open("v1.36-all")
	require.NoError(t, err)
	return resource.NewTypes(kinds.Types(p.Types()))
}

func decode(t testing.TB, text string) map[string]any {
	t.Helper()
	obj, _, err := wire.DecodeUntyped([]byte(text), wire.DecodeOptions{})
	require.NoError(t, err, text)
	return obj
}

// A server is a Server with a few objects, whose webhooks are functions.
type server struct {
	*resource.Types
	objects []map[string]any
	hooks   map[string]func(review map[string]any) string // by url
	asked   []string                                      // the urls, in order
}

func (s *server) Get(kind resource.Kind, namespace, name string) map[string]any {
	for _, obj := range s.List(kind, namespace) {
		if object.String(obj, "metadata", "name") == name {
			return obj
		}
	}
	return nil
}

func (s *server) List(kind resource.Kind, namespace string) (all []map[string]any) {
	for _, obj := range s.objects {
		if obj["kind"] == kind.Kind && (namespace == "" || object.String(obj, "metadata", "namespace") == namespace) {
			all = append(all, obj)
		}
	}
	return all
}

func (s *server) Type(kind resource.Kind) *resource.Type { return s.ForKind(kind) }
func (s *server) Authorizer() cel.Authorizer             { return nobody{} }
func (s *server) UID() string                            { return "u" }

func (s *server) Merge(_ *resource.Type, live, applied map[string]any) (map[string]any, error) {
	out := object.Copy(live)
	for name, v := range object.Map(applied, "data") {
		object.Set(out, v, "data", name)
	}
	return out, nil
}

func (s *server) Call(_ context.Context, config map[string]any, _ time.Duration, body []byte) ([]byte, error) {
	url := object.String(config, "url")
	s.asked = append(s.asked, url)
	answer, ok := s.hooks[url]
	if !ok {
		return nil, errors.New("nobody is there")
	}
	var review map[string]any
	if err := json.Unmarshal(body, &review); err != nil {
		return nil, err
	}
	return []byte(answer(review)), nil
}

func noPlugins(*Attributes) error { return nil }

// nobody may do nothing.
type nobody struct{}

func (nobody) Authorize(cel.AuthorizerAttributes) (bool, string, error) { return false, "", nil }

// response is what a webhook answers that speaks v1.
func response(fields string) func(map[string]any) string {
	return func(map[string]any) string {
		return `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"u",` + fields + `}}`
	}
}

// patching is the answer of a webhook that applies a JSON patch.
func patching(patch string) func(map[string]any) string {
	encoded, _ := json.Marshal([]byte(patch))
	return response(`"allowed":true,"patchType":"JSONPatch","patch":` + string(encoded))
}

// request is one about a config map, or an autoscaler in version v2.
func request(t testing.TB, r *resource.Types, operation Operation, obj, old string) *Attributes {
	t.Helper()
	typ := r.Lookup("", "v1", "configmaps")
	if strings.Contains(obj+old, "autoscaling") {
		typ = r.Lookup("autoscaling", "v2", "horizontalpodautoscalers")
	}
	a := &Attributes{
		Operation: operation, Type: typ, Kind: resource.Kind{GroupVersion: typ.GroupVersion, Kind: typ.Kind}, Codec: typ.Codec,
		Namespace: "n", User: &authn.User{Name: "alice", Groups: []string{"devs"}},
	}
	for _, in := range []struct {
		text string
		to   *map[string]any
	}{{obj, &a.Object}, {old, &a.Old}} {
		if in.text != "" {
			decoded, _, err := typ.Codec.Decode([]byte(in.text), false)
			require.NoError(t, err)
			decoded["kind"], decoded["apiVersion"] = typ.Kind, typ.GroupVersion.String()
			*in.to = decoded
			a.Name = object.String(decoded, "metadata", "name")
		}
	}
	return a
}

// configured is a snapshot of configurations, each given without its apiVersion.
func configured(t testing.TB, texts ...string) *Snapshot {
	t.Helper()
	var all []Configuration
	for i, text := range texts {
		all = append(all, Configuration{ID: i, Object: decode(t, text)})
	}
	return New(all, nil)
}

const (
	configMap = `{"metadata":{"name":"a","namespace":"n","labels":{"app":"web"}},"data":{"k":"v"}}`
	namespace = `{"kind":"Namespace","metadata":{"name":"n","labels":{"tier":"gold"}}}`
)

func TestMatching(t *testing.T) {
	const rules = `"rules":[{"operations":["CREATE"],"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"]}]`
	const scaler = `{"apiVersion":"autoscaling/v2","metadata":{"name":"h","namespace":"n"}}`
	r := registry(t)
	for _, tt := range []struct {
		name, criteria string
		operation      Operation
		object, old    string
		want           string // the kind that it is matched as; "" if it is not
	}{
		{"rule", rules, Create, configMap, "", "/v1 ConfigMap"},
		{"other operation", rules, Delete, "", configMap, ""},
		{"any operation", `"rules":[{"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"]}]`, Delete, "", configMap, "/v1 ConfigMap"},
		{"other group", `"rules":[{"operations":["*"],"apiGroups":["apps"],"apiVersions":["*"],"resources":["*"]}]`, Create, configMap, "", ""},
		{"other resource", `"rules":[{"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["pods","*/status"]}]`, Create, configMap, "", ""},
		{"resource and its subresources", `"rules":[{"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["configmaps/*"]}]`, Create, configMap, "", "/v1 ConfigMap"},
		{"cluster scope", `"rules":[{"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"],"scope":"Cluster"}]`, Create, configMap, "", ""},
		{"namespaced scope", `"rules":[{"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"],"scope":"Namespaced"}]`, Create, configMap, "", "/v1 ConfigMap"},
		{"name", `"rules":[{"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"],"resourceNames":["a"]}]`, Create, configMap, "", "/v1 ConfigMap"},
		{"other name", `"rules":[{"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"],"resourceNames":["b"]}]`, Create, configMap, "", ""},
		{"excluded", rules + `,"excludeResourceRules":[{"operations":["CREATE"],"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"]}]`, Create, configMap, "", ""},
		{"namespace", rules + `,"namespaceSelector":{"matchLabels":{"tier":"gold"}}`, Create, configMap, "", "/v1 ConfigMap"},
		{"other namespace", rules + `,"namespaceSelector":{"matchLabels":{"tier":"lead"}}`, Create, configMap, "", ""},
		{"labels", rules + `,"objectSelector":{"matchLabels":{"app":"web"}}`, Create, configMap, "", "/v1 ConfigMap"},
		{"other labels", rules + `,"objectSelector":{"matchExpressions":[{"key":"app","operator":"DoesNotExist"}]}`, Create, configMap, "", ""},
		{"labels of the old object", `"objectSelector":{"matchLabels":{"app":"web"}}`, Update, `{"metadata":{"name":"a"}}`, configMap, "/v1 ConfigMap"},
		{"no rules", ``, Update, configMap, configMap, "/v1 ConfigMap"},
		{"equivalent version", `"rules":[{"operations":["*"],"apiGroups":["autoscaling"],"apiVersions":["v1"],"resources":["*"]}]`, Create, scaler, "", "autoscaling/v1 HorizontalPodAutoscaler"},
		{"exact version", `"matchPolicy":"Exact","rules":[{"operations":["*"],"apiGroups":["autoscaling"],"apiVersions":["v1"],"resources":["*"]}]`, Create, scaler, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &server{Types: r, objects: []map[string]any{decode(t, namespace)}}
			c := criteriaOf(decode(t, "{"+tt.criteria+"}"), "rules")
			got := ""
			if as, ok := c.matches(request(t, r, tt.operation, tt.object, tt.old), s); ok {
				got = fmt.Sprintf("%s/%s %s", as.kind.Group, as.kind.Version, as.kind.Kind)
			}
			assert.Equal(t, tt.want, got)
		})
	}
}

func TestNamespacesMatchThemselves(t *testing.T) {
	r := registry(t)
	typ := r.Lookup("", "v1", "namespaces")
	a := &Attributes{Operation: Create, Type: typ, Namespace: "n", Name: "n", Object: decode(t, namespace)}
	gold := criteriaOf(decode(t, `{"namespaceSelector":{"matchLabels":{"tier":"gold"}}}`), "rules")
	_, ok := gold.matches(a, &server{})
	assert.True(t, ok, "by the labels that it will have")
	cluster := rulesOf(decode(t, `{"rules":[{"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"],"scope":"Cluster"}]}`)["rules"])[0]
	assert.True(t, cluster.matches(a, typ))
}

// hooks are configurations of webhooks of both kinds, one each for all config
// maps, reached at a URL.
func webhook(kind, name, url, fields string) string {
	return fmt.Sprintf(`{"kind":%q,"metadata":{"name":%q},"webhooks":[{"name":%q,"clientConfig":{"url":%q},"admissionReviewVersions":["v1"],"sideEffects":"None",
		"rules":[{"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"]}]%s}]}`, kind+"WebhookConfiguration", name, name+".example.com", url, fields)
}

func TestValidatingWebhooks(t *testing.T) {
	const by = `admission webhook "a.example.com" denied the request`
	const failed = `Internal error occurred: failed calling webhook "a.example.com": `
	for _, tt := range []struct {
		name, fields string
		answer       func(map[string]any) string
		want         string // the refusal
		code         int
		warnings     []string
	}{
		{name: "allowed", answer: response(`"allowed":true,"warnings":["careful"]`), warnings: []string{"careful"}},
		{name: "denied", answer: response(`"status":{"code":409,"reason":"Conflict","message":"no"}`), want: by + ": no", code: 409},
		{name: "denied for a reason", answer: response(`"allowed":false,"status":{"reason":"Because"}`), want: by + ": Because", code: 400},
		{name: "denied, silently", answer: response(`"allowed":false`), want: by + " without explanation", code: 400},
		{name: "other uid", answer: func(map[string]any) string {
			return `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"x"}}`
		}, want: failed + `received invalid webhook response: expected response.uid="u", got "x"`, code: 500},
		{name: "no response", answer: func(map[string]any) string { return `{}` }, want: failed + "received invalid webhook response: webhook response was absent", code: 500},
		{name: "patch", answer: patching(`[]`), want: failed + "received invalid webhook response: validating webhook may not return response.patch", code: 500},
		{name: "other kind", answer: func(map[string]any) string { return `{"kind":"Foo","apiVersion":"admission.k8s.io/v1"}` },
			want: failed + `failed to call webhook: no kind "Foo" is registered for version "admission.k8s.io/v1" in scheme "pkg/runtime/scheme.go:111"`, code: 500},
		{name: "other version", answer: func(map[string]any) string {
			return `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1beta1"}`
		},
			want: failed + "failed to call webhook: converting (v1beta1.AdmissionReview) to (v1.AdmissionReview): unknown conversion", code: 500},
		{name: "no kind", answer: func(map[string]any) string { return `{"response":{"uid":"u"}}` },
			want: failed + "received invalid webhook response: expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got /, Kind=", code: 500},
		{name: "nothing", answer: func(map[string]any) string { return "" },
			want: failed + "failed to call webhook: 0-length response with status code: 200 and content type: application/json", code: 500},
		{name: "YAML", answer: func(map[string]any) string {
			return "kind: AdmissionReview\napiVersion: admission.k8s.io/v1\nresponse: {uid: u, allowed: true, warnings: [careful]}"
		}, warnings: []string{"careful"}},
		{name: "unreachable", want: failed + "failed to call webhook: nobody is there", code: 500},
		{name: "unreachable, ignored", fields: `,"failurePolicy":"Ignore"`},
		{name: "denied, failures ignored", fields: `,"failurePolicy":"Ignore"`, answer: response(`"allowed":false`), want: by + " without explanation", code: 400},
		{name: "condition", fields: `,"matchConditions":[{"name":"c","expression":"object.data.k == 'w'"}]`, answer: response(`"allowed":false`)},
		{name: "condition that fails", fields: `,"matchConditions":[{"name":"c","expression":"object.x == 1"}]`, answer: response(`"allowed":true`),
			want: `configmaps "a" is forbidden: expression 'object.x == 1' resulted in error: no such key: x`, code: 403},
		{name: "condition that fails, ignored", fields: `,"failurePolicy":"Ignore","matchConditions":[{"name":"c","expression":"object.x == 1"}]`, answer: response(`"allowed":false`)},
		{name: "review", answer: func(review map[string]any) string {
			r, _ := review["request"].(map[string]any)
			return response(fmt.Sprintf(`"allowed":true,"warnings":[%q]`, fmt.Sprint(r["operation"], r["name"], r["namespace"], r["dryRun"], r["userInfo"], object.Value(r, "object", "data"), r["oldObject"])))(nil)
		}, warnings: []string{"CREATEanfalse map[groups:[devs] username:alice] map[k:v] <nil>"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &server{Types: registry(t)}
			if tt.answer != nil {
				s.hooks = map[string]func(map[string]any) string{"x": tt.answer}
			}
			a := request(t, s.Types, Create, configMap, "")
			err := configured(t, webhook("Validating", "a", "x", tt.fields)).Validate(t.Context(), a, s)
			assertRefused(t, tt.want, tt.code, err)
			assert.Equal(t, tt.warnings, a.Warnings)
		})
	}
}

// assertRefused asserts that err is a Status of a message and a code, or nil.
func assertRefused(t testing.TB, message string, code int, err error) {
	t.Helper()
	if message == "" {
		require.NoError(t, err)
		return
	}
	require.EqualError(t, err, message)
	text, err := json.Marshal(err)
	require.NoError(t, err)
	assert.Contains(t, string(text), fmt.Sprintf(`"code":%d`, code))
}

func TestDryRunNeedsNoSideEffects(t *testing.T) {
	s := &server{Types: registry(t)}
	a := request(t, s.Types, Create, configMap, "")
	a.DryRun = true
	text := strings.Replace(webhook("Validating", "a", "x", ""), `"None"`, `"Unknown"`, 1)
	assertRefused(t, `admission webhook "a.example.com" does not support dry run`, 400, configured(t, text).Validate(t.Context(), a, s))
}

func TestMutatingWebhooks(t *testing.T) {
	const add = `[{"op":"add","path":"/data/%s","value":"1"}]`
	for _, tt := range []struct {
		name    string
		configs []string
		hooks   map[string]func(map[string]any) string
		object  string
		want    string // its data, or the refusal
		asked   []string
	}{
		{"one after the other", []string{webhook("Mutating", "a", "x", ""), webhook("Mutating", "b", "y", "")},
			map[string]func(map[string]any) string{"x": patching(fmt.Sprintf(add, "x")), "y": patching(`[{"op":"copy","from":"/data/x","path":"/data/y"}]`)},
			configMap, "map[k:v x:1 y:1]", []string{"x", "y"}},
		{"again", []string{webhook("Mutating", "a", "x", `,"reinvocationPolicy":"IfNeeded"`), webhook("Mutating", "b", "y", "")},
			map[string]func(map[string]any) string{"x": response(`"allowed":true`), "y": patching(fmt.Sprintf(add, "y"))},
			configMap, "map[k:v y:1]", []string{"x", "y", "x"}},
		{"not again", []string{webhook("Mutating", "a", "x", `,"reinvocationPolicy":"IfNeeded"`), webhook("Mutating", "b", "y", `,"reinvocationPolicy":"IfNeeded"`)},
			map[string]func(map[string]any) string{"x": patching(fmt.Sprintf(add, "x")), "y": response(`"allowed":true`)},
			configMap, "map[k:v x:1]", []string{"x", "y"}},
		{"patch that does not apply", []string{webhook("Mutating", "a", "x", "")},
			map[string]func(map[string]any) string{"x": patching(`[{"op":"remove","path":"/data/x"}]`)}, configMap,
			"Internal error occurred: error in remove for path: '/data/x': Unable to remove nonexistent key: x: missing value", []string{"x"}},
		{"patch of a deletion", []string{webhook("Mutating", "a", "x", "")}, map[string]func(map[string]any) string{"x": patching(fmt.Sprintf(add, "x"))}, "",
			`Internal error occurred: admission webhook "a.example.com" attempted to modify the object, which is not supported for this operation`, []string{"x"}},
		{"patch without a type", []string{webhook("Mutating", "a", "x", "")}, map[string]func(map[string]any) string{"x": response(`"allowed":true,"patch":"W10="`)}, configMap,
			`Internal error occurred: failed calling webhook "a.example.com": received invalid webhook response: webhook returned response.patch but not response.patchType`, []string{"x"}},
		{"denied", []string{webhook("Mutating", "a", "x", ""), webhook("Mutating", "b", "y", "")}, map[string]func(map[string]any) string{"x": response(`"allowed":false`)}, configMap,
			`admission webhook "a.example.com" denied the request without explanation`, []string{"x"}},
		{"ignored", []string{webhook("Mutating", "a", "x", `,"failurePolicy":"Ignore"`)}, nil, configMap, "map[k:v]", []string{"x"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &server{Types: registry(t), hooks: tt.hooks}
			a := request(t, s.Types, Create, tt.object, "")
			err := configured(t, tt.configs...).Mutate(t.Context(), a, s, noPlugins)
			assert.Equal(t, tt.asked, s.asked)
			if err != nil {
				assert.EqualError(t, err, tt.want)
				return
			}
			assert.Equal(t, tt.want, fmt.Sprint(a.Object["data"]))
		})
	}
}

// A webhook for another version is shown the object in that one, and patches it
// there.
func TestMutatingInAnotherVersion(t *testing.T) {
	s := &server{Types: registry(t), hooks: map[string]func(map[string]any) string{"x": patching(`[{"op":"replace","path":"/spec/targetCPUUtilizationPercentage","value":7}]`)}}
	a := request(t, s.Types, Create, `{"apiVersion":"autoscaling/v2","metadata":{"name":"h"},"spec":{"metrics":[{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":60}}}]}}`, "")
	config := strings.Replace(webhook("Mutating", "a", "x", ""), `"apiVersions":["*"]`, `"apiVersions":["v1"]`, 1)
	require.NoError(t, configured(t, config).Mutate(t.Context(), a, s, noPlugins))
	assert.Equal(t, "autoscaling/v2", a.Object["apiVersion"])
	metric, _ := object.List(a.Object, "spec", "metrics")[0].(map[string]any)
	assert.Equal(t, int64(7), object.Value(metric, "resource", "target", "averageUtilization"))
}

// policies are a policy of a kind for all requests, and its binding.
func policies(kind, spec, binding string) []string {
	return []string{
		fmt.Sprintf(`{"kind":%q,"metadata":{"name":"p"},"spec":{"matchConstraints":{"resourceRules":[{"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"]}]},%s}}`, kind+"AdmissionPolicy", spec),
		fmt.Sprintf(`{"kind":%q,"metadata":{"name":"b"},"spec":{"policyName":"p"%s}}`, kind+"AdmissionPolicyBinding", binding),
	}
}

func TestValidatingPolicies(t *testing.T) {
	const (
		by   = `configmaps "a" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: `
		deny = `,"validationActions":["Deny"]`
		kind = `"paramKind":{"apiVersion":"v1","kind":"ServiceAccount"},`
	)
	params := []map[string]any{decode(t, namespace), decode(t, `{"kind":"ServiceAccount","metadata":{"name":"one","namespace":"n","labels":{"x":"y"}}}`), decode(t, `{"kind":"ServiceAccount","metadata":{"name":"two","namespace":"n","labels":{"x":"y"}}}`)}
	for _, tt := range []struct {
		name, spec, binding string
		want                string
		code                int
		warnings            []string
	}{
		{name: "holds", spec: `"validations":[{"expression":"object.data.k == 'v' && request.operation == 'CREATE' && namespaceObject.metadata.labels.tier == 'gold'"}]`, binding: deny},
		{name: "broken", spec: `"validations":[{"expression":" object.data.k == 'w' "}]`, binding: deny, want: by + "failed expression: object.data.k == 'w'", code: 422},
		{name: "reason", spec: `"validations":[{"expression":"false","message":"m","reason":"Forbidden"}]`, binding: deny, want: by + "m", code: 403},
		{name: "message", spec: `"variables":[{"name":"k","expression":"object.data.k"}],"validations":[{"expression":"false","message":"m","messageExpression":"'k is ' + variables.k"}]`, binding: deny, want: by + "k is v", code: 422},
		{name: "message that fails", spec: `"validations":[{"expression":"false","message":"m","messageExpression":"string(object.x)"}]`, binding: deny, want: by + "m", code: 422},
		{name: "message of two lines", spec: `"validations":[{"expression":"false","messageExpression":"'a\\nb'"}]`, binding: deny, want: by + "failed expression: false", code: 422},
		{name: "fails", spec: `"validations":[{"expression":"object.x == 1"}]`, binding: deny, want: by + "expression 'object.x == 1' resulted in error: no such key: x", code: 422},
		{name: "fails, ignored", spec: `"failurePolicy":"Ignore","validations":[{"expression":"object.x == 1"}]`, binding: deny},
		{name: "warned", spec: `"validations":[{"expression":"false"}]`, binding: `,"validationActions":["Warn","Audit"]`, warnings: []string{"Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': failed expression: false"}},
		{name: "condition", spec: `"matchConditions":[{"name":"c","expression":"request.userInfo.username != 'alice'"}],"validations":[{"expression":"false"}]`, binding: deny},
		{name: "condition that fails", spec: `"matchConditions":[{"name":"c","expression":"object.x == 1"},{"name":"d","expression":"object.y == 1"}],"validations":[{"expression":"true"}]`, binding: deny,
			want: by + "[expression 'object.x == 1' resulted in error: no such key: x, expression 'object.y == 1' resulted in error: no such key: y]", code: 422},
		{name: "binding for others", spec: `"validations":[{"expression":"false"}]`, binding: deny + `,"matchResources":{"objectSelector":{"matchLabels":{"app":"db"}}}`},
		{name: "audit annotation that fails", spec: `"auditAnnotations":[{"key":"k","valueExpression":"string(object.x)"}]`, binding: `,"validationActions":["Audit"]`, want: by + "expression 'string(object.x)' resulted in error: no such key: x", code: 422},
		{name: "authorizer", spec: `"validations":[{"expression":"authorizer.requestResource.check('get').allowed()"}]`, binding: deny, want: by + "failed expression: authorizer.requestResource.check('get').allowed()", code: 422},
		{name: "parameter", spec: kind + `"validations":[{"expression":"params.metadata.name == 'two'","messageExpression":"string(params.metadata.name)"}]`, binding: deny + `,"paramRef":{"name":"one"}`, want: by + "one", code: 422},
		{name: "parameters", spec: kind + `"validations":[{"expression":"params.metadata.name == 'one'","messageExpression":"string(params.metadata.name)"}]`, binding: deny + `,"paramRef":{"selector":{"matchLabels":{"x":"y"}}}`, want: by + "two", code: 422},
		{name: "no parameter", spec: kind + `"validations":[{"expression":"false"}]`, binding: deny + `,"paramRef":{"name":"none","parameterNotFoundAction":"Allow"}`},
		{name: "no parameter, denied", spec: kind + `"validations":[{"expression":"true"}]`, binding: `,"paramRef":{"name":"none","parameterNotFoundAction":"Deny"}`,
			want: by + "failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction", code: 422},
		{name: "unknown kind", spec: `"paramKind":{"apiVersion":"a.b/v1","kind":"None"},"validations":[{"expression":"true"}]`, binding: deny + `,"paramRef":{"name":"one"}`,
			want: `configmaps "a" is forbidden: ValidatingAdmissionPolicy 'p' denied request: failed to configure policy: failed to find resource referenced by paramKind: 'a.b/v1, Kind=None'`, code: 422},
		{name: "costly", spec: `"validations":[{"expression":"[1,2,3,4,5,6,7,8,9].all(a, [1,2,3,4,5,6,7,8,9].all(b, [1,2,3,4,5,6,7,8,9].all(c, [1,2,3,4,5,6,7,8,9].all(d, [1,2,3,4,5,6,7,8,9].all(e, [1,2,3,4,5,6,7,8,9].all(f, a+b+c+d+e+f > 0))))))"}]`, binding: deny,
			want: by + "expression '[1,2,3,4,5,6,7,8,9].all(a, [1,2,3,4,5,6,7,8,9].all(b, [1,2,3,4,5,6,7,8,9].all(c, [1,2,3,4,5,6,7,8,9].all(d, [1,2,3,4,5,6,7,8,9].all(e, [1,2,3,4,5,6,7,8,9].all(f, a+b+c+d+e+f > 0))))))' resulted in error: operation cancelled: actual cost limit exceeded", code: 422},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &server{Types: registry(t), objects: params}
			snapshot := configured(t, policies("Validating", tt.spec, tt.binding)...)
			a := request(t, s.Types, Create, configMap, "")
			err := snapshot.Validate(t.Context(), a, s)
			assertRefused(t, tt.want, tt.code, err)
			assert.Equal(t, tt.warnings, a.Warnings)
		})
	}
}

func TestMutatingPolicies(t *testing.T) {
	patches := func(expression string) string {
		return `"mutations":[{"patchType":"JSONPatch","jsonPatch":{"expression":` + fmt.Sprintf("%q", expression) + `}}]`
	}
	const by = "policy 'p' with binding 'b' denied request: "
	for _, tt := range []struct{ name, spec, want string }{
		{"patched", patches(`[JSONPatch{op: "add", path: "/data/x", value: object.data.k + "1"}]`), "map[k:v x:v1]"},
		{"merged", `"mutations":[{"patchType":"ApplyConfiguration","applyConfiguration":{"expression":"Object{data: Object.data{y: 'z'}}"}}]`, "map[k:v y:z]"},
		{"both", `"mutations":[{"patchType":"JSONPatch","jsonPatch":{"expression":"[JSONPatch{op: 'remove', path: '/data/k'}]"}},{"patchType":"ApplyConfiguration","applyConfiguration":{"expression":"Object{data: Object.data{y: has(object.data) ? 'data' : 'none'}}"}}]`, "map[y:none]"},
		{"test that fails", patches(`[JSONPatch{op: "test", path: "/data/k", value: "w"}, JSONPatch{op: "remove", path: "/data/k"}]`), "map[k:v]"},
		{"patch that does not apply", patches(`[JSONPatch{op: "remove", path: "/data/x"}]`), by + "JSON Patch: error in remove for path: '/data/x': Unable to remove nonexistent key: x: missing value"},
		{"patch of what there is not", patches(`[JSONPatch{op: "add", path: "/dada", value: "x"}]`), `Internal error occurred: strict decoding error: unknown field "dada"`},
		{"fails", patches(`[JSONPatch{op: "add", path: "/data/x", value: object.x}]`), by + `expression '[JSONPatch{op: "add", path: "/data/x", value: object.x}]' resulted in error: no such key: x`},
		{"fails, ignored", `"failurePolicy":"Ignore",` + patches(`[JSONPatch{op: "add", path: "/data/x", value: object.x}]`), "map[k:v]"},
		{"misnamed type", `"mutations":[{"patchType":"ApplyConfiguration","applyConfiguration":{"expression":"Object{data: Object.spec{y: 'z'}}"}}]`,
			by + `type mismatch: unexpected type name "Object.spec", expected "Object.data", which matches field name path from root Object type`},
		{"condition", `"matchConditions":[{"name":"c","expression":"false"}],` + patches(`[JSONPatch{op: "remove", path: "/data/k"}]`), "map[k:v]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &server{Types: registry(t), objects: []map[string]any{decode(t, namespace)}}
			a := request(t, s.Types, Create, configMap, "")
			err := configured(t, policies("Mutating", tt.spec, "")...).Mutate(t.Context(), a, s, noPlugins)
			if err != nil {
				assert.EqualError(t, err, tt.want)
				return
			}
			assert.Equal(t, tt.want, fmt.Sprint(a.Object["data"]))
		})
	}
}

// The server's own plugins see what policies and webhooks made of an object.
func TestPluginsRunAgain(t *testing.T) {
	s := &server{Types: registry(t), hooks: map[string]func(map[string]any) string{"x": patching(`[{"op":"add","path":"/data/x","value":"1"}]`)}}
	var seen []string
	plugins := func(a *Attributes) error {
		seen = append(seen, fmt.Sprint(a.Object["data"]))
		return nil
	}
	require.NoError(t, configured(t, webhook("Mutating", "a", "x", "")).Mutate(t.Context(), request(t, s.Types, Create, configMap, ""), s, plugins))
	assert.Equal(t, []string{"map[k:v]", "map[k:v x:1]"}, seen)
}

func TestSnapshot(t *testing.T) {
	assert.Nil(t, New(nil, nil))
	s := &server{Types: registry(t)}
	var none *Snapshot
	a := request(t, s.Types, Create, configMap, "")
	require.NoError(t, none.Validate(t.Context(), a, s))
	require.NoError(t, none.Mutate(t.Context(), a, s, noPlugins))

	hook := Configuration{ID: "x", Object: decode(t, webhook("Validating", "a", "x", ""))}
	one := New([]Configuration{hook}, nil)
	two := New([]Configuration{hook, {ID: "y", Object: decode(t, webhook("Validating", "b", "y", ""))}}, one)
	assert.Same(t, one.validating[0], two.validating[0], "what was compiled is kept")
	assert.Len(t, two.validating, 2)

	typ := s.Lookup(Group, "v1", "validatingwebhookconfigurations")
	a = &Attributes{Operation: Create, Type: typ, Object: hook.Object}
	require.NoError(t, two.Validate(t.Context(), a, s), "configurations are not judged")
}

// No answer of a webhook is worse than an error.
func FuzzAnswer(f *testing.F) {
	for _, body := range []string{
		`{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"u","allowed":true,"patchType":"JSONPatch","patch":"W10="}}`,
		"kind: AdmissionReview", `"text"`, `[]`, `{"response":null}`, "\x00",
	} {
		f.Add(body, true)
	}
	f.Fuzz(func(t *testing.T, body string, mutating bool) {
		for _, version := range []string{"v1", "v1beta1"} {
			review, err := parse([]byte(body), version)
			if err != nil {
				continue
			}
			if response, err := review.verified(version, "u", mutating); err == nil && !response.Allowed {
				assert.Error(t, denial("w", response.Status))
			}
		}
	})
}
