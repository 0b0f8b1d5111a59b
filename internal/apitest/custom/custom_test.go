package custom_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/apitest"
)

func TestCustomResource(t *testing.T) {
	srv := fakeapi.Start(t)
	assert.Equal(t, 404, apitest.Code(t, srv, "GET", apitest.WidgetsPath, ""))
	require.Equal(t, 201, apitest.Code(t, srv, "POST", apitest.DefinitionsPath, apitest.Widgets("v1", `"size":{"type":"integer"}`)))

	c, obj := apitest.Do(t, srv, "POST", apitest.WidgetsPath, apitest.Widget)
	require.Equal(t, 201, c, "%v", obj)
	assert.Equal(t, map[string]any{"size": 1.0}, obj["spec"], "pruned")
	c, obj = apitest.Do(t, srv, "PATCH", apitest.WidgetsPath+"/w", `{"spec":{"size":"big"}}`)
	assert.Equal(t, 422, c, "%v", obj)

	all, err := srv.List("widgets", "")
	require.NoError(t, err)
	assert.Len(t, all, 1, "List reads custom resources")

	require.Equal(t, 200, apitest.Code(t, srv, "DELETE", apitest.DefinitionsPath+"/widgets.example.com", ""))
	assert.Equal(t, 404, apitest.Code(t, srv, "GET", apitest.DefinitionsPath+"/widgets.example.com", ""))
	assert.Equal(t, 404, apitest.Code(t, srv, "GET", apitest.WidgetsPath, ""))
	require.Equal(t, 201, apitest.Code(t, srv, "POST", apitest.DefinitionsPath, apitest.Widgets("v1", "")))
	c, obj = apitest.Do(t, srv, "GET", apitest.WidgetsPath, "")
	assert.Equal(t, 200, c)
	assert.Empty(t, obj["items"], "instances are deleted with the definition")
}

func TestCustomResourceStatus(t *testing.T) {
	srv := fakeapi.Start(t)
	_, created := apitest.Do(t, srv, "POST", apitest.DefinitionsPath, apitest.Widgets("v1", ""))
	assert.Nil(t, created["status"].(map[string]any)["conditions"], "the response has the status at creation")
	_, obj := apitest.Do(t, srv, "GET", apitest.DefinitionsPath+"/widgets.example.com", "")
	status := obj["status"].(map[string]any)
	assert.Equal(t, map[string]any{"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList", "shortNames": []any{"wd"}}, status["acceptedNames"])
	assert.Equal(t, []any{"v1"}, status["storedVersions"])
	var conditions []string
	for _, c := range status["conditions"].([]any) {
		c := c.(map[string]any)
		conditions = append(conditions, fmt.Sprint(c["type"], " ", c["status"], " ", c["reason"], ": ", c["message"]))
	}
	assert.Equal(t, []string{
		"NamesAccepted True NoConflicts: no conflicts found",
		"Established True InitialNamesAccepted: the initial names have been accepted",
	}, conditions)
}

// kube-apiserver sets defaults, and drops nulls that are not allowed, when it reads a custom
// resource from etcd: a write answers with them, and the next write stores them. Recorded from
// kube-apiserver v1.36.3.
func TestCustomResourceReadBack(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithObjects(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.example.com"},"spec":{
		"group":"example.com","scope":"Namespaced","names":{"plural":"widgets","kind":"Widget"},"versions":[{"name":"v1","served":true,"storage":true,"subresources":{"status":{}},
		"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"any":{"x-kubernetes-preserve-unknown-fields":true}}},
			"status":{"type":"object","default":{"observedGeneration":-1},"properties":{"observedGeneration":{"type":"integer"},"note":{"type":"string"}}}}}}}]}}`))
	const apply = "application/apply-patch+yaml"
	body := func(name, members string) string {
		return fmt.Sprintf(`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":%q}%s}`, name, members)
	}
	initial := map[string]any{"observedGeneration": -1.0}
	version := ""
	for _, tt := range []struct {
		name, method, path, media, body string
		member                          string
		want                            any
		same                            bool // the resourceVersion is that of the row before
	}{
		{"default in a dry run", "POST", "?dryRun=All", "application/json", body("a", ""), "status", initial, true},
		{"default of a new object", "POST", "", "application/json", body("a", ""), "status", initial, false},
		{"default is read", "GET", "/a", "", "", "status", initial, true},
		{"default is stored by the next write", "PATCH", "/a", "application/merge-patch+json", `{}`, "status", initial, false},
		{"status is reset", "POST", "", "application/json", body("b", `,"status":{"observedGeneration":7}`), "status", initial, false},
		{"default is merged with a patch", "PATCH", "/b/status", "application/merge-patch+json", `{"status":{"note":"n"}}`, "status", map[string]any{"observedGeneration": -1.0, "note": "n"}, false},
		{"default of an applied object", "PATCH", "/c?fieldManager=m", apply, body("c", ""), "status", initial, false},
		{"null of no type", "PATCH", "/d?fieldManager=m", apply, body("d", `,"spec":{"any":null}`), "spec", map[string]any{}, false},
		{"null is dropped", "GET", "/d", "", "", "spec", map[string]any{}, true},
		{"null below a member of no type", "PATCH", "/e?fieldManager=m", apply, body("e", `,"spec":{"any":{"a":null}}`), "spec", map[string]any{"any": map[string]any{"a": nil}}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			code, obj := apitest.DoWithHeaders(t, srv, tt.method, apitest.WidgetsPath+tt.path, tt.body, "Content-Type", tt.media)
			require.Contains(t, []int{200, 201}, code, obj)
			assert.Equal(t, tt.want, obj[tt.member])
			is, _ := obj["metadata"].(map[string]any)["resourceVersion"].(string)
			assert.Equal(t, tt.same, version == is)
			version = is
		})
	}
}

// kube-apiserver prunes the result of an apply when it stores it: unknown fields of an object without
// properties raise the generation and break rules before. Recorded from kube-apiserver v1.37.2.
func TestApplyOfUnknownFields(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithObjects(apitest.Widgets("v1",
		`"open":{"type":"object"},"fixed":{"type":"object","x-kubernetes-validations":[{"rule":"self == oldSelf"}]}`)))
	apply := func(query, members string) (int, fakeapi.Object) {
		return apitest.DoWithHeaders(t, srv, "PATCH", apitest.WidgetsPath+"/w"+query,
			`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w"},`+members+`}`, "Content-Type", "application/apply-patch+yaml")
	}
	for _, tt := range []struct {
		name, query, members string
		generation           float64
	}{
		{"new object", "?fieldManager=m", `"spec":{"open":{"x":1}}`, 1},
		{"same again", "?fieldManager=m", `"spec":{"open":{"x":1}}`, 2},
		{"none", "?fieldManager=m", `"spec":{"open":{}}`, 2},
		{"dry run", "?fieldManager=m&dryRun=All", `"spec":{"open":{"x":1}}`, 3},
		{"status", "/status?fieldManager=m", `"status":{"x":1}`, 2},
		{"fixed by a rule", "?fieldManager=m", `"spec":{"open":{},"fixed":{}}`, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			code, obj := apply(tt.query, tt.members)
			require.Contains(t, []int{200, 201}, code, obj)
			assert.Equal(t, tt.generation, obj["metadata"].(map[string]any)["generation"])
			assert.Equal(t, map[string]any{}, obj["spec"].(map[string]any)["open"])
		})
	}
	code, obj := apply("?fieldManager=m", `"spec":{"open":{},"fixed":{"x":1}}`)
	assert.Equal(t, 422, code)
	assert.Contains(t, obj["message"], "spec.fixed: Invalid value: failed rule: self == oldSelf")
}

// Objects get the defaults of the storage version, whichever version they were
// written in.
func TestCustomResourceStorageDefaults(t *testing.T) {
	srv := fakeapi.Start(t)
	version := func(name, size string) string {
		return fmt.Sprintf(`{"name":%q,"served":true,"storage":%t,"schema":{"openAPIV3Schema":{"type":"object","properties":{"size":{"type":"integer"%s}}}}}`, name, size != "", size)
	}
	definition := `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.example.com"},"spec":{
		"group":"example.com","scope":"Namespaced","names":{"plural":"widgets","kind":"Widget"},"versions":[` + version("v1", "") + "," + version("v2", `,"default":7`) + `]}}`
	require.Equal(t, 201, apitest.Code(t, srv, "POST", apitest.DefinitionsPath, definition))
	require.Equal(t, 201, apitest.Code(t, srv, "POST", apitest.WidgetsPath, `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w"}}`))
	for _, version := range []string{"v1", "v2"} {
		_, obj := apitest.Do(t, srv, "GET", strings.Replace(apitest.WidgetsPath, "v1", version, 1)+"/w", "")
		assert.Equal(t, 7.0, obj["size"], version)
	}
}

// kube-apiserver stores an object that it converts without the defaults of the storage version, and a
// new status without its default. They are those of the definition when the object is read.
func TestCustomResourceDefaultsChange(t *testing.T) {
	const none = "null"
	definition := func(size, status string) string {
		version := func(name, size string) string {
			return `{"name":"` + name + `","served":true,"storage":` + fmt.Sprint(name == "v1") + `,"subresources":{"status":{}},"schema":{"openAPIV3Schema":{"type":"object","properties":{
				"size":{"type":"integer","default":` + size + `},"status":{"type":"object","properties":{"n":{"type":"integer"}},"default":` + status + `}}}}}`
		}
		text := `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.example.com"},"spec":{
			"group":"example.com","scope":"Namespaced","names":{"plural":"widgets","kind":"Widget"},"versions":[` + version("v1", size) + "," + version("v2", none) + `]}}`
		return strings.ReplaceAll(text, `,"default":null`, "")
	}
	for _, tt := range []struct {
		name, version          string // in which the object is created
		from, to               [2]string
		before, after          any // size
		statusBefore, statusIs any
		same                   bool // an empty patch in the storage version stores nothing
	}{
		{"removed", "v2", [2]string{"7", none}, [2]string{none, none}, 7.0, nil, nil, nil, true},
		{"another", "v2", [2]string{"7", none}, [2]string{"8", none}, 7.0, 8.0, nil, nil, false},
		{"added", "v2", [2]string{none, none}, [2]string{"8", none}, nil, 8.0, nil, nil, false},
		{"added after a write in the storage version", "v1", [2]string{none, none}, [2]string{"8", none}, nil, 8.0, nil, nil, false},
		{"stored by a write in the storage version", "v1", [2]string{"7", none}, [2]string{none, none}, 7.0, 7.0, nil, nil, true},
		{"status removed", "v1", [2]string{none, `{"n":1}`}, [2]string{none, none}, nil, nil, map[string]any{"n": 1.0}, nil, true},
		{"another status", "v1", [2]string{none, `{"n":1}`}, [2]string{none, `{"n":2}`}, nil, nil, map[string]any{"n": 1.0}, map[string]any{"n": 2.0}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithObjects(definition(tt.from[0], tt.from[1])))
			code, obj := apitest.Do(t, srv, "POST", strings.Replace(apitest.WidgetsPath, "v1", tt.version, 1), `{"apiVersion":"example.com/`+tt.version+`","kind":"Widget","metadata":{"name":"w"}}`)
			require.Equal(t, 201, code, obj)
			_, obj = apitest.Do(t, srv, "GET", apitest.WidgetsPath+"/w", "")
			assert.Equal(t, tt.before, obj["size"], "before")
			assert.Equal(t, tt.statusBefore, obj["status"], "before")

			var state bytes.Buffer
			require.NoError(t, srv.WriteState(&state))
			again := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithState(&state))
			for which, srv := range map[string]*fakeapi.Server{"server": srv, "fork": srv.Fork(t), "state": again} {
				code, obj = apitest.Do(t, srv, "PATCH", apitest.DefinitionsPath+"/widgets.example.com", definition(tt.to[0], tt.to[1]))
				require.Equal(t, 200, code, obj)
				for _, version := range []string{"v1", "v2"} {
					_, obj = apitest.Do(t, srv, "GET", strings.Replace(apitest.WidgetsPath, "v1", version, 1)+"/w", "")
					assert.Equal(t, tt.after, obj["size"], "%s %s", which, version)
					assert.Equal(t, tt.statusIs, obj["status"], "%s %s", which, version)
				}
				is := obj["metadata"].(map[string]any)["resourceVersion"]
				_, obj = apitest.Do(t, srv, "PATCH", apitest.WidgetsPath+"/w", "{}")
				assert.Equal(t, tt.same, is == obj["metadata"].(map[string]any)["resourceVersion"], "%s: whether an empty patch stores nothing", which)
			}
		})
	}
}

// After Fork, Restore and Reset, the server serves the definitions of that state.
func TestCustomResourceAfterRestore(t *testing.T) {
	srv := fakeapi.Start(t)
	before := srv.Snapshot()
	require.Equal(t, 201, apitest.Code(t, srv, "POST", apitest.DefinitionsPath, apitest.Widgets("v1", `"size":{"type":"integer"}`)))
	require.Equal(t, 201, apitest.Code(t, srv, "POST", apitest.WidgetsPath, apitest.Widget))
	after := srv.Snapshot()

	fork := srv.Fork(t)
	assert.Equal(t, 200, apitest.Code(t, fork, "GET", apitest.WidgetsPath+"/w", ""), "the fork serves it")
	require.Equal(t, 200, apitest.Code(t, fork, "DELETE", apitest.DefinitionsPath+"/widgets.example.com", ""))
	assert.Equal(t, 404, apitest.Code(t, fork, "GET", apitest.WidgetsPath, ""))
	assert.Equal(t, 200, apitest.Code(t, srv, "GET", apitest.WidgetsPath+"/w", ""), "the parent is independent")

	require.NoError(t, srv.Restore(before))
	assert.Equal(t, 404, apitest.Code(t, srv, "GET", apitest.WidgetsPath, ""))
	require.NoError(t, srv.Restore(after))
	assert.Equal(t, 200, apitest.Code(t, srv, "GET", apitest.WidgetsPath+"/w", ""))
	require.NoError(t, srv.Reset())
	assert.Equal(t, 404, apitest.Code(t, srv, "GET", apitest.WidgetsPath, ""))
}

// A watch ends when its definition is deleted or changed.
func TestCustomResourceWatchEnds(t *testing.T) {
	for _, tt := range []struct{ name, method, path, body, last string }{
		{"definition deleted", "DELETE", "/widgets.example.com", "", "DELETED"},
		{"definition changed", "PATCH", "/widgets.example.com", `{"spec":{"names":{"categories":["all"]}}}`, "ADDED"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := fakeapi.Start(t)
			require.Equal(t, 201, apitest.Code(t, srv, "POST", apitest.DefinitionsPath, apitest.Widgets("v1", `"size":{"type":"integer"}`)))
			require.Equal(t, 201, apitest.Code(t, srv, "POST", apitest.WidgetsPath, apitest.Widget))
			resp, err := srv.Client().Get(srv.URL + apitest.WidgetsPath + "?watch=1")
			require.NoError(t, err)
			defer resp.Body.Close()
			require.Equal(t, 200, apitest.Code(t, srv, tt.method, apitest.DefinitionsPath+tt.path, tt.body))
			b, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			lines := strings.Split(strings.TrimSpace(string(b)), "\n")
			assert.Contains(t, lines[len(lines)-1], `{"type":"`+tt.last+`"`)
		})
	}
}

// A definition is deleted after its last instance, which a finalizer can delay.
func TestCustomResourceTerminating(t *testing.T) {
	srv := fakeapi.Start(t)
	require.Equal(t, 201, apitest.Code(t, srv, "POST", apitest.DefinitionsPath, apitest.Widgets("v1", "")))
	require.Equal(t, 201, apitest.Code(t, srv, "POST", apitest.WidgetsPath, `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w","finalizers":["example.com/hold"]}}`))
	require.Equal(t, 200, apitest.Code(t, srv, "DELETE", apitest.DefinitionsPath+"/widgets.example.com", ""))
	assert.Equal(t, 200, apitest.Code(t, srv, "GET", apitest.DefinitionsPath+"/widgets.example.com", ""), "the definition remains")
	c, obj := apitest.Do(t, srv, "POST", apitest.WidgetsPath, strings.ReplaceAll(apitest.Widget, `"w"`, `"other"`))
	assert.Equal(t, 403, c, "%v", obj)
	require.Equal(t, 200, apitest.Code(t, srv, "PATCH", apitest.WidgetsPath+"/w", `{"metadata":{"finalizers":null}}`))
	assert.Equal(t, 404, apitest.Code(t, srv, "GET", apitest.DefinitionsPath+"/widgets.example.com", ""), "deleted with the last instance")
}

// A definition that is put again with its uid keeps its status, so that watches of its
// objects go on.
func TestPutDefinitionAgain(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithObjects(apitest.Widgets("v1", "")))
	get := func() fakeapi.Object {
		o, err := srv.Get("customresourcedefinitions.apiextensions.k8s.io", "", "widgets.example.com")
		require.NoError(t, err)
		return o
	}
	o := get()
	o["metadata"].(map[string]any)["labels"] = map[string]any{"a": "b"}
	before := srv.Revision()
	apitest.Put(t, srv, o)
	assert.Equal(t, before+1, srv.Revision(), "one write")
	assert.Equal(t, o["status"], get()["status"])
	_, err := srv.Store(apitest.Widgets("v1", ""))
	require.NoError(t, err)
	assert.Greater(t, srv.Revision(), before+2, "another definition is established first")
}

func TestWithCRDs(t *testing.T) {
	fsys := fstest.MapFS{
		"crds/widgets.yaml": {Data: []byte(apitest.Widgets("v1", `"size":{"type":"integer"}`))},
		"bad/widgets.yaml":  {Data: []byte(strings.Replace(apitest.Widgets("v1", ""), `"scope":"Namespaced"`, `"scope":"Global"`, 1))},
		"bad/taken.yaml":    {Data: []byte(strings.ReplaceAll(apitest.Widgets("v1", ""), `widgets`, `others`))},
		"bad/pod.yaml":      {Data: []byte(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"}}`)},
	}
	srv := fakeapi.Start(t, fakeapi.WithObjects(apitest.Widget), fakeapi.WithCRDs(fsys, "crds/*.yaml"))
	assert.Equal(t, 200, apitest.Code(t, srv, "GET", apitest.WidgetsPath+"/w", ""), "objects are put after the definitions")

	for _, tt := range []struct{ glob, want string }{
		{"bad/widgets.yaml", `fakeapi: bad/widgets.yaml: document 1: CustomResourceDefinition widgets.example.com: spec.scope: Unsupported value: "Global": supported values: "Cluster", "Namespaced"`},
		{"bad/taken.yaml", `fakeapi: bad/taken.yaml: document 1: CustomResourceDefinition others.example.com: it is not served: "WidgetList" is already in use`},
		{"bad/pod.yaml", "fakeapi: bad/pod.yaml: document 1: Pod p: it is not a CustomResourceDefinition"},
		{"none/*.yaml", `fakeapi: no file matches "none/*.yaml"`},
	} {
		t.Run(tt.glob, func(t *testing.T) {
			_, err := fakeapi.New(fakeapi.WithCRDs(fsys, "crds/*.yaml"), fakeapi.WithCRDs(fsys, tt.glob))
			assert.EqualError(t, err, tt.want)
		})
	}
}

// Errors in the metadata prevent the evaluation of rules, as errors of the schema do, and are reported
// as often as kube-apiserver validates metadata. Recorded from kube-apiserver v1.37.2.
func TestCustomResourceMetadataErrors(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithObjects(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.example.com"},"spec":{
		"group":"example.com","scope":"Namespaced","names":{"plural":"widgets","kind":"Widget"},"versions":[{"name":"v1","served":true,"storage":true,"subresources":{"status":{}},
		"schema":{"openAPIV3Schema":{"type":"object","properties":{"a":{"type":"string"}},"x-kubernetes-validations":[{"rule":"!has(self.a) || self.a != 'bad'"}]}}}]}}`))
	body := func(metadata, a string) string {
		return fmt.Sprintf(`{"apiVersion":"example.com/v1","kind":"Widget","metadata":%s,"a":%q}`, metadata, a)
	}
	require.Equal(t, 201, apitest.Code(t, srv, "POST", apitest.WidgetsPath, body(`{"name":"w"}`, "good")))
	const (
		unchecked = "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation"
		failed    = `<nil>: Invalid value: failed rule: !has(self.a) || self.a != 'bad'`
		label     = `metadata.labels: Invalid value: "x y": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`
		long      = "metadata.annotations: Too long: may not be more than 262144 bytes"
	)
	big := `{"name":"w","annotations":{"x":"` + strings.Repeat("y", 1<<18) + `"}}`
	for _, tt := range []struct {
		name, method, path, body string
		want                     []string
	}{
		{"a missing name", "POST", "", body("{}", "bad"), []string{"metadata.name: Required value: name or generateName is required", unchecked}},
		{"an invalid label", "POST", "", body(`{"name":"v","labels":{"x y":"z"}}`, "bad"), []string{label, failed}},
		{"long annotations", "PATCH", "/w", body(big, "bad"), []string{long, long, long, unchecked}},
		{"an invalid label of an update", "PATCH", "/w", body(`{"name":"w","labels":{"x y":"z"}}`, "bad"), []string{label, label, label, failed}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			code, obj := apitest.Do(t, srv, tt.method, apitest.WidgetsPath+tt.path, tt.body)
			require.Equal(t, 422, code, "%v", obj)
			var causes []string
			for _, c := range obj["details"].(map[string]any)["causes"].([]any) {
				c := c.(map[string]any)
				causes = append(causes, fmt.Sprint(c["field"], ": ", c["message"]))
			}
			assert.Equal(t, tt.want, causes)
		})
	}
}
