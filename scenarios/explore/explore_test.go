package explore_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/apitest/explored"
	"github.com/kubefake/kubefake/scenarios/explore"
)

// A copier is a controller of ConfigMaps without client-go. For each ConfigMap it creates
// a Secret, and it copies the key color.
type copier struct {
	srv *fakeapi.Server

	generate bool // a bug: names of Secrets are generated, and it remembers which it has created
	once     bool // a bug: it does not list again after 410
	rewrite  bool // a bug: it never stops writing
	panics   bool // a bug: it panics when a Secret exists
	cleans   bool // it deletes the Secrets of ConfigMaps that do not exist
	cached   bool // a bug of one that cleans: its list may be old

	created map[string]bool
}

const configMaps = "/api/v1/namespaces/default/configmaps"

func (c *copier) run(ctx context.Context) error {
	c.created = map[string]bool{}
	for ctx.Err() == nil {
		var list struct {
			Metadata struct{ ResourceVersion string }
			Items    []fakeapi.Object
		}
		path := configMaps
		if c.cached {
			path += "?resourceVersion=0"
		}
		if _, err := c.do(ctx, http.MethodGet, path, nil, &list); err != nil {
			explored.Wait(ctx)
			continue
		}
		if c.cleans && !slices.ContainsFunc(list.Items, func(o fakeapi.Object) bool { return o.Name() == "settings" }) {
			c.clean(ctx)
		}
		for _, o := range list.Items {
			c.reconcile(ctx, o)
		}
		version := list.Metadata.ResourceVersion
		for ctx.Err() == nil {
			expired := c.watch(ctx, &version)
			if expired && !c.once {
				break
			}
			explored.Wait(ctx)
		}
	}
	return nil
}

// watch reconciles until the watch ends, and reports whether its version has expired.
func (c *copier) watch(ctx context.Context, version *string) (expired bool) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.srv.URL+configMaps+"?watch=1&resourceVersion="+*version, nil)
	if err != nil {
		return false
	}
	r.Header.Set("User-Agent", "copier/1.0 (test)")
	resp, err := c.srv.Client().Do(r)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	events := json.NewDecoder(resp.Body)
	for {
		var e struct {
			Type   string
			Object fakeapi.Object
		}
		if events.Decode(&e) != nil {
			return false
		}
		if e.Type == "ERROR" {
			return true
		}
		*version = e.Object.ResourceVersion()
		if e.Type != "DELETED" {
			c.reconcile(ctx, e.Object)
		} else if c.cleans {
			c.clean(ctx)
		}
	}
}

// clean deletes the Secret of the ConfigMap settings.
func (c *copier) clean(ctx context.Context) {
	for ctx.Err() == nil {
		code, err := c.do(ctx, http.MethodDelete, "/api/v1/namespaces/default/secrets/settings", nil, nil)
		if err == nil && (code < 300 || code == http.StatusNotFound) {
			return
		}
		explored.Wait(ctx)
	}
}

// reconcile tries until it succeeds.
func (c *copier) reconcile(ctx context.Context, o fakeapi.Object) {
	if strings.HasPrefix(o.Name(), "kube-") {
		return
	}
	for ctx.Err() == nil {
		if c.copy(ctx, o) && !c.rewrite {
			return
		}
		explored.Wait(ctx)
	}
}

func (c *copier) copy(ctx context.Context, o fakeapi.Object) bool {
	const secrets = "/api/v1/namespaces/default/secrets"
	color, _ := o["data"].(map[string]any)
	meta := map[string]any{"name": o.Name()}
	if c.generate {
		if c.created[o.Name()] {
			return true
		}
		meta = map[string]any{"generateName": o.Name() + "-"}
	}
	secret := map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": meta, "stringData": color}
	code, err := c.do(ctx, http.MethodPost, secrets, secret, nil)
	if code == http.StatusConflict {
		if c.panics {
			panic("it exists")
		}
		code, err = c.do(ctx, http.MethodPut, secrets+"/"+o.Name(), secret, nil)
	}
	if err == nil && code < 300 {
		c.created[o.Name()] = true
		return true
	}
	return false
}

func (c *copier) do(ctx context.Context, method, path string, in, out any) (code int, err error) {
	b, err := json.Marshal(in)
	if err != nil {
		return 0, err
	}
	r, err := http.NewRequestWithContext(ctx, method, c.srv.URL+path, bytes.NewReader(b))
	if err != nil {
		return 0, err
	}
	r.Header.Set("User-Agent", "copier/1.0 (test)")
	r.Header.Set("Content-Type", "application/json")
	resp, err := c.srv.Client().Do(r)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode == http.StatusOK && out != nil {
		err = json.Unmarshal(body, out)
	}
	return resp.StatusCode, err
}

// paint returns a step that creates or changes a ConfigMap.
func paint(color string) func(*fakeapi.Server) error {
	return func(srv *fakeapi.Server) error {
		_, err := srv.Store(map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap",
			"metadata": map[string]any{"namespace": "default", "name": "settings"},
			"data":     map[string]any{"color": color},
		})
		return err
	}
}

func systemOf(t testing.TB, c copier) explore.System {
	return explore.System{
		Start: func(ctx context.Context, srv *fakeapi.Server) error {
			c := c
			c.srv = srv
			return c.run(ctx)
		},
		Workload: explore.Steps(5*time.Second, paint("red"), paint("green")),
		Dir:      t.TempDir(),
		Plans:    60,
	}
}

func TestNoBug(t *testing.T) {
	needsBubble(t)
	r := explore.Find(t, systemOf(t, copier{}))
	assert.Empty(t, r.Findings)
	assert.Equal(t, explore.Points{Writes: 3, Deliveries: 2, Lists: 1}, r.Points)
	done := map[explore.Action]int{}
	for _, c := range r.Coverage {
		assert.Equal(t, c.Points, c.Done+c.Equal, "%s", c)
		done[c.Action] += c.Done
	}
	assert.Equal(t, map[explore.Action]int{
		explore.Crash: 2, explore.Stop: 2, explore.CrashAfter: 2, explore.Lose: 3, explore.Conflict: 1,
		explore.Hold: 2, explore.Delay: 2, explore.Expire: 2, explore.Compact: 2,
		explore.Rewind: 2,
	}, done)
}

// A controller that finds its own object after a crash updates it, which it may do in no other run.
func TestPermissions(t *testing.T) {
	needsBubble(t)
	s := systemOf(t, copier{})
	s.Workload = explore.Steps(5*time.Second, paint("red"))
	r := explore.Find(t, s)
	assert.Equal(t, []explore.Permission{
		{Verb: "list", Resource: "configmaps", Reference: true},
		{Verb: "watch", Resource: "configmaps", Reference: true},
		{Verb: "create", Resource: "secrets", Reference: true},
		{Verb: "update", Resource: "secrets"},
	}, r.Permissions)
	assert.Contains(t, r.String(), "permissions: 3 in the reference run; only with faults: update secrets")
}

func TestBugs(t *testing.T) {
	needsBubble(t)
	for name, row := range map[string]struct {
		copier copier
		oracle explore.Oracle
		want   string
	}{
		"generated names": {copier{generate: true}, explore.EndState, "secrets default/settings-*: 2 exist in the end"},
		"410":             {copier{once: true}, explore.EndState, "it does not exist in the end"},
		"panic":           {copier{panics: true}, explore.Panics, "panic: it exists"},
	} {
		t.Run(name, func(t *testing.T) {
			s := systemOf(t, row.copier)
			if row.copier.panics {
				s.Workload = explore.Steps(5*time.Second, paint("red"))
			}
			r := explore.Find(t, s)
			require.Len(t, r.Findings, 1)
			f := r.Findings[0]
			assert.Equal(t, row.oracle, f.Oracle, "%s", f)
			assert.Contains(t, f.Detail+f.Violation.String(), row.want)
			assert.Len(t, f.Plan, 1)
			assert.Equal(t, f.Tried, f.Repeated)
			file, err := os.ReadFile(f.File)
			require.NoError(t, err)
			assert.Contains(t, string(file), "\n# "+f.Command+"\n")
			page, err := os.ReadFile(f.Story)
			require.NoError(t, err)
			assert.Contains(t, string(page), "explore: "+string(f.Plan[0].Do), "the story marks the decision")

			again := explore.Find(t, s)
			require.Len(t, again.Findings, 1)
			assert.True(t, again.Findings[0].Saved, "the file is played first")
			assert.Zero(t, again.Plans)

			s.Start = systemOf(t, copier{}).Start
			fixed := explore.Find(t, s)
			assert.Empty(t, fixed.Findings)
			assert.Equal(t, 1, fixed.Saved)
		})
	}
}

func TestRewind(t *testing.T) {
	needsBubble(t)
	remove := func(srv *fakeapi.Server) error { return srv.Remove("configmaps", "default", "settings") }
	s := systemOf(t, copier{cleans: true, cached: true})
	s.Workload = explore.Steps(5*time.Second, paint("red"), remove, paint("green"))
	s.Actions = []explore.Action{explore.Rewind}
	r := explore.Find(t, s)
	require.Len(t, r.Findings, 1)
	f := r.Findings[0]
	assert.Equal(t, explore.Churn, f.Oracle, "%s", f)
	assert.Equal(t, "secrets default/settings", f.Subject)
	assert.Equal(t, explore.Rewind, f.Plan[0].Do, "%s", f)
	assert.Equal(t, f.Tried, f.Repeated)

	s.Start = systemOf(t, copier{cleans: true}).Start
	fixed := explore.Find(t, s)
	assert.Empty(t, fixed.Findings)
	assert.Equal(t, 1, fixed.Saved)
}

func TestControllers(t *testing.T) {
	needsBubble(t)
	s := systemOf(t, copier{})
	s.Options = []fakeapi.Option{fakeapi.WithControllers("scheduler", "kubelet")}
	s.Plans = 5
	r := explore.Find(t, s)
	assert.Empty(t, r.Findings, "heartbeats of the Node")
	assert.Equal(t, 5, r.Plans)
}

func TestReferenceRunFails(t *testing.T) {
	needsBubble(t)
	s := systemOf(t, copier{rewrite: true})
	s.Pace.Limit = 5 * time.Minute
	r := explore.Find(t, s)
	require.Len(t, r.Findings, 1)
	assert.Equal(t, explore.Settles, r.Findings[0].Oracle)
	assert.Empty(t, r.Findings[0].Plan)
}

func TestSameSeedSamePlans(t *testing.T) {
	needsBubble(t)
	var found []string
	for range 2 {
		s := systemOf(t, copier{generate: true})
		s.All = true
		var lines []string
		for _, f := range explore.Find(t, s).Findings {
			lines = append(lines, f.Violation.String()+f.Plan.String())
		}
		found = append(found, strings.Join(lines, "\n"))
	}
	assert.Equal(t, found[0], found[1])
	assert.Contains(t, found[0], "churn")
}

func TestInvariants(t *testing.T) {
	needsBubble(t)
	s := systemOf(t, copier{})
	s.Invariants = []explore.Invariant{
		explore.CEL("secrets", `oldObject == null || object.metadata.uid == oldObject.metadata.uid`),
		explore.Always("a Secret for each ConfigMap", func(s explore.State) error {
			if len(s.List("configmaps")) > 0 && len(s.List("secrets")) == 0 {
				return errors.New("no Secret")
			}
			return nil
		}),
	}
	r := explore.Find(t, s)
	require.Len(t, r.Findings, 1)
	assert.Equal(t, explore.Holds, r.Findings[0].Oracle)
	assert.Equal(t, "a Secret for each ConfigMap", r.Findings[0].Subject)
	assert.Empty(t, r.Findings[0].Plan, "it does not even hold in the reference run")

	s.Invariants = []explore.Invariant{explore.CEL("secrets", `object.data.color != "Z3JlZW4="`)}
	r = explore.Find(t, s)
	require.Len(t, r.Findings, 1)
	assert.Contains(t, r.Findings[0].Detail, "secrets default/settings")
}

func TestExceptions(t *testing.T) {
	needsBubble(t)
	s := systemOf(t, copier{generate: true})
	s.Ignore = []explore.Exception{{Resource: "secrets", Name: "settings-*", Reason: "the names are generated"}}
	assert.Empty(t, explore.Find(t, s).Findings)
}

func TestErrors(t *testing.T) {
	start := func(ctx context.Context, _ *fakeapi.Server) error { return nil }
	for name, row := range map[string]struct {
		system explore.System
		want   string
	}{
		"no Start":     {explore.System{}, "Start is nil"},
		"no reason":    {explore.System{Start: start, Ignore: []explore.Exception{{Resource: "pods"}}}, "an exception has no reason"},
		"CEL":          {explore.System{Start: start, Invariants: []explore.Invariant{explore.CEL("pods", "object.")}}, "Syntax error"},
		"manual clock": {explore.System{Start: start, Options: []fakeapi.Option{fakeapi.WithManualClock(time.Unix(0, 0))}}, "the clock of the server is manual"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := explore.Search(context.Background(), row.system)
			assert.ErrorContains(t, err, row.want)
		})
	}
}

func TestPlanFileErrors(t *testing.T) {
	needsBubble(t)
	for text, want := range map[string]string{
		"version: 2": "unsupported version 2",
		"version: 1\nplan: [{do: crash, at: {client: a, verb: list, resource: pods, nth: 1}}]":   "crash cannot be done at the 1st list of pods by a",
		"version: 1\nplan: [{do: crash, at: {client: a, verb: create, resource: pods, nth: 0}}]": "nth is not positive",
		"version: 1\nplans: []": "unknown field",
	} {
		s := systemOf(t, copier{})
		require.NoError(t, os.WriteFile(filepath.Join(s.Dir, "a.yaml"), []byte(text), 0o666))
		f := &failing{TB: t}
		f.run(func() { explore.Find(f, s) })
		assert.Contains(t, f.fatal, want)
	}
}

// failing is a TB that records a fatal failure. It is no *testing.T, so searches have no
// bubbles.
type failing struct {
	testing.TB
	fatal string
}

func (f *failing) run(what func()) { what() }

func (f *failing) Fatalf(format string, args ...any) { f.fatal = fmt.Sprintf(format, args...) }

// A step that fails without any fault is an error of the workload.
func TestWrongWorkload(t *testing.T) {
	for name, row := range map[string]struct{ step, want string }{
		"an invalid object": {
			"apply: {apiVersion: v1, kind: ConfigMap, metadata: {namespace: default, name: A}}",
			"w.yaml:4: step 1 (apply ConfigMap default/A): 422 ",
		},
		"a refused request": {"do: POST /api/v1/nothing\n  want: {status: 201}", "w.yaml:4: step 1 (POST /api/v1/nothing)"},
	} {
		t.Run(name, func(t *testing.T) {
			s := systemOf(t, copier{})
			s.Options = []fakeapi.Option{fakeapi.WithInMemory()}
			s.Workload = explore.Scenario(workloadFile(t, "- pause: 1ms\n- "+row.step))
			s.Pace = explore.Pace{Quiet: 10 * time.Millisecond, Hold: 10 * time.Millisecond}
			_, err := explore.Search(context.Background(), s)
			assert.ErrorContains(t, err, "explore: the workload fails without any fault: ")
			assert.ErrorContains(t, err, row.want)
		})
	}
}

// A workload that fails before the system has made a request is reported, not the system.
func TestWorkloadThatDoesNotBegin(t *testing.T) {
	needsBubble(t)
	bubble(t, func() {
		_, err := explore.Search(context.Background(), explore.System{
			Options:  []fakeapi.Option{fakeapi.WithInMemory()},
			Start:    func(ctx context.Context, _ *fakeapi.Server) error { <-ctx.Done(); return nil },
			Workload: explore.Scenario(workloadFile(t, "- aply: {}")),
		})
		assert.ErrorContains(t, err, "explore: the workload fails without any fault: ")
		assert.ErrorContains(t, err, "w.yaml")
	})
}

// A step that reads what the system has not written is a finding.
func TestWorkloadThatExpects(t *testing.T) {
	needsBubble(t)
	s := systemOf(t, copier{})
	s.Workload = explore.Scenario(workloadFile(t, "- pause: 5s\n- expect: /api/v1/namespaces/default/secrets/none\n  within: 10s\n  want: {body: {kind: Secret}}"))
	r := explore.Find(t, s)
	require.Len(t, r.Findings, 1)
	assert.Equal(t, explore.Finishes, r.Findings[0].Oracle)
	assert.Contains(t, r.Findings[0].Detail, "w.yaml:4: step 1 (expect ")
}

// workloadFile writes a scenario with steps.
func workloadFile(t *testing.T, steps string) string {
	file := filepath.Join(t.TempDir(), "w.yaml")
	require.NoError(t, os.WriteFile(file, []byte("name: a\nsteps:\n"+steps+"\n"), 0o666))
	return file
}
