package scenarios

import (
	"bytes"
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/httptest"
)

// TB is the part of testing.TB that this package needs.
type TB interface {
	Helper()
	Cleanup(func())
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Play plays the scenarios of a file against a server, one after the other, and
// fails the test for each that goes otherwise than it says. Each has a namespace
// of its own; what it leaves behind stays.
//
// If the test binary has a boolean flag named update, and it is set, Play writes
// what differs into the file instead, as File.Update does.
//
// Requests reach the server in memory, so that Play works in a testing/synctest
// bubble, unless a scenario names the webhook server.
func Play(t TB, srv *fakeapi.Server, file string) {
	t.Helper()
	f, err := Load(file)
	if err != nil {
		t.Fatalf("%v", err)
		return
	}
	h, err := httptest.Start(srv, httptest.Options{InMemory: true})
	if err != nil {
		t.Fatalf("%v", err)
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
			t.Errorf("%v", err)
		}
		return
	}
	for _, r := range results {
		if r.Failed() {
			t.Errorf("%s: %s", file, r)
		}
	}
}

// A Player plays scenarios against a server of any kind. Its fields are not to
// be changed while it plays. Scenarios can be played at the same time if none of
// them moves the server's clock or changes the server for all.
type Player struct {
	// URL is the base URL of the server.
	URL string
	// Transport reaches the server. It must not undo the compression of answers.
	// Nil is one that does not, and trusts what the system trusts.
	Transport http.RoundTripper
	// Token is the bearer token of steps that name no user. "" is DefaultToken.
	Token string
	// Patience is how long to wait for what should come: events, the status that
	// a request is repeated for, what an expectation expects. 0 is two seconds.
	Patience time.Duration
	// Compact takes the place of the control endpoint in steps that compact, for
	// a server that has none.
	Compact func() error
	// Transcript gets what was asked and answered, byte for byte, but with the
	// names of a scenario in place of the values that they have in this play. Nil
	// is nobody. A Player with a transcript plays one scenario at a time.
	Transcript io.Writer
}

// DefaultToken is the bearer token of steps that name no user.
const DefaultToken = "admintoken"

const defaultPatience = 2 * time.Second

// uncompressed is the transport of players that have none.
var uncompressed = func() http.RoundTripper {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DisableCompression = true
	return t
}()

// A Result tells how a scenario went.
type Result struct {
	Scenario *Scenario
	// Steps are those that were taken, in order.
	Steps []StepResult
	// Err is what kept the rest from being taken, if anything.
	Err error

	matcher *matcher
}

// A StepResult tells how a step went.
type StepResult struct {
	Step *Step
	// Got is the answer, in the form of the step's Want; nil for a step that is
	// not answered.
	Got *Answer
	// Diffs are how Got differs from Want, a line each.
	Diffs []string
}

// Failed reports whether the scenario went otherwise than it says.
func (r *Result) Failed() bool {
	for _, s := range r.Steps {
		if len(s.Diffs) > 0 {
			return true
		}
	}
	return r.Err != nil
}

// String tells what differs, step by step.
func (r *Result) String() string {
	var out strings.Builder
	out.WriteString(r.Scenario.String())
	for i, s := range r.Steps {
		if len(s.Diffs) == 0 {
			continue
		}
		fmt.Fprintf(&out, "\n  step %d (%s)", i, s.Step)
		for _, d := range s.Diffs {
			out.WriteString("\n    " + strings.ReplaceAll(d, "\n", "\n    "))
		}
	}
	if r.Err != nil {
		fmt.Fprintf(&out, "\n  %v", r.Err)
	}
	return out.String()
}

// Play plays a scenario until ctx ends.
func (p *Player) Play(ctx context.Context, s *Scenario) *Result {
	r := &Result{Scenario: s, matcher: newMatcher()}
	pl := p.newPlay(ctx, s, r.matcher)
	defer pl.end()
	if r.Err = pl.begin(); r.Err != nil {
		return r
	}
	for i := range s.Steps {
		st := &s.Steps[i]
		pl.note("\n# step %d: %s\n", i, st)
		got, diffs, err := pl.take(st)
		if got != nil || err == nil {
			r.Steps = append(r.Steps, StepResult{st, got, diffs})
		}
		if err != nil {
			r.Err = fmt.Errorf("step %d (%s): %w", i, st, err)
			return r
		}
	}
	if err := pl.finish(); err != nil {
		r.Err = fmt.Errorf("history: %w", err)
	}
	return r
}

// A play is one scenario being played.
type play struct {
	*Player
	ctx      context.Context
	scenario *Scenario
	client   *http.Client
	names    names
	folder   *strings.Replacer
	matcher  *matcher
	streams  map[string]*stream
	webhooks webhooks
	time     timeline
	history  []Change // those that are still to be made
}

func (p *Player) newPlay(ctx context.Context, s *Scenario, m *matcher) *play {
	transport := p.Transport
	if transport == nil {
		transport = uncompressed
	}
	return &play{
		Player: p, ctx: ctx, scenario: s, matcher: m, history: s.History,
		client:  &http.Client{Transport: transport},
		names:   names{},
		streams: map[string]*stream{},
	}
}

// begin does what comes before the first step.
func (p *play) begin() error {
	text, err := marshal(p.scenario)
	if err != nil {
		return err
	}
	if bytes.Contains(text, []byte("${webhook")) {
		if p.webhooks, err = startWebhooks(); err != nil {
			return err
		}
		p.names["webhook"], p.names["webhook_ca"] = p.webhooks.URL, p.webhooks.caBundle()
	}
	if err := p.makeNamespace(); err != nil {
		return err
	}
	p.folder = p.names.folder()
	p.note("# %s\n", p.scenario)
	return p.startTime()
}

// end releases what the play holds.
func (p *play) end() {
	for _, s := range p.streams {
		s.close()
	}
	if p.webhooks.Server != nil {
		p.webhooks.Close()
	}
}

// makeNamespace makes the scenario's namespace, under the first name of a row
// that the server does not have yet: on a fresh server it is always the same.
func (p *play) makeNamespace() error {
	for n := 0; ; n++ {
		run := word(fmt.Sprintf("%s %d", p.scenario, n))
		p.names["run"], p.names["ns"] = run, "s-"+run
		p.folder = p.names.folder()
		got, err := p.send(&Step{Do: "POST /api/v1/namespaces", Body: map[string]any{
			"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "s-" + run},
		}})
		switch {
		case err != nil:
			return err
		case got.Status == http.StatusCreated:
			return nil
		case got.Status != http.StatusConflict:
			return fmt.Errorf("making a namespace: %d %s", got.Status, short(got.Body))
		}
	}
}

// word makes a word of ten letters from a text.
func word(text string) string {
	const letters = "bcdfghjklmnpqrstvwxz" // none that make words
	h := fnv.New64a()
	h.Write([]byte(text))
	b := make([]byte, 10)
	for i, n := 0, h.Sum64(); i < len(b); i++ {
		b[i] = letters[n%uint64(len(letters))]
		n /= uint64(len(letters))
	}
	return string(b)
}

// note adds to the transcript.
func (p *play) note(format string, args ...any) {
	if p.Transcript != nil {
		fmt.Fprintf(p.Transcript, format, args...)
	}
}
