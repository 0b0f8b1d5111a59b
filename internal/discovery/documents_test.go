//go:build go1.25

package discovery_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/discovery"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
)

const (
	aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

	// clientGo is the Accept header that client-go and kubectl send to /api and
	// /apis.
	clientGo = aggregated + ",application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json"
)

func surface(t testing.TB, name string) discovery.Surface {
	p, err := release.Open(name)
	require.NoError(t, err)
	return discovery.Surface{Builtin: p.GroupVersions(), Types: p.Types()}
}

func get(t *testing.T, d *discovery.Documents, path string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	w, err := do(d, http.MethodGet, path, headers...)
	require.NoError(t, err)
	return w
}

var errNotFound = errors.New("no document")

func do(d *discovery.Documents, method, path string, headers ...string) (*httptest.ResponseRecorder, error) {
	r := httptest.NewRequest(method, path, nil)
	r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, &net.TCPAddr{IP: net.IPv4(192, 0, 2, 2), Port: 16444}))
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	found, err := d.Serve(w, r, r.URL.Path)
	if !found {
		return w, errNotFound
	}
	return w, err
}

// TestRecorded compares every document, byte for byte, with a recorded one of
// kube-apiserver. testdata/answers.txt has the hashes of all; other files have
// the full text of some.
func TestRecorded(t *testing.T) {
	s := surface(t, "v1.36.3-all")
	var root struct{ Paths []string }
	require.NoError(t, json.Unmarshal(read(t, "root.json"), &root))
	for _, path := range root.Paths {
		if !strings.HasPrefix(path, "/api") {
			s.Paths = append(s.Paths, path)
		}
	}
	d := discovery.New(s)

	for name, answer := range map[string]*httptest.ResponseRecorder{
		"root.json":             get(t, d, "/"),
		"api.json":              get(t, d, "/api"),
		"api_aggregated.json":   get(t, d, "/api", "Accept", aggregated),
		"apis_apps_v1.json":     get(t, d, "/apis/apps/v1"),
		"apis_autoscaling.json": get(t, d, "/apis/autoscaling"),
	} {
		assert.Equal(t, string(read(t, name)), answer.Body.String(), name)
	}

	paths := 0
	for line := bufio.NewScanner(bytes.NewReader(read(t, "answers.txt"))); line.Scan(); {
		if strings.HasPrefix(line.Text(), "#") {
			continue
		}
		f := strings.Fields(line.Text())
		paths++
		t.Run(f[0]+"/"+f[1], func(t *testing.T) {
			accept := ""
			if f[1] == "aggregated" {
				accept = clientGo
			}
			w := get(t, d, f[0], "Accept", accept)
			assert.Equal(t, f[2], fmt.Sprintf("%x", sha256.Sum256(w.Body.Bytes())))
			assert.Equal(t, strings.TrimPrefix(f[3], "-"), w.Header().Get("Etag"))
		})
	}
	assert.Equal(t, 58, paths)
}

func read(t *testing.T, name string) []byte {
	b, err := os.ReadFile("testdata/" + name)
	require.NoError(t, err)
	return b
}

func TestServe(t *testing.T) {
	s := surface(t, "")
	s.Encodings = []discovery.Encoding{
		{MediaType: "application/yaml", Convert: func(b []byte) ([]byte, error) { return append([]byte("yaml of "), b...), nil }},
		{MediaType: "application/vnd.kubernetes.protobuf", Convert: func([]byte) ([]byte, error) { return nil, errors.New("no such message") }},
	}
	d := discovery.New(s)
	const (
		plain = "application/json"
		yaml  = "application/yaml"
		none  = "only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf"
	)
	for name, row := range map[string]struct {
		do      string
		accept  string
		content string // media type of the response
		err     string
	}{
		"no accept":                   {do: "GET /api", content: plain},
		"anything":                    {do: "GET /api", accept: "*/*", content: plain},
		"client-go":                   {do: "GET /api", accept: clientGo, content: aggregated},
		"aggregated alone":            {do: "GET /apis", accept: aggregated, content: aggregated},
		"aggregated, no peers":        {do: "GET /api", accept: aggregated + ";profile=nopeer", content: aggregated},
		"aggregated less wanted":      {do: "GET /api", accept: "application/json, " + aggregated + ";q=0.1", content: aggregated},
		"aggregated of anything":      {do: "GET /api", accept: strings.Replace(aggregated, "application/json", "*/*", 1), content: aggregated},
		"aggregated YAML":             {do: "GET /api", accept: strings.Replace(aggregated, "json", "yaml", 1), content: strings.Replace(aggregated, "json", "yaml", 1)},
		"aggregated beta":             {do: "GET /api", accept: strings.Replace(aggregated, "v2", "v2beta1", 1), err: none},
		"aggregated future":           {do: "GET /api", accept: strings.Replace(aggregated, "v2", "v9", 1), err: none},
		"aggregated future or plain":  {do: "GET /api", accept: strings.Replace(aggregated, "v2", "v9", 1) + ",application/json", content: plain},
		"group is never aggregated":   {do: "GET /apis/apps", accept: clientGo, content: plain},
		"version is never aggregated": {do: "GET /apis/apps/v1", accept: clientGo, content: plain},
		"YAML":                        {do: "GET /api/v1", accept: yaml, content: yaml},
		"YAML less wanted":            {do: "GET /api/v1", accept: "application/yaml;q=0.5,application/json;q=0.6", content: plain},
		"failing conversion":          {do: "GET /api/v1", accept: "application/vnd.kubernetes.protobuf", err: "Internal error occurred: no such message"},
		"unknown type":                {do: "GET /apis/apps", accept: "text/plain", err: none},
		"no type":                     {do: "GET /apis/apps", accept: "json", err: none},
		"unknown type or JSON":        {do: "GET /apis/apps", accept: "text/html, application/json;q=0.9", content: plain},
		"upper case":                  {do: "GET /api/v1", accept: "application/JSON", err: "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf"},
		"as a table":                  {do: "GET /api/v1", accept: "application/json;as=Table;v=v1;g=meta.k8s.io", err: none},
		"of a stream":                 {do: "GET /api/v1", accept: "application/json;stream=watch", content: plain},
		"of another stream":           {do: "GET /api/v1", accept: "application/json;stream=other", err: none},
		"of a server version":         {do: "GET /api/v1", accept: "application/json;sv=v1", err: none},
		"of unknown parameters":       {do: "GET /api/v1", accept: "application/json;charset=utf-8", content: plain},
		"slash after /api":            {do: "GET /api/", content: plain},
		"slash after /apis":           {do: "GET /apis/", content: plain},
		"slash after group":           {do: "GET /apis/apps/", content: plain},
		"slash after version":         {do: "GET /apis/apps/v1/", content: plain},
		"root":                        {do: "GET /", accept: "text/html", content: plain},
		"root page":                   {do: "POST /index.html", content: plain},
		"post to groups":              {do: "POST /apis", content: plain},
		"post to a group":             {do: "POST /apis/apps", content: plain},
		"post to legacy versions":     {do: "POST /api", err: "the server does not allow this method on the requested resource"},
		"post to a version":           {do: "POST /apis/apps/v1", err: "the server does not allow this method on the requested resource"},
		"head of a version":           {do: "HEAD /api/v1", err: "the server does not allow this method on the requested resource"},
		"unknown group":               {do: "GET /apis/nope", err: errNotFound.Error()},
		"unknown version":             {do: "GET /apis/apps/v9", err: errNotFound.Error()},
		"unknown legacy version":      {do: "GET /api/v2", err: errNotFound.Error()},
		"resource":                    {do: "GET /api/v1/pods", err: errNotFound.Error()},
		"two slashes":                 {do: "GET /apis//", err: errNotFound.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			method, path, _ := strings.Cut(row.do, " ")
			w, err := do(d, method, path, "Accept", row.accept)
			if row.err != "" {
				require.EqualError(t, err, row.err)
				assert.Zero(t, w.Body.Len())
				assert.Empty(t, w.Header())
				if !errors.Is(err, errNotFound) {
					assert.ErrorAs(t, err, new(*status.Status))
				}
				return
			}
			require.NoError(t, err)
			assert.Equal(t, http.StatusOK, w.Code)
			assert.Equal(t, row.content, w.Header().Get("Content-Type"))
			if strings.Contains(row.content, "yaml") {
				assert.Equal(t, "yaml of {", w.Body.String()[:9])
			} else {
				assert.True(t, json.Valid(w.Body.Bytes()))
			}
			if strings.Contains(row.content, ";") {
				assert.Equal(t, "public", w.Header().Get("Cache-Control"))
				assert.Equal(t, "Accept", w.Header().Get("Vary"))
				assert.NotEmpty(t, w.Header().Get("Etag"))
			} else {
				assert.Len(t, w.Header(), 1)
			}
		})
	}
}

func TestNotModified(t *testing.T) {
	d := discovery.New(surface(t, ""))
	for path, want := range map[string]string{"/api": "APIGroupDiscoveryList", "/api/": "APIGroupDiscoveryList", "/apis": "APIGroupDiscoveryList", "/apis/": "APIGroupList"} {
		assert.Contains(t, get(t, d, path, "Accept", clientGo).Body.String(), `"kind":"`+want+`"`, path)
	}
	first := get(t, d, "/apis", "Accept", clientGo)
	etag := first.Header().Get("Etag")
	assert.Regexp(t, `^"[0-9A-F]{128}"$`, etag)

	t.Run("same", func(t *testing.T) {
		w := get(t, d, "/apis", "Accept", clientGo, "If-None-Match", etag)
		assert.Equal(t, http.StatusNotModified, w.Code)
		assert.Zero(t, w.Body.Len())
		assert.Equal(t, http.Header{"Etag": {etag}, "Vary": {"Accept"}, "Cache-Control": {"public"}}, w.Header())
	})
	for name, headers := range map[string][]string{
		"other":           {"Accept", clientGo, "If-None-Match", "x" + etag},
		"without quotes":  {"Accept", clientGo, "If-None-Match", strings.Trim(etag, `"`)},
		"plain has none":  {"If-None-Match", etag},
		"not conditional": {"Accept", clientGo},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, http.StatusOK, get(t, d, "/apis", headers...).Code)
		})
	}
	t.Run("changes with what is served", func(t *testing.T) {
		s := surface(t, "")
		s.Custom = []resource.GroupVersion{{Group: "example.com", Version: "v1"}}
		assert.NotEqual(t, etag, get(t, discovery.New(s), "/apis", "Accept", clientGo).Header().Get("Etag"))
	})
}

func TestPretty(t *testing.T) {
	d := discovery.New(surface(t, ""))
	const indented, line = "{\n  \"kind\": \"APIGroup\"", "{\"kind\":\"APIGroup\""
	for name, row := range map[string]struct{ query, agent, accept, want string }{
		"client":                  {want: line},
		"curl":                    {agent: "curl/8", want: indented},
		"wget":                    {agent: "Wget/1.2", want: indented},
		"browser":                 {agent: "Mozilla/5.0 (X11)", want: indented},
		"old browser":             {agent: "Mozilla/4.0", want: line},
		"asked in the query":      {query: "?pretty=true", want: indented},
		"refused in the query":    {query: "?pretty=0", agent: "curl/8", want: line},
		"nonsense in the query":   {query: "?pretty=yes", agent: "curl/8", want: line},
		"empty in the query":      {query: "?pretty=", agent: "curl/8", want: indented},
		"asked in the media type": {accept: "application/json;pretty=1", want: indented},
		"media type over query":   {accept: "application/json;pretty=1", query: "?pretty=0", want: indented},
	} {
		t.Run(name, func(t *testing.T) {
			body := get(t, d, "/apis/apps"+row.query, "User-Agent", row.agent, "Accept", row.accept).Body.String()
			assert.Equal(t, row.want, body[:len(row.want)])
			assert.Equal(t, row.want == line, strings.HasSuffix(body, "\n"))
		})
	}
}

// TestCustom has custom resources in their own group and in a built-in one.
func TestCustom(t *testing.T) {
	s := surface(t, "")
	v := func(group, version string) resource.GroupVersion {
		return resource.GroupVersion{Group: group, Version: version}
	}
	s.Custom = []resource.GroupVersion{
		v("z.example.com", "v1"), v("a.example.com", "v1alpha1"), v("a.example.com", "v1"), v("a.example.com", "v2beta1"),
		v("apps", "v7"), v("a.example.com", "v1"),
	}
	foo := resource.Kind{GroupVersion: v("a.example.com", "v1"), Kind: "Foo"}
	s.Types = append(s.Types[:len(s.Types):len(s.Types)], &resource.Type{
		GroupVersion: foo.GroupVersion, Name: "foos", Singular: "foo", Kind: "Foo", ListKind: "FooList",
		Verbs: []string{"get", "create"}, Stored: v("a.example.com", "v1alpha1"),
		Subresources: []resource.Subresource{
			{Name: "status", Kind: foo, Verbs: []string{"get"}},
			{Name: "scale", Kind: resource.Kind{GroupVersion: v("autoscaling", "v1"), Kind: "Scale"}, Verbs: []string{"get"}},
		},
	})
	s.Types = append(s.Types, &resource.Type{
		GroupVersion: v("z.example.com", "v1"), Name: "foos", Singular: "foo", Kind: "Foo", ListKind: "FooList",
		Verbs: []string{"get", "create"}, Stored: v("z.example.com", "v2"), UnservedStored: true,
	})
	s.Registered = append(s.Custom[:len(s.Custom):len(s.Custom)], v("a.example.com", "v2"), v("b.example.com", "v1"))
	d := discovery.New(s)

	t.Run("groups", func(t *testing.T) {
		var list struct {
			Groups []struct {
				Name             string
				Versions         []struct{ Version string }
				PreferredVersion struct{ Version string }
			}
		}
		require.NoError(t, json.Unmarshal(get(t, d, "/apis").Body.Bytes(), &list))
		n := len(list.Groups)
		assert.Equal(t, "a.example.com", list.Groups[n-3].Name)
		assert.Equal(t, "[{v2} {v1} {v2beta1} {v1alpha1}]", fmt.Sprint(list.Groups[n-3].Versions))
		assert.Equal(t, "v2", list.Groups[n-3].PreferredVersion.Version)
		assert.Equal(t, "b.example.com", list.Groups[n-2].Name)
		assert.Equal(t, "z.example.com", list.Groups[n-1].Name)
		assert.Equal(t, "apps", list.Groups[1].Name)
		assert.Equal(t, "[{v7} {v1}]", fmt.Sprint(list.Groups[1].Versions))
	})
	t.Run("resources", func(t *testing.T) {
		assert.JSONEq(t, `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"a.example.com/v1","resources":[
			{"name":"foos","singularName":"foo","namespaced":false,"kind":"Foo","verbs":["get","create"],"storageVersionHash":"zcvNFAOsqac="},
			{"name":"foos/status","singularName":"","namespaced":false,"kind":"Foo","verbs":["get"]},
			{"name":"foos/scale","singularName":"","namespaced":false,"group":"autoscaling","version":"v1","kind":"Scale","verbs":["get"]}]}`,
			get(t, d, "/apis/a.example.com/v1").Body.String())
	})
	t.Run("storage version not served", func(t *testing.T) {
		assert.JSONEq(t, `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"z.example.com/v1","resources":[
			{"name":"foos","singularName":"foo","namespaced":false,"kind":"Foo","verbs":["get","create"]}]}`,
			get(t, d, "/apis/z.example.com/v1").Body.String())
	})
	t.Run("aggregated", func(t *testing.T) {
		assert.Contains(t, get(t, d, "/apis", "Accept", clientGo).Body.String(), `{"metadata":{"name":"a.example.com"},"versions":[{"version":"v1","resources":[`+
			`{"resource":"foos","responseKind":{"group":"a.example.com","version":"v1","kind":"Foo"},"scope":"Cluster","singularResource":"foo","verbs":["get","create"],"subresources":[`+
			`{"subresource":"status","responseKind":{"group":"a.example.com","version":"v1","kind":"Foo"},"verbs":["get"]},`+
			`{"subresource":"scale","responseKind":{"group":"autoscaling","version":"v1","kind":"Scale"},"verbs":["get"]}]}],"freshness":"Current"},`)
	})
	t.Run("names not accepted", func(t *testing.T) {
		assert.Contains(t, get(t, d, "/apis/b.example.com").Body.String(), `"preferredVersion":{"groupVersion":"b.example.com/v1"`)
		assert.Contains(t, get(t, d, "/").Body.String(), `"/apis/b.example.com/v1"`)
		assert.NotContains(t, get(t, d, "/apis", "Accept", clientGo).Body.String(), "b.example.com")
		_, err := do(d, http.MethodGet, "/apis/b.example.com/v1")
		assert.ErrorIs(t, err, errNotFound)
	})
	t.Run("any method", func(t *testing.T) {
		_, err := do(d, http.MethodPost, "/apis/a.example.com/v1")
		assert.NoError(t, err)
	})
	t.Run("root", func(t *testing.T) {
		assert.Contains(t, get(t, d, "/").Body.String(), `"/apis/a.example.com/v1"`)
	})
}

func TestNothingServed(t *testing.T) {
	d := discovery.New(discovery.Surface{})
	assert.JSONEq(t, `{"kind":"APIGroupList","apiVersion":"v1","groups":[]}`, get(t, d, "/apis").Body.String())
	assert.JSONEq(t, `{"kind":"APIVersions","versions":[],"serverAddressByClientCIDRs":[{"clientCIDR":"0.0.0.0/0","serverAddress":"192.0.2.2:16444"}]}`, get(t, d, "/api").Body.String())
	assert.JSONEq(t, `{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{},"items":[]}`, get(t, d, "/api", "Accept", clientGo).Body.String())
	assert.JSONEq(t, `{"paths":["/api","/apis","/apis/"]}`, get(t, d, "/").Body.String())
}

func TestConcurrent(t *testing.T) {
	d := discovery.New(surface(t, ""))
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for _, path := range []string{"/", "/api", "/apis", "/apis/apps/v1"} {
				w, err := do(d, http.MethodGet, path, "Accept", clientGo)
				assert.NoError(t, err)
				assert.True(t, json.Valid(w.Body.Bytes()))
			}
		})
	}
	group.Wait()
}

func BenchmarkNew(b *testing.B) {
	s := surface(b, "")
	for b.Loop() {
		discovery.New(s)
	}
}

func BenchmarkServe(b *testing.B) {
	s := surface(b, "")
	for _, row := range []struct {
		name string
		make func() *discovery.Documents
	}{
		{"first", func() *discovery.Documents { return discovery.New(s) }},
		{"later", sync.OnceValue(func() *discovery.Documents { return discovery.New(s) })},
	} {
		b.Run(row.name, func(b *testing.B) {
			r := httptest.NewRequest(http.MethodGet, "/apis", nil)
			r.Header.Set("Accept", clientGo)
			b.ReportAllocs()
			for b.Loop() {
				if found, err := row.make().Serve(httptest.NewRecorder(), r, "/apis"); !found || err != nil {
					b.Fatal(found, err)
				}
			}
		})
	}
}

func ExampleDocuments_Serve() {
	apps := resource.GroupVersion{Group: "apps", Version: "v1"}
	docs := discovery.New(discovery.Surface{Builtin: []resource.GroupVersion{apps}})
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		found, err := docs.Serve(w, r, r.URL.Path)
		switch {
		case !found:
			http.NotFound(w, r)
		case err != nil:
			http.Error(w, err.Error(), http.StatusNotAcceptable)
		}
	})
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/apis/apps", nil))
	fmt.Println(w.Body)
	// Output:
	// {"kind":"APIGroup","apiVersion":"v1","name":"apps","versions":[{"groupVersion":"apps/v1","version":"v1"}],"preferredVersion":{"groupVersion":"apps/v1","version":"v1"}}
}
