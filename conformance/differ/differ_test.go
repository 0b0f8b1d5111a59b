package main

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/scenarios/explore"
)

// Two servers of this process answer alike, so what differs from a real server is not noise.
func TestAlike(t *testing.T) {
	p := playerOf(t)
	for name := range areas {
		t.Run(name, func(t *testing.T) {
			for number := range 3 {
				story := newStory(name, p.api, 1, number)
				played, d, err := p.play(t.Context(), story)
				require.NoError(t, err)
				assert.Nil(t, d, "%v", d)
				assert.Equal(t, len(story), played, "steps")
			}
		})
	}
}

func TestShrink(t *testing.T) {
	p := playerOf(t)
	const path = "/api/v1/namespaces/{id}/configmaps"
	configMap := func(name string) object {
		return object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": object{"name": name}}
	}
	story := []Step{
		post("/api/v1/namespaces", object{"apiVersion": "v1", "kind": "Namespace", "metadata": object{"name": "{id}"}}),
		post(path, configMap("a")), get(path), post(path, configMap("b")), get(path + "/b"),
	}
	needed := []Step{story[0], story[3], story[4]}
	p.servers[1].client.Transport = withoutB{p.servers[1].client.Transport}
	played, d, err := p.play(t.Context(), story)
	require.NoError(t, err)
	require.NotNil(t, d)
	require.Equal(t, len(story), played)
	shorter, _ := p.shrink(t.Context(), story, d)
	assert.Equal(t, needed, shorter)
}

// A story ends before the request for which the first server panics.
func TestPanic(t *testing.T) {
	story := []Step{
		post("/api/v1/namespaces", object{"apiVersion": "v1", "kind": "Namespace", "metadata": object{"name": "{id}"}}),
		get("/api/v1/namespaces/{id}"), get("/api/v1/panic"), get("/version"),
	}
	for name, answer := range map[string]http.HandlerFunc{
		"the connection breaks":  func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"the body breaks":        func(w http.ResponseWriter, _ *http.Request) { w.(http.Flusher).Flush(); panic(http.ErrAbortHandler) },
		"the server answers 500": func(w http.ResponseWriter, _ *http.Request) { http.Error(w, panicMessage, 500) },
	} {
		t.Run(name, func(t *testing.T) {
			p := playerOf(t)
			target, err := url.Parse(p.servers[0].url)
			require.NoError(t, err)
			proxy := httputil.NewSingleHostReverseProxy(target)
			proxy.Transport = p.servers[0].client.Transport
			front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/api/v1/panic" {
					answer(w, r)
					return
				}
				proxy.ServeHTTP(w, r)
			}))
			t.Cleanup(front.Close)
			p.servers[0].url = front.URL
			played, d, err := p.play(t.Context(), story)
			require.ErrorIs(t, err, errPanicked)
			assert.Nil(t, d)
			assert.Equal(t, 2, played)
		})
	}
}

// withoutB answers as if there were no object b.
type withoutB struct{ http.RoundTripper }

func (t withoutB) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/b") {
		r = r.Clone(r.Context())
		r.URL.Path += "0"
	}
	return t.RoundTripper.RoundTrip(r)
}

func TestSameStory(t *testing.T) {
	p := playerOf(t)
	for name := range areas {
		assert.Equal(t, newStory(name, p.api, 7, 3), newStory(name, p.api, 7, 3), name)
		assert.NotEqual(t, newStory(name, p.api, 7, 3), newStory(name, p.api, 8, 3), name)
	}
}

func TestNormalize(t *testing.T) {
	a, b := newView("d1"), newView("d2")
	one := object{"metadata": object{"name": "d1", "uid": "00000000-0000-0000-0000-000000000001", "resourceVersion": "7", "creationTimestamp": "2020-01-01T00:00:00Z"}}
	other := object{"metadata": object{"name": "d2", "uid": "00000000-0000-0000-0000-000000000002", "resourceVersion": "9", "creationTimestamp": "2021-01-01T00:00:00Z"}}
	assert.Equal(t, a.normalize("", one), b.normalize("", other))
	one["metadata"].(object)["resourceVersion"] = "8"
	assert.NotEqual(t, a.normalize("", one), b.normalize("", other), "one version has changed, the other has not")
}

func playerOf(t *testing.T) *player {
	const token = "differ"
	var servers []*server
	for range 2 {
		srv, err := startOurs(token, "", "CBORServingAndStorage=true", "api/all=true")
		require.NoError(t, err)
		t.Cleanup(srv.Close)
		e := newServer(srv.URL, token)
		t.Cleanup(e.client.CloseIdleConnections)
		servers = append(servers, e)
	}
	p, err := newPlayer("00000", servers...)
	require.NoError(t, err)
	t.Cleanup(p.close)
	return p
}

func TestMoreErrors(t *testing.T) {
	const head = "failed to create typed patch object (/x; v1, Kind=Service): "
	for name, tt := range map[string]struct {
		message, than string
		want          bool
	}{
		"all of them":           {"errors:\n  .spec.ports: expected list\n  .unknown: field not declared in schema", ".unknown: field not declared in schema", true},
		"another unknown field": {".a: field not declared in schema", ".b: field not declared in schema", true},
		"another object":        {".a: field not declared in schema", ".spec.a: field not declared in schema", false},
		"one is missing":        {".a: field not declared in schema", "errors:\n  .a: field not declared in schema\n  .b: expected map", false},
		"no unknown field":      {"errors:\n  .a: expected map\n  .b: expected map", ".a: expected map", false},
	} {
		assert.Equal(t, tt.want, moreErrors(head+tt.message, head+tt.than), name)
	}
	const pruned = "failed to convert merged object to last applied version: "
	assert.True(t, moreErrors(pruned+"errors:\n  .a: expected map\n  .spec.b: field not declared in schema", pruned+".spec.b: field not declared in schema"))
}

func TestSameBeforeDiff(t *testing.T) {
	const real = "Forbidden: no changes\n  core.PodSpec{\n- \tVolumes: nil,\n  }\n"
	assert.True(t, sameBeforeDiff(real, "Forbidden: no changes\n@@ -1,2 +1,2 @@\n"))
	assert.False(t, sameBeforeDiff(real, "Forbidden: some changes\n@@ -1,2 +1,2 @@\n"))
	assert.False(t, sameBeforeDiff("a\n@@ -1,2 +1,3 @@\n", "a\n@@ -1,2 +1,2 @@\n"), "both print JSON")
}

// Played quickly, a story ends at the first answer with a server error, which both servers may give.
func TestQuick(t *testing.T) {
	p := playerOf(t)
	p.way = p.playQuickly
	story := []Step{get("/version"), get("/api/v1/namespaces/{id}"), get("/version")}
	played, d, err := p.way(t.Context(), story)
	require.NoError(t, err)
	assert.Nil(t, d, "404 is no failure")
	assert.Equal(t, len(story), played)
	p.servers[1].client.Transport = failing{p.servers[1].client.Transport}
	played, d, err = p.way(t.Context(), story)
	require.NoError(t, err)
	require.NotNil(t, d)
	assert.Equal(t, 2, played)
	assert.Contains(t, d.kind(), failed)
}

// failing answers 500 to requests for namespaces.
type failing struct{ http.RoundTripper }

func (t failing) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.Contains(r.URL.Path, "/namespaces/") {
		w := httptest.NewRecorder()
		http.Error(w, "broken", http.StatusInternalServerError)
		return w.Result(), nil
	}
	return t.RoundTripper.RoundTrip(r)
}

// A cache that is not ready is no answer.
func TestInitializing(t *testing.T) {
	p := playerOf(t)
	p.servers[0].client.Transport = &initializing{RoundTripper: p.servers[0].client.Transport, times: 2}
	played, d, err := p.play(t.Context(), []Step{get("/version")})
	require.NoError(t, err)
	assert.Nil(t, d)
	assert.Equal(t, 1, played)
}

// initializing answers 429 some times.
type initializing struct {
	http.RoundTripper
	times int
}

func (t *initializing) RoundTrip(r *http.Request) (*http.Response, error) {
	if t.times == 0 {
		return t.RoundTripper.RoundTrip(r)
	}
	t.times--
	w := httptest.NewRecorder()
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusTooManyRequests)
	_, _ = w.WriteString(`{"kind":"Status","message":"storage is (re)initializing"}`)
	return w.Result(), nil
}

// TestShards checks that each story is played by one of several shards.
func TestShards(t *testing.T) {
	shards := []selection{{only: -1, shard: explore.Shard{Index: 1, Count: 3}}, {only: -1, shard: explore.Shard{Index: 2, Count: 3}}, {only: -1, shard: explore.Shard{Index: 3, Count: 3}}}
	for number := range 7 {
		played := 0
		for _, s := range shards {
			if s.has(number) {
				played++
			}
		}
		assert.Equal(t, 1, played, "story %d", number)
	}
	all, single := selection{only: -1}, selection{only: 4}
	assert.True(t, all.has(5))
	assert.True(t, single.has(4))
	assert.False(t, single.has(5))
}
