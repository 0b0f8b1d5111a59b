package scenarios

import (
	"bytes"
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/httptest"
	"github.com/kubefake/kubefake/internal/discovery"
	"github.com/kubefake/kubefake/internal/printable"
)

// TB is the part of testing.TB that this package uses.
type TB interface {
	Helper()
	Cleanup(func())
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Play plays the scenarios of a file against a server, one after the other, and
// fails the test for each scenario whose answers differ. Each scenario gets its
// own namespace. Play does not remove the objects of a scenario.
//
// If the test binary has a boolean flag named update and it is set, Play writes
// the differences into the file instead, as [File.Update] does.
//
// Requests reach the server in memory, so Play works in a testing/synctest bubble,
// except for scenarios that use the webhook server.
func Play(t TB, srv *fakeapi.Server, file string) {
	t.Helper()
	f, err := Load(file)
	if err != nil {
		t.Fatalf("%s", printable.Text(err.Error()))
		return
	}
	h, err := httptest.Start(srv, httptest.Options{InMemory: true})
	if err != nil {
		t.Fatalf("%s", printable.Text(err.Error()))
		return
	}
	defer h.Close()
	p := &Player{URL: h.URL, Transport: h.InMemory()}
	var results []*Result
	for _, s := range f.Scenarios {
		results = append(results, p.Play(context.Background(), s))
	}
	if updating() {
		if err := f.Update(results...); err != nil {
			t.Errorf("%s", printable.Text(err.Error()))
		}
		return
	}
	for _, r := range results {
		if r.Failed() {
			t.Errorf("%s: %s", file, r)
		}
	}
}

// A Player plays scenarios against any server. Its fields must not change while it
// plays. Scenarios may be played concurrently unless one of them moves the server's
// clock or changes the whole server.
type Player struct {
	// URL is the base URL of the server.
	URL string
	// Transport sends the requests. It must not decompress answers. The default is
	// http.DefaultTransport without decompression.
	Transport http.RoundTripper
	// Token is the bearer token of steps without a user. The default is
	// DefaultToken.
	Token string
	// Clusters are the servers for the steps that name a cluster with In.
	Clusters map[string]Endpoint
	// Timeout is how long a step waits for events, for the status of until, or for
	// the answer of expect. The default is 2s.
	Timeout time.Duration
	// Compact, if not nil, runs compact steps in place of the control endpoint.
	// It is for servers without one.
	Compact func() error
	// Paused, if not nil, is called after each pause step. Its error ends the scenario.
	Paused func(ctx context.Context) error
	// Transcript, if not nil, gets all requests and answers byte for byte, except
	// that the values of predefined variables are replaced by their names. A Player
	// with a transcript must not play scenarios concurrently.
	Transcript io.Writer
	// Coverage, if not nil, gets what each scenario covers. The scenario then counts the results of
	// expressions at the whole server, from its start to its end. A Player with a Coverage must not
	// play scenarios concurrently.
	Coverage *Coverage
}

// An Endpoint is a server of one of several clusters. Its fields mean what those of a Player do.
type Endpoint struct {
	URL       string
	Transport http.RoundTripper
}

// DefaultToken is the bearer token of steps without a user.
const DefaultToken = "admintoken"

const defaultTimeout = 2 * time.Second

// uncompressed is the default of Player.Transport.
var uncompressed = func() http.RoundTripper {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DisableCompression = true
	return t
}()

// A Result is the outcome of playing a scenario.
type Result struct {
	Scenario *Scenario
	// Steps holds the steps that were run, in order.
	Steps []StepResult
	// Err is the error that ended the scenario early, if any.
	Err error

	matcher *matcher
	ended   bool // Err is that of a step
}

// A StepResult is the outcome of a step.
type StepResult struct {
	Step *Step
	// Got is the answer, in the form of Step.Want. It is nil for a step without an
	// answer.
	Got *Answer
	// Diffs lists the differences between Got and what the step wants, one per line.
	Diffs []string
	// Sent is the request whose answer differs: the method, the path, the user, and in a line of
	// its own the body.
	Sent string
	// Rows are the results of the rows. Diffs has their differences too.
	Rows []StepResult
}

// Failed reports whether an answer differs or the scenario ended early.
func (r *Result) Failed() bool {
	for _, s := range r.Steps {
		if len(s.Diffs) > 0 {
			return true
		}
	}
	return r.Err != nil
}

// FailedStep returns the index of the first step that failed, -1 if none did.
func (r *Result) FailedStep() int {
	for i, s := range r.Steps {
		if len(s.Diffs) > 0 {
			return i
		}
	}
	if r.Err != nil && len(r.Steps) < len(r.Scenario.Steps) {
		return len(r.Steps)
	}
	return -1
}

// Position returns the file and the line of a step, such as "a.yaml:7", and of one of its rows if
// row is not negative. It is that of the closest place that is known, and "" for a scenario of no
// file.
func (r *Result) Position(step, row int) string { return r.Scenario.origin.position(step, row) }

// String returns the scenario's name and, of each step that differs, its place, its differences
// and what it has sent.
func (r *Result) String() string {
	var out strings.Builder
	out.WriteString(r.Scenario.String())
	at := func(step, row int) string {
		if position := r.Position(step, row); position != "" {
			return position + ": "
		}
		return ""
	}
	for i, s := range r.Steps {
		if s.Rows == nil && len(s.Diffs) > 0 {
			fmt.Fprintf(&out, "\n  %sstep %d (%s)", at(i, -1), i, s.Step)
			s.write(&out)
		}
		for j, row := range s.Rows {
			if len(row.Diffs) > 0 {
				fmt.Fprintf(&out, "\n  %sstep %d (%s), row %d (%s)", at(i, j), i, s.Step, j, row.Step)
				row.write(&out)
			}
		}
	}
	if r.Err != nil {
		place := ""
		if r.ended {
			place = at(len(r.Steps), -1)
		}
		fmt.Fprintf(&out, "\n  %s%v", place, r.Err)
	}
	return printable.Text(out.String())
}

// write writes the differences and what was sent.
func (s *StepResult) write(out *strings.Builder) {
	for _, d := range s.Diffs {
		out.WriteString("\n    " + strings.ReplaceAll(d, "\n", "\n    "))
	}
	if s.Sent != "" {
		out.WriteString("\n    sent " + strings.ReplaceAll(s.Sent, "\n", "\n         "))
	}
}

// Play plays a scenario. It stops when ctx ends.
func (p *Player) Play(ctx context.Context, s *Scenario) *Result {
	r := &Result{Scenario: s, matcher: newMatcher()}
	pl := p.newPlay(ctx, s, r.matcher)
	defer pl.close()
	if r.Err = pl.start(); r.Err != nil {
		return r
	}
	if p.Coverage != nil {
		defer func() {
			if err := pl.addCoverage(); err != nil && r.Err == nil {
				r.Err = fmt.Errorf("coverage: %w", err)
			}
		}()
	}
	for i := range s.Steps {
		st := &s.Steps[i]
		pl.transcriptf("\n# step %d: %s\n", i, st)
		result, err := pl.runStep(st)
		if result != nil && (err == nil || result.Got != nil) {
			r.Steps = append(r.Steps, *result)
		}
		if err != nil {
			r.Err, r.ended = fmt.Errorf("step %d (%s): %w", i, st, err), true
			return r
		}
	}
	if err := pl.finishHistory(); err != nil {
		r.Err = fmt.Errorf("history: %w", err)
	}
	return r
}

// A play is the state of playing one scenario.
type play struct {
	*Player
	ctx      context.Context
	scenario *Scenario
	client   *http.Client
	vars     variables
	unexpand *strings.Replacer // puts predefined variables in place of their values
	matcher  *matcher
	streams  map[string]*stream
	webhooks webhooks
	time     timeline
	history  []Change // the remaining changes

	fixtures   []*fixture
	discovered map[string]map[string]discovery.Kind // by the path of a group version and kind
	audited    int                                  // the requests that have an audit ID of the play
	clusters   map[string]*play                     // those of steps with In
	last       *Step                                // the request that was sent last
}

func (p *Player) newPlay(ctx context.Context, s *Scenario, m *matcher) *play {
	transport := p.Transport
	if transport == nil {
		transport = uncompressed
	}
	return &play{
		Player: p, ctx: ctx, scenario: s, matcher: m, history: s.History,
		client:  &http.Client{Transport: transport},
		vars:    variables{},
		streams: map[string]*stream{},

		discovered: map[string]map[string]discovery.Kind{},
		clusters:   map[string]*play{},
	}
}

// in returns the play whose steps concern another cluster. It has the variables and the watches of p, and
// the scenario's namespace exists there too.
func (p *play) in(cluster string) (*play, error) {
	if there := p.clusters[cluster]; there != nil {
		return there, nil
	}
	server, ok := p.Clusters[cluster]
	if !ok {
		return nil, fmt.Errorf("in: %q is not the name of a cluster that is played: %s", cluster, strings.Join(slices.Sorted(maps.Keys(p.Clusters)), ", "))
	}
	player := *p.Player
	player.URL, player.Transport = server.URL, server.Transport
	there := player.newPlay(p.ctx, p.scenario, p.matcher)
	there.vars, there.unexpand, there.streams, there.webhooks, there.history = p.vars, p.unexpand, p.streams, p.webhooks, nil
	got, err := there.send(&Step{Do: "POST /api/v1/namespaces", Body: namespaceNamed(p.vars["ns"])})
	if err != nil {
		return nil, err
	}
	if got.Status != http.StatusCreated && got.Status != http.StatusConflict {
		return nil, fmt.Errorf("creating a namespace in %s: %d %s", cluster, got.Status, short(got.Body))
	}
	p.clusters[cluster] = there
	return there, nil
}

// namespaceNamed returns a Namespace.
func namespaceNamed(name string) map[string]any {
	return map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name}}
}

// start creates the namespace, sets the predefined variables, and starts the
// webhook server and the time line.
func (p *play) start() error {
	text, err := marshal(p.scenario)
	if err != nil {
		return err
	}
	if bytes.Contains(text, []byte("${webhook")) {
		if p.webhooks, err = startWebhooks(); err != nil {
			return err
		}
		p.vars["webhook"], p.vars["webhook_ca"] = p.webhooks.URL, p.webhooks.caBundle()
	}
	if err := p.createNamespace(); err != nil {
		return err
	}
	p.unexpand = p.vars.unexpander()
	p.transcriptf("# %s\n", p.scenario)
	if p.Coverage != nil {
		if _, err := p.coverage(http.MethodPost); err != nil {
			return fmt.Errorf("coverage: %w", err)
		}
	}
	if err := p.applyFiles(); err != nil {
		return fmt.Errorf("files: %w", err)
	}
	if err := p.permitUsers(text); err != nil {
		return err
	}
	return p.startTime()
}

// close ends the watches and the webhook server.
func (p *play) close() {
	for _, s := range p.streams {
		s.close()
	}
	if p.webhooks.Server != nil {
		p.webhooks.Close()
	}
}

// createNamespace creates the scenario's namespace. It uses the first of a fixed
// sequence of names that is free, so that a fresh server always gets the same one.
func (p *play) createNamespace() error {
	for n := 0; ; n++ {
		run := hashName(fmt.Sprintf("%s %d", p.scenario, n))
		p.vars["run"], p.vars["ns"] = run, "s-"+run
		p.unexpand = p.vars.unexpander()
		got, err := p.send(&Step{Do: "POST /api/v1/namespaces", Body: namespaceNamed("s-" + run)})
		switch {
		case err != nil:
			return err
		case got.Status == http.StatusCreated:
			return nil
		case got.Status != http.StatusConflict:
			return fmt.Errorf("creating a namespace: %d %s", got.Status, short(got.Body))
		}
	}
}

// hashName returns ten letters derived from a text.
func hashName(text string) string {
	const letters = "bcdfghjklmnpqrstvwxz" // no vowels, so that no words appear
	h := fnv.New64a()
	h.Write([]byte(text))
	b := make([]byte, 10)
	for i, n := 0, h.Sum64(); i < len(b); i++ {
		b[i] = letters[n%uint64(len(letters))]
		n /= uint64(len(letters))
	}
	return string(b)
}

// transcriptf writes to the transcript, if there is one.
func (p *play) transcriptf(format string, args ...any) {
	if p.Transcript != nil {
		io.WriteString(p.Transcript, printable.Text(fmt.Sprintf(format, args...)))
	}
}
