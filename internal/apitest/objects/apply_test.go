package objects_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/apitest"
)

// The result of an apply that creates an object shared values with the empty object of its kind,
// which then had the defaults of the new object: later objects did not own theirs.
func TestApplyDoesNotChangeLaterObjects(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	const path = "/apis/networking.k8s.io/v1/namespaces/default/networkpolicies"
	code, answer := apitest.DoWithHeaders(t, srv, "PATCH", path+"/a?fieldManager=m", `{"apiVersion":"networking.k8s.io/v1","kind":"NetworkPolicy","metadata":{"name":"a"}}`,
		"Content-Type", "application/apply-patch+yaml")
	require.Equal(t, http.StatusCreated, code, answer)

	code, answer = apitest.Do(t, srv, "POST", path, `{"metadata":{"name":"b"},"spec":{}}`)
	require.Equal(t, http.StatusCreated, code, answer)
	fields, _ := answer["metadata"].(map[string]any)["managedFields"].([]any)
	require.Len(t, fields, 1)
	assert.Equal(t, map[string]any{"f:spec": map[string]any{"f:policyTypes": map[string]any{}}}, fields[0].(map[string]any)["fieldsV1"])
}

// TestApplyAgain applies a configuration again, after a second. kube-apiserver stores the
// empty maps and lists in the metadata of custom resources, but does not read them again.
func TestApplyAgain(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithManualClock(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)))
	_, err := srv.Store(apitest.Widgets("v1", `"size":{"type":"integer"}`))
	require.NoError(t, err)
	for _, tt := range []struct {
		name, path, metadata string
		changes              bool
	}{
		{"custom resource", apitest.WidgetsPath, `"labels":{"a":"b"}`, false},
		{"empty labels", apitest.WidgetsPath, `"labels":{}`, true},
		{"empty finalizers", apitest.WidgetsPath, `"finalizers":[]`, true},
		{"empty labels of a built-in kind", apitest.ConfigMapsPath, `"labels":{}`, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			version, kind, members := "example.com/v1", "Widget", `"spec":{"size":1}`
			if tt.path == apitest.ConfigMapsPath {
				version, kind, members = "v1", "ConfigMap", `"data":{"a":"b"}`
			}
			apply := func() string {
				code, answer := apitest.DoWithHeaders(t, srv, "PATCH", tt.path+"/a?fieldManager=m",
					fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"name":"a",%s},%s}`, version, kind, tt.metadata, members), "Content-Type", "application/apply-patch+yaml")
				require.Contains(t, []int{http.StatusOK, http.StatusCreated}, code, answer)
				require.NoError(t, srv.Clock().Advance(time.Second))
				return answer["metadata"].(map[string]any)["resourceVersion"].(string)
			}
			apply()
			before := apply()
			assert.Equal(t, tt.changes, before != apply())
		})
	}
}

// Managers apply in two versions of a kind, with empty maps that the encoding of the object omits.
// Recorded from kube-apiserver v1.36.3.
func TestApplyInVersionsWithEmptyMaps(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	for _, tt := range []struct {
		version, query, spec string
		code                 int
		message              string
	}{
		{"v1", "m0", `"maxReplicas":3,"minReplicas":1`, http.StatusCreated, ""},
		{"v2", "m3", `"maxReplicas":3`, http.StatusOK, ""},
		{"v1", "m1", `"maxReplicas":4`, http.StatusConflict, "Apply failed with 3 conflicts: conflicts with \"m0\":\n- .metadata.annotations\n- .spec.maxReplicas\nconflicts with \"m3\":\n- .spec.maxReplicas"},
		{"v1", "m1&force=true", `"maxReplicas":4`, http.StatusOK, ""},
		{"v2", "m4", `"maxReplicas":5`, http.StatusConflict, "Apply failed with 2 conflicts: conflicts with \"m1\":\n- .spec.maxReplicas\nconflicts with \"m3\":\n- .metadata.annotations"},
		{"v2", "m4&force=true", `"maxReplicas":5`, http.StatusOK, ""},
		{"v2", "m4", `"maxReplicas":5,"behavior":{"scaleDown":{"stabilizationWindowSeconds":1}}`, http.StatusConflict, `Apply failed with 1 conflict: conflict with "m1": .metadata.annotations`},
	} {
		t.Run(tt.version+" "+tt.query, func(t *testing.T) {
			code, answer := apitest.DoWithHeaders(t, srv, "PATCH", "/apis/autoscaling/"+tt.version+"/namespaces/default/horizontalpodautoscalers/a?fieldManager="+tt.query,
				fmt.Sprintf(`{"apiVersion":"autoscaling/%s","kind":"HorizontalPodAutoscaler","metadata":{"name":"a","annotations":{}},"spec":{"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"d"},%s}}`, tt.version, tt.spec),
				"Content-Type", "application/apply-patch+yaml")
			assert.Equal(t, tt.code, code, answer)
			if tt.message != "" {
				assert.Equal(t, tt.message, answer["message"])
			}
		})
	}
}

// A PodTemplate warns about its template only if that changes.
func TestPodTemplateWarnings(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	const path = "/api/v1/namespaces/default/podtemplates/a?fieldManager=m"
	warnings := func(image string) int {
		req, err := http.NewRequest("PATCH", srv.URL+path, strings.NewReader(`{"apiVersion":"v1","kind":"PodTemplate","metadata":{"name":"a"},"template":{"spec":{"nodeSelector":{"beta.kubernetes.io/os":"x"},"containers":[{"name":"c","image":"`+image+`"}]}}}`))
		require.NoError(t, err)
		req.Header.Set("Content-Type", "application/apply-patch+yaml")
		resp, err := srv.Client().Do(req)
		require.NoError(t, err)
		defer resp.Body.Close()
		return len(resp.Header.Values("Warning"))
	}
	assert.Equal(t, 1, warnings("i"))
	assert.Zero(t, warnings("i"), "nothing changes")
	assert.Equal(t, 1, warnings("j"))
}

// A write to the status of a custom resource does not conflict with managers of its spec in another
// version, since v1.35. Recorded from kube-apiserver v1.32.13 and v1.36.3.
func TestApplyStatusInAnotherVersion(t *testing.T) {
	version := func(name string, stored bool) string {
		return fmt.Sprintf(`{"name":%q,"served":true,"storage":%t,"subresources":{"status":{}},"schema":{"openAPIV3Schema":{"type":"object","properties":{
			"spec":{"type":"object","properties":{"a":{"type":"string"}}},"status":{"type":"object","properties":{"n":{"type":"string"}}}}}}}`, name, stored)
	}
	crd := `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"toys.example.com"},"spec":{"group":"example.com","scope":"Namespaced",
		"names":{"plural":"toys","kind":"Toy"},"versions":[` + version("v1", true) + `,` + version("v2", false) + `]}}`
	for _, tt := range []struct {
		release string
		code    int
	}{{"1.32", http.StatusConflict}, {"1.36", http.StatusOK}} {
		t.Run(tt.release, func(t *testing.T) {
			srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithRelease(tt.release), fakeapi.WithObjects(crd))
			apply := func(version, path, members string) (int, fakeapi.Object) {
				return apitest.DoWithHeaders(t, srv, "PATCH", "/apis/example.com/"+version+"/namespaces/default/toys/x"+path,
					`{"apiVersion":"example.com/`+version+`","kind":"Toy","metadata":{"name":"x"},`+members+`}`, "Content-Type", "application/apply-patch+yaml")
			}
			code, answer := apply("v1", "?fieldManager=a", `"spec":{"a":"1"}`)
			require.Equal(t, http.StatusCreated, code, answer)
			code, answer = apply("v2", "/status?fieldManager=b", `"spec":{"a":"2"},"status":{"n":"1"}`)
			assert.Equal(t, tt.code, code, answer)
		})
	}
}

// A DaemonSet whose annotation of the template generation is no number cannot be converted to the internal
// version, which has a field for it. Recorded from kube-apiserver v1.37.2.
func TestTemplateGenerationThatIsNoNumber(t *testing.T) {
	const (
		path    = "/apis/apps/v1/namespaces/default/daemonsets"
		invalid = `strconv.ParseInt: parsing "x": invalid syntax`
	)
	daemonSet := func(generation string) string {
		return `{"apiVersion":"apps/v1","kind":"DaemonSet","metadata":{"name":"a","annotations":{"deprecated.daemonset.template.generation":"` + generation + `"}},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`
	}
	merge := `{"metadata":{"annotations":{"deprecated.daemonset.template.generation":"x"}}}`
	for _, tt := range []struct {
		name, method, path, mediaType, body string
		code                                int
		message                             string
	}{
		{"POST", "POST", path, "application/json", daemonSet("x"), 400, `DaemonSet in version "v1" cannot be handled as a DaemonSet: ` + invalid},
		{"PUT", "PUT", path + "/a", "application/json", daemonSet("x"), 400, `DaemonSet in version "v1" cannot be handled as a DaemonSet: ` + invalid},
		{"merge patch", "PATCH", path + "/a", "application/merge-patch+json", merge, 422, `: ` + invalid},
		{"JSON patch", "PATCH", path + "/a", "application/json-patch+json", `[{"op":"replace","path":"/metadata/annotations/deprecated.daemonset.template.generation","value":"x"}]`, 422, `: ` + invalid},
		{"strategic merge patch", "PATCH", path + "/a", "application/strategic-merge-patch+json", merge, 500, invalid},
		{"apply", "PATCH", path + "/a?fieldManager=m&force=true", "application/apply-patch+yaml", daemonSet("x"), 500, `failed to convert to unversioned (/a; apps/v1, Kind=DaemonSet): ` + invalid},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := fakeapi.Start(t, fakeapi.WithInMemory())
			if tt.method != "POST" {
				code, answer := apitest.Do(t, srv, "POST", path, daemonSet("3"))
				assert.Equal(t, 201, code, answer)
			}
			code, answer := apitest.DoWithHeaders(t, srv, tt.method, tt.path, tt.body, "Content-Type", tt.mediaType)
			assert.Equal(t, tt.code, code)
			message, _ := answer["message"].(string)
			assert.True(t, strings.HasSuffix(message, tt.message), message)
		})
	}
}
