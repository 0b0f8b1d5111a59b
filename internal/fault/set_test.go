//go:build go1.25

package fault

import (
	"bytes"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi/faults"
	"github.com/kubefake/kubefake/internal/clock"
)

func newTestSet() *Set { return NewSet(Options{Clock: clock.New(), Seed: 1}) }

// inject injects one valid fault.
func inject(t *testing.T, s *Set, f faults.Fault) *Rule {
	t.Helper()
	rules, err := s.Inject(f)
	require.NoError(t, err)
	return rules[0]
}

const pods = "/api/v1/namespaces/shop/pods"

// hitsOf makes n requests for m objects in turn and returns an x for each that the
// rule hits, a dot for the others.
func hitsOf(s *Set, r *Rule, n, m int) string {
	var out []byte
	for i := range n {
		q := requestOf("GET", fmt.Sprintf("%s/web-%d", pods, i%m))
		hit := byte('.')
		for _, h := range s.hits(q) {
			if h.Rule == r {
				hit = 'x'
			}
		}
		out = append(out, hit)
	}
	return string(out)
}

func TestTrigger(t *testing.T) {
	for _, row := range []struct {
		name  string
		fault faults.Fault
		want  string
	}{
		{"no trigger", faults.Fault{}, "xxxxxx"},
		{"times", faults.Fault{Times: 1}, "x....."},
		{"skip and times", faults.Fault{Skip: 2, Times: 2}, "..xx.."},
		{"skip", faults.Fault{Skip: 1}, ".xxxxx"},
		{"probability 1", faults.Fault{Probability: 1}, "xxxxxx"},
		{"another resource", faults.Fault{Resource: "nodes"}, "......"},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := newTestSet()
			row.fault.Code = 500
			r := inject(t, s, row.fault)
			assert.Equal(t, row.want, hitsOf(s, r, 6, 1))
		})
	}
}

func TestDraws(t *testing.T) {
	const n = 1000
	f := faults.Fault{Code: 500, Probability: 0.3}
	run := func(change func(*Set), f faults.Fault, clients int) string {
		s := newTestSet()
		if change != nil {
			change(s)
		}
		return hitsOf(s, inject(t, s, f), n, clients)
	}
	alone := run(nil, f, 1)
	hits := 0
	for _, hit := range alone {
		if hit == 'x' {
			hits++
		}
	}
	assert.InDelta(t, 300, hits, 50, "the number of hits fits the probability")
	assert.Equal(t, alone, run(nil, f, 1), "the same seed gives the same draws")

	seeded := f
	seeded.Seed = 2
	assert.NotEqual(t, alone, run(nil, seeded, 1), "another seed gives other draws")
	named := f
	named.ID = "named"
	assert.Equal(t, alone, run(nil, named, 1), "the ID does not matter")

	before := func(s *Set) { inject(t, s, faults.Fault{Delay: 1, Probability: 0.5}) }
	assert.Equal(t, alone, run(before, f, 1), "another fault does not matter")
	same := func(s *Set) { inject(t, s, faults.Fault{Webhook: "*", Code: 500, Probability: 0.3}) }
	assert.Equal(t, alone, run(same, f, 1), "nor does a fault of webhooks")

	s := newTestSet()
	first, second := inject(t, s, f), inject(t, s, f)
	assert.NotEqual(t, first.key, second.key, "equal faults have different draws")

	among := run(nil, f, 4)
	var mine []byte
	for i := 0; i < n; i += 4 {
		mine = append(mine, among[i])
	}
	assert.Equal(t, run(nil, f, 1)[:n/4], string(mine), "other requests do not matter")
}

func TestMaxSeen(t *testing.T) {
	s := newTestSet()
	r := inject(t, s, faults.Fault{Code: 500, Probability: 0.3})
	hits := 0
	for i := range maxSeen + 1000 {
		r.mu.Lock()
		if r.drawLocked(uint64(i)) && i >= maxSeen {
			hits++
		}
		r.mu.Unlock()
	}
	assert.Len(t, r.seen, maxSeen)
	assert.InDelta(t, 300, hits, 50, "the number of hits fits the probability")
}

// One fault responds to a request. Later faults count the request as matched.
func TestFirstResponseWins(t *testing.T) {
	s := newTestSet()
	slow := inject(t, s, faults.Fault{Delay: 1})
	first := inject(t, s, faults.Fault{Code: 500, Times: 2})
	second := inject(t, s, faults.Fault{Code: 503, Times: 2})
	skips := inject(t, s, faults.Fault{Code: 504, Skip: 3, Times: 2})
	for _, want := range [][]*Rule{{slow, first}, {slow, first}, {slow, second}, {slow, second}, {slow, skips}, {slow, skips}, {slow}} {
		var got []*Rule
		for _, h := range s.hits(requestOf("GET", pods)) {
			got = append(got, h.Rule)
		}
		assert.Equal(t, want, got)
	}
	assert.Equal(t, 6, skips.Matched(), "it matches all requests until its last hit")
}

func TestLifetime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTestSet()
		inject(t, s, faults.Fault{Code: 500, Lifetime: time.Minute})
		time.Sleep(time.Minute - 1)
		assert.Len(t, s.hits(requestOf("GET", pods)), 1)
		time.Sleep(1)
		assert.Empty(t, s.hits(requestOf("GET", pods)))
		assert.False(t, s.Active(), "an expired fault is not active")
	})
}

func TestActive(t *testing.T) {
	s := newTestSet()
	assert.False(t, s.Active())
	once := inject(t, s, faults.Fault{Code: 500, Times: 1})
	always := inject(t, s, faults.Fault{Code: 500})
	assert.True(t, s.Active())
	s.hits(requestOf("GET", pods))
	always.Remove()
	always.Remove()
	assert.False(t, s.Active(), "one has had its last hit, the other is removed")
	assert.Equal(t, []*Rule{once}, s.Rules(), "it is listed until it is removed")
	s.Clear()
	assert.Empty(t, s.Rules())
}

// TestOnInjectAndOnEnd checks that the life of a fault is reported.
func TestOnInjectAndOnEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []string
		s := NewSet(Options{
			Clock: clock.New(),
			OnInject: func(f faults.Fault, until time.Time) {
				line := f.ID + " begins"
				if !until.IsZero() {
					line += " for " + time.Until(until).String()
				}
				got = append(got, line)
			},
			OnEnd: func(f faults.Fault, why string) { got = append(got, f.ID+" "+why) },
		})
		inject(t, s, faults.Fault{ID: "once", Code: 500, Times: 1})
		always := inject(t, s, faults.Fault{ID: "always", Verb: "delete", Code: 500})
		inject(t, s, faults.Fault{ID: "short", Code: 500, Lifetime: time.Minute})
		inject(t, s, faults.Fault{ID: "open", Watch: faults.ExpireWatch, Watches: faults.OpenWatches})
		inject(t, s, faults.Fault{ID: "hook", Do: func(*faults.Point) {}})
		s.hits(requestOf("GET", pods))
		always.Remove()
		time.Sleep(time.Minute)
		s.hits(requestOf("GET", pods))
		s.Clear()
		assert.Equal(t, []string{"once begins", "always begins", "short begins for 1m0s", "once used up", "always removed"}, got)
	})
}

func TestInject(t *testing.T) {
	s := newTestSet()
	rules, err := s.Inject(faults.Fault{Code: 500}, faults.Fault{ID: "named", Code: 500}, faults.Fault{ID: "3", Code: 500}, faults.Fault{Code: 500}, faults.Fault{Code: 500})
	require.NoError(t, err)
	var ids []string
	for _, r := range rules {
		ids = append(ids, r.Fault().ID)
		assert.Equal(t, uint64(1), r.Fault().Seed, "the seed of the set")
	}
	assert.Equal(t, []string{"1", "named", "3", "2", "4"}, ids)

	_, err = s.Inject(faults.Fault{Code: 501}, faults.Fault{ID: "named", Code: 502})
	assert.EqualError(t, err, `invalid fault (anything: 502): id: another fault has the ID "named"`)
	_, err = s.Inject(faults.Fault{Code: 501}, faults.Fault{})
	assert.EqualError(t, err, `invalid fault (anything: ): the fault has no effect`)
	assert.Len(t, s.Rules(), 5, "Inject is atomic")

	unseeded := NewSet(Options{Clock: clock.New()})
	assert.NotZero(t, inject(t, unseeded, faults.Fault{Code: 500}).Fault().Seed, "a random seed is reported")
}

func TestMisnamedResource(t *testing.T) {
	s := NewSet(Options{Clock: clock.New(), FindResource: func(name string) (bool, string) {
		return name == "pods" || name == "deployments.apps", map[string]string{"po": "pods", "deploy.apps": "deployments.apps"}[name]
	}})
	for _, row := range []struct {
		name, resource string
		err            string // its end; "" if there is none
		warning        string
	}{
		{"any", "", "", ""},
		{"served", "pods, deployments.apps", "", ""},
		{"subresource", "pods/status", "", ""},
		{"pattern", "po*,*/status,*", "", ""},
		{"short name", "pods,po", `resource: no resource "po"; did you mean "pods"?`, ""},
		{"with a group", "deploy.apps", `resource: no resource "deploy.apps"; did you mean "deployments.apps"?`, ""},
		{"with a subresource", "po/status", `resource: no resource "po/status"; did you mean "pods/status"?`, ""},
		{"unknown", "pods,foos,bars", "", `no resource "foos"`},
		{"unknown and short name", "foos,po", `resource: no resource "po"; did you mean "pods"?`, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			rules, err := s.Inject(faults.Fault{Resource: row.resource, Code: 500})
			if row.err != "" {
				require.ErrorIs(t, err, faults.ErrInvalid)
				assert.ErrorContains(t, err, row.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, row.warning, rules[0].Warning())
		})
	}
	r := inject(t, newTestSet(), faults.Fault{Resource: "po", Code: 500})
	assert.Empty(t, r.Warning(), "the resources are not known")
}

func TestMaxRules(t *testing.T) {
	s := newTestSet()
	first := inject(t, s, faults.Fault{Code: 500})
	for range maxRules + 10 {
		inject(t, s, faults.Fault{Watch: faults.CloseWatch, Watches: faults.OpenWatches})
	}
	rules := s.Rules()
	assert.Len(t, rules, maxRules)
	assert.Equal(t, []*Rule{first}, rules[:1], "active rules are kept")
	assert.Equal(t, "4107", rules[maxRules-1].Fault().ID)
}

func TestInherit(t *testing.T) {
	from, to := newTestSet(), NewSet(Options{Clock: clock.New(), Seed: 2})
	r := inject(t, from, faults.Fault{Code: 500, Probability: 0.5, Times: 3})
	inject(t, from, faults.Fault{Watch: faults.CloseWatch, Watches: faults.OpenWatches})
	want := hitsOf(from, r, 10, 1)
	require.NoError(t, to.Inherit(from))
	require.Len(t, to.Rules(), 1)
	assert.Equal(t, want, hitsOf(to, to.Rules()[0], 10, 1), "the counts and draws start again")
}

// A discarder is a ResponseWriter that discards the body.
type discarder struct{ header http.Header }

func (d discarder) Header() http.Header         { return d.header }
func (d discarder) WriteHeader(int)             {}
func (d discarder) Write(p []byte) (int, error) { return len(p), nil }
func (d discarder) FlushError() error           { return nil }

// BenchmarkWatch measures writing a watch event through a Set without faults, and
// without a Set.
func BenchmarkWatch(b *testing.B) {
	event := append(bytes.Repeat([]byte("x"), 2600), '\n')
	q := requestOf("GET", pods+"?watch=1").HTTP
	for name, through := range map[string]func(http.Handler) http.Handler{
		"set":  newTestSet().Handler,
		"none": func(h http.Handler) http.Handler { return h },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			through(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(http.StatusOK)
				flush := http.NewResponseController(w).Flush
				for b.Loop() {
					w.Write(event)
					flush()
				}
			})).ServeHTTP(discarder{http.Header{}}, q)
		})
	}
}
