package story

import (
	"encoding/json"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/route"
)

func TestMergePatch(t *testing.T) {
	for _, tt := range []struct{ name, old, new, want string }{
		{"equal", `{"a":1}`, `{"a":1}`, `{}`},
		{"added", `{}`, `{"a":{"b":1}}`, `{"a":{"b":1}}`},
		{"changed below", `{"a":{"b":1,"c":1}}`, `{"a":{"b":2,"c":1}}`, `{"a":{"b":2}}`},
		{"removed", `{"a":{"b":1,"c":1}}`, `{"a":{"c":1}}`, `{"a":{"b":null}}`},
		{"list", `{"a":[1,2]}`, `{"a":[1]}`, `{"a":[1]}`},
		{"another type", `{"a":{"b":1}}`, `{"a":[]}`, `{"a":[]}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := json.Marshal(mergePatch(decode([]byte(tt.old)), decode([]byte(tt.new))))
			require.NoError(t, err)
			assert.JSONEq(t, tt.want, string(got))
		})
	}
}

func TestInVersion(t *testing.T) {
	for _, tt := range []struct{ path, apiVersion, want string }{
		{"/api/v1/namespaces/a/pods/b", "v1", "/api/v1/namespaces/a/pods/b"},
		{"/apis/events.k8s.io/v1/namespaces/a/events", "v1", "/api/v1/namespaces/a/events"},
		{"/apis/autoscaling/v1/namespaces/a/horizontalpodautoscalers/b/status", "autoscaling/v2", "/apis/autoscaling/v2/namespaces/a/horizontalpodautoscalers/b/status"},
	} {
		rt := route.Parse("PUT", &url.URL{Path: tt.path})
		assert.Equal(t, tt.want, inVersion(tt.path, &rt, tt.apiVersion))
	}
}
