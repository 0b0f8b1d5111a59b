package reflector_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/reflector"
)

// answers are a server: GET requests with their answers, each of which is used once, the last one again.
type answers struct {
	mu   sync.Mutex // guards the map
	next map[string][]string
}

func (a *answers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	all := a.next[r.URL.String()]
	if len(all) == 0 {
		w.WriteHeader(http.StatusNotFound)
		w.Write([]byte(`{"kind":"Status","message":"nothing at ` + r.URL.String() + `"}`))
		return
	}
	if a.next[r.URL.String()] = all[1:]; len(all) == 1 {
		a.next[r.URL.String()] = all
	}
	w.Write([]byte(all[0]))
}

// A sink keeps what reflectors observe, until it is full.
type sink struct {
	got  []string
	full func(n int)
}

func (s *sink) Add(t *reflector.Type, obj map[string]any, deleted bool) {
	line := t.String() + " " + obj["metadata"].(map[string]any)["name"].(string)
	if deleted {
		line += " deleted"
	}
	s.got = append(s.got, line)
	s.full(len(s.got))
}

func (s *sink) Reached() {}

func (s *sink) Unreachable(cause error) error { return cause }

func TestReflector(t *testing.T) {
	object := func(name, version string) string {
		return `{"metadata":{"name":"` + name + `","resourceVersion":"` + version + `"}}`
	}
	list := func(version, items string) string {
		return `{"metadata":{"resourceVersion":"` + version + `"},"items":[` + items + `]}`
	}
	const watch = "/apis/shop.example.com/v1/things?allowWatchBookmarks=true&resourceVersion=5&watch=1"
	srv := httptest.NewServer(&answers{next: map[string][]string{
		"/apis":                            {`{"groups":[{"name":"shop.example.com","preferredVersion":{"version":"v1"}},{"name":"metrics.k8s.io","preferredVersion":{"version":"v1"}}]}`},
		"/api/v1":                          {`{"resources":[{"name":"pods","kind":"Pod","namespaced":true,"verbs":["list","watch"]},{"name":"bindings","verbs":["create"]}]}`},
		"/apis/shop.example.com/v1":        {`{"resources":[{"name":"things","kind":"Thing","verbs":["list","watch"]}]}`},
		"/apis/shop.example.com/v1/things": {list("5", object("a", "3")+","+object("b", "4")), list("9", object("b", "8")+","+object("d", "9"))},
		watch:                              {`{"type":"ADDED","object":` + object("c", "6") + `}{"type":"ERROR","object":{"code":410,"message":"too old"}}`},
	}})
	defer srv.Close()
	c := &reflector.Client{URL: srv.URL, HTTP: srv.Client()}
	types, unavailable, err := c.Types(context.Background())
	require.NoError(t, err)
	assert.ErrorContains(t, unavailable, "metrics.k8s.io")
	require.Len(t, types, 2)
	assert.Equal(t, "/api/v1/namespaces/default/pods", types[0].Path("default"))

	ctx, cancel := context.WithCancel(context.Background())
	s := &sink{full: func(n int) {
		if n == 5 {
			cancel()
		}
	}}
	r := &reflector.Reflector{Client: c, Sink: s, Type: types[1], Path: types[1].Path("")}
	objects, err := r.List(ctx)
	require.NoError(t, err)
	assert.Len(t, objects, 2)
	assert.NoError(t, r.Run(ctx))
	assert.Equal(t, []string{
		"things.shop.example.com c",
		"things.shop.example.com b", "things.shop.example.com d", "things.shop.example.com a deleted", "things.shop.example.com c deleted",
	}, s.got, "an event, and the differences of a list after 410")

	var refused *reflector.Error
	assert.ErrorAs(t, c.Get(context.Background(), "/nothing", &struct{}{}), &refused)
	assert.Equal(t, &reflector.Error{Code: 404, Message: "nothing at /nothing"}, refused)
}

// A request that is refused with 429 and Retry-After is repeated, as often as client-go does.
func TestRetryAfter(t *testing.T) {
	requests, served := 0, 3
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if requests++; requests < served {
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusTooManyRequests)
		}
		w.Write([]byte(`{"message":"storage is (re)initializing"}`))
	}))
	defer srv.Close()
	c := &reflector.Client{URL: srv.URL, HTTP: srv.Client()}
	assert.NoError(t, c.Get(context.Background(), "/apis", &struct{}{}))
	assert.Equal(t, 3, requests)

	requests, served = 0, 100
	var refused *reflector.Error
	require.ErrorAs(t, c.Get(context.Background(), "/apis", &struct{}{}), &refused)
	assert.Equal(t, &reflector.Error{Code: 429, Message: "storage is (re)initializing"}, refused)
	assert.Equal(t, 11, requests)
}
