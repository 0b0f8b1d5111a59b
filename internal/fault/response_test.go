//go:build go1.25

package fault

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi/faults"
	"github.com/kubefake/kubefake/httptest"
	"github.com/kubefake/kubefake/internal/clock"
)

// A backend counts the requests that it serves.
type backend struct{ served atomic.Int32 }

const body = "served\n"

func (b *backend) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.served.Add(1)
	w.Header().Set("Content-Type", "text/plain")
	w.WriteHeader(http.StatusCreated)
	io.WriteString(w, body)
}

// serve starts a server with a handler behind faults.
func serve(t *testing.T, s *Set, next http.Handler, o httptest.Options) *httptest.Server {
	t.Helper()
	srv, err := httptest.Start(s.Handler(next), o)
	require.NoError(t, err)
	t.Cleanup(srv.Close)
	return srv
}

var inMemory = httptest.Options{InMemory: true}

// ask makes a request and returns the response and its body.
func ask(t *testing.T, srv *httptest.Server, method, path string) (*http.Response, string, error) {
	t.Helper()
	r, err := http.NewRequest(method, srv.URL+path, nil)
	require.NoError(t, err)
	r.Header.Set("Accept", "application/json")
	resp, err := srv.Client().Do(r)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp, string(b), err
}

func TestCodes(t *testing.T) {
	const web = "/apis/apps/v1/namespaces/shop/deployments/web"
	details := `"details":{"name":"web","group":"apps","kind":"deployments"}`
	for _, row := range []struct {
		name       string
		fault      faults.Fault
		method     string
		retryAfter string
		want       string // JSON without the fields that all failures have
	}{
		{"conflict", faults.Fault{Code: 409}, "PUT", "",
			`"message":"Operation cannot be fulfilled on deployments.apps \"web\": the object has been modified; please apply your changes to the latest version and try again","reason":"Conflict",` + details},
		{"conflict of a create", faults.Fault{Code: 409}, "POST", "",
			`"message":"deployments.apps \"web\" already exists","reason":"AlreadyExists",` + details},
		{"not found", faults.Fault{Code: 404}, "GET", "",
			`"message":"deployments.apps \"web\" not found","reason":"NotFound",` + details},
		{"forbidden", faults.Fault{Code: 403}, "GET", "",
			`"message":"deployments.apps \"web\" is forbidden: not permitted","reason":"Forbidden",` + details},
		{"unauthorized", faults.Fault{Code: 401}, "GET", "", `"message":"Unauthorized","reason":"Unauthorized"`},
		{"expired", faults.Fault{Code: 410}, "GET", "",
			`"message":"The resourceVersion for the provided list is too old.","reason":"Expired"`},
		{"etcd timeout", faults.Fault{Code: 500}, "GET", "", `"message":"etcdserver: request timed out"`},
		{"unavailable", faults.Fault{Code: 503, RetryAfter: 1500 * time.Millisecond}, "GET", "2",
			`"message":"the server is currently unable to handle the request","reason":"ServiceUnavailable","details":{"retryAfterSeconds":2}`},
		{"timeout", faults.Fault{Code: 504}, "GET", "",
			`"message":"Timeout: request did not complete within the allotted timeout","reason":"Timeout","details":{}`},
		{"another code", faults.Fault{Code: 502}, "GET", "", `"message":"Bad Gateway"`},
		{"reason and message", faults.Fault{Code: 500, Reason: "InternalError", Message: "no etcd"}, "GET", "", `"message":"no etcd","reason":"InternalError"`},
		{"message for too many requests", faults.Fault{Code: 429, Message: "the budget is spent", RetryAfter: time.Second}, "GET", "1",
			`"message":"the budget is spent","reason":"TooManyRequests","details":{"retryAfterSeconds":1}`},
	} {
		t.Run(row.name, func(t *testing.T) {
			s, b := newTestSet(), &backend{}
			r := inject(t, s, row.fault)
			resp, got, err := ask(t, serve(t, s, b, inMemory), row.method, web)
			require.NoError(t, err)
			assert.Equal(t, row.fault.Code, resp.StatusCode)
			assert.Equal(t, row.retryAfter, resp.Header.Get("Retry-After"))
			assert.Equal(t, "application/json", resp.Header.Get("Content-Type"))
			want := `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",` + row.want + fmt.Sprintf(`,"code":%d}`, row.fault.Code)
			assert.JSONEq(t, want, got)
			assert.Zero(t, b.served.Load())
			assert.Equal(t, 1, r.Hits())
		})
	}
}

// API priority and fairness responds without a Status.
func TestTooManyRequests(t *testing.T) {
	s := newTestSet()
	inject(t, s, faults.Fault{Code: 429, RetryAfter: 3 * time.Second, Times: 1})
	inject(t, s, faults.Fault{Code: 429})
	srv := serve(t, s, &backend{}, inMemory)
	for _, retryAfter := range []string{"3", "1"} {
		resp, got, err := ask(t, srv, "GET", pods)
		require.NoError(t, err)
		assert.Equal(t, 429, resp.StatusCode)
		assert.Equal(t, retryAfter, resp.Header.Get("Retry-After"))
		assert.Equal(t, "text/plain; charset=utf-8", resp.Header.Get("Content-Type"))
		assert.Equal(t, "Too many requests, please try again later.\n", got)
	}
}

func TestReset(t *testing.T) {
	for name, o := range map[string]httptest.Options{"HTTP/1.1": {}, "HTTP/2": {TLS: true}, "in memory": inMemory} {
		for _, serveFirst := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, serve first: %t", name, serveFirst), func(t *testing.T) {
				s, b := newTestSet(), &backend{}
				r := inject(t, s, faults.Fault{Reset: true, ServeFirst: serveFirst, Times: 1})
				srv := serve(t, s, b, o)
				// PUT, because net/http retries a GET.
				_, _, err := ask(t, srv, "PUT", pods+"/web")
				require.Error(t, err)
				if !o.TLS {
					assert.ErrorIs(t, err, syscall.ECONNRESET)
				}
				assert.Equal(t, serveFirst, b.served.Load() == 1)
				assert.Equal(t, 1, r.Hits())

				_, got, err := ask(t, srv, "PUT", pods+"/web")
				require.NoError(t, err)
				assert.Equal(t, body, got)
			})
		}
	}
}

func TestCut(t *testing.T) {
	for _, row := range []struct {
		name          string
		cutAfterBytes int
		want          string
	}{
		{"in the middle", 3, body[:3]},
		{"one before the end", len(body) - 1, body[:len(body)-1]},
		{"beyond the end", 1000, body[:len(body)-1]},
	} {
		t.Run(row.name, func(t *testing.T) {
			s, b := newTestSet(), &backend{}
			r := inject(t, s, faults.Fault{CutAfterBytes: row.cutAfterBytes})
			resp, got, err := ask(t, serve(t, s, b, httptest.Options{}), "GET", pods)
			assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
			assert.Equal(t, http.StatusCreated, resp.StatusCode)
			assert.Equal(t, row.want, got)
			assert.Equal(t, int32(1), b.served.Load())
			assert.Equal(t, 1, r.Hits())
		})
	}
	t.Run("empty body", func(t *testing.T) {
		s := newTestSet()
		r := inject(t, s, faults.Fault{CutAfterBytes: 3})
		empty := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
		_, _, err := ask(t, serve(t, s, empty, inMemory), "GET", pods)
		assert.NoError(t, err)
		assert.Zero(t, r.Hits())
	})
}

func TestServeFirst(t *testing.T) {
	s, b := newTestSet(), &backend{}
	r := inject(t, s, faults.Fault{Code: 504, ServeFirst: true, Times: 1})
	srv := serve(t, s, b, inMemory)
	resp, _, err := ask(t, srv, "POST", pods)
	require.NoError(t, err)
	assert.Equal(t, 504, resp.StatusCode)
	assert.Equal(t, int32(1), b.served.Load(), "the request was served")
	assert.Equal(t, 1, r.Hits())

	inject(t, s, faults.Fault{Reset: true, ServeFirst: true})
	srv = serve(t, s, b, inMemory)
	resp, _, err = ask(t, srv, "GET", pods+"?watch=1")
	require.NoError(t, err, "serveFirst does not apply to watches")
	assert.Equal(t, http.StatusCreated, resp.StatusCode)
}

func TestDelay(t *testing.T) {
	for _, row := range []struct {
		name   string
		faults []faults.Fault
		want   time.Duration
		served time.Duration // when the backend was called; -1 for never
		code   int
	}{
		{"before serving", []faults.Fault{{Delay: time.Second}}, time.Second, time.Second, 201},
		{"after serving", []faults.Fault{{Delay: time.Second, ServeFirst: true}}, time.Second, 0, 201},
		{"two delays", []faults.Fault{{Delay: time.Second}, {Delay: time.Minute}}, 61 * time.Second, 61 * time.Second, 201},
		{"before and after serving", []faults.Fault{{Delay: time.Minute, ServeFirst: true}, {Delay: time.Second}}, 61 * time.Second, time.Second, 201},
		{"before a code", []faults.Fault{{Delay: time.Second}, {Delay: time.Second, Code: 500}}, 2 * time.Second, -1, 500},
		{"before a code after serving", []faults.Fault{{Delay: time.Second, Code: 500, ServeFirst: true}}, time.Second, 0, 500},
		{"behind a fault that responds", []faults.Fault{{Code: 500}, {Delay: time.Second}}, 0, -1, 500},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newTestSet()
				start, served := time.Now(), time.Duration(-1)
				_, err := s.Inject(row.faults...)
				require.NoError(t, err)
				srv := serve(t, s, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					served = time.Since(start)
					w.WriteHeader(http.StatusCreated)
				}), inMemory)
				resp, _, err := ask(t, srv, "POST", pods)
				require.NoError(t, err)
				assert.Equal(t, row.code, resp.StatusCode)
				assert.Equal(t, row.want, time.Since(start))
				assert.Equal(t, row.served, served)
			})
		})
	}
}

func TestDelayEnds(t *testing.T) {
	for name, end := range map[string]func(r *Rule, cancel func(), closeSet func(), c *clock.Clock){
		"when the fault is removed":  func(r *Rule, _ func(), _ func(), _ *clock.Clock) { r.Remove() },
		"when the server closes":     func(_ *Rule, _ func(), closeSet func(), _ *clock.Clock) { closeSet() },
		"when the client cancels":    func(_ *Rule, cancel func(), _ func(), _ *clock.Clock) { cancel() },
		"when the clock is advanced": func(_ *Rule, _ func(), _ func(), c *clock.Clock) { c.Advance(time.Hour) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &backend{}
				ended, closeSet := context.WithCancel(t.Context())
				c := clock.NewManual(time.Now())
				s := NewSet(Options{Clock: c, Context: ended})
				r := inject(t, s, faults.Fault{Delay: time.Hour})
				srv := serve(t, s, b, inMemory)
				ctx, cancel := context.WithCancel(t.Context())
				q, err := http.NewRequestWithContext(ctx, "GET", srv.URL+pods, nil)
				require.NoError(t, err)
				done := make(chan error)
				go func() {
					resp, err := srv.Client().Do(q)
					if err == nil {
						resp.Body.Close()
					}
					done <- err
				}()
				synctest.Wait()
				assert.Zero(t, b.served.Load())
				end(r, cancel, closeSet, c)
				err = <-done
				cancel()
				synctest.Wait()
				assert.Equal(t, err == nil, b.served.Load() == 1, "a cancelled request is not served")
				assert.True(t, err == nil || errors.Is(err, context.Canceled), err)
			})
		})
	}
}

func TestExpireContinue(t *testing.T) {
	s, b := newTestSet(), &backend{}
	r := inject(t, s, faults.Fault{ExpireContinue: true})
	srv := serve(t, s, b, inMemory)

	// {"v":"meta.k8s.io/v1","rv":5,"start":"a\u0000"}
	const token = "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6NSwic3RhcnQiOiJhXHUwMDAwIn0"
	resp, got, err := ask(t, srv, "GET", pods+"?limit=1&continue="+token)
	require.NoError(t, err)
	assert.Equal(t, http.StatusGone, resp.StatusCode)
	// {"v":"meta.k8s.io/v1","rv":-1,"start":"a\u0000"}
	assert.Contains(t, got, `"continue":"eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6LTEsInN0YXJ0IjoiYVx1MDAwMCJ9"`)
	assert.Contains(t, got, `"reason":"Expired"`)
	assert.Contains(t, got, "The provided continue parameter is too old to display a consistent list result.")

	resp, got, err = ask(t, srv, "GET", pods+"?continue=bogus")
	require.NoError(t, err)
	assert.Equal(t, http.StatusBadRequest, resp.StatusCode)
	assert.Contains(t, got, "continue key is not valid")

	assert.Equal(t, 2, r.Hits())
	for _, path := range []string{pods, pods + "?limit=1", pods + "/a?continue=" + token} {
		_, got, err = ask(t, srv, "GET", path)
		require.NoError(t, err)
		assert.Equal(t, body, got, "%s is not a list with a continue token", path)
	}
	assert.Equal(t, 2, r.Matched())
}

func TestFailureMediaTypes(t *testing.T) {
	s := newTestSet()
	inject(t, s, faults.Fault{Code: 500})
	srv := serve(t, s, &backend{}, inMemory)
	for accept, want := range map[string]string{
		"application/vnd.kubernetes.protobuf": "k8s\x00",
		"application/yaml":                    "apiVersion: v1\n",
		"application/json":                    `{"kind":"Status"`,
		"text/html":                           "{\n",
	} {
		r, err := http.NewRequest("GET", srv.URL+pods, nil)
		require.NoError(t, err)
		r.Header.Set("Accept", accept)
		resp, err := srv.Client().Do(r)
		require.NoError(t, err)
		b, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		resp.Body.Close()
		assert.True(t, strings.HasPrefix(string(b), want), "%s: %q", accept, b)
	}
}

func TestHits(t *testing.T) {
	var hits []string
	s := NewSet(Options{Clock: clock.New(), OnHit: func(h Hit) { hits = append(hits, h.UserAgent+": "+h.String()) }})
	inject(t, s, faults.Fault{Code: 500, Times: 1})
	srv := serve(t, s, &backend{}, inMemory)
	for range 2 {
		_, _, err := ask(t, srv, "DELETE", pods+"/web")
		require.NoError(t, err)
	}
	assert.Equal(t, []string{"Go-http-client/1.1: 500: delete of " + pods + "/web"}, hits)
}
