package explore

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/clusters"
	"github.com/kubefake/kubefake/scenarios"
)

// A System is what is explored: the system under test, its workload, and what is expected
// of it.
type System struct {
	// Options configure the server. Each run has a fork of it. With those of package clusters, the
	// system has several clusters, and a plan makes its decisions in all of them.
	Options []fakeapi.Option

	// Start runs the system until the context ends. It is called again after each crash.
	// srv is a front end of the run's server: after a crash it refuses all clients, so
	// that what remains of the crashed system reaches nothing. Of several clusters, clusters.Get
	// returns the others. Start may also leave the
	// system running and return nil. If it returns an error before the context ends,
	// it is called again after a back-off.
	Start func(ctx context.Context, srv *fakeapi.Server) error

	// Workload is what users do meanwhile. It is called when the system has started and
	// waits for something.
	Workload Workload

	// Invariants must hold at every revision that the workload and the system make.
	Invariants []Invariant

	// Ignore lists what oracles must not report.
	Ignore []Exception

	// Actions are what plans do. The default is every Action. An answer that is lost, for
	// instance, is too much for many controllers that let the server generate names.
	Actions []Action

	// Seed selects the random plans. The default is 1.
	Seed uint64
	// For limits the time of a search. The default is 10 seconds of real time for systems
	// in a bubble, one minute for others. The plan that runs then is the last one; what it finds
	// is still shrunk and repeated. The test flag -explore.for replaces it.
	For time.Duration
	// Plans limits the number of plans; 0 is no limit. The test flag -explore.plans replaces
	// it.
	Plans int
	// All continues after a finding. By default a search ends at the first one. The test
	// flag -explore.all sets it.
	All bool
	// Repeat is how often the plan of a finding is run again, to see how often it fails.
	// The default is 3. The test flag -explore.repeat replaces it.
	Repeat int
	// Shard selects the plans that belong to it. Of a sharded search Plans is the number of plans
	// of all shards. The test flag -explore.shard replaces it.
	Shard Shard
	// Record keeps in Dir what the search has tried and found, for Merge and Resume. The test
	// flag -explore.dir sets it.
	Record bool
	// Resume leaves out the plans that earlier searches have recorded in Dir, and begins with the
	// states that they have reached; a plan of Dir that still fails does not end it. Dir is then of
	// one version of the system. The test flag -explore.resume sets it.
	Resume bool
	// NewOnly tries only plans with a decision at a point that no earlier search has recorded in
	// Dir, such as those that a change of the system has made. The test flag -explore.new-only
	// sets it.
	NewOnly bool
	// Parallel is how many runs are made at the same time. The default is 1, with which
	// runs are the most deterministic.
	Parallel int

	// Unordered serves the requests of the system in a bubble when they come. By default
	// each of them waits until the system has nothing left to do with the one before, so
	// that runs do not differ. A system needs Unordered if goroutines wait for a mutex
	// that another one holds while it makes a request: the bubble would stand still.
	Unordered bool

	// Pace says how long things take.
	Pace Pace

	// Dir is the directory of the files of findings. The default is testdata/explore and
	// the name of the test. The test flag -explore.dir replaces testdata/explore.
	Dir string
	// PlanFile, if not "", is the file of a plan that is run instead of a search. The test
	// flag -explore.plan sets it.
	PlanFile string
	// Real, if not "", is the kubeconfig file of a real API server. The plan of PlanFile, which must
	// be set, is played against it, through a proxy that makes the decisions. Start and Workload get
	// servers that forward to it; methods of them that read or write past the API do not work. What
	// Options create is created in it, and each run removes what it has made. A run that changes
	// what existed before fails. The test flag -explore.real sets it.
	Real string
	// Log, if not nil, is called with lines about the progress.
	Log func(line string)
}

// A Pace is a set of durations. They are of the bubble if there is one.
type Pace struct {
	// Quiet is how long nothing must be written until a run is over. The default is two
	// minutes in a bubble, otherwise one second.
	Quiet time.Duration
	// Hold is how long Hold withholds events, at most until the workload is over. The
	// default is ten seconds in a bubble, otherwise one second.
	Hold time.Duration
	// Restart is the time between a crash and the next start. The default is one second
	// in a bubble, otherwise 100 ms.
	Restart time.Duration
	// Limit is how long a run may take after its workload. The default is one hour in a
	// bubble, otherwise 30 seconds.
	Limit time.Duration
	// Patience is how long nothing must be written in a run that has ended in another state than
	// the reference run, before the states count: a client that was refused often waits until it
	// tries again. The default is 17 minutes in a bubble, a little more than the longest back-off of
	// client-go's queues, otherwise none. A negative one is none.
	Patience time.Duration
}

var (
	bubblePace = Pace{Quiet: 2 * time.Minute, Hold: 10 * time.Second, Restart: time.Second, Limit: time.Hour, Patience: 17 * time.Minute}
	realPace   = Pace{Quiet: time.Second, Hold: time.Second, Restart: 100 * time.Millisecond, Limit: 30 * time.Second}
)

// or returns the pace with the durations of other in place of those that are 0.
func (p Pace) or(other Pace) Pace {
	for _, d := range []struct{ value, other *time.Duration }{
		{&p.Quiet, &other.Quiet}, {&p.Hold, &other.Hold}, {&p.Restart, &other.Restart}, {&p.Limit, &other.Limit}, {&p.Patience, &other.Patience},
	} {
		if *d.value == 0 {
			*d.value = *d.other
		}
	}
	return p
}

// skew keeps the timers of a run apart from those of the system, which are due at whole
// milliseconds as a rule. Of two timers that are due at the same instant of a bubble, either
// may fire first.
const skew = 1009 * time.Nanosecond

// skewed returns durations that differ from whole milliseconds, and among each other.
func (p Pace) skewed() Pace {
	for i, d := range []*time.Duration{&p.Quiet, &p.Hold, &p.Restart, &p.Limit, &p.Patience} {
		if *d > 0 {
			*d += time.Duration(i+2) * skew
		}
	}
	return p
}

// shortWatch is the duration under which a watch has failed.
func (p Pace) shortWatch() time.Duration { return p.Quiet / 60 }

// A Workload does what the users of a system do: it creates, changes and deletes objects
// of srv, and waits in between, which Pause does best. Its context ends if it takes too long.
type Workload func(ctx context.Context, srv *fakeapi.Server) error

// Scenario returns a workload that plays the scenarios of a file, one after the other. Its
// pauses give the system time. The steps of a scenario concern the first cluster, if there are several,
// unless they name another one with in. A scenario whose answers differ fails the run. If the reference
// run fails at a step that does not only read, the scenario is wrong, which ends the search. A
// scenario that has only a history is reenacted, on the running clock.
func Scenario(file string) Workload {
	load := sync.OnceValues(func() (*scenarios.File, error) { return scenarios.Load(file) })
	return func(ctx context.Context, srv *fakeapi.Server) error {
		f, err := load()
		if err != nil {
			return err
		}
		for _, s := range f.Scenarios {
			if err := playScenario(ctx, srv, f, s); err != nil {
				return err
			}
		}
		return nil
	}
}

// playScenario plays one scenario, without a namespace of its own if it has no steps.
func playScenario(ctx context.Context, srv *fakeapi.Server, f *scenarios.File, s *scenarios.Scenario) error {
	if len(s.Steps) == 0 {
		r, err := scenarios.NewReenactment(srv, &scenarios.File{Name: f.Name, Scenarios: []*scenarios.Scenario{s}})
		if err != nil {
			return err
		}
		if err := r.Start(); err != nil {
			return err
		}
		return r.Run(ctx)
	}
	p := &scenarios.Player{URL: srv.URL, Transport: undecompressed(srv), Timeout: stepTimeout, Paused: paused, Clusters: map[string]scenarios.Endpoint{}}
	for _, name := range clusters.Names(srv) {
		other := clusters.Get(srv, name)
		p.Clusters[name] = scenarios.Endpoint{URL: other.URL, Transport: undecompressed(other)}
	}
	r := p.Play(ctx, s)
	if errors.Is(r.Err, errPaused) {
		return errPaused
	}
	if !r.Failed() {
		return nil
	}
	i := r.FailedStep()
	if i < 0 {
		return errors.New(r.String())
	}
	return &stepError{text: r.String(), own: !isRead(&s.Steps[i])}
}

// A stepError is the error of a step of a scenario.
type stepError struct {
	text string
	own  bool // it does not depend on the system
}

// Error implements error.
func (e *stepError) Error() string { return e.text }

// isRead reports whether a step reads what the system may have written.
func isRead(s *scenarios.Step) bool {
	return s.Expect != nil && s.Expect.Path != "" || s.Watch != "" || s.Events != "" || strings.HasPrefix(s.Do, "GET ")
}

// stepTimeout is how long a step of a scenario waits: longer than a decision delays
// anything, and much less than Pace.Limit in a bubble.
const stepTimeout = 2 * time.Minute

// undecompressed returns the transport of a server, which does not decompress answers.
func undecompressed(srv *fakeapi.Server) http.RoundTripper {
	t, ok := srv.Transport().(*http.Transport)
	if !ok {
		return srv.Transport()
	}
	t = t.Clone()
	t.DisableCompression = true
	return t
}

// Steps returns a workload that calls functions one after the other, and waits for d after
// each of them.
func Steps(d time.Duration, steps ...func(srv *fakeapi.Server) error) Workload {
	return func(ctx context.Context, srv *fakeapi.Server) error {
		for i, step := range steps {
			if err := step(srv); err != nil {
				return fmt.Errorf("step %d: %w", i+1, err)
			}
			if err := Pause(ctx, srv, d+skew); err != nil {
				return err
			}
		}
		return nil
	}
}

// An Exception turns an oracle off for some objects or fields.
type Exception struct {
	// Oracle is what is turned off; "" is every oracle.
	Oracle Oracle
	// Cluster, Resource, Namespace and Name select objects, with * for any characters; "" is all.
	Cluster, Resource, Namespace, Name string
	// Field is a field with what is below it, such as "status.startedAt", for the oracles
	// EndState and Path; "" is the whole object.
	Field string
	// Reason says why. It must be set.
	Reason string
}
