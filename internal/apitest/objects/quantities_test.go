package objects_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/apiserver"
	"github.com/kubefake/kubefake/internal/apitest"
)

// TestEqualQuantities replaces objects by bodies with other texts of the same quantities. kube-apiserver
// stores the texts and compares the values. Recorded from kube-apiserver v1.37.2.
func TestEqualQuantities(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithAPIServer(apiserver.Config{RuntimeConfig: map[string]bool{"resource.k8s.io/v1beta1": true}}))
	const (
		container = `{"name":"c","image":"%[1]s","resources":{"requests":{"memory":"%[2]s"}}}`
		template  = `"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[` + container + `]}}`
	)
	for i, tt := range []struct {
		name, path, sub, body string
		text                  string // of the quantity 1e9 in the second body
		code, generation      int
		message               string
	}{
		{"pod", "/api/v1/namespaces/default/pods", "", `{"containers":[` + container + `]}`, "1e9", 200, 1, ""},
		{"resized pod", "/api/v1/namespaces/default/pods", "/resize", `{"containers":[` + container + `]}`, "1e9", 200, 1, ""},
		{"resized pod with another quantity", "/api/v1/namespaces/default/pods", "/resize", `{"containers":[` + container + `]}`, "2e9", 200, 2, ""},
		{"deployment", "/apis/apps/v1/namespaces/default/deployments", "", `{` + template + `}`, "1e9", 200, 1, ""},
		{"deployment with another quantity", "/apis/apps/v1/namespaces/default/deployments", "", `{` + template + `}`, "2e9", 200, 2, ""},
		{"daemonset", "/apis/apps/v1/namespaces/default/daemonsets", "", `{` + template + `}`, "1e9", 200, 1, ""},
		{"daemonset with another quantity", "/apis/apps/v1/namespaces/default/daemonsets", "", `{` + template + `}`, "2e9", 200, 2, ""},
		{"claim template", "/apis/apps/v1/namespaces/default/statefulsets", "",
			`{"serviceName":"s","volumeClaimTemplates":[{"metadata":{"name":"v"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"%[2]s"}}}}],` + template + `}`, "1e9", 200, 1, ""},
		{"claim", "/api/v1/namespaces/default/persistentvolumeclaims", "", `{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"%[2]s"}}}`, "1e9", 200, 0, ""},
		{"resource claim in an older version", "/apis/resource.k8s.io/v1beta1/namespaces/default/resourceclaims", "",
			`{"devices":{"requests":[{"name":"r","deviceClassName":"c","capacity":{"requests":{"m":"%[2]s"}}}]}}`, "1e9", 200, 0, ""},
		{"pod with another change", "/api/v1/namespaces/default/pods", "", `{"hostname":"%[1]s","containers":[` + container + `]}`, "1e9", 422, 0, "pod updates may not change fields other than"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			name := fmt.Sprintf("o%d", i)
			body := func(first, text string) string {
				return fmt.Sprintf(`{"metadata":{"name":"`+name+`"},"spec":`+tt.body+`}`, first, text)
			}
			code, obj := apitest.Do(t, srv, "POST", tt.path, body("i", "1G"))
			require.Equal(t, 201, code, obj)
			first := "i"
			if tt.code != 200 {
				first = "j"
			}
			code, obj = apitest.Do(t, srv, "PUT", tt.path+"/"+name+tt.sub, body(first, tt.text))
			require.Equal(t, tt.code, code, obj)
			if tt.code != 200 {
				assert.Contains(t, obj["message"], tt.message)
				return
			}
			assert.Contains(t, fmt.Sprint(obj["spec"]), tt.text)
			meta := obj["metadata"].(map[string]any)
			generation, _ := meta["generation"].(float64)
			assert.Equal(t, tt.generation, int(generation))
			annotations, _ := meta["annotations"].(map[string]any)
			if text, ok := annotations["deprecated.daemonset.template.generation"]; ok {
				assert.Equal(t, fmt.Sprint(tt.generation), text)
			}
		})
	}
}
