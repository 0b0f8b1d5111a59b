package configfile

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestDecode(t *testing.T) {
	type file struct {
		Items []struct {
			Name string   `json:"name"`
			Wait Duration `json:"wait"`
		} `json:"items"`
	}
	const head = "apiVersion: apiserver.config.k8s.io/v1\nkind: File\n"
	for _, tt := range []struct{ name, text, want string }{
		{"YAML", head + "items: [{name: a, wait: 3s}]", ""},
		{"JSON", `{"apiVersion":"apiserver.config.k8s.io/v1","kind":"File","items":[{"name":"a","wait":"3s"}]}`, ""},
		{"a flow mapping is no JSON", `{apiVersion: apiserver.config.k8s.io/v1, kind: File}`, "couldn't get version/kind; json parse error: line 1, column 2: invalid character 'a' looking for beginning of object key string"},
		{"no YAML", "[", "yaml: line 1: did not find expected node content"},
		{"no kind", "apiVersion: v1", "Object 'Kind' is missing in 'apiVersion: v1'"},
		{"another kind", "apiVersion: apiserver.config.k8s.io/v1\nkind: Other", `no kind "Other" is registered for version "apiserver.config.k8s.io/v1" in scheme "pkg/runtime/scheme.go:111"`},
		{"the kind of another file", "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration", "expected File, got *apiserver.AuthorizationConfiguration"},
		{"another version", "apiVersion: apiserver.config.k8s.io/v2\nkind: File", `no kind "File" is registered for version "apiserver.config.k8s.io/v2" in scheme "pkg/runtime/scheme.go:111"`},
		{"unknown fields", head + "foo: 1\nitems: [{bar: 2}]", `strict decoding error: unknown field "foo", unknown field "items[0].bar"`},
		{"repeated field", head + "items: []\nitems: []", "strict decoding error: yaml: unmarshal errors:\n  line 4: key \"items\" already set in map"},
		{"repeated fields in JSON", `{"apiVersion":"apiserver.config.k8s.io/v1","kind":"File","items":[{"foo":1,"foo":2},{"name":"a","name":"b"}],"items":[{"foo":1}]}`, `strict decoding error: unknown field "items[0].foo", duplicate field "items[1].name", duplicate field "items"`},
		{"version", "apiVersion: a/b/c\nkind: File", "unexpected GroupVersion string: a/b/c"},
		{"internal version", "apiVersion: apiserver.config.k8s.io/__internal\nkind: File", `no kind "File" is registered for the internal version of group "apiserver.config.k8s.io" in scheme "pkg/runtime/scheme.go:111"`},
		{"duration", head + "items: [{wait: 3}]", "expected a duration, such as \"30s\", not 3"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out file
			err := Decode([]byte(tt.text), "File", []string{"v1"}, 0, &out)
			if tt.want != "" {
				assert.ErrorContains(t, err, tt.want)
				return
			}
			assert.NoError(t, err)
			assert.Equal(t, "a", out.Items[0].Name)
			assert.Equal(t, 3*time.Second, out.Items[0].Wait.Duration)
		})
	}
}

func TestDecodeLenient(t *testing.T) {
	type file struct {
		Items []struct {
			Name string `json:"name"`
		} `json:"items"`
	}
	kinds := []Kind{{APIVersion: "example.com/v1", Kind: "File"}}
	const head = "apiVersion: example.com/v1\nkind: File\n"
	for _, tt := range []struct{ name, text, want, err string }{
		{"known fields", head + "items: [{name: a}]", "a", ""},
		{"unknown fields", head + "other: 1\nitems: [{name: a, other: 2}]", "a", ""},
		{"a name in other case", head + "items: [{Name: a}]", "", ""},
		{"another kind", "apiVersion: example.com/v1\nkind: Other", "", `no kind "Other" is registered for version "example.com/v1" in scheme "pkg/runtime/scheme.go:111"`},
		{"type", head + "items: [{name: 1}]", "", "items[0].name: expected a string, not a number"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out file
			err := DecodeLenient([]byte(tt.text), kinds, 0, &out)
			if tt.err != "" {
				assert.EqualError(t, err, tt.err)
				return
			}
			assert.NoError(t, err)
			assert.Equal(t, tt.want, out.Items[0].Name)
		})
	}
}
