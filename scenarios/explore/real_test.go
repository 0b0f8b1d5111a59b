package explore_test

import (
	"context"
	"encoding/json"
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/apitest/explored"
	"github.com/kubefake/kubefake/scenarios/explore"
)

// realKubeconfig is of another server than one of this module: see docs/explore-real.md.
var realKubeconfig = flag.String("real", "", "play the plans of TestReal against the API server of this kubeconfig file")

// realServer returns the kubeconfig of a server on which plans are played over HTTP, and a client.
func realServer(t *testing.T) (kubeconfig string, a *explored.API) {
	if *realKubeconfig != "" {
		return *realKubeconfig, nil
	}
	srv := fakeapi.Start(t)
	kubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, os.WriteFile(kubeconfig, srv.Kubeconfig(), 0o600))
	return kubeconfig, &explored.API{Ctx: context.Background(), Srv: srv, Agent: "test"}
}

// colors are settings, one after the other.
func colors(a ...string) explored.Users {
	var out explored.Users
	for _, color := range a {
		out = append(out, explored.Applies(explored.DefaultMaps+"/settings", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"settings"},"data":{"color":"`+color+`"}}`))
	}
	return append(out, explored.Removes(explored.DefaultMaps+"/settings"))
}

// Controllers that note the color of the settings.
var (
	// copiesColor is correct.
	copiesColor = noting(func(_, color string) string { return color })
	// countsColors notes a color once more each time that it sees it.
	countsColors = noting(func(noted, color string) string { return strings.TrimPrefix(noted+" "+color, " ") })
	// expectsProgress takes each color that is not the last one for a new one.
	expectsProgress = noting(func(noted, color string) string {
		if strings.HasSuffix(noted, color) {
			return noted
		}
		return strings.TrimPrefix(noted+" "+color, " ")
	})
)

// noting returns a reconcile that writes what note makes of what is noted and of the color.
func noting(note func(noted, color string) string) func(c *explored.Controller, key string) error {
	return func(c *explored.Controller, key string) error {
		is := c.Cached(explored.DefaultMaps, key)
		if is == nil || is.Name() != "settings" {
			return nil
		}
		seen, err := c.Get(explored.StoreMaps + "/seen")
		if err != nil && explored.CodeOf(err) != http.StatusNotFound {
			return err
		}
		return c.API.Apply(explored.StoreMaps+"/seen", fakeapi.Object{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "seen"},
			"data": map[string]any{"colors": note(explored.Field(seen, "data", "colors"), explored.Field(is, "data", "color"))},
		})
	}
}

// realPace is for runs of a second or two.
var realPace = explore.Pace{Quiet: 300 * time.Millisecond, Hold: 200 * time.Millisecond, Restart: 20 * time.Millisecond}

// Decisions at points of these controllers.
func at(do explore.Action, event string, nth int) explore.Decision {
	return explore.Decision{Do: do, At: explore.Point{Client: "controller", Verb: "watch", Event: event, Resource: "configmaps", Namespace: "default", Name: "settings", Nth: nth}}
}

func written(do explore.Action, nth int) explore.Decision {
	return explore.Decision{Do: do, At: explore.Point{Client: "controller", Verb: "patch", Resource: "configmaps", Namespace: "kube-public", Name: "seen", Nth: nth}}
}

// A proxy in front of a real server makes the decisions of a plan. Each plan takes ten seconds, so
// those that differ little from others are played with -real only.
func TestReal(t *testing.T) {
	for name, row := range map[string]struct {
		plan      explore.Plan
		reconcile func(c *explored.Controller, key string) error
		old       bool   // the controller lists from the watch cache
		finds     bool   // the note ends otherwise than without the plan
		unmade    string // part of why the first decision was not made; "" if it was
		more      bool   // with -real only
	}{
		"crash":               {plan: explore.Plan{at(explore.Crash, "MODIFIED", 1)}, reconcile: copiesColor, more: true},
		"crash-after":         {plan: explore.Plan{written(explore.CrashAfter, 2)}, reconcile: countsColors, finds: true},
		"stop":                {plan: explore.Plan{at(explore.Stop, "MODIFIED", 1)}, reconcile: countsColors, finds: true, more: true},
		"lose":                {plan: explore.Plan{written(explore.Lose, 2)}, reconcile: countsColors, finds: true, more: true},
		"conflict":            {plan: explore.Plan{written(explore.Conflict, 1)}, reconcile: copiesColor},
		"hold":                {plan: explore.Plan{at(explore.Hold, "MODIFIED", 1)}, reconcile: copiesColor},
		"delay":               {plan: explore.Plan{at(explore.Delay, "ADDED", 1)}, reconcile: copiesColor, more: true},
		"expire":              {plan: explore.Plan{at(explore.Expire, "ADDED", 1)}, reconcile: copiesColor, more: true},
		"rewind":              {plan: explore.Plan{at(explore.Rewind, "ADDED", 1), at(explore.Crash, "MODIFIED", 2)}, reconcile: expectsProgress, old: true, finds: true},
		"rewind, correct":     {plan: explore.Plan{at(explore.Rewind, "ADDED", 1), at(explore.Crash, "MODIFIED", 2)}, reconcile: copiesColor, old: true, more: true},
		"rewind, no old list": {plan: explore.Plan{at(explore.Rewind, "ADDED", 1), at(explore.Crash, "MODIFIED", 2)}, reconcile: expectsProgress, unmade: "present state", more: true},
		"compact":             {plan: explore.Plan{at(explore.Compact, "MODIFIED", 1)}, reconcile: copiesColor, unmade: "etcd"},
		"another run":         {plan: explore.Plan{at(explore.Hold, "MODIFIED", 9)}, reconcile: copiesColor, unmade: "did not come"},
	} {
		t.Run(name, func(t *testing.T) {
			if row.more && *realKubeconfig == "" {
				t.Skip("with -real only")
			}
			kubeconfig, real := realServer(t)
			if real != nil {
				t.Parallel()
			}
			s := explored.Shape{Watches: []explored.Watched{{Path: explored.DefaultMaps, Keys: explored.Self, Old: row.old}}, Reconcile: row.reconcile}
			r, err := explore.Search(context.Background(), explore.System{
				Start: s.Start, Workload: colors("red", "green", "blue", "black").WorkloadWith(500 * time.Millisecond),
				PlanFile: planFile(t, row.plan), Real: kubeconfig, Repeat: 1, Log: func(line string) { t.Log(line) }, Pace: realPace,
			})
			require.NoError(t, err)
			t.Log(r)
			if row.unmade == "" {
				assert.Empty(t, r.Unmade)
			} else {
				require.Len(t, r.Unmade, 1)
				assert.Equal(t, row.plan[0], r.Unmade[0].Decision)
				assert.Contains(t, r.Unmade[0].Reason, row.unmade)
			}
			if row.finds {
				require.Len(t, r.Findings, 1)
				assert.Equal(t, "configmaps kube-public/seen", r.Findings[0].Subject)
				assert.Equal(t, 1, r.Findings[0].Repeated)
				assert.Contains(t, r.Findings[0].String(), "fails against http")
			} else {
				assert.Empty(t, r.Findings)
			}
			if real != nil {
				for _, path := range []string{explored.DefaultMaps + "/settings", explored.StoreMaps + "/seen"} {
					_, err := real.Get(path)
					assert.Equal(t, http.StatusNotFound, explored.CodeOf(err), "%s remains", path)
				}
			}
		})
	}
}

// planFile writes the file of a plan.
func planFile(t *testing.T, plan explore.Plan) string {
	t.Helper()
	text, err := json.Marshal(map[string]any{"version": 1, "plan": plan})
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "plan.yaml")
	require.NoError(t, os.WriteFile(file, text, 0o600))
	return file
}

func TestRealNeedsPlan(t *testing.T) {
	_, err := explore.Search(context.Background(), explore.System{Real: "kubeconfig", Start: func(context.Context, *fakeapi.Server) error { return nil }})
	assert.ErrorContains(t, err, "a real server needs a plan")
}
