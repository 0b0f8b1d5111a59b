package settle

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/restconfig"
)

var (
	runs     = flag.Int("settle.runs", 4, "start this number of managers, for each number of controllers")
	parallel = flag.Int("settle.parallel", 2, "start this number of managers at a time")
)

// transports are the ways to start a server.
var transports = map[string][]fakeapi.Option{
	"http":   nil,
	"tls":    {fakeapi.WithTLS()},
	"memory": {fakeapi.WithInMemory()},
}

// A run starts a server and a manager, creates objects before and after, and settles.
type run struct {
	seed      uint64
	transport string
	setup     setup
	before    int  // objects of each kind that exist when the manager starts
	created   bool // through the client, not in Go
	wait      time.Duration
}

func newRun(seed uint64, controllers int) run {
	rng := rand.New(rand.NewPCG(seed, uint64(controllers)))
	names := slices.Sorted(maps.Keys(transports))
	out := run{seed: seed, transport: names[rng.IntN(len(names))], setup: newSetup(rng, controllers), before: rng.IntN(3), created: rng.IntN(2) == 0}
	if rng.IntN(2) == 0 {
		out.wait = time.Duration(rng.IntN(400)) * time.Millisecond
	}
	return out
}

func (r run) String() string {
	return fmt.Sprintf("seed %d: %s, %d controllers, %s, election %t, %d before, created by client %t, %v later",
		r.seed, r.transport, r.setup.controllers, r.setup.habit, r.setup.election, r.before, r.created, r.wait)
}

// do does the run. It returns how long Settle took each time. The error says what was not
// reconciled when it returned.
func (r run) do(t *testing.T) (took []time.Duration, err error) {
	srv, err := fakeapi.New(transports[r.transport]...)
	require.NoError(t, err)
	defer srv.Close()
	cfg := restconfig.For(srv)
	mgr, err := r.setup.manager(cfg)
	require.NoError(t, err)
	direct, err := client.New(cfg, client.Options{})
	require.NoError(t, err)
	create := func(name string) {
		for _, k := range r.kinds() {
			o := k.new(name)
			if r.created {
				require.NoError(t, direct.Create(t.Context(), o))
				continue
			}
			gvk, err := mgr.GetClient().GroupVersionKindFor(o)
			require.NoError(t, err)
			o.GetObjectKind().SetGroupVersionKind(gvk)
			_, err = srv.Store(o)
			require.NoError(t, err)
		}
	}
	for i := range r.before {
		create(fmt.Sprint("before-", i))
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	running.Go(func() { _ = mgr.Start(ctx) })
	time.Sleep(r.wait)
	for _, name := range []string{"first", "second"} {
		create(name)
		limited, stop := context.WithTimeout(ctx, time.Minute)
		began := time.Now()
		err := srv.Settle(limited)
		stop()
		took = append(took, time.Since(began))
		if err != nil {
			return took, err
		}
		if left := r.left(t, srv); len(left) > 0 {
			return took, fmt.Errorf("after %s, Settle of %v has not waited for %s\n%s", name, took, strings.Join(left, ", "), r.later(t, srv, began))
		}
	}
	return took, nil
}

// later waits until all is reconciled and returns the requests since then.
func (r run) later(t *testing.T, srv *fakeapi.Server, since time.Time) string {
	settled := time.Now()
	for len(r.left(t, srv)) > 0 && time.Since(settled) < 5*time.Second {
		time.Sleep(time.Millisecond)
	}
	out := fmt.Sprintf("reconciled %v later", time.Since(settled))
	for _, q := range srv.Requests() {
		if q.Time.After(since) {
			out += fmt.Sprintf("\n%v %s %s %d", q.Time.Sub(settled), q.Method, q.URI, q.Code)
		}
	}
	return out
}

// kinds returns the kinds that the controllers reconcile, each once.
func (r run) kinds() []kind {
	var out []kind
	for _, c := range r.setup.reconcilers(nil) {
		if !slices.ContainsFunc(out, func(k kind) bool { return k.resource == c.kind.resource }) {
			out = append(out, c.kind)
		}
	}
	return out
}

// left returns the objects that are not reconciled.
func (r run) left(t *testing.T, srv *fakeapi.Server) (left []string) {
	for _, c := range r.setup.reconcilers(nil) {
		objects, err := srv.List(c.kind.resource, "")
		require.NoError(t, err)
		for _, o := range objects {
			if !strings.Contains(fmt.Sprint(o["status"]), c.condition) {
				left = append(left, c.kind.resource+" "+o.Name())
			}
		}
	}
	return left
}

// All that exists is reconciled when Settle returns.
func TestManagers(t *testing.T) {
	log.SetLogger(logr.Discard())
	for _, n := range []int{1, 2, 5, 10} {
		t.Run(fmt.Sprintf("controllers=%d", n), func(t *testing.T) {
			var (
				mu    sync.Mutex
				right int
				took  [2][]time.Duration
				tries sync.WaitGroup
			)
			seeds := make(chan uint64)
			for range *parallel {
				tries.Go(func() {
					for seed := range seeds {
						r := newRun(seed, n)
						each, err := r.do(t)
						mu.Lock()
						for i, d := range each {
							took[i] = append(took[i], d)
						}
						if err == nil {
							right++
						} else {
							t.Logf("%v: %v", r, err)
						}
						mu.Unlock()
					}
				})
			}
			for seed := range uint64(*runs) {
				seeds <- seed
			}
			close(seeds)
			tries.Wait()
			t.Logf("%d of %d right; Settle takes %v after the start, %v later (median, longest)", right, *runs, summary(took[0]), summary(took[1]))
			if right < *runs {
				t.Errorf("%d runs are wrong", *runs-right)
			}
		})
	}
}

func summary(d []time.Duration) []time.Duration {
	if len(d) == 0 {
		return nil
	}
	slices.Sort(d)
	return []time.Duration{d[len(d)/2].Round(time.Millisecond), d[len(d)-1].Round(time.Millisecond)}
}
