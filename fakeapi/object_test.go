package fakeapi_test

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/apitest"
	"github.com/kubefake/kubefake/mvcc"
)

func TestStore(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	made, err := srv.Store(apitest.ConfigMap("a", "1"))
	require.NoError(t, err)
	assert.Equal(t, "a", made.Name())
	assert.Equal(t, "default", made.Namespace())
	assert.NotEmpty(t, made["metadata"].(map[string]any)["uid"])
	assert.NotEmpty(t, made["metadata"].(map[string]any)["creationTimestamp"])

	changed, err := srv.Store(apitest.ConfigMap("a", "2"))
	require.NoError(t, err, "Put ignores resourceVersion")
	assert.NotEqual(t, made.ResourceVersion(), changed.ResourceVersion())

	got, err := srv.Get("configmaps", "default", "a")
	require.NoError(t, err)
	assert.Equal(t, changed, got)
	code, served := apitest.Do(t, srv, "GET", "/api/v1/namespaces/default/configmaps/a", "")
	assert.Equal(t, 200, code)
	assert.Equal(t, got.ResourceVersion(), served.ResourceVersion())

	pod, err := srv.Store(`{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: []}, status: {phase: Running}}`)
	require.NoError(t, err)
	assert.Equal(t, "default", pod.Namespace(), "the default namespace")
	assert.Equal(t, "Running", pod["status"].(map[string]any)["phase"], "status is kept")
}

func TestStoreFails(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	tests := []struct {
		name   string
		object any
		err    string
	}{
		{"no object", "", "0 objects instead of one"},
		{"two objects", "{apiVersion: v1, kind: Namespace, metadata: {name: a}}\n---\n{apiVersion: v1, kind: Namespace, metadata: {name: b}}", "2 objects instead of one"},
		{"invalid YAML", "{", "document 1: "},
		{"scalar", "text", "document 1: "},
		{"duplicate key", "kind: Pod\nkind: Pod", `"kind" already set`},
		{"duplicate key in JSON", `{"kind":"Pod","kind":"Pod"}`, `"kind" already set`},
		{"value without JSON", func() {}, "unsupported type"},
		{"no kind", fakeapi.Object{"apiVersion": "v1"}, "without kind and apiVersion"},
		{"unknown kind", "{apiVersion: v1, kind: Widget, metadata: {name: a}}", "Widget"},
		{"unknown group", "{apiVersion: a/b/c, kind: Widget, metadata: {name: a}}", "a/b/c"},
		{"no name", "{apiVersion: v1, kind: ConfigMap}", "metadata.name"},
		{"bad name", "{apiVersion: v1, kind: ConfigMap, metadata: {name: A_}}", "metadata.name"},
		{"unknown namespace", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: none}}", `namespaces "none" not found`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before := srv.Revision()
			_, err := srv.Store(tt.object)
			assert.ErrorContains(t, err, "fakeapi: Store: ")
			assert.ErrorContains(t, err, tt.err)
			assert.Equal(t, before, srv.Revision(), "nothing is written")
		})
	}
}

func TestGetAndList(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithObjects(
		fakeapi.Object{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "other"}},
		`{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: other}}`,
		apitest.ConfigMap("b", "2"), apitest.ConfigMap("a", "1"),
	))
	names := func(objects []fakeapi.Object, err error) []string {
		require.NoError(t, err)
		var out []string
		for _, o := range objects {
			out = append(out, o.Namespace()+"/"+o.Name())
		}
		return out
	}
	assert.Equal(t, []string{"default/a", "default/b", "kube-system/kube-apiserver-legacy-service-account-token-tracking", "other/c"}, names(srv.List("configmaps", "")))
	assert.Equal(t, []string{"other/c"}, names(srv.List("configmaps", "other")))
	assert.Empty(t, names(srv.List("deployments.apps", "")))

	for _, name := range []string{"no object", "", "*", "cm", "Pod", "pods/status", "pods.apps", "subjectaccessreviews"} {
		_, err := srv.List(name, "")
		assert.ErrorIs(t, err, fakeapi.ErrNotFound, name)
		_, err = srv.Get(name, "", "a")
		assert.ErrorIs(t, err, fakeapi.ErrNotFound, name)
		assert.ErrorIs(t, srv.Remove(name, "", "a"), fakeapi.ErrNotFound, name)
	}
	_, err := srv.Get("configmaps", "other", "a")
	assert.ErrorIs(t, err, fakeapi.ErrNotFound)
	ns, err := srv.Get("namespaces.", "", "other")
	require.NoError(t, err)
	assert.Equal(t, "other", ns.Name())
}

func TestInto(t *testing.T) {
	var out struct {
		Metadata struct{ Name string }
		Data     map[string]string
	}
	require.NoError(t, apitest.ConfigMap("a", "1").Into(&out))
	assert.Equal(t, "a", out.Metadata.Name)
	assert.Equal(t, map[string]string{"key": "1"}, out.Data)
	assert.Error(t, apitest.ConfigMap("a", "1").Into(new(int)))
}

// Delete ignores finalizers.
func TestDelete(t *testing.T) {
	held := apitest.ConfigMap("a", "1")
	held["metadata"].(map[string]any)["finalizers"] = []any{"example.com/hold"}
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithObjects(held))
	require.NoError(t, srv.Remove("configmaps", "default", "a"))
	assert.Empty(t, values(t, srv))
	assert.ErrorIs(t, srv.Remove("configmaps", "default", "a"), fakeapi.ErrNotFound)
}

func TestAtRevision(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	before := srv.Revision()
	apitest.Put(t, srv, apitest.ConfigMap("a", "1"))
	first := srv.Revision()
	apitest.Put(t, srv, apitest.ConfigMap("a", "2"), apitest.ConfigMap("b", "1"))
	require.NoError(t, srv.Remove("configmaps", "default", "a"))

	assert.Empty(t, values(t, srv, fakeapi.AtRevision(before)))
	assert.Equal(t, map[string]any{"a": "1"}, values(t, srv, fakeapi.AtRevision(first)))
	assert.Equal(t, map[string]any{"a": "2", "b": "1"}, values(t, srv, fakeapi.AtRevision(srv.Revision()-1)))
	assert.Equal(t, map[string]any{"b": "1"}, values(t, srv))
	a, err := srv.Get("configmaps", "default", "a", fakeapi.AtRevision(first))
	require.NoError(t, err)
	assert.Equal(t, "1", a["data"].(map[string]any)["key"])

	_, err = srv.List("configmaps", "", fakeapi.AtRevision(srv.Revision()+1))
	assert.ErrorIs(t, err, mvcc.ErrFutureRevision)
	srv.Compact(0)
	_, err = srv.List("configmaps", "", fakeapi.AtRevision(first))
	assert.ErrorIs(t, err, mvcc.ErrCompacted)
	assert.Equal(t, map[string]any{"b": "1"}, values(t, srv), "the newest version is kept")
}

func TestWithObjects(t *testing.T) {
	const first, second = `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: shop}}`, `{apiVersion: v1, kind: ConfigMap, metadata: {name: b, namespace: shop}}`
	shop := fakeapi.Object{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "shop"}}
	item := map[string]any{"metadata": map[string]any{"name": "a", "namespace": "shop"}}
	tests := []struct {
		name    string
		objects []any
		want    []string
	}{
		{"namespace after its objects", []any{first, second, shop}, []string{"a", "b"}},
		{"bytes", []any{[]byte(first), shop}, []string{"a"}},
		{"reader", []any{strings.NewReader(first + "\n---\n" + second), shop}, []string{"a", "b"}},
		{"stream", []any{first + "\n---\n" + second + "\n---\n", shop}, []string{"a", "b"}},
		{"stream with comments", []any{"# nothing\n---\n" + first + "\n--- # more\n" + second + "\n...\n", shop}, []string{"a", "b"}},
		{"list", []any{`{apiVersion: v1, kind: List, items: [` + first + `,` + second + `]}`, shop}, []string{"a", "b"}},
		{"typed list", []any{fakeapi.Object{"apiVersion": "v1", "kind": "ConfigMapList", "items": []any{item}}, shop}, []string{"a"}},
		{"empty list", []any{`{apiVersion: v1, kind: List, items: []}`, shop}, nil},
		{"struct", []any{struct {
			APIVersion string            `json:"apiVersion"`
			Kind       string            `json:"kind"`
			Metadata   map[string]string `json:"metadata"`
		}{"v1", "ConfigMap", map[string]string{"name": "a", "namespace": "shop"}}, shop}, []string{"a"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithObjects(tt.objects...))
			objects, err := srv.List("configmaps", "shop")
			require.NoError(t, err)
			var names []string
			for _, o := range objects {
				names = append(names, o.Name())
			}
			assert.Equal(t, tt.want, names)
		})
	}
}

// An error names the object that is wrong.
func TestWithObjectsFails(t *testing.T) {
	const good = "{apiVersion: v1, kind: Node, metadata: {name: node}}"
	file, err := os.Create(filepath.Join(t.TempDir(), "pods.yaml"))
	require.NoError(t, err)
	defer file.Close()
	_, err = file.WriteString("{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: none}}")
	require.NoError(t, err)
	_, err = file.Seek(0, io.SeekStart)
	require.NoError(t, err)
	for _, tt := range []struct {
		name   string
		object any
		want   string
		is     error
	}{
		{"stream", good + "\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: A_, namespace: default}}",
			`object 2 of WithObjects: document 2: ConfigMap default/A_: metadata.name: Invalid value: "A_": `, fakeapi.ErrInvalidObject},
		{"Go value", fakeapi.Object{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "a", "namespace": "none"}},
			`object 2 of WithObjects: Pod none/a: namespaces "none" not found`, fakeapi.ErrNotFound},
		{"no name", "{apiVersion: v1, kind: Pod}",
			"object 2 of WithObjects: document 1: Pod: metadata.name: ", fakeapi.ErrInvalidObject},
		{"list", "{apiVersion: v1, kind: PodList, items: [{metadata: {name: a}}, {metadata: {name: B}}]}",
			`object 2 of WithObjects: document 1: items[1]: Pod B: metadata.name: `, fakeapi.ErrInvalidObject},
		{"file", file, file.Name() + `: document 1: Pod none/a: namespaces "none" not found`, fakeapi.ErrNotFound},
		{"failing reader", iotest.ErrReader(io.ErrUnexpectedEOF), "object 2 of WithObjects: unexpected EOF", io.ErrUnexpectedEOF},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := fakeapi.New(fakeapi.WithInMemory(), fakeapi.WithObjects(good, tt.object))
			assert.ErrorContains(t, err, "fakeapi: "+tt.want)
			assert.ErrorIs(t, err, tt.is)
		})
	}
}

func TestWithNamespaces(t *testing.T) {
	const pod = "{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: shop}}"
	namespaces := func(options ...fakeapi.Option) map[string]fakeapi.Object {
		srv := fakeapi.Start(t, append(options, fakeapi.WithInMemory())...)
		list, err := srv.List("namespaces", "")
		require.NoError(t, err)
		out := map[string]fakeapi.Object{}
		for _, o := range list {
			out[o.Name()] = o
		}
		return out
	}
	assert.Len(t, namespaces(fakeapi.WithNamespaces()), 4, "nothing is missing")
	got := namespaces(fakeapi.WithNamespaces("a", "default"), fakeapi.WithNamespaces("b"), fakeapi.WithObjects(pod, pod))
	assert.Len(t, got, 7)
	for _, name := range []string{"a", "b", "shop"} {
		assert.Contains(t, got, name)
	}
	assert.Equal(t, "Active", got["shop"]["status"].(map[string]any)["phase"])
	got = namespaces(fakeapi.WithNamespaces("shop"), fakeapi.WithObjects(pod, "{apiVersion: v1, kind: Namespace, metadata: {name: shop, labels: {a: b}}}"))
	assert.Contains(t, got["shop"]["metadata"].(map[string]any)["labels"], "a", "a namespace of the options has priority")

	_, err := fakeapi.New(fakeapi.WithNamespaces("A"))
	assert.ErrorContains(t, err, "fakeapi: WithNamespaces: Namespace A: metadata.name: ")
	assert.ErrorIs(t, err, fakeapi.ErrInvalidObject)
}

func TestWithObjectFiles(t *testing.T) {
	files := fstest.MapFS{
		"10-objects.yaml":    {Data: []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: shop}\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n")},
		"more/list.json":     {Data: []byte(`{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b","namespace":"shop"}}]}`)},
		"broken/syntax.yaml": {Data: []byte("a: b: c")},
		"broken/second.yaml": {Data: []byte("apiVersion: v1\nkind: Namespace\nmetadata: {name: x}\n---\nkind: Pod\n")},
		"broken/kind.yaml":   {Data: []byte("apiVersion: v1\nkind: Widget\nmetadata: {name: x}\n")},
		"broken/custom.yaml": {Data: []byte("apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: x}\n")},
		"broken/text.yaml":   {Data: []byte("hello world\n")},
		"broken/list.yaml":   {Data: []byte("- kind: Pod\n")},
		"broken/pod.yaml":    {Data: []byte("---\n# nothing\n---\napiVersion: v1\nkind: Node\nmetadata: {name: node}\n---\napiVersion: v1\nkind: Pod\nmetadata: {namespace: shop, name: A}\n")},
		"broken/item.yaml":   {Data: []byte("apiVersion: v1\nkind: List\nitems: [{kind: Pod}]\n")},
	}
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithObjectFiles(files, "*.yaml", "more/*", "10-*"))
	objects, err := srv.List("configmaps", "shop")
	require.NoError(t, err)
	assert.Len(t, objects, 2)

	tests := []struct{ name, glob, err string }{
		{"no match", "*.yml", `no file matches "*.yml"`},
		{"bad glob", "[", `"[": syntax error in pattern`},
		{"directory", "more", "more: "},
		{"syntax", "broken/syntax.yaml", "broken/syntax.yaml: document 1: "},
		{"second document", "broken/second.yaml", "broken/second.yaml: document 2: an object without kind and apiVersion"},
		{"unknown kind", "broken/kind.yaml", `broken/kind.yaml: document 1: Widget x: `},
		{"missing namespace", "broken/pod.yaml", `broken/pod.yaml: document 2: Pod shop/A: namespaces "shop" not found; WithNamespaces or --create-namespaces creates it`},
		{"missing definition", "broken/custom.yaml", `broken/custom.yaml: document 1: Widget x: not found: no resource is stored as kind "Widget" of "example.com/v1"; WithCRDs or --crds gives the definition of a custom resource`},
		{"text", "broken/text.yaml", "broken/text.yaml: document 1: not a Kubernetes object: a mapping with kind and apiVersion is expected, not a value of the type string"},
		{"list of YAML", "broken/list.yaml", "broken/list.yaml: document 1: not a Kubernetes object: a mapping with kind and apiVersion is expected, not a value of the type array"},
		{"item", "broken/item.yaml", `broken/item.yaml: document 1: items[0]: an object without kind and apiVersion`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := fakeapi.New(fakeapi.WithInMemory(), fakeapi.WithObjectFiles(files, tt.glob))
			assert.ErrorContains(t, err, "fakeapi: ")
			assert.ErrorContains(t, err, tt.err)
		})
	}
}
