//go:build go1.25

package fakeapi_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/faults"
)

// An agent is a client with a User-Agent.
type agent struct {
	*fakeapi.Server
	name string
	ctx  context.Context
}

// do makes a request and returns the status code, 0 if the connection breaks.
func (a agent) do(method, path, body string) int {
	r, _ := http.NewRequestWithContext(a.ctx, method, a.URL+path, strings.NewReader(body))
	r.Header.Set("User-Agent", a.name)
	r.Header.Set("Content-Type", "application/json")
	resp, err := a.Client().Do(r)
	if err != nil {
		return 0
	}
	resp.Body.Close()
	return resp.StatusCode
}

const configMaps = "/api/v1/namespaces/default/configmaps"

func (a agent) create(name string) int {
	return a.do("POST", configMaps, `{"metadata":{"name":"`+name+`"}}`)
}

// A log has lines of several goroutines.
type log struct {
	mu    sync.Mutex
	lines []string
}

func (l *log) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, line)
}

// take returns the lines since the last call.
func (l *log) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := l.lines
	l.lines = nil
	return out
}

// watch writes the types and names of events to a log, and "end" at the end.
func (a agent) watch(t *testing.T, received *log) {
	r, err := http.NewRequestWithContext(a.ctx, "GET", a.URL+configMaps+"?watch=1&resourceVersion="+fmt.Sprint(a.Revision()), nil)
	require.NoError(t, err)
	r.Header.Set("User-Agent", a.name)
	resp, err := a.Client().Do(r)
	require.NoError(t, err)
	go func() {
		defer resp.Body.Close()
		lines := bufio.NewScanner(resp.Body)
		for lines.Scan() {
			_, rest, _ := strings.Cut(lines.Text(), `"type":"`)
			typ, rest, _ := strings.Cut(rest, `"`)
			_, rest, _ = strings.Cut(rest, `"name":"`)
			name, _, _ := strings.Cut(rest, `"`)
			received.add("received " + typ + " " + name)
		}
		received.add("end")
	}()
}

// inBubble runs a test against a server in a bubble, with a client.
func inBubble(t *testing.T, test func(t *testing.T, srv *fakeapi.Server, client agent)) {
	synctest.Test(t, func(t *testing.T) {
		srv := fakeapi.Start(t, fakeapi.WithInMemory())
		test(t, srv, agent{srv, "manager/1.0", t.Context()})
	})
}

func injectAll(t *testing.T, srv *fakeapi.Server, faults ...faults.Fault) *faults.Injection {
	t.Helper()
	i, err := srv.Inject(faults...)
	require.NoError(t, err)
	return i
}

func TestEveryPoint(t *testing.T) {
	inBubble(t, func(t *testing.T, srv *fakeapi.Server, client agent) {
		var l log
		injectAll(t, srv, faults.EveryPoint(func(p *faults.Point) {
			l.add(fmt.Sprintf("%s %d %s", p, p.Code, p.ResourceVersion))
		})...)
		client.watch(t, &l)
		synctest.Wait()
		assert.Equal(t, []string{"beforeRequest: watch of configmaps default by manager/1.0 0 "}, l.take())
		assert.Equal(t, 201, client.create("a"))
		synctest.Wait()
		rev := fmt.Sprint(srv.Revision())
		got := l.take()
		assert.ElementsMatch(t, []string{
			"beforeRequest: create of configmaps default/a by manager/1.0 0 ",
			"afterCommit: create of configmaps default/a by manager/1.0 201 " + rev,
			"beforeDelivery: ADDED of configmaps default/a to manager/1.0 0 " + rev,
			"received ADDED a",
			"afterDelivery: ADDED of configmaps default/a to manager/1.0 0 " + rev,
		}, got)
		assert.Equal(t, "beforeRequest: create of configmaps default/a by manager/1.0 0 ", got[0])
	})
}

func TestDoAtRequest(t *testing.T) {
	for _, row := range []struct {
		name  string
		fault faults.Fault
		want  []int // answers to the creation of a, b and c
		left  []bool
	}{
		{"fail before", faults.Fault{Verb: "create", Skip: 1, Times: 1, Do: func(p *faults.Point) { p.Fail(500) }}, []int{201, 500, 201}, []bool{true, false, true}},
		{"lose the answer", faults.Fault{Verb: "create", At: faults.AfterCommit, Times: 1, Do: func(p *faults.Point) { p.Reset() }}, []int{0, 201, 201}, []bool{true, true, true}},
		{"fail after", faults.Fault{Verb: "create", At: faults.AfterCommit, Skip: 2, Do: func(p *faults.Point) { p.Fail(504) }}, []int{201, 201, 504}, []bool{true, true, true}},
		{"by name", faults.Fault{Verb: "create", Do: func(p *faults.Point) {
			if p.Name == "b" {
				p.Respond(faults.Fault{Code: 409, Message: "taken"})
			}
		}}, []int{201, 409, 201}, []bool{true, false, true}},
		{"does not respond", faults.Fault{Verb: "create", ServeFirst: true, Do: func(*faults.Point) {}}, []int{201, 201, 201}, []bool{true, true, true}},
	} {
		t.Run(row.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, srv *fakeapi.Server, client agent) {
				injectAll(t, srv, row.fault)
				var got []int
				var left []bool
				for _, name := range []string{"a", "b", "c"} {
					got = append(got, client.create(name))
					_, err := srv.Get("configmaps", "default", name)
					left = append(left, err == nil)
				}
				assert.Equal(t, row.want, got)
				assert.Equal(t, row.left, left)
			})
		})
	}
}

// A function of a fault can use the server, and what it does comes before the request
// goes on.
func TestDoUsesServer(t *testing.T) {
	inBubble(t, func(t *testing.T, srv *fakeapi.Server, client agent) {
		other := agent{srv, "other", t.Context()}
		var inner *faults.Injection
		injectAll(t, srv, faults.Fault{Verb: "create", UserAgent: "manager/*", Times: 1, At: faults.AfterCommit, Do: func(p *faults.Point) {
			assert.Equal(t, "a", p.Name)
			assert.Equal(t, 201, other.create("b"))
			require.NoError(t, srv.SetLag("configmaps", fakeapi.Lag{Frozen: true}))
			inner = injectAll(t, srv, faults.Fault{Resource: "configmaps", Code: 503})
			require.NoError(t, srv.Clock().Advance(time.Hour))
			srv.Compact(0)
			p.Note("the decision")
		}})
		assert.Equal(t, 201, client.create("a"))
		assert.Equal(t, 503, client.create("c"))
		assert.Equal(t, 1, inner.Hits())
		assert.Contains(t, srv.Story(), "the decision")
	})
}

// A client is crashed at a point of its own request or watch.
func TestCrash(t *testing.T) {
	for _, row := range []struct {
		name   string
		at     faults.Moment
		stored bool
	}{
		{"before the write", faults.BeforeRequest, false},
		{"after the write", faults.AfterCommit, true},
		{"before the delivery", faults.BeforeDelivery, true},
		{"after the delivery", faults.AfterDelivery, true},
	} {
		for _, cancels := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, the context ends: %t", row.name, cancels), func(t *testing.T) {
				inBubble(t, func(t *testing.T, srv *fakeapi.Server, client agent) {
					var cancel context.CancelFunc
					client.ctx, cancel = context.WithCancel(client.ctx)
					var received log
					client.watch(t, &received)
					f := faults.Fault{At: row.at, Resource: "configmaps", Times: 1, Do: func(*faults.Point) {
						if cancels {
							cancel()
						}
						srv.Disconnect("manager/*")
					}}
					if row.at == faults.BeforeRequest || row.at == faults.AfterCommit {
						f.Verb = "create"
					}
					injectAll(t, srv, f)
					writer := client
					if f.Verb == "" {
						writer = agent{srv, "other", t.Context()}
						assert.Equal(t, 201, writer.create("a"))
					} else {
						assert.Equal(t, 0, writer.create("a"))
					}
					synctest.Wait()
					_, err := srv.Get("configmaps", "default", "a")
					assert.Equal(t, row.stored, err == nil)
					want := []string{"end"}
					if row.at == faults.AfterDelivery && !cancels {
						want = []string{"received ADDED a", "end"}
					}
					got := received.take()
					if cancels { // what was sent may be read or not
						got, want = got[len(got)-1:], []string{"end"}
					}
					if row.at != faults.AfterCommit { // the event may be sent before the response
						assert.Equal(t, want, got)
					}
					cancel()
				})
			})
		}
	}
}

// The delivery of one object's deletion to one watch is held until it is released, and
// what follows it.
func TestHold(t *testing.T) {
	inBubble(t, func(t *testing.T, srv *fakeapi.Server, client agent) {
		other := agent{srv, "other", t.Context()}
		var stale, fresh log
		client.watch(t, &stale)
		other.watch(t, &fresh)
		release := func() {}
		i := injectAll(t, srv, faults.Fault{
			At: faults.BeforeDelivery, Event: "DELETED", Resource: "configmaps", Name: "a", UserAgent: "manager/*",
			Do: func(p *faults.Point) { release = p.Hold() },
		})
		for _, name := range []string{"a", "b"} {
			require.Equal(t, 201, other.create(name))
		}
		for _, name := range []string{"b", "a"} {
			require.Equal(t, 200, other.do("DELETE", configMaps+"/"+name, ""))
		}
		require.Equal(t, 201, other.create("c"))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		require.NoError(t, srv.Settle(ctx), "what is held does not keep the server from settling")
		before := []string{"received ADDED a", "received ADDED b", "received DELETED b"}
		after := []string{"received DELETED a", "received ADDED c"}
		assert.Equal(t, before, stale.take())
		assert.Equal(t, append(before, after...), fresh.take())
		assert.Equal(t, 1, i.Hits())
		release()
		synctest.Wait()
		assert.Equal(t, after, stale.take())
		release()
		require.Equal(t, 201, other.create("d"))
		synctest.Wait()
		assert.Equal(t, []string{"received ADDED d"}, stale.take())
	})
}

// A client that has given up goes on while a Do of its request waits.
func TestDoOutlivesItsClient(t *testing.T) {
	inBubble(t, func(t *testing.T, srv *fakeapi.Server, client agent) {
		release := make(chan struct{})
		injectAll(t, srv, faults.Fault{Verb: "create", Times: 1, Do: func(*faults.Point) { <-release }})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		assert.Zero(t, agent{srv, "manager", ctx}.create("a"), "the client gives up")
		close(release)
		synctest.Wait()
		assert.Equal(t, 201, client.create("a"), "nothing is created for a client that has gone")
	})
}

// A Do that waits keeps the server from settling.
func TestSettleWaitsForDo(t *testing.T) {
	for _, at := range []faults.Moment{faults.BeforeRequest, faults.AfterCommit, faults.BeforeDelivery, faults.AfterDelivery} {
		t.Run(string(at), func(t *testing.T) {
			inBubble(t, func(t *testing.T, srv *fakeapi.Server, client agent) {
				var received log
				client.watch(t, &received)
				injectAll(t, srv, faults.Fault{At: at, Resource: "configmaps", Do: func(p *faults.Point) {
					select {
					case <-time.After(10 * time.Second):
					case <-p.Context().Done():
					}
				}})
				go agent{srv, "other", t.Context()}.create("a")
				synctest.Wait()
				short, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				assert.ErrorIs(t, srv.Settle(short), fakeapi.ErrUnsettled)
				start := time.Now()
				assert.NoError(t, srv.Settle(t.Context()))
				assert.GreaterOrEqual(t, time.Since(start), 8*time.Second)
				assert.Equal(t, []string{"received ADDED a"}, received.take())
			})
		})
	}
}

// The context of a Point ends with the fault and with the client, so that a Do that waits
// outlives neither.
func TestPointContext(t *testing.T) {
	for name, end := range map[string]func(srv *fakeapi.Server, i *faults.Injection, cancel func()){
		"the fault is removed":       func(_ *fakeapi.Server, i *faults.Injection, _ func()) { i.Remove() },
		"the client is gone":         func(_ *fakeapi.Server, _ *faults.Injection, cancel func()) { cancel() },
		"the client is disconnected": func(srv *fakeapi.Server, _ *faults.Injection, _ func()) { srv.Disconnect("*") },
		"the server closes":          func(srv *fakeapi.Server, _ *faults.Injection, _ func()) { srv.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, srv *fakeapi.Server, client agent) {
				var cancel context.CancelFunc
				client.ctx, cancel = context.WithCancel(client.ctx)
				defer cancel()
				var l log
				i := injectAll(t, srv, faults.Fault{Verb: "create", Do: func(p *faults.Point) {
					<-p.Context().Done()
					l.add("ended")
				}})
				go client.create("a")
				synctest.Wait()
				assert.Empty(t, l.take())
				end(srv, i, cancel)
				synctest.Wait()
				assert.Equal(t, []string{"ended"}, l.take())
			})
		})
	}
}

// Controllers of the server reach points too, and the clock can be advanced there.
func TestDoOfController(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithManualClock(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)), fakeapi.WithControllers("serviceaccount-controller"))
	var l log
	injectAll(t, srv, faults.Fault{Verb: "create", Resource: "serviceaccounts", At: faults.AfterCommit, Times: 1, Do: func(p *faults.Point) {
		l.add(p.UserAgent[:strings.Index(p.UserAgent, "/")])
		require.NoError(t, srv.Clock().Advance(time.Minute))
	}})
	require.Equal(t, 201, agent{srv, "test", t.Context()}.do("POST", "/api/v1/namespaces", `{"metadata":{"name":"shop"}}`))
	require.NoError(t, srv.Settle(t.Context()))
	assert.Equal(t, []string{"kube-controller-manager"}, l.take())
}

// Actions are requests to the control endpoint, which faults in files make.
func TestActions(t *testing.T) {
	inBubble(t, func(t *testing.T, srv *fakeapi.Server, client agent) {
		faults, err := faults.Parse([]byte(`
- verb: create
  resource: configmaps
  at: afterCommit
  times: 1
  reset: true
  do:
  - lag: {resource: configmaps, frozen: true}
  - changeObjects: {store: [{apiVersion: v1, kind: ConfigMap, metadata: {namespace: default, name: put}}]}
  - injectFaults: {id: busy, verb: create, code: 503}
  - disconnect: {userAgent: "manager/*"}
- {verb: get, resource: configmaps, do: [{removeFaults: {id: [busy]}}, {endLag: {resource: configmaps}}]}
`))
		require.NoError(t, err)
		var received log
		client.watch(t, &received)
		injectAll(t, srv, faults...)
		assert.Equal(t, 0, client.create("a"))
		synctest.Wait()
		assert.Contains(t, received.take(), "end")
		_, err = srv.Get("configmaps", "default", "put")
		require.NoError(t, err)
		cached, err := srv.CachedRevision("configmaps")
		require.NoError(t, err)
		assert.Equal(t, srv.Revision()-1, cached)
		assert.Equal(t, 503, client.create("b"))
		assert.Equal(t, 200, client.do("GET", configMaps+"/a", ""))
		assert.Equal(t, 201, client.create("b"))
		cached, err = srv.CachedRevision("configmaps")
		require.NoError(t, err)
		assert.Equal(t, srv.Revision(), cached)
		assert.Contains(t, srv.Story(), "disconnect")
	})
}

func TestInvalidActions(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	for _, row := range []struct{ fault, want string }{
		{`{do: [{explode: {}}]}`, "do: explode: the control endpoint has no operation of that name"},
		{`{do: [{story: {}}]}`, "do: story: the operation only reads"},
		{`{do: [{settle: {}}]}`, "do: settle: a fault cannot wait until the server has settled"},
		{`{do: [{lag: {frosty: true}}]}`, `do: lag: the body cannot be decoded: json: unknown field "frosty"`},
		{`{do: [{removeFaults: {name: a}}]}`, `do: removeFaults: unknown field "name"`},
		{`{at: never, code: 500}`, `at: "never" is not one of`},
		{`{at: beforeDelivery, code: 500}`, "at: a response cannot be replaced at beforeDelivery"},
		{`{at: beforeDelivery, verb: get, watch: close}`, "verb: only a watch has a beforeDelivery"},
		{`{event: ADDED, watch: close}`, "event: the fault is not at beforeDelivery or afterDelivery"},
		{`{at: beforeDelivery, event: GONE, watch: close}`, `event: "GONE" is not one of ADDED`},
		{`{at: beforeDelivery, watch: close, afterEvents: 2}`, "at: eventDelay, eventRate, withholdBookmarks and afterEvents are for whole watches"},
	} {
		list, err := faults.Parse([]byte(row.fault))
		if err == nil {
			_, err = srv.Inject(list...)
		}
		assert.ErrorIs(t, err, faults.ErrInvalid, row.fault)
		assert.ErrorContains(t, err, row.want)
	}
}

// A watch fault at a delivery hits the watch at that very event.
func TestWatchFaultAtDelivery(t *testing.T) {
	for _, row := range []struct {
		name  string
		fault faults.Fault
		want  []string
	}{
		{"reset before", faults.Fault{At: faults.BeforeDelivery, Name: "b", Watch: faults.ResetWatch}, []string{"received ADDED a", "end"}},
		{"close after", faults.Fault{At: faults.AfterDelivery, Name: "b", Watch: faults.CloseWatch}, []string{"received ADDED a", "received ADDED b", "end"}},
		{"pause before", faults.Fault{At: faults.BeforeDelivery, Name: "b", Watch: faults.PauseWatch}, []string{"received ADDED a"}},
		{"pause after", faults.Fault{At: faults.AfterDelivery, Name: "b", Watch: faults.PauseWatch}, []string{"received ADDED a", "received ADDED b"}},
		{"skip", faults.Fault{At: faults.BeforeDelivery, Skip: 2, Watch: faults.PauseWatch}, []string{"received ADDED a", "received ADDED b"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, srv *fakeapi.Server, client agent) {
				i := injectAll(t, srv, row.fault)
				var received log
				client.watch(t, &received)
				for _, name := range []string{"a", "b", "c"} {
					require.Equal(t, 201, client.create(name))
				}
				synctest.Wait()
				assert.Equal(t, row.want, received.take())
				i.Remove()
				synctest.Wait()
				if row.fault.Watch == faults.PauseWatch {
					assert.Equal(t, 3, len(row.want)+len(received.take()))
				}
			})
		})
	}
}

func TestPartition(t *testing.T) {
	inBubble(t, func(t *testing.T, srv *fakeapi.Server, client agent) {
		var received log
		client.watch(t, &received)
		i := injectAll(t, srv, faults.Partition("manager/*")...)
		assert.Equal(t, 0, client.create("a"))
		assert.Equal(t, 201, agent{srv, "other", t.Context()}.create("a"))
		synctest.Wait()
		assert.Empty(t, received.take())
		i.Remove()
		synctest.Wait()
		assert.Equal(t, []string{"received ADDED a"}, received.take())
		assert.Equal(t, 201, client.create("b"))
	})
}
