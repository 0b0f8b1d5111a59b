//go:build go1.24

package dynamic

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/admission"
	"github.com/kubefake/kubefake/internal/object"
	client "github.com/kubefake/kubefake/internal/webhook"
)

// webhookConfiguration returns a configuration with one webhook for all requests.
// kind is "Validating" or "Mutating".
func webhookConfiguration(kind, name, url, fields string) string {
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
		{name: "denied with a reason", answer: response(`"allowed":false,"status":{"reason":"Because"}`), want: by + ": Because", code: 400},
		{name: "denied with a code that is no int32", answer: response(`"allowed":false,"status":{"code":99999999999}`),
			want: failed + "failed to call webhook: json: cannot unmarshal number 99999999999 into Go struct field Status.response.status.code of type int32", code: 500},
		{name: "denied without explanation", answer: response(`"allowed":false`), want: by + " without explanation", code: 400},
		{name: "other uid", answer: func(map[string]any) string {
			return `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"x"}}`
		}, want: failed + `received invalid webhook response: expected response.uid="u", got "x"`, code: 500},
		{name: "no response field", answer: func(map[string]any) string { return `{}` }, want: failed + "received invalid webhook response: webhook response was absent", code: 500},
		{name: "patch", answer: patching(`[]`), want: failed + "received invalid webhook response: validating webhook may not return response.patch", code: 500},
		{name: "other kind", answer: func(map[string]any) string { return `{"kind":"Foo","apiVersion":"admission.k8s.io/v1"}` },
			want: failed + `failed to call webhook: no kind "Foo" is registered for version "admission.k8s.io/v1" in scheme "pkg/runtime/scheme.go:111"`, code: 500},
		{name: "other version", answer: func(map[string]any) string {
			return `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1beta1"}`
		},
			want: failed + "failed to call webhook: converting (v1beta1.AdmissionReview) to (v1.AdmissionReview): unknown conversion", code: 500},
		{name: "no kind", answer: func(map[string]any) string { return `{"response":{"uid":"u"}}` },
			want: failed + "received invalid webhook response: expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got /, Kind=", code: 500},
		{name: "names in another case", answer: func(map[string]any) string {
			return `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","Response":{"UID":"u","Allowed":true}}`
		}, want: failed + "received invalid webhook response: webhook response was absent", code: 500},
		{name: "status of a wrong type", answer: response(`"allowed":false,"status":"x"`),
			want: failed + "failed to call webhook: json: cannot unmarshal string into Go struct field AdmissionResponse.response.status of type v1.Status", code: 500},
		{name: "YAML", answer: func(map[string]any) string {
			return "kind: AdmissionReview\napiVersion: admission.k8s.io/v1\nresponse: {uid: u, allowed: true, warnings: [careful]}"
		}, warnings: []string{"careful"}},
		{name: "connection error", want: failed + "failed to call webhook: connection refused", code: 500},
		{name: "connection error, ignored", fields: `,"failurePolicy":"Ignore"`},
		{name: "denied, failurePolicy Ignore", fields: `,"failurePolicy":"Ignore"`, answer: response(`"allowed":false`), want: by + " without explanation", code: 400},
		{name: "match condition", fields: `,"matchConditions":[{"name":"c","expression":"object.data.k == 'w'"}]`, answer: response(`"allowed":false`)},
		{name: "match condition that fails", fields: `,"matchConditions":[{"name":"c","expression":"object.x == 1"}]`, answer: response(`"allowed":true`),
			want: `configmaps "a" is forbidden: expression 'object.x == 1' resulted in error: no such key: x`, code: 403},
		{name: "match condition that fails, ignored", fields: `,"failurePolicy":"Ignore","matchConditions":[{"name":"c","expression":"object.x == 1"}]`, answer: response(`"allowed":false`)},
		{name: "request in the review", answer: func(review map[string]any) string {
			r, _ := review["request"].(map[string]any)
			return response(fmt.Sprintf(`"allowed":true,"warnings":[%q]`, fmt.Sprint(r["operation"], r["name"], r["namespace"], r["dryRun"], r["userInfo"], object.Value(r, "object", "data"), r["oldObject"])))(nil)
		}, warnings: []string{"CREATEanfalse map[groups:[devs] username:alice] map[k:v] <nil>"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &server{Types: newTypes(t)}
			if tt.answer != nil {
				s.hooks = map[string]func(map[string]any) string{"x": tt.answer}
			}
			a := newAttributes(t, s, admission.Create, configMap, "")
			err := newSnapshot(t, webhookConfiguration("Validating", "a", "x", tt.fields)).Validate(t.Context(), a, s)
			assertStatus(t, tt.want, tt.code, err)
			assert.Equal(t, tt.warnings, a.Warnings)
		})
	}
}

// assertStatus asserts that err is a Status with the message and the code, or nil
// if message is "".
func assertStatus(t testing.TB, message string, code int, err error) {
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

func TestDryRunWithSideEffects(t *testing.T) {
	s := &server{Types: newTypes(t)}
	a := newAttributes(t, s, admission.Create, configMap, "")
	a.DryRun = true
	text := strings.Replace(webhookConfiguration("Validating", "a", "x", ""), `"None"`, `"Unknown"`, 1)
	assertStatus(t, `admission webhook "a.example.com" does not support dry run`, 400, newSnapshot(t, text).Validate(t.Context(), a, s))
}

// The error of a webhook that cannot be called comes before those of webhooks that answer.
func TestUncalledWebhook(t *testing.T) {
	s := &server{Types: newTypes(t), hooks: map[string]func(map[string]any) string{"x": response(`"allowed":false`)}}
	for _, row := range []struct {
		name, uncalled, want string
		code                 int
		err                  error // of the call
	}{
		{name: "not in a dry run", uncalled: strings.Replace(webhookConfiguration("Validating", "b", "y", ""), `"None"`, `"Unknown"`, 1),
			want: `admission webhook "b.example.com" does not support dry run`, code: 400},
		{name: "no service", uncalled: webhookConfiguration("Validating", "b", "y", ""), err: &client.NoServiceError{Name: "s"},
			want: `Internal error occurred: failed calling webhook "b.example.com": failed to call webhook: service "s" not found`, code: 500},
		{name: "wrong caBundle", uncalled: webhookConfiguration("Validating", "b", "y", ""), err: client.ErrCABundle,
			want: `Internal error occurred: failed calling webhook "b.example.com": could not get REST client: unable to load root certificates: unable to parse bytes as PEM block`, code: 500},
		{name: "another error", uncalled: webhookConfiguration("Validating", "b", "y", ""), err: errors.New("refused"),
			want: `admission webhook "a.example.com" denied the request without explanation`, code: 400},
	} {
		t.Run(row.name, func(t *testing.T) {
			s.errors = map[string]error{"y": row.err}
			a := newAttributes(t, s, admission.Create, configMap, "")
			a.DryRun = true
			assertStatus(t, row.want, row.code, newSnapshot(t, webhookConfiguration("Validating", "a", "x", ""), row.uncalled).Validate(t.Context(), a, s))
		})
	}
}

func TestMutatingWebhooks(t *testing.T) {
	const add = `[{"op":"add","path":"/data/%s","value":"1"}]`
	for _, tt := range []struct {
		name    string
		configs []string
		hooks   map[string]func(map[string]any) string
		object  string
		want    string // its data, or the error
		called  []string
	}{
		{"in order", []string{webhookConfiguration("Mutating", "a", "x", ""), webhookConfiguration("Mutating", "b", "y", "")},
			map[string]func(map[string]any) string{"x": patching(fmt.Sprintf(add, "x")), "y": patching(`[{"op":"copy","from":"/data/x","path":"/data/y"}]`)},
			configMap, "map[k:v x:1 y:1]", []string{"x", "y"}},
		{"reinvoked", []string{webhookConfiguration("Mutating", "a", "x", `,"reinvocationPolicy":"IfNeeded"`), webhookConfiguration("Mutating", "b", "y", "")},
			map[string]func(map[string]any) string{"x": response(`"allowed":true`), "y": patching(fmt.Sprintf(add, "y"))},
			configMap, "map[k:v y:1]", []string{"x", "y", "x"}},
		{"not reinvoked", []string{webhookConfiguration("Mutating", "a", "x", `,"reinvocationPolicy":"IfNeeded"`), webhookConfiguration("Mutating", "b", "y", `,"reinvocationPolicy":"IfNeeded"`)},
			map[string]func(map[string]any) string{"x": patching(fmt.Sprintf(add, "x")), "y": response(`"allowed":true`)},
			configMap, "map[k:v x:1]", []string{"x", "y"}},
		{"patch that fails", []string{webhookConfiguration("Mutating", "a", "x", "")},
			map[string]func(map[string]any) string{"x": patching(`[{"op":"remove","path":"/data/x"}]`)}, configMap,
			"Internal error occurred: error in remove for path: '/data/x': Unable to remove nonexistent key: x: missing value", []string{"x"}},
		{"patch of a deletion", []string{webhookConfiguration("Mutating", "a", "x", "")}, map[string]func(map[string]any) string{"x": patching(fmt.Sprintf(add, "x"))}, "",
			`Internal error occurred: admission webhook "a.example.com" attempted to modify the object, which is not supported for this operation`, []string{"x"}},
		{"patch without a type", []string{webhookConfiguration("Mutating", "a", "x", "")}, map[string]func(map[string]any) string{"x": response(`"allowed":true,"patch":"W10="`)}, configMap,
			`Internal error occurred: failed calling webhook "a.example.com": received invalid webhook response: webhook returned response.patch but not response.patchType`, []string{"x"}},
		{"denied", []string{webhookConfiguration("Mutating", "a", "x", ""), webhookConfiguration("Mutating", "b", "y", "")}, map[string]func(map[string]any) string{"x": response(`"allowed":false`)}, configMap,
			`admission webhook "a.example.com" denied the request without explanation`, []string{"x"}},
		{"connection error, ignored", []string{webhookConfiguration("Mutating", "a", "x", `,"failurePolicy":"Ignore"`)}, nil, configMap, "map[k:v]", []string{"x"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &server{Types: newTypes(t), hooks: tt.hooks}
			a := newAttributes(t, s, admission.Create, tt.object, "")
			err := newSnapshot(t, tt.configs...).Mutate(t.Context(), a, s, nil)
			assert.Equal(t, tt.called, s.called)
			if err != nil {
				assert.EqualError(t, err, tt.want)
				return
			}
			assert.Equal(t, tt.want, fmt.Sprint(a.Object["data"]))
		})
	}
}

// A patch that changes the kind of a built-in object is decoded as that kind. Kinds that cannot be
// converted are found after the last webhook.
func TestMutatedKind(t *testing.T) {
	const internal = "Internal error occurred: "
	const replace = `{"op":"replace","path":"/%s","value":%s}`
	kind, apiVersion := func(k string) string { return fmt.Sprintf(replace, "kind", k) }, func(v string) string { return fmt.Sprintf(replace, "apiVersion", v) }
	for _, row := range []struct{ name, patch, want string }{
		{"a kind with other types of fields", kind(`"Secret"`), internal + "illegal base64 data at input byte 0"},
		{"another kind", kind(`"Secret"`) + `,{"op":"remove","path":"/data"}`, "converting (v1.Secret) to (core.ConfigMap): unknown conversion"},
		{"an unknown kind", kind(`"Nosuch"`), internal + `no kind "Nosuch" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"`},
		{"an unknown version", apiVersion(`"v2"`), internal + `no kind "ConfigMap" is registered for version "v2" in scheme "pkg/runtime/scheme.go:111"`},
		{"no version", apiVersion(`"apps/"`) + `,{"op":"remove","path":"/metadata"}`, internal + `Object 'apiVersion' is missing in '{"apiVersion":"apps/","data":{"k":"v"},"kind":"ConfigMap"}'`},
		{"no group version", apiVersion(`"a/b/c"`), internal + "unexpected GroupVersion string: a/b/c"},
		{"no text", kind(`1`), internal + "couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct field .kind of type string"},
		{"no kind", kind(`""`) + "," + apiVersion(`""`), ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := &server{Types: newTypes(t), hooks: map[string]func(map[string]any) string{"x": patching("[" + row.patch + "]"), "y": response(`"allowed":true`)}}
			a := newAttributes(t, s, admission.Create, configMap, "")
			err := newSnapshot(t, webhookConfiguration("Mutating", "a", "x", ""), webhookConfiguration("Mutating", "b", "y", "")).Mutate(t.Context(), a, s, nil)
			if strings.HasPrefix(row.want, internal) {
				assert.Equal(t, []string{"x"}, s.called)
			} else {
				assert.Equal(t, []string{"x", "y"}, s.called)
			}
			if row.want != "" {
				assert.EqualError(t, err, row.want)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, "ConfigMap", a.Object["kind"])
		})
	}
}

// A patch may change the version of an object.
func TestMutatedVersion(t *testing.T) {
	s := &server{Types: newTypes(t), hooks: map[string]func(map[string]any) string{
		"x": patching(`[{"op":"replace","path":"/apiVersion","value":"autoscaling/v1"},{"op":"add","path":"/spec/targetCPUUtilizationPercentage","value":7}]`)}}
	a := newAttributes(t, s, admission.Create, `{"apiVersion":"autoscaling/v2","metadata":{"name":"h"},"spec":{"maxReplicas":2}}`, "")
	require.NoError(t, newSnapshot(t, webhookConfiguration("Mutating", "a", "x", "")).Mutate(t.Context(), a, s, nil))
	assert.Equal(t, "autoscaling/v2", a.Object["apiVersion"])
	metric, _ := object.List(a.Object, "spec", "metrics")[0].(map[string]any)
	assert.Equal(t, int64(7), object.Value(metric, "resource", "target", "averageUtilization"))
}

// Since v1.34 failurePolicy counts for a patch that is no JSON.
func TestUndecodablePatch(t *testing.T) {
	for minor, want := range map[int]string{33: "Internal error occurred: invalid character 'x' looking for beginning of value", 34: ""} {
		t.Run(fmt.Sprint(minor), func(t *testing.T) {
			s := &server{Types: newTypes(t), minor: minor, hooks: map[string]func(map[string]any) string{"x": patching("x")}}
			err := newSnapshot(t, webhookConfiguration("Mutating", "a", "x", `,"failurePolicy":"Ignore"`)).Mutate(t.Context(), newAttributes(t, s, admission.Create, configMap, ""), s, nil)
			if want == "" {
				require.NoError(t, err)
			} else {
				require.EqualError(t, err, want)
			}
		})
	}
}

// A webhook gets and patches the object in the version of its rule.
func TestMutatingWebhookOfAnotherVersion(t *testing.T) {
	s := &server{Types: newTypes(t), hooks: map[string]func(map[string]any) string{"x": patching(`[{"op":"replace","path":"/spec/targetCPUUtilizationPercentage","value":7}]`)}}
	a := newAttributes(t, s, admission.Create, `{"apiVersion":"autoscaling/v2","metadata":{"name":"h"},"spec":{"metrics":[{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":60}}}]}}`, "")
	config := strings.Replace(webhookConfiguration("Mutating", "a", "x", ""), `"apiVersions":["*"]`, `"apiVersions":["v1"]`, 1)
	require.NoError(t, newSnapshot(t, config).Mutate(t.Context(), a, s, nil))
	assert.Equal(t, "autoscaling/v2", a.Object["apiVersion"])
	metric, _ := object.List(a.Object, "spec", "metrics")[0].(map[string]any)
	assert.Equal(t, int64(7), object.Value(metric, "resource", "target", "averageUtilization"))
}

// No response of a webhook makes the server panic.
func FuzzReview(f *testing.F) {
	for _, body := range []string{
		`{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"u","allowed":true,"patchType":"JSONPatch","patch":"W10="}}`,
		"kind: AdmissionReview", `"text"`, `[]`, `{"response":null}`, "\x00",
	} {
		f.Add(body, true)
	}
	f.Fuzz(func(t *testing.T, body string, mutating bool) {
		for _, version := range []string{"v1", "v1beta1"} {
			review, err := parseReview(36, []byte(body), version)
			if err != nil {
				continue
			}
			if response, err := review.verify(version, "u", mutating); err == nil && !response.Allowed {
				assert.Error(t, denial("w", response.Status))
			}
		}
	})
}

// No patch of a webhook makes the server panic or changes the object before it.
func FuzzWebhookPatch(f *testing.F) {
	for _, patch := range []string{
		`[{"op":"add","path":"/data/x","value":"1"},{"op":"copy","from":"/data/x","path":"/metadata/annotations"}]`,
		`[{"op":"test","path":"/data","value":{"k":"v"}},{"op":"remove","path":"/metadata/labels/app"}]`,
		`[{"op":"replace","path":"","value":{"apiVersion":"v1","kind":"ConfigMap","data":null}}]`,
		`[{"op":"move","from":"/metadata/labels","path":"/data"},{"op":"replace","path":"/kind","value":5}]`,
		`[null]`, `[]`, `null`,
	} {
		f.Add(patch)
	}
	types, snapshot := newTypes(f), newSnapshot(f, webhookConfiguration("Mutating", "a", "x", ""))
	f.Fuzz(func(t *testing.T, patch string) {
		s := &server{Types: types, hooks: map[string]func(map[string]any) string{"x": patching(patch)}}
		a := newAttributes(t, s, admission.Create, configMap, "")
		obj, kept := a.Object, object.Copy(a.Object)
		err := snapshot.Mutate(t.Context(), a, s, nil)
		require.Equal(t, kept, obj)
		if err == nil {
			assert.Equal(t, "ConfigMap", a.Object["kind"])
		}
	})
}
