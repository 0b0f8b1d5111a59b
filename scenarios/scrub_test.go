package scenarios

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestScrub(t *testing.T) {
	more := []Secret{
		{"configmaps", "data.password"},
		{"widgets.example.com", "spec.keys.*.value"},
		{"*", "metadata.annotations.secret"},
	}
	for _, row := range []struct{ name, resource, doc, want string }{
		{"secret", "secrets", `{"data":{"a":"cGFzcw==","b":"eA=="},"stringData":{"c":"not base64"}}`,
			`{"data":{"a":"c2NydWJiZWQtMQ==","b":"c2NydWJiZWQtMg=="},"stringData":{"c":"scrubbed-3"}}`},
		{"the same twice", "secrets", `{"stringData":{"a":"x!","b":"x!"}}`, `{"stringData":{"a":"scrubbed-1","b":"scrubbed-1"}}`},
		{"empty", "secrets", `{"data":{"a":""}}`, `{"data":{"a":""}}`},
		{"list", "secrets", `{"items":[{"data":{"a":"x!"}}]}`, `{"items":[{"data":{"a":"scrubbed-1"}}]}`},
		{"table", "secrets", `{"rows":[{"object":{"data":{"a":"x!"}}}]}`, `{"rows":[{"object":{"data":{"a":"scrubbed-1"}}}]}`},
		{"event", "secrets", `{"type":"ADDED","object":{"data":{"a":"x!"}}}`, `{"type":"ADDED","object":{"data":{"a":"scrubbed-1"}}}`},
		{"event of a table", "secrets", `{"type":"ADDED","object":{"rows":[{"object":{"data":{"a":"x!"}}}]}}`, `{"type":"ADDED","object":{"rows":[{"object":{"data":{"a":"scrubbed-1"}}}]}}`},
		{"token request", "serviceaccounts", `{"kind":"TokenRequest","status":{"token":"x!"}}`, `{"kind":"TokenRequest","status":{"token":"scrubbed-1"}}`},
		{"token review", "tokenreviews.authentication.k8s.io", `{"spec":{"token":"x!"}}`, `{"spec":{"token":"scrubbed-1"}}`},
		{"strategic merge patch", "secrets", `{"stringData":{"a":"x!","$patch":"replace"}}`, `{"stringData":{"$patch":"scrubbed-1","a":"scrubbed-2"}}`},
		{"kubectl's last-applied-configuration", "secrets", `{"metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{}","b":"c"}}}`,
			`{"metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"scrubbed-1","b":"c"}}}`},
		{"another resource", "configmaps", `{"data":{"a":"x!","password":"y!"}}`, `{"data":{"a":"x!","password":"scrubbed-1"}}`},
		{"in a list", "widgets.example.com", `{"spec":{"keys":[{"value":"x!","name":"n"},{"value":["y!",1]}]}}`,
			`{"spec":{"keys":[{"value":"scrubbed-1","name":"n"},{"value":["scrubbed-2",1]}]}}`},
		{"any resource", "pods", `{"metadata":{"annotations":{"secret":"x!"}}}`, `{"metadata":{"annotations":{"secret":"scrubbed-1"}}}`},
		{"null", "secrets", `{"data":null}`, `{"data":null}`},
		{"not an object", "secrets", `"data"`, `"data"`},
		{"JSON patch at", "secrets", `[{"op":"add","path":"/stringData/a~1b","value":"x!"},{"op":"remove","path":"/data/a"}]`,
			`[{"op":"add","path":"/stringData/a~1b","value":"scrubbed-1"},{"op":"remove","path":"/data/a"}]`},
		{"JSON patch above", "secrets", `[{"op":"add","path":"/stringData","value":{"a":"x!"}}]`, `[{"op":"add","path":"/stringData","value":{"a":"scrubbed-1"}}]`},
		{"JSON patch of all", "secrets", `[{"op":"replace","path":"","value":{"stringData":{"a":"x!"}}}]`, `[{"op":"replace","path":"","value":{"stringData":{"a":"scrubbed-1"}}}]`},
		{"JSON patch elsewhere", "secrets", `[{"op":"add","path":"/metadata/labels/a","value":"x!"}]`, `[{"op":"add","path":"/metadata/labels/a","value":"x!"}]`},
	} {
		t.Run(row.name, func(t *testing.T) {
			var doc any
			require.NoError(t, json.Unmarshal([]byte(row.doc), &doc))
			s := newScrubber(more)
			s.scrub(row.resource, doc)
			got, err := json.Marshal(doc)
			require.NoError(t, err)
			assert.JSONEq(t, row.want, string(got))
		})
	}
}

func TestParseSecret(t *testing.T) {
	s, err := ParseSecret("configmaps:data.password")
	require.NoError(t, err)
	assert.Equal(t, Secret{"configmaps", "data.password"}, s)
	for _, wrong := range []string{"", "configmaps", ":data", "configmaps:"} {
		_, err := ParseSecret(wrong)
		assert.Error(t, err, wrong)
	}
}

// Bodies of secrets that cannot be decoded are replaced as a whole, and what looks
// like a credential is replaced everywhere.
func TestScrubBody(t *testing.T) {
	const token = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJzeXN0ZW0ifQ.c2lnbmF0dXJlMTIz"
	for _, row := range []struct {
		name, resource string
		doc, want      any
	}{
		{"text of a secret", "secrets", `{"data": {"a": "hunt`, "scrubbed-1"},
		{"text of another resource", "pods", "hunter2", "hunter2"},
		{"secret in another document", "objects",
			map[string]any{"put": []any{map[string]any{"apiVersion": "v1", "kind": "Secret", "stringData": map[string]any{"a": "x!"}}}},
			map[string]any{"put": []any{map[string]any{"apiVersion": "v1", "kind": "Secret", "stringData": map[string]any{"a": "scrubbed-1"}}}}},
		{"token", "configmaps", map[string]any{"data": map[string]any{"a": "use " + token + "."}}, map[string]any{"data": map[string]any{"a": "use scrubbed-1."}}},
		{"token in a text", "pods", "Bearer " + token, "Bearer scrubbed-1"},
		{"private key", "configmaps", map[string]any{"a": "-----BEGIN EC PRIVATE KEY-----\nabc\n-----END EC PRIVATE KEY-----\n"}, map[string]any{"a": "scrubbed-1\n"}},
		{"private key that is cut off", "pods", "-----BEGIN PRIVATE KEY-----\nabc", "scrubbed-1"},
		{"certificate", "configmaps", map[string]any{"a": "-----BEGIN CERTIFICATE-----"}, map[string]any{"a": "-----BEGIN CERTIFICATE-----"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			assert.Equal(t, row.want, newScrubber(nil).body(row.resource, row.doc))
		})
	}
}

func TestScrubParameter(t *testing.T) {
	for pair, want := range map[string]string{
		"token=hunt%21":       "token=scrubbed-1",
		"access_token=hunt!":  "access_token=scrubbed-1",
		"Password=hunt!":      "Password=scrubbed-1",
		"api-key=hunt!":       "api-key=scrubbed-1",
		"x%2Dtoken=%zz":       "x%2Dtoken=scrubbed-1",
		"token=":              "token=",
		"token":               "token",
		"continue=abc":        "continue=abc",
		"labelSelector=a%3Db": "labelSelector=a%3Db",
		"q=eyJhbGciOiJS.eyJzdWIiOiJz.c2lnbmF0dXJl": "q=scrubbed-1",
	} {
		assert.Equal(t, want, newScrubber(nil).parameter(pair), pair)
	}
}
