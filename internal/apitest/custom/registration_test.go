package custom_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/apitest"
)

// Each group version that a definition serves has an APIService, which users can take over.
func TestCustomGroupVersionsAreRegistered(t *testing.T) {
	const (
		definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
		apiServices = "/apis/apiregistration.k8s.io/v1/apiservices"
		label       = "kube-aggregator.kubernetes.io/automanaged"
	)
	define := func(plural, kind string, served bool) string {
		const version = `{"name":%q,"served":%t,"storage":%t,"schema":{"openAPIV3Schema":{"type":"object"}}}`
		return fmt.Sprintf(`{"metadata":{"name":"%s.example.com"},"spec":{"group":"example.com","scope":"Cluster","names":{"plural":%q,"kind":%q},"versions":[`+version+`,`+version+`]}}`,
			plural, plural, kind, "v1", true, true, "v2", served, false)
	}
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	for _, tt := range []struct {
		name, method, path, body string
		want                     string // the APIServices: version, group priority, version priority
	}{
		{"defined", "POST", definitions, define("as", "A", true), "v1:1000:100 v2:1000:100"},
		{"of two definitions, one without its names", "POST", definitions, define("bs", "A", true), "v1:1000:100 v2:1000:100"},
		{"changed", "PATCH", apiServices + "/v1.example.com", `{"spec":{"versionPriority":7}}`, "v1:1000:100 v2:1000:100"},
		{"deleted", "DELETE", apiServices + "/v2.example.com", "", "v1:1000:100 v2:1000:100"},
		{"dry run", "DELETE", apiServices + "/v2.example.com?dryRun=All", "", "v1:1000:100 v2:1000:100"},
		{"one of two definitions deleted", "DELETE", definitions + "/bs.example.com", "", "v1:1000:100 v2:1000:100"},
		{"not served any more", "PATCH", definitions + "/as.example.com", define("as", "A", false), "v1:1000:100"},
		{"taken over", "PATCH", apiServices + "/v1.example.com", `{"metadata":{"labels":{"` + label + `":null}},"spec":{"versionPriority":8}}`, "v1:1000:8"},
		{"definition deleted", "DELETE", definitions + "/as.example.com", "", "v1:1000:8"},
		{"user's own deleted", "DELETE", apiServices + "/v1.example.com", "", ""},
		{"user's own with the label", "POST", apiServices,
			`{"metadata":{"name":"v3.example.com","labels":{"` + label + `":"true"}},"spec":{"group":"example.com","version":"v3","groupPriorityMinimum":1,"versionPriority":1}}`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			code, answer := apitest.Do(t, srv, tt.method, tt.path, tt.body)
			require.Less(t, code, 300, answer)
			_, list := apitest.Do(t, srv, "GET", apiServices, "")
			var have []string
			for _, item := range list["items"].([]any) {
				spec := item.(map[string]any)["spec"].(map[string]any)
				if spec["group"] == "example.com" {
					have = append(have, fmt.Sprintf("%v:%v:%v", spec["version"], spec["groupPriorityMinimum"], spec["versionPriority"]))
				}
			}
			assert.Equal(t, tt.want, strings.Join(have, " "))
		})
	}
}
