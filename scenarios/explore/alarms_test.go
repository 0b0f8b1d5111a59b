package explore_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/apitest/explored"
	"github.com/kubefake/kubefake/scenarios/explore"
)

// What a correct controller does must not be reported, and what looks alike in a wrong one must be. Each
// row is such a controller. want is the oracle that reports it, "" for a correct one.
type alarm struct {
	explored.Shape
	actions []explore.Action
	pace    explore.Pace
	want    explore.Oracle
	subject string
}

func testAlarms(t *testing.T, rows map[string]alarm) {
	needsBubble(t)
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			s := row.System(t, explored.Settings["basic controllers"])
			s.Actions, s.Pace, s.Plans, s.All = row.actions, row.pace, 60, false
			r := explore.Find(t, s)
			if row.want == "" {
				assert.Empty(t, r.Findings, "%s", r)
				return
			}
			require.Len(t, r.Findings, 1, "%s", r)
			assert.Equal(t, row.want, r.Findings[0].Oracle, "%s", r)
			assert.Equal(t, row.subject, r.Findings[0].Subject, "%s", r)
		})
	}
}

// A client whose view of an object is behind is refused until it gets the newest version. It may try as often
// as a queue of client-go does.
func TestConflictsOfOldViews(t *testing.T) {
	painter := func(attempts int) explored.Shape {
		var changes explored.Users
		for i := range 8 {
			changes = append(changes, explored.Thing(fmt.Sprint("color", i), 1))
		}
		return explored.Shape{Watches: []explored.Watched{explored.WatchThings}, Users: changes, Retry: 5 * time.Millisecond, Reconcile: explored.ForThing(func(c *explored.Controller, thing fakeapi.Object) (err error) {
			for range attempts {
				if err = c.SetStatus(thing, map[string]any{"color": explored.ColorOf(thing)}); err == nil {
					return nil
				}
			}
			return err
		})}
	}
	late := []explore.Action{explore.Delay}
	testAlarms(t, map[string]alarm{
		"an attempt, and a back-off": {Shape: painter(1), actions: late},
		"several attempts in a row":  {Shape: painter(5), actions: late, want: explore.WriteBudget, subject: "things.shop.example.com default/a"},
	})
}

// A controller whose view has an object that was deleted acts as if it were there.
func TestLateCreations(t *testing.T) {
	keeper := func(wait time.Duration) explored.Shape {
		return explored.Shape{
			Watches: []explored.Watched{explored.WatchThings, {Path: explored.DefaultMaps, Keys: explored.Self}},
			Users: explored.Users{explored.Thing("red", 1), func(a *explored.API) error { // as kube-apiserver deletes Endpoints with their Service
				time.Sleep(30 * time.Second)
				if err := explored.Removes(explored.Things + "/a")(a); err != nil {
					return err
				}
				return explored.Removes(explored.DefaultMaps + "/a")(a)
			}},
			Reconcile: func(c *explored.Controller, key string) error {
				is := c.Cached(explored.DefaultMaps, key)
				switch thing := c.Cached(explored.Things, key); {
				case thing == nil && is != nil && is.Name() == "a":
					return c.Remove(explored.DefaultMaps+"/a", explored.UIDOf(is))
				case thing != nil && is == nil:
					explored.Pause(c.Ctx, wait)
					want := explored.With(explored.ConfigMap("a", thing, "red"), nil, "metadata", "ownerReferences")
					if _, err := c.Create(explored.DefaultMaps, want); err != nil && explored.CodeOf(err) != http.StatusConflict {
						return err
					}
				}
				return nil
			},
		}
	}
	held := []explore.Action{explore.Hold}
	testAlarms(t, map[string]alarm{
		"before it is told of the deletion": {Shape: keeper(0), actions: held},
		"after it was told":                 {Shape: keeper(15 * time.Second), actions: held, want: explore.Churn, subject: "configmaps default/a"},
	})
}

// A client that was refused may wait for as long as the queues of client-go do, 1,000 s at most.
func TestLateRetries(t *testing.T) {
	painter := func(retry time.Duration) explored.Shape {
		return explored.Shape{Watches: []explored.Watched{explored.WatchThings}, Users: explored.LifeOfThing, Retry: retry, Reconcile: explored.ForThing(func(c *explored.Controller, thing fakeapi.Object) error {
			return c.Ensure(explored.DefaultMaps, thing, explored.ConfigMap("a", thing, explored.ColorOf(thing)), []string{"data", "color"})
		})}
	}
	conflicts := []explore.Action{explore.Conflict}
	testAlarms(t, map[string]alarm{
		"after the longest back-off": {Shape: painter(1000 * time.Second), actions: conflicts},
		"with less patience": {Shape: painter(1000 * time.Second), actions: conflicts, pace: explore.Pace{Patience: time.Minute},
			want: explore.EndState, subject: "configmaps default/a"},
		"much later": {Shape: painter(24 * time.Hour), actions: conflicts, want: explore.EndState, subject: "configmaps default/a"},
	})
}

// A process ends with its goroutines, unless they become more while it runs.
func TestLeaks(t *testing.T) {
	leaky := func(atStart, atReconcile, atExpiry int) explored.Shape {
		leak := func(n int) {
			for range n {
				go func() { select {} }()
			}
		}
		return explored.Shape{Users: explored.LifeOfThing, Run: func(c *explored.Controller) {
			leak(atStart)
			c.Watches = []explored.Watched{{Path: explored.Things, Keys: explored.Self, Expired: func() { leak(atExpiry) }}}
			c.Reconcile = explored.ForThing(func(c *explored.Controller, thing fakeapi.Object) error {
				leak(atReconcile)
				return c.Ensure(explored.DefaultMaps, thing, explored.ConfigMap("a", thing, explored.ColorOf(thing)), []string{"data", "color"})
			})
			c.Run()
		}}
	}
	testAlarms(t, map[string]alarm{
		"at each start":          {Shape: leaky(3, 0, 0)},
		"at each reconciliation": {Shape: leaky(0, 1, 0), want: explore.Leaks, subject: "Start"},
		"at each 410":            {Shape: leaky(0, 0, 2), want: explore.Leaks, subject: "Start"},
	})
}
