package scrub

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	jwt        = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJzeXN0ZW0ifQ.c2lnbmF0dXJlMTIz"
	privateKey = "-----BEGIN EC PRIVATE KEY-----\nabc\n-----END EC PRIVATE KEY-----"
	kubeconfig = "apiVersion: v1\nkind: Config\nclusters:\n- name: c\nusers:\n- name: admin\n  user:\n    token: hunt.er\n    client-key-data: aHVudGVy\n"
)

func TestRules(t *testing.T) {
	more := []Rule{
		{"configmaps", "data.password"},
		{"widgets.example.com", "spec.keys.*.value"},
		{"*", "metadata.annotations.secret"},
	}
	for _, row := range []struct{ name, resource, doc, want string }{
		{"secret", "secrets", `{"data":{"a":"cGFzcw==","b":"eA=="},"stringData":{"c":"not base64"}}`,
			`{"data":{"a":"c2NydWJiZWQtMQ==","b":"c2NydWJiZWQtMg=="},"stringData":{"c":"scrubbed-3"}}`},
		{"the same twice", "secrets", `{"stringData":{"a":"x!","b":"x!"}}`, `{"stringData":{"a":"scrubbed-1","b":"scrubbed-1"}}`},
		{"the same, encoded and not", "secrets", `{"stringData":{"a":"x!","b":"pass"},"data":{"a":"eCE=","b":"cGFzcw=="}}`,
			`{"data":{"a":"c2NydWJiZWQtMQ==","b":"c2NydWJiZWQtMg=="},"stringData":{"a":"scrubbed-1","b":"scrubbed-2"}}`},
		{"JSON", "secrets", `{"stringData":{"a":"{\"auths\":{}}"},"data":{"a":"eyJhdXRocyI6e319"}}`,
			`{"stringData":{"a":"{\"scrubbed-1\":{}}"},"data":{"a":"eyJzY3J1YmJlZC0xIjp7fX0="}}`},
		{"empty", "secrets", `{"data":{"a":""}}`, `{"data":{"a":""}}`},
		{"list", "secrets", `{"items":[{"data":{"a":"x!"}}]}`, `{"items":[{"data":{"a":"scrubbed-1"}}]}`},
		{"table", "secrets", `{"rows":[{"object":{"data":{"a":"x!"}}}]}`, `{"rows":[{"object":{"data":{"a":"scrubbed-1"}}}]}`},
		{"event", "secrets", `{"type":"ADDED","object":{"data":{"a":"x!"}}}`, `{"type":"ADDED","object":{"data":{"a":"scrubbed-1"}}}`},
		{"event of a table", "secrets", `{"type":"ADDED","object":{"rows":[{"object":{"data":{"a":"x!"}}}]}}`, `{"type":"ADDED","object":{"rows":[{"object":{"data":{"a":"scrubbed-1"}}}]}}`},
		{"token request", "serviceaccounts", `{"kind":"TokenRequest","status":{"token":"x!"}}`, `{"kind":"TokenRequest","status":{"token":"scrubbed-1"}}`},
		{"token review", "tokenreviews.authentication.k8s.io", `{"spec":{"token":"x!"}}`, `{"spec":{"token":"scrubbed-1"}}`},
		{"strategic merge patch", "secrets", `{"stringData":{"a":"x!","$patch":"replace"}}`, `{"stringData":{"$patch":"replace","a":"scrubbed-1"}}`},
		{"kubectl's last-applied-configuration", "secrets", `{"metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"no JSON","b":"c"}}}`,
			`{"metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"scrubbed-1","b":"c"}}}`},
		{"another resource", "configmaps", `{"data":{"a":"x!","password":"y!"}}`, `{"data":{"a":"x!","password":"scrubbed-1"}}`},
		{"in a list of an object", "widgets.example.com", `{"spec":{"keys":[{"value":"x!","name":"n"},{"value":["y!",1]}]}}`,
			`{"spec":{"keys":[{"value":"scrubbed-1","name":"n"},{"value":["scrubbed-2",1]}]}}`},
		{"any resource", "pods", `{"metadata":{"annotations":{"secret":"x!"}}}`, `{"metadata":{"annotations":{"secret":"scrubbed-1"}}}`},
		{"null", "secrets", `{"data":null}`, `{"data":null}`},
		{"JSON patch at", "secrets", `[{"op":"add","path":"/stringData/a~1b","value":"x!"},{"op":"remove","path":"/data/a"}]`,
			`[{"op":"add","path":"/stringData/a~1b","value":"scrubbed-1"},{"op":"remove","path":"/data/a"}]`},
		{"JSON patch above", "secrets", `[{"op":"add","path":"/stringData","value":{"a":"x!"}}]`, `[{"op":"add","path":"/stringData","value":{"a":"scrubbed-1"}}]`},
		{"JSON patch of all", "secrets", `[{"op":"replace","path":"","value":{"stringData":{"a":"x!"}}}]`, `[{"op":"replace","path":"","value":{"stringData":{"a":"scrubbed-1"}}}]`},
		{"JSON patch elsewhere", "secrets", `[{"op":"add","path":"/metadata/labels/a","value":"x!"}]`, `[{"op":"add","path":"/metadata/labels/a","value":"x!"}]`},
		{"secret in another document", "", `{"put":[{"apiVersion":"v1","kind":"Secret","stringData":{"a":"x!"}}]}`, `{"put":[{"apiVersion":"v1","kind":"Secret","stringData":{"a":"scrubbed-1"}}]}`},
		{"list of secrets in another document", "", `{"a":{"apiVersion":"v1","kind":"SecretList","items":[{"stringData":{"a":"x!"}}]}}`,
			`{"a":{"apiVersion":"v1","kind":"SecretList","items":[{"stringData":{"a":"scrubbed-1"}}]}}`},
		{"kubeconfig", "configmaps", `{"a":{"apiVersion":"v1","kind":"Config","users":[{"name":"n","user":{"token":"x!","password":"y!","username":"z!","auth-provider":{"config":{"id-token":"i!"}}}}]}}`,
			`{"a":{"apiVersion":"v1","kind":"Config","users":[{"name":"n","user":{"token":"scrubbed-1","password":"scrubbed-2","username":"z!","auth-provider":{"config":{"id-token":"scrubbed-3"}}}}]}}`},
		{"answer of the control endpoint", "", `{"kubeconfig":"users:\n- user:\n    token: abc.d\nclusters: []\n","token":"abc.d"}`,
			`{"kubeconfig":"users:\n- user:\n    token: scrubbed-1\nclusters: []\n","token":"scrubbed-1"}`},
		{"texts of values and names", "configmaps", `{"data":{"a":"https://u:p!@h/","` + jwt + `":"b"}}`, `{"data":{"a":"https://u:scrubbed-2@h/","scrubbed-1":"b"}}`},
		{"what has been scrubbed", "secrets", `{"data":{"a":"c2NydWJiZWQtMQ==","b":"eyJzY3J1YmJlZC0xIjp7fX0="},"stringData":{"a":"scrubbed-7"}}`,
			`{"data":{"a":"c2NydWJiZWQtMQ==","b":"eyJzY3J1YmJlZC0xIjp7fX0="},"stringData":{"a":"scrubbed-7"}}`},
	} {
		t.Run(row.name, func(t *testing.T) {
			var doc any
			require.NoError(t, json.Unmarshal([]byte(row.doc), &doc))
			got, err := json.Marshal(ForFiles(more...).Body(row.resource, doc))
			require.NoError(t, err)
			want := row.want
			if strings.Contains(row.name, "texts of") { // numbers depend on the order
				want = strings.NewReplacer("scrubbed-1", "scrubbed-2", "scrubbed-2", "scrubbed-1").Replace(want)
			}
			assert.JSONEq(t, want, string(got))
		})
	}
}

func TestText(t *testing.T) {
	for _, row := range []struct{ name, text, want string }{
		{"nothing", "pods \"a\" not found", "pods \"a\" not found"},
		{"JSON Web Token", "use " + jwt + ".", "use scrubbed-1."},
		{"encrypted token", "eyJhbGciOiJkaXIifQ..aXYxMjM0NQ.Y2lwaGVy.dGFn", "scrubbed-1"},
		{"continue token", "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MX0", "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MX0"},
		{"private key", privateKey + "\n", "scrubbed-1\n"},
		{"private key that is cut off", "-----BEGIN PRIVATE KEY-----\nabc", "scrubbed-1"},
		{"certificate", "-----BEGIN CERTIFICATE-----\nabc", "-----BEGIN CERTIFICATE-----\nabc"},
		{"header with a token", "Authorization: Bearer hunter.2", "Authorization: Bearer scrubbed-1"},
		{"header with a password", `{"authorization": "Basic aHVudGVyOng="}`, `{"authorization": "Basic scrubbed-1"}`},
		{"bearer token", "sent Bearer 7d0ad9e14ab04c1f to a", "sent Bearer scrubbed-1 to a"},
		{"words", "basic authentication and bearer authentication", "basic authentication and bearer authentication"},
		{"cookie", "Cookie: session=abc; x=y", "Cookie: scrubbed-1"},
		{"password in a URL", "dial https://bob:hunter2@host:8443/x?y", "dial https://bob:scrubbed-1@host:8443/x?y"},
		{"password in a URL of a database", "postgres://bob:hunter2@db/shop", "postgres://bob:scrubbed-1@db/shop"},
		{"token in a URL", "https://ghp_hunter2@github.com/a/b", "https://scrubbed-1@github.com/a/b"},
		{"URL without a password", "https://host:8443/a@b", "https://host:8443/a@b"},
		{"user without a password", "ssh://git@host/a", "ssh://git@host/a"},
		{"query", `Get "/x?a=b&access_token=hunt%21&c=d": EOF`, `Get "/x?a=b&access_token=scrubbed-1&c=d": EOF`},
		{"query alone", `Invalid value: "token=hunter2": no`, `Invalid value: "token=scrubbed-1": no`},
		{"file", "--token-auth-file=/tokens.csv", "--token-auth-file=/tokens.csv"},
		{"field", "spec.token: Required value", "spec.token: Required value"},
		{"kubeconfig", kubeconfig, strings.NewReplacer("hunt.er", "scrubbed-1", "aHVudGVy", "c2NydWJiZWQtMg==").Replace(kubeconfig)},
		{"kubeconfig as JSON", `{"clusters":[],"users":[{"user":{"token":"a.b","password":"c.d"}}]}`, `{"clusters":[],"users":[{"user":{"token":"scrubbed-1","password":"scrubbed-2"}}]}`},
		{"kubeconfig in JSON", `{"data":{"c":"clusters: []\nusers:\n- user: {token: a.b}\n"}}`, `{"data":{"c":"clusters: []\nusers:\n- user: {token: scrubbed-1}\n"}}`},
		{"no kubeconfig", "token: a.b", "token: a.b"},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := ForFiles()
			got := s.Text(row.text)
			assert.Equal(t, row.want, got)
			assert.Equal(t, got, s.Text(got), "what is scrubbed stays as it is")
		})
	}
}

func TestParameter(t *testing.T) {
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
		assert.Equal(t, want, ForFiles().Parameter(pair), pair)
	}
}

func TestURI(t *testing.T) {
	for uri, want := range map[string]string{
		"/api/v1/pods":                              "/api/v1/pods",
		"/api/v1/pods?token=a!&limit=5&x=" + jwt:    "/api/v1/pods?token=scrubbed-1&limit=5&x=scrubbed-2",
		"http://u:p!@h/x?token=a!":                  "http://u:scrubbed-1@h/x?token=scrubbed-2",
		"/api/v1/namespaces/a/services/b/proxy/?k=": "/api/v1/namespaces/a/services/b/proxy/?k=",
	} {
		assert.Equal(t, want, ForFiles().URI(uri))
	}
}

// A body that cannot be decoded may have a secret anywhere.
func TestRaw(t *testing.T) {
	s := ForFiles()
	assert.Equal(t, "scrubbed-1", s.Raw("secrets", `{"data": {"a": "hunt`))
	assert.Equal(t, "hunter2", s.Raw("pods", "hunter2"))
	assert.Equal(t, "Bearer scrubbed-2", s.Body("pods", "Bearer "+jwt))
}

// A reader sees which values are equal, and no encoding.
func TestForReaders(t *testing.T) {
	s := ForReaders()
	doc := map[string]any{"data": map[string]any{"a": "eCE=", "b": "eyJhdXRocyI6e319"}, "stringData": map[string]any{"a": "x!"}}
	assert.Equal(t, map[string]any{"data": map[string]any{"a": "scrubbed-1", "b": "scrubbed-2"}, "stringData": map[string]any{"a": "scrubbed-1"}}, s.Body("secrets", doc))
}

// A nil Scrubber replaces nothing.
func TestNil(t *testing.T) {
	var s *Scrubber
	assert.Equal(t, jwt, s.Text(jwt))
	assert.Equal(t, "/?token=a", s.URI("/?token=a"))
	assert.Equal(t, "token=a", s.Parameter("token=a"))
	assert.Equal(t, jwt, s.Raw("secrets", jwt))
	doc := map[string]any{"stringData": map[string]any{"a": "b"}}
	assert.Equal(t, doc, s.Body("secrets", doc))
	assert.False(t, s.HasRules("secrets"))
}

// A Scrubber remembers a limited number of values, and numbers none twice.
func TestManyValues(t *testing.T) {
	s := ForFiles()
	for i := range maxKnown + 10 {
		s.placeholder(fmt.Sprint("secret ", i))
	}
	assert.Len(t, s.known, maxKnown)
	assert.Equal(t, "scrubbed-100011", s.placeholder("another secret"))
}

func TestContains(t *testing.T) {
	for text, want := range map[string]bool{"scrubbed-1": true, "a scrubbed-12 b": true, "c2NydWJiZWQtMQ==": true, "eyJzY3J1YmJlZC0xIjp7fX0=": true, `{"scrubbed-1":{}}`: true, "": false, "scrubbed": false, "pods": false} {
		assert.Equal(t, want, Contains(text), text)
	}
}

func FuzzText(f *testing.F) {
	f.Add("https://a:b@c?token=d " + jwt + privateKey)
	f.Add(kubeconfig)
	f.Fuzz(func(t *testing.T, text string) {
		s := ForFiles()
		once := s.Text(text)
		assert.Equal(t, once, s.Text(once))
	})
}
