//go:build go1.25

package fault

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	nethttptest "net/http/httptest"
	"slices"
	"strings"
	"sync"
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
	"github.com/kubefake/kubefake/internal/codec"
	"github.com/kubefake/kubefake/internal/route"
	"github.com/kubefake/kubefake/internal/wire"
)

// A watchBackend is a backend whose watches send what the test writes.
type watchBackend struct {
	format  codec.Format
	written chan []byte // bytes to write and flush
	open    atomic.Int32
}

func (b *watchBackend) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.open.Add(1)
	defer b.open.Add(-1)
	w.Header().Set("Content-Type", b.format.StreamMediaType())
	w.WriteHeader(http.StatusOK)
	flush := http.NewResponseController(w).Flush
	flush()
	for {
		select {
		case p, more := <-b.written:
			if !more {
				return
			}
			if _, err := w.Write(p); err != nil {
				return
			}
			flush()
		case <-r.Context().Done():
			return
		}
	}
}

// event returns an event with a type and the name of its object.
func (b *watchBackend) event(typ, name string) []byte {
	status, ok := wire.ForKind("meta.k8s.io", "v1", "Status")
	if !ok {
		panic("no type for Status")
	}
	object := fmt.Appendf(nil, `{"kind":"Status","apiVersion":"v1","metadata":{},"message":"[%s]"}`, name)
	return b.format.AppendEvent(nil, typ, b.format.Append(nil, object, status))
}

func (b *watchBackend) send(events ...[]byte) {
	for _, e := range events {
		b.written <- e
	}
}

// A receivedEvent is an event that a client has received, and when.
type receivedEvent struct {
	event string
	after time.Duration
}

// A watcher is a client with a watch.
type watcher struct {
	start  time.Time
	cancel context.CancelFunc

	mu       sync.Mutex // guards the fields below
	received []receivedEvent
	end      error
}

// events returns the received events.
func (w *watcher) events() []receivedEvent {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.received)
}

// err returns the error that ended the watch; nil while it is open.
func (w *watcher) err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.end
}

func (w *watcher) names() (names []string) {
	for _, e := range w.events() {
		names = append(names, e.event)
	}
	return names
}

func (w *watcher) ended(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.end = err
}

// receive adds the complete events in b and returns the rest.
func (w *watcher) receive(format codec.Format, b []byte) []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	for n := format.NextEvent(b); n > 0; n = format.NextEvent(b) {
		_, name, _ := strings.Cut(string(b[:n]), "[")
		name, _, _ = strings.Cut(name, "]")
		w.received = append(w.received, receivedEvent{strings.TrimSpace(format.EventType(b[:n]) + " " + name), time.Since(w.start)})
		b = b[n:]
	}
	return b
}

// watch starts a watch of pods. Call synctest.Wait before reading its events.
func watch(t *testing.T, srv *httptest.Server, format codec.Format) *watcher {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	w := &watcher{start: time.Now(), cancel: cancel}
	q, err := http.NewRequestWithContext(ctx, "GET", srv.URL+pods+"?watch=1", nil)
	require.NoError(t, err)
	q.Header.Set("User-Agent", "controller")
	go func() {
		resp, err := srv.Client().Do(q)
		if err != nil {
			w.ended(err)
			return
		}
		defer resp.Body.Close()
		var rest []byte
		p := make([]byte, 1<<20)
		for err == nil {
			var n int
			n, err = resp.Body.Read(p)
			rest = w.receive(format, append(rest, p[:n]...))
		}
		w.ended(err)
	}()
	return w
}

// bubble runs a test of watches in a synctest bubble.
func bubble(t *testing.T, test func(t *testing.T, s *Set, b *watchBackend, srv *httptest.Server)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s, b := newTestSet(), &watchBackend{written: make(chan []byte)}
		test(t, s, b, serve(t, s, b, inMemory))
	})
}

func TestWatchWithoutMatchingFault(t *testing.T) {
	bubble(t, func(t *testing.T, s *Set, b *watchBackend, srv *httptest.Server) {
		w := watch(t, srv, b.format)
		inject(t, s, faults.Fault{Resource: "nodes", Watch: faults.CloseWatch})
		inject(t, s, faults.Fault{UserAgent: "kubectl*", Watch: faults.CloseWatch})
		a := b.event("ADDED", "a")
		b.send(a[:5], a[5:], append(b.event("ADDED", "b"), b.event("ADDED", "c")...))
		synctest.Wait()
		assert.Equal(t, []string{"ADDED a", "ADDED b", "ADDED c"}, w.names())
		b.send([]byte(`{"type`))
		close(b.written)
		synctest.Wait()
		assert.Equal(t, io.EOF, w.err())
	})
}

func TestWatchEnds(t *testing.T) {
	for _, row := range []struct {
		watch faults.WatchEffect
		err   error
		last  []string
	}{
		{faults.CloseWatch, io.EOF, nil},
		{faults.ResetWatch, syscall.ECONNRESET, nil},
		{faults.ExpireWatch, io.EOF, []string{"ERROR"}},
	} {
		for _, watches := range []faults.WatchSelection{"", faults.OpenWatches} {
			t.Run(fmt.Sprintf("%s, open at the time: %q", row.watch, watches), func(t *testing.T) {
				bubble(t, func(t *testing.T, s *Set, b *watchBackend, srv *httptest.Server) {
					w := watch(t, srv, b.format)
					synctest.Wait()
					b.send(b.event("ADDED", "a"))
					synctest.Wait()
					r := inject(t, s, faults.Fault{Watch: row.watch, Watches: watches})
					synctest.Wait()
					assert.ErrorIs(t, w.err(), row.err, "the watch ends without another event")
					assert.Equal(t, append([]string{"ADDED a"}, row.last...), w.names())
					assert.Equal(t, 1, r.Hits())
					assert.Zero(t, b.open.Load(), "the backend has stopped")

					next := watch(t, srv, b.format)
					synctest.Wait()
					if watches == faults.OpenWatches {
						assert.NoError(t, next.err(), "a later watch is not hit")
					} else {
						assert.ErrorIs(t, next.err(), row.err)
					}
				})
			})
		}
	}
}

func TestWatchEndsAfterEvents(t *testing.T) {
	for _, format := range []codec.Format{codec.JSON, codec.Protobuf, codec.CBOR} {
		t.Run(format.StreamMediaType(), func(t *testing.T) {
			bubble(t, func(t *testing.T, s *Set, b *watchBackend, srv *httptest.Server) {
				b.format = format
				r := inject(t, s, faults.Fault{Watch: faults.ExpireWatch, AfterEvents: 2, Times: 1, Watches: faults.NewWatches})
				w := watch(t, srv, format)
				b.send(b.event("ADDED", "a"), b.event("BOOKMARK", "b"))
				synctest.Wait()
				assert.NoError(t, w.err())
				assert.Zero(t, r.Hits())
				// Both in one write: the second is not sent.
				b.send(append(b.event("ADDED", "c"), b.event("ADDED", "d")...))
				synctest.Wait()
				assert.Equal(t, io.EOF, w.err())
				assert.Equal(t, []string{"ADDED a", "BOOKMARK b", "ADDED c", "ERROR"}, w.names())
				assert.Equal(t, 1, r.Hits())
			})
		})
	}
}

func TestNewWatches(t *testing.T) {
	bubble(t, func(t *testing.T, s *Set, b *watchBackend, srv *httptest.Server) {
		open := watch(t, srv, b.format)
		synctest.Wait()
		r := inject(t, s, faults.Fault{Watch: faults.ExpireWatch, Watches: faults.NewWatches, Times: 1})
		next := watch(t, srv, b.format)
		synctest.Wait()
		after := watch(t, srv, b.format)
		synctest.Wait()
		assert.NoError(t, open.err())
		assert.Equal(t, io.EOF, next.err())
		assert.Equal(t, []string{"ERROR"}, next.names())
		assert.NoError(t, after.err())
		assert.Equal(t, 1, r.Hits())
		assert.False(t, s.Active())
	})
}

func TestOpenWatchesOrder(t *testing.T) {
	bubble(t, func(t *testing.T, s *Set, b *watchBackend, srv *httptest.Server) {
		var watchers []*watcher
		for range 5 {
			watchers = append(watchers, watch(t, srv, b.format))
			synctest.Wait()
		}
		inject(t, s, faults.Fault{Watch: faults.CloseWatch, Skip: 1, Times: 2})
		synctest.Wait()
		var ended []bool
		for _, w := range watchers {
			ended = append(ended, w.err() != nil)
		}
		assert.Equal(t, []bool{false, true, true, false, false}, ended)
	})
}

// A rule that the limit of rules removes lets go of the watches that it pauses.
func TestMaxRulesOfPausedWatch(t *testing.T) {
	bubble(t, func(t *testing.T, s *Set, b *watchBackend, srv *httptest.Server) {
		w := watch(t, srv, b.format)
		synctest.Wait()
		inject(t, s, faults.Fault{Watch: faults.PauseWatch, Watches: faults.OpenWatches})
		b.send(b.event("ADDED", "a"))
		synctest.Wait()
		assert.Empty(t, w.names())
		for range maxRules {
			inject(t, s, faults.Fault{Resource: "nodes", Watch: faults.CloseWatch, Watches: faults.OpenWatches})
		}
		s.Clear()
		synctest.Wait()
		assert.Equal(t, []string{"ADDED a"}, w.names())
	})
}

// Matches may use the Set, also for a fault that hits watches.
func TestMatchesInjects(t *testing.T) {
	bubble(t, func(t *testing.T, s *Set, b *watchBackend, srv *httptest.Server) {
		open := watch(t, srv, b.format)
		synctest.Wait()
		var matched int
		r := inject(t, s, faults.Fault{Watch: faults.CloseWatch, Matches: func(*http.Request) bool {
			matched++
			_, err := s.Inject(faults.Fault{Resource: "nodes", Code: 500})
			assert.NoError(t, err)
			return matched > 1
		}})
		later := watch(t, srv, b.format)
		synctest.Wait()
		assert.NoError(t, open.err())
		assert.Equal(t, io.EOF, later.err())
		assert.Equal(t, 2, matched)
		assert.Equal(t, 1, r.Hits())
		assert.Len(t, s.Rules(), 3)
	})
}

func TestWithholdBookmarks(t *testing.T) {
	bubble(t, func(t *testing.T, s *Set, b *watchBackend, srv *httptest.Server) {
		w := watch(t, srv, b.format)
		r := inject(t, s, faults.Fault{WithholdBookmarks: true, Lifetime: time.Minute})
		initial := []byte(`{"type":"BOOKMARK","object":{"metadata":{"annotations":{"k8s.io/initial-events-end":"true"}},"message":"[i]"}}` + "\n")
		b.send(b.event("ADDED", "a"), initial)
		synctest.Wait()
		assert.Zero(t, r.Hits(), "there was no bookmark to withhold")
		b.send(b.event("BOOKMARK", "b"), b.event("BOOKMARK", "b"), b.event("ADDED", "c"))
		synctest.Wait()
		assert.Equal(t, []string{"ADDED a", "BOOKMARK i", "ADDED c"}, w.names())
		assert.Equal(t, 1, r.Hits(), "a watch counts as one hit")
		time.Sleep(time.Minute)
		b.send(b.event("BOOKMARK", "d"))
		synctest.Wait()
		assert.Equal(t, "BOOKMARK d", w.events()[3].event, "the fault has expired")
	})
}

func TestSlowWatch(t *testing.T) {
	const s = time.Second
	for _, row := range []struct {
		name   string
		faults []faults.Fault
		want   []time.Duration // delivery times of events sent at 0, 0, 1 and 5 seconds
	}{
		{"delay", []faults.Fault{{EventDelay: 3 * s}}, []time.Duration{3 * s, 3 * s, 4 * s, 8 * s}},
		{"rate", []faults.Fault{{EventRate: 0.5}}, []time.Duration{0, 2 * s, 4 * s, 6 * s}},
		{"delay and rate", []faults.Fault{{EventDelay: s, EventRate: 0.5}}, []time.Duration{s, 3 * s, 5 * s, 7 * s}},
		{"two delays", []faults.Fault{{EventDelay: s}, {EventDelay: 3 * s}}, []time.Duration{3 * s, 3 * s, 4 * s, 8 * s}},
		{"delay with a lifetime", []faults.Fault{{EventDelay: 3 * s, Lifetime: 2 * s}}, []time.Duration{2 * s, 2 * s, 2 * s, 5 * s}},
		{"pause with a lifetime", []faults.Fault{{Watch: faults.PauseWatch, Lifetime: 2 * s}}, []time.Duration{2 * s, 2 * s, 2 * s, 5 * s}},
	} {
		t.Run(row.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, set *Set, b *watchBackend, srv *httptest.Server) {
				w := watch(t, srv, b.format)
				synctest.Wait()
				rules, err := set.Inject(row.faults...)
				require.NoError(t, err)
				assert.Equal(t, 1, rules[0].Hits())
				b.send(append(b.event("ADDED", "a"), b.event("ADDED", "b")...))
				time.Sleep(s)
				b.send(b.event("ADDED", "c"))
				time.Sleep(4 * s)
				b.send(b.event("ADDED", "d"))
				time.Sleep(time.Minute)
				var got []time.Duration
				for _, e := range w.events() {
					got = append(got, e.after)
				}
				assert.Equal(t, row.want, got)
				assert.Equal(t, []string{"ADDED a", "ADDED b", "ADDED c", "ADDED d"}, w.names())
			})
		})
	}
}

// WhenSent calls its function when the sender has taken the event.
func TestWhenSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTestSet()
		q := Request{HTTP: nethttptest.NewRequest("GET", pods+"?watch=1", nil)}
		q.Route = route.Parse("GET", q.HTTP.URL)
		st := &stream{ResponseWriter: nethttptest.NewRecorder(), set: s, request: q, gone: t.Context().Done(), cancel: func(error) {}}
		st.Header().Set("Content-Type", "application/json")
		st.WriteHeader(http.StatusOK)
		defer st.close()
		sent := make(chan string, 10)
		note := func(what string) func() { return func() { sent <- what } }
		expect := func(want ...string) {
			t.Helper()
			synctest.Wait()
			var got []string
			for len(sent) > 0 {
				got = append(got, <-sent)
			}
			assert.Equal(t, want, got)
		}
		write := func(name string) {
			_, err := st.Write((&watchBackend{format: codec.JSON}).event("ADDED", name))
			require.NoError(t, err)
		}

		write("a")
		assert.False(t, st.Queues())
		st.WhenSent(note("a"))
		expect("a")

		inject(t, s, faults.Fault{EventDelay: time.Second})
		assert.True(t, st.Queues())
		write("b")
		st.WhenSent(note("b"))
		time.Sleep(time.Second / 2)
		write("c")
		st.WhenSent(note("c, replaced"))
		st.WhenSent(note("c"))
		expect()
		time.Sleep(time.Second / 2)
		expect("b")
		time.Sleep(time.Second / 2)
		expect("c")
		st.WhenSent(note("all"))
		expect("all")
	})
}

func TestPausedWatch(t *testing.T) {
	bubble(t, func(t *testing.T, s *Set, b *watchBackend, srv *httptest.Server) {
		w := watch(t, srv, b.format)
		synctest.Wait()
		r := inject(t, s, faults.Fault{Watch: faults.PauseWatch})
		b.send(b.event("ADDED", "a"), b.event("ADDED", "b"))
		time.Sleep(time.Hour)
		assert.Empty(t, w.events())
		r.Remove()
		synctest.Wait()
		assert.Equal(t, []string{"ADDED a", "ADDED b"}, w.names())
		b.send(b.event("ADDED", "c"))
		synctest.Wait()
		assert.Equal(t, receivedEvent{"ADDED c", time.Hour}, w.events()[2], "later events are not delayed")
		close(b.written)
		synctest.Wait()
		assert.Equal(t, io.EOF, w.err())
	})
}

// Queued events are delivered after the backend has ended the watch.
func TestQueueIsSentAfterTheEnd(t *testing.T) {
	bubble(t, func(t *testing.T, s *Set, b *watchBackend, srv *httptest.Server) {
		w := watch(t, srv, b.format)
		inject(t, s, faults.Fault{EventDelay: time.Second})
		b.send(b.event("ADDED", "a"))
		close(b.written)
		synctest.Wait()
		assert.Zero(t, b.open.Load())
		assert.NoError(t, w.err())
		time.Sleep(time.Second)
		synctest.Wait()
		assert.Equal(t, io.EOF, w.err())
		assert.Equal(t, []receivedEvent{{"ADDED a", time.Second}}, w.events())
	})
}

// A paused watch can end.
func TestPausedWatchEnds(t *testing.T) {
	for name, end := range map[string]func(t *testing.T, s *Set, w *watcher, srv *httptest.Server, closeSet func()){
		"by another fault": func(t *testing.T, s *Set, _ *watcher, _ *httptest.Server, _ func()) {
			inject(t, s, faults.Fault{Watch: faults.CloseWatch})
		},
		"when the client cancels":    func(_ *testing.T, _ *Set, w *watcher, _ *httptest.Server, _ func()) { w.cancel() },
		"when the connections close": func(_ *testing.T, _ *Set, _ *watcher, srv *httptest.Server, _ func()) { srv.Close() },
		"when the server closes":     func(_ *testing.T, _ *Set, _ *watcher, _ *httptest.Server, closeSet func()) { closeSet() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ended, closeSet := context.WithCancel(t.Context())
				s := NewSet(Options{Clock: clock.New(), Context: ended})
				b := &watchBackend{written: make(chan []byte)}
				srv := serve(t, s, b, inMemory)
				w := watch(t, srv, b.format)
				synctest.Wait()
				inject(t, s, faults.Fault{Watch: faults.PauseWatch})
				b.send(b.event("ADDED", "a"))
				synctest.Wait()
				end(t, s, w, srv, closeSet)
				synctest.Wait()
				assert.Error(t, w.err())
				assert.Empty(t, w.events())
				assert.Zero(t, b.open.Load())
			})
		})
	}
}

// The backend waits while the queue is full.
func TestBackpressure(t *testing.T) {
	bubble(t, func(t *testing.T, s *Set, b *watchBackend, srv *httptest.Server) {
		w := watch(t, srv, b.format)
		synctest.Wait()
		r := inject(t, s, faults.Fault{Watch: faults.PauseWatch})
		big := b.event("ADDED", strings.Repeat("x", maxQueued))
		var sent atomic.Int32
		go func() {
			for range 4 {
				b.written <- big
				sent.Add(1)
			}
		}()
		synctest.Wait()
		assert.Equal(t, int32(2), sent.Load(), "one is in the queue, one waits for it, the third is not taken")
		r.Remove()
		synctest.Wait()
		assert.Len(t, w.events(), 4)
	})
}

func TestCutWatch(t *testing.T) {
	bubble(t, func(t *testing.T, s *Set, b *watchBackend, srv *httptest.Server) {
		a := b.event("ADDED", "a")
		r := inject(t, s, faults.Fault{Verb: "watch", CutAfterBytes: len(a) + 5})
		w := watch(t, srv, b.format)
		b.send(a)
		synctest.Wait()
		assert.Equal(t, []string{"ADDED a"}, w.names())
		assert.Zero(t, r.Hits())
		b.send(a)
		synctest.Wait()
		assert.ErrorIs(t, w.err(), syscall.ECONNRESET)
		assert.Len(t, w.events(), 1)
		assert.Equal(t, 1, r.Hits())
		assert.Zero(t, b.open.Load())
	})
}

// A failed response is not a watch.
func TestRefusedWatch(t *testing.T) {
	s := newTestSet()
	r := inject(t, s, faults.Fault{Watch: faults.CloseWatch})
	refuse := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		io.WriteString(w, "{}")
	})
	resp, got, err := ask(t, serve(t, s, refuse, inMemory), "GET", pods+"?watch=1")
	require.NoError(t, err)
	assert.Equal(t, http.StatusForbidden, resp.StatusCode)
	assert.Equal(t, "{}", got)
	assert.Zero(t, r.Matched())
}

// A backend that panics with http.ErrAbortHandler, as a reverse proxy does when its
// server is gone, leaves no stream open.
func TestAbortedWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTestSet()
		inject(t, s, faults.Fault{Watch: faults.PauseWatch})
		b := &watchBackend{}
		abort := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Write(b.event("ADDED", "a"))
			panic(http.ErrAbortHandler)
		})
		_, _, err := ask(t, serve(t, s, abort, inMemory), "GET", pods+"?watch=1")
		assert.True(t, errors.Is(err, syscall.ECONNRESET), err)
		assert.Empty(t, s.streams)
	})
}
