//go:build go1.24

package openapi_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	openapi_v2 "github.com/google/gnostic-models/openapiv2"
	openapi_v3 "github.com/google/gnostic-models/openapiv3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/kubefake/kubefake/internal/openapi"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/status"
)

func now() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }

// documents returns the documents at paths of a release.
func documents(p *release.Release, paths ...string) []*openapi.Set {
	var docs []*openapi.Document
	for _, path := range paths {
		docs = append(docs, openapi.NewDocument(path, p.OpenAPIHash(path), func() ([]byte, error) { return p.OpenAPI(path) }))
	}
	return set(docs, openapi.V2Overrides{GroupVersions: p.SchemeGroupVersions(), Consumes: []string{"*/*"}})
}

func set(docs []*openapi.Document, v2 openapi.V2Overrides) []*openapi.Set {
	return []*openapi.Set{openapi.NewSet(docs, func() openapi.V2Overrides { return v2 })}
}

// recorded serves all documents of one release, in v3.
var recorded = sync.OnceValue(func() *openapi.Service {
	p := opened()
	return openapi.New(documents(p, p.OpenAPIPaths()...), nil, now)
})

// apps serves one document of the same release, because the conversion to v2 and protobuf is slow. Package
// fidelity of internal/release/gen compares the v2 documents of whole releases with those of kube-apiserver.
var apps = sync.OnceValue(func() *openapi.Service {
	return openapi.New(documents(opened(), "apis/apps/v1"), nil, now)
})

func opened() *release.Release {
	p, err := release.Open("v1.36.3-all")
	if err != nil {
		panic(err)
	}
	return p
}

func do(t *testing.T, s *openapi.Service, request string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	method, target, _ := strings.Cut(request, " ")
	r := httptest.NewRequest(method, target, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	found, err := s.Serve(w, r, r.URL.Path)
	require.NoError(t, err)
	require.True(t, found)
	return w
}

// TestIndex compares the index, byte for byte, with the one of kube-apiserver
// v1.36.3 with --runtime-config=api/all=true.
func TestIndex(t *testing.T) {
	want, err := os.ReadFile("testdata/index.json")
	require.NoError(t, err)
	for _, method := range []string{"GET", "POST"} {
		w := do(t, recorded(), method+" /openapi/v3", "Accept", "text/html")
		assert.Equal(t, http.StatusOK, w.Code)
		assert.Equal(t, "text/plain; charset=utf-8", w.Header().Get("Content-Type"))
		assert.Equal(t, string(want), w.Body.String())
	}
}

const appsHash = "E6837BF046F7D2603C949276F19DA2050C7521B0E5FA9FC64556E8AA9C500719EB5CE97EB6FDF85ABEDA04A50BDA5D2B5F59DA2B283D8B76A82BA2A256AFD626"

func TestServeDocument(t *testing.T) {
	const path = "/openapi/v3/apis/apps/v1"
	for name, row := range map[string]struct {
		do      string
		headers []string
		code    int
		want    http.Header
	}{
		"document": {
			do: "GET " + path, code: 200,
			want: http.Header{"Vary": {"Accept"}, "Content-Type": {"application/json"}, "Etag": {`"` + appsHash + `"`}},
		},
		"any method": {
			do: "POST " + path, code: 200,
			want: http.Header{"Vary": {"Accept"}, "Content-Type": {"application/json"}, "Etag": {`"` + appsHash + `"`}},
		},
		"head": {
			do: "HEAD " + path, code: 200,
			want: http.Header{"Vary": {"Accept"}, "Content-Type": {"application/json"}, "Etag": {`"` + appsHash + `"`}},
		},
		"its hash": {
			do: "GET " + path + "?hash=" + appsHash, code: 200,
			want: http.Header{
				"Vary": {"Accept"}, "Content-Type": {"application/json"}, "Etag": {`"` + appsHash + `"`},
				"Cache-Control": {"public, immutable"}, "Expires": {"Sat, 02 Jan 2027 03:04:05 UTC"},
			},
		},
		"another hash": {
			do: "GET " + path + "?hash=STALE", code: 301,
			want: http.Header{
				"Vary": {"Accept"}, "Content-Type": {"application/json"}, "Etag": {`"` + appsHash + `"`},
				"Location": {path + "?hash=" + appsHash},
			},
		},
		"not modified": {
			do: "GET " + path, headers: []string{"If-None-Match", `"` + appsHash + `"`}, code: 304,
			want: http.Header{"Vary": {"Accept"}, "Etag": {`"` + appsHash + `"`}},
		},
		"modified": {
			do: "GET " + path, headers: []string{"If-None-Match", `"x"`}, code: 200,
			want: http.Header{"Vary": {"Accept"}, "Content-Type": {"application/json"}, "Etag": {`"` + appsHash + `"`}},
		},
		"anything": {
			do: "GET " + path, headers: []string{"Accept", "*/*"}, code: 200,
			want: http.Header{"Vary": {"Accept"}, "Content-Type": {"application/json"}, "Etag": {`"` + appsHash + `"`}},
		},
		"protobuf or JSON": {
			do: "GET " + path, code: 200,
			headers: []string{"Accept", "application/com.github.proto-openapi.spec.v3@v1.0+protobuf, application/json;q=0.1"},
			want:    http.Header{"Vary": {"Accept"}, "Content-Type": {"application/com.github.proto-openapi.spec.v3.v1.0+protobuf"}, "Etag": {`"` + appsHash + `"`}},
		},
		"protobuf": {
			do: "GET " + path, code: 200,
			headers: []string{"Accept", "application/com.github.proto-openapi.spec.v3.v1.0+protobuf"},
			want:    http.Header{"Vary": {"Accept"}, "Content-Type": {"application/com.github.proto-openapi.spec.v3.v1.0+protobuf"}, "Etag": {`"` + appsHash + `"`}},
		},
		"HTML":            {do: "GET " + path, headers: []string{"Accept", "text/html"}, code: 406, want: http.Header{"Vary": {"Accept"}}},
		"unknown version": {do: "GET /openapi/v3/api/v2", code: 404, want: http.Header{}},
		"unknown group":   {do: "GET /openapi/v3/apis/nope/v1", headers: []string{"Accept", "text/html"}, code: 404, want: http.Header{}},
		"no name":         {do: "GET /openapi/v3/", code: 404, want: http.Header{}},
		"slash behind":    {do: "GET " + path + "/", code: 404, want: http.Header{}},
	} {
		t.Run(name, func(t *testing.T) {
			w := do(t, recorded(), row.do, row.headers...)
			assert.Equal(t, row.code, w.Code)
			for _, of := range []string{"Accept-Ranges", "Content-Length"} {
				w.Header().Del(of)
			}
			assert.Equal(t, row.want, w.Header())
			full := row.code == http.StatusOK && !strings.HasPrefix(row.do, "HEAD")
			assert.Equal(t, full, w.Body.Len() > 0)
			if full && w.Header().Get("Content-Type") == "application/json" {
				assert.True(t, json.Valid(w.Body.Bytes()))
			}
		})
	}
}

func TestNotServed(t *testing.T) {
	for _, path := range []string{"/openapi", "/openapi/", "/openapi/v2/", "/openapi/v1", "/openapi/v33", "/swagger-2.0.0.json", "/"} {
		t.Run(path, func(t *testing.T) {
			w := httptest.NewRecorder()
			found, err := recorded().Serve(w, httptest.NewRequest("GET", path, nil), path)
			assert.False(t, found)
			assert.NoError(t, err)
			assert.Empty(t, w.Header())
		})
	}
}

func TestServeV2(t *testing.T) {
	etag := do(t, apps(), "GET /openapi/v2").Header().Get("Etag")
	assert.Regexp(t, `^"[0-9A-F]{128}"$`, etag)
	for name, row := range map[string]struct {
		do      string
		headers []string
		code    int
	}{
		"any method":           {"POST /openapi/v2", nil, 200},
		"not modified":         {"GET /openapi/v2", []string{"If-None-Match", etag}, 304},
		"JSON less wanted":     {"GET /openapi/v2", []string{"Accept", "application/json;q=0.1, text/html"}, 200},
		"HTML":                 {"GET /openapi/v2", []string{"Accept", "text/html"}, 406},
		"protobuf of v3":       {"GET /openapi/v2", []string{"Accept", "application/com.github.proto-openapi.spec.v3@v1.0+protobuf"}, 406},
		"hashes mean nothing":  {"GET /openapi/v2?hash=x", nil, 200},
		"protobuf, else JSON":  {"GET /openapi/v2", []string{"Accept", "application/com.github.proto-openapi.spec.v2@v1.0+protobuf,application/json"}, 200},
		"header without types": {"GET /openapi/v2", []string{"Accept", "json"}, 406},
	} {
		t.Run(name, func(t *testing.T) {
			w := do(t, apps(), row.do, row.headers...)
			assert.Equal(t, row.code, w.Code)
			assert.Equal(t, "Accept-Encoding", w.Header().Get("Vary"))
			assert.Equal(t, row.code == 200, w.Body.Len() > 0)
		})
	}
}

func TestProtobuf(t *testing.T) {
	s := apps()
	t.Run("v3", func(t *testing.T) {
		const path = "GET /openapi/v3/apis/apps/v1"
		w := do(t, s, path, "Accept", "application/com.github.proto-openapi.spec.v3@v1.0+protobuf")
		var doc openapi_v3.Document
		require.NoError(t, proto.Unmarshal(w.Body.Bytes(), &doc))
		var same map[string]any
		require.NoError(t, json.Unmarshal(do(t, s, path).Body.Bytes(), &same))
		assert.Len(t, doc.Paths.Path, len(same["paths"].(map[string]any)))
	})
	t.Run("v2", func(t *testing.T) {
		w := do(t, s, "GET /openapi/v2", "Accept", "application/com.github.proto-openapi.spec.v2@v1.0+protobuf, application/json;q=0.9")
		assert.Equal(t, "application/com.github.proto-openapi.spec.v2.v1.0+protobuf", w.Header().Get("Content-Type"))
		assert.Equal(t, do(t, s, "GET /openapi/v2").Header().Get("Etag"), w.Header().Get("Etag"), "both encodings have the same ETag")
		var doc openapi_v2.Document
		require.NoError(t, proto.Unmarshal(w.Body.Bytes(), &doc))
		assert.Equal(t, "2.0", doc.Swagger)
		assert.NotEmpty(t, doc.Definitions.AdditionalProperties)
	})
}

// The index is as new as the request, the v2 document as its first request, and a v3 document as its
// set.
func TestLastModified(t *testing.T) {
	doc := openapi.NewDocument("apis/example.com/v1", "", func() ([]byte, error) { return []byte(`{"openapi":"3.0.0"}`), nil })
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	clock := start
	set := set([]*openapi.Document{doc}, openapi.V2Overrides{})[0].ModifiedAt(start)
	s := openapi.New([]*openapi.Set{set}, nil, func() time.Time { clock = clock.Add(time.Minute); return clock })
	const v2, index, document = "GET /openapi/v2", "GET /openapi/v3", "GET /openapi/v3/apis/example.com/v1"
	for _, row := range []struct {
		request, want string
	}{
		{index, "Thu, 01 Jan 2026 00:01:00 GMT"},
		{v2, "Thu, 01 Jan 2026 00:02:00 GMT"},
		{v2, "Thu, 01 Jan 2026 00:02:00 GMT"},
		{index, "Thu, 01 Jan 2026 00:03:00 GMT"},
		{document, "Thu, 01 Jan 2026 00:00:00 GMT"},
	} {
		assert.Equal(t, row.want, do(t, s, row.request).Header().Get("Last-Modified"), row.request)
	}
	assert.Equal(t, http.StatusNotModified, do(t, s, document, "If-Modified-Since", start.Format(http.TimeFormat)).Code)
	assert.Equal(t, http.StatusOK, do(t, s, document, "If-Modified-Since", start.Add(-time.Second).Format(http.TimeFormat)).Code)
}

func TestLoadedOnce(t *testing.T) {
	loads := 0
	doc := openapi.NewDocument("apis/example.com/v1", "", func() ([]byte, error) {
		loads++
		return []byte(`{"openapi":"3.0.0","info":{"title":"T"}}`), nil
	})
	sets := set([]*openapi.Document{doc}, openapi.V2Overrides{})
	s := openapi.New(sets, nil, now)
	assert.Zero(t, loads)
	for range 2 {
		for _, path := range []string{"/openapi/v2", "/openapi/v3", "/openapi/v3/apis/example.com/v1"} {
			do(t, s, "GET "+path)
			do(t, openapi.New(sets, nil, now), "GET "+path)
		}
	}
	assert.Equal(t, 1, loads)
}

func TestLoadFails(t *testing.T) {
	failing := openapi.NewDocument("a", "", func() ([]byte, error) { return nil, errors.New("gone") })
	garbage := openapi.NewDocument("a", "x", func() ([]byte, error) { return []byte("{"), nil })
	for name, row := range map[string]struct {
		doc        *openapi.Document
		path, want string
	}{
		"index":    {failing, "/openapi/v3", "Internal error occurred: gone"},
		"document": {failing, "/openapi/v3/a", "Internal error occurred: gone"},
		"v2":       {failing, "/openapi/v2", "Internal error occurred: OpenAPI of a: gone"},
		"garbage":  {garbage, "/openapi/v2", "Internal error occurred: OpenAPI of a: unexpected end of JSON input"},
	} {
		t.Run(name, func(t *testing.T) {
			w := httptest.NewRecorder()
			found, err := openapi.New(set([]*openapi.Document{row.doc}, openapi.V2Overrides{}), nil, now).Serve(w, httptest.NewRequest("GET", row.path, nil), row.path)
			assert.True(t, found)
			require.EqualError(t, err, row.want)
			assert.ErrorAs(t, err, new(*status.Status))
			assert.Empty(t, w.Header())
		})
	}
}

func BenchmarkServe(b *testing.B) {
	p, err := release.Open("")
	require.NoError(b, err)
	docs := documents(p)
	for _, path := range []string{"/openapi/v2", "/openapi/v3", "/openapi/v3/apis/apps/v1"} {
		b.Run("first"+path, func(b *testing.B) {
			for b.Loop() {
				s := openapi.New(documents(p), nil, now)
				_, err := s.Serve(httptest.NewRecorder(), httptest.NewRequest("GET", path, nil), path)
				require.NoError(b, err)
			}
		})
		// A custom resource adds a document and changes no other.
		b.Run("changed"+path, func(b *testing.B) {
			for b.Loop() {
				s := openapi.New(docs, nil, now)
				_, err := s.Serve(httptest.NewRecorder(), httptest.NewRequest("GET", path, nil), path)
				require.NoError(b, err)
			}
		})
	}
}

func ExampleService_Serve() {
	doc := openapi.NewDocument("apis/example.com/v1", "1A2B", func() ([]byte, error) {
		return []byte(`{"openapi":"3.0.0"}`), nil
	})
	documents := openapi.NewSet([]*openapi.Document{doc}, func() openapi.V2Overrides { return openapi.V2Overrides{} })
	service := openapi.New([]*openapi.Set{documents}, nil, time.Now)
	for _, path := range []string{"/openapi/v3", "/openapi/v3/apis/example.com/v1"} {
		w := httptest.NewRecorder()
		if found, err := service.Serve(w, httptest.NewRequest("GET", path, nil), path); !found || err != nil {
			panic(path)
		}
		fmt.Println(w.Body)
	}
	// Output:
	// {"paths":{"apis/example.com/v1":{"serverRelativeURL":"/openapi/v3/apis/example.com/v1?hash=1A2B"}}}
	// {"openapi":"3.0.0"}
}
