package explore

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/clusters"
	"github.com/kubefake/kubefake/internal/backdoor"
	"github.com/kubefake/kubefake/internal/printable"
)

// TB is the part of testing.TB that this package uses. A search has bubbles if it is a
// *testing.T.
type TB interface {
	Helper()
	Name() string
	Logf(format string, args ...any)
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// The flags of test binaries.
var (
	forFlag    = flag.Duration("explore.for", 0, "explore: search for this time instead of System.For")
	plansFlag  = flag.Int("explore.plans", 0, "explore: run up to this number of plans instead of System.Plans")
	allFlag    = flag.Bool("explore.all", false, "explore: continue after a finding, and report all")
	seedFlag   = flag.Uint64("explore.seed", 0, "explore: the seed of random plans, instead of System.Seed")
	repeatFlag = flag.Int("explore.repeat", 0, "explore: repeat each finding so often, instead of System.Repeat")
	planFlag   = flag.String("explore.plan", "", "explore: run only the plan of this file")
	realFlag   = flag.String("explore.real", "", "explore: play the plan of -explore.plan against the API server of this kubeconfig file")
	shardFlag  = flag.String("explore.shard", "", "explore: run the plans of one of several shards, such as 2/8")
	dirFlag    = flag.String("explore.dir", "", "explore: keep files in this directory, below the name of the test, with what was tried")
	resumeFlag = flag.Bool("explore.resume", false, "explore: leave out what earlier searches have tried, as -explore.dir says")
	newFlag    = flag.Bool("explore.new-only", false, "explore: try only plans with a point that no earlier search had, as -explore.dir says")
)

// Run searches for schedules under which a system misbehaves, and fails the test for each
// finding. It plays the plans of System.Dir first; if one of them fails, it does not
// search. See the package documentation.
//
// These flags of go test replace fields of the System: -explore.for 5m, -explore.plans
// 2000, -explore.all, -explore.seed 7, -explore.repeat 100, -explore.shard 2/8, -explore.dir DIR,
// -explore.resume, -explore.new-only. With -explore.plan FILE only the plan of a file is run, with
// -explore.real KUBECONFIG against a real API server.
func Run(t TB, s System) {
	t.Helper()
	r := Find(t, s)
	if r == nil {
		return
	}
	for _, f := range r.Findings {
		t.Errorf("%s", f)
	}
	t.Logf("explore: %s", r.coverageText())
}

// Find searches as Run does, and returns what it has found instead of failing the test. It
// fails the test only if the search is not possible.
func Find(t TB, s System) *Report {
	t.Helper()
	if *forFlag > 0 {
		s.For = *forFlag
	}
	if *plansFlag > 0 {
		s.Plans = *plansFlag
	}
	if *seedFlag > 0 {
		s.Seed = *seedFlag
	}
	if *repeatFlag > 0 {
		s.Repeat = *repeatFlag
	}
	if *planFlag != "" {
		s.PlanFile = *planFlag
	}
	if *realFlag != "" {
		s.Real = *realFlag
	}
	s.All = s.All || *allFlag
	s.Resume = s.Resume || *resumeFlag
	s.NewOnly = s.NewOnly || *newFlag
	if s.Shard == (Shard{}) || *shardFlag != "" {
		var err error
		if s.Shard, err = ParseShard(*shardFlag); err != nil {
			t.Fatalf("%s", err)
			return nil
		}
	}
	switch {
	case *dirFlag != "":
		s.Dir, s.Record = filepath.Join(*dirFlag, filepath.FromSlash(t.Name())), true
	case s.Dir == "":
		s.Dir = filepath.Join("testdata", "explore", filepath.FromSlash(t.Name()))
	}
	if s.Log == nil {
		s.Log = func(line string) { t.Logf("explore: %s", line) }
	}
	stories := storiesOf(t)
	if s.Record {
		stories = s.Dir
	}
	files := planFiles{name: t.Name(), dir: s.Dir, only: s.PlanFile, stories: stories, command: fmt.Sprintf("go test -run '^%s$' -explore.plan", strings.ReplaceAll(t.Name(), "/", "$/^"))}
	r, err := s.search(context.Background(), bubbleFor(t), files)
	if err != nil {
		t.Fatalf("%s", printable.Text(err.Error()))
		return nil
	}
	return r
}

// storiesOf returns the directory for stories: the artifact directory of the test if go
// test keeps it, otherwise a temporary directory.
func storiesOf(t TB) string {
	if a, ok := t.(interface{ ArtifactDir() string }); ok {
		if f := flag.Lookup("test.artifacts"); f != nil && f.Value.String() == "true" {
			return a.ArtifactDir()
		}
	}
	return filepath.Join(os.TempDir(), "explore-"+strings.ReplaceAll(t.Name(), "/", "-"))
}

// Search searches outside of a test, in real time and without a bubble. It ends when ctx
// does. The plans of System.Dir are played first, and findings are saved there, with their
// stories; "" is no directory.
func Search(ctx context.Context, s System) (*Report, error) {
	return s.search(ctx, nil, planFiles{dir: s.Dir, only: s.PlanFile, stories: s.Dir})
}

// An enclosure calls a function, and may watch the steps of its run. It returns an error if
// goroutines of the function do not end.
type enclosure func(steps *stepCounter, f func()) error

// search searches, in bubbles if there are some.
func (s *System) search(ctx context.Context, bubble enclosure, files planFiles) (*Report, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	if s.Real != "" { // a real server has its own clock, and one state
		bubble, s.Parallel, s.Record = nil, 1, false
	}
	s.Seed = max(s.Seed, 1)
	if s.Repeat == 0 {
		s.Repeat = 3
	}
	x := &search{
		system: s, files: files, report: &Report{}, enclose: bubble, bubbles: bubble != nil, pace: s.Pace.or(bubblePace).skewed(),
		states: map[uint64]bool{}, lively: map[Decision]bool{}, done: map[string]bool{}, cuts: map[int]*outcome{}, patient: map[*outcome]*outcome{}, ran: digests{},
	}
	if err := x.remember(); err != nil {
		return nil, err
	}
	options := []fakeapi.Option{fakeapi.WithSeed(s.Seed), fakeapi.WithHistory(fakeapi.History{Age: 24 * time.Hour})}
	if s.Shard.Count > 0 {
		s.logf("shard %s", s.Shard)
	}
	limit := s.For
	if bubble == nil {
		x.enclose = func(_ *stepCounter, f func()) error { f(); return nil }
		x.pace = s.Pace.or(realPace).skewed()
		limit = max(limit, 0)
		if limit == 0 {
			limit = time.Minute
		}
	} else {
		options = append(options, fakeapi.WithInMemory())
		if limit == 0 {
			limit = 10 * time.Second
		}
	}
	base, err := fakeapi.New(append(options, s.Options...)...)
	if err != nil {
		return nil, err
	}
	defer base.Close()
	if backdoor.Of(base).HasManualClock() {
		return nil, errors.New("explore: the clock of the server is manual")
	}
	if err := base.Settle(ctx); err != nil {
		return nil, err
	}
	x.base = base
	x.began = time.Now()
	x.deadline = x.began.Add(limit)
	if s.Real != "" {
		if clusters.Names(base) != nil {
			return nil, errors.New("explore: a real server is one cluster, and the system has several")
		}
		if x.real, err = connect(ctx, s.Real, base, s.logf); err != nil {
			return nil, err
		}
		x.report.Server = x.real.String()
		s.logf("playing %s against %s", s.PlanFile, x.real)
		defer func() {
			if err := x.real.close(); err != nil {
				s.logf("%s: %v", x.real, err)
			}
		}()
	}
	x.running = x.runningFileOf()
	defer x.running.end()
	if x.records() {
		s.logf("fakeapi serve --explore %s shows the search on the page of a server, while it runs and afterwards", files.dir)
	}
	err = x.run(ctx)
	x.report.Elapsed = time.Since(x.began)
	if err == nil && x.records() {
		err = x.record().write()
	}
	return x.report, err
}

func (s *System) logf(format string, args ...any) {
	if s.Log != nil {
		s.Log(printable.Text(fmt.Sprintf(format, args...)))
	}
}
