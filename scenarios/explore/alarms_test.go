package explore_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/scenarios/explore"
)

// What a correct controller does must not be reported, and what looks alike in a wrong one must be. Each
// row is such a controller. want is the oracle that reports it, "" for a correct one.
type alarm struct {
	shape
	actions []explore.Action
	pace    explore.Pace
	want    explore.Oracle
	subject string
}

func testAlarms(t *testing.T, rows map[string]alarm) {
	needsBubble(t)
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			s := row.system(t, settings["basic controllers"])
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
	painter := func(attempts int) shape {
		var changes users
		for i := range 8 {
			changes = append(changes, thing(fmt.Sprint("color", i), 1))
		}
		return shape{watches: []watched{watchThings}, users: changes, retry: 5 * time.Millisecond, reconcile: forThing(func(c *controller, thing fakeapi.Object) (err error) {
			for range attempts {
				if err = c.setStatus(thing, map[string]any{"color": colorOf(thing)}); err == nil {
					return nil
				}
			}
			return err
		})}
	}
	late := []explore.Action{explore.Delay}
	testAlarms(t, map[string]alarm{
		"an attempt, and a back-off": {shape: painter(1), actions: late},
		"several attempts in a row":  {shape: painter(5), actions: late, want: explore.WriteBudget, subject: "things.shop.example.com default/a"},
	})
}

// A controller whose view has an object that was deleted acts as if it were there.
func TestLateCreations(t *testing.T) {
	keeper := func(wait time.Duration) shape {
		return shape{
			watches: []watched{watchThings, {path: defaultMaps, keys: self}},
			users: users{thing("red", 1), func(a *api) error { // as kube-apiserver deletes Endpoints with their Service
				time.Sleep(30 * time.Second)
				if err := removes(things + "/a")(a); err != nil {
					return err
				}
				return removes(defaultMaps + "/a")(a)
			}},
			reconcile: func(c *controller, key string) error {
				is := c.cached(defaultMaps, key)
				switch thing := c.cached(things, key); {
				case thing == nil && is != nil && is.Name() == "a":
					return c.remove(defaultMaps+"/a", uidOf(is))
				case thing != nil && is == nil:
					pause(c.ctx, wait)
					want := with(configMap("a", thing, "red"), nil, "metadata", "ownerReferences")
					if _, err := c.create(defaultMaps, want); err != nil && codeOf(err) != http.StatusConflict {
						return err
					}
				}
				return nil
			},
		}
	}
	held := []explore.Action{explore.Hold}
	testAlarms(t, map[string]alarm{
		"before it is told of the deletion": {shape: keeper(0), actions: held},
		"after it was told":                 {shape: keeper(15 * time.Second), actions: held, want: explore.Churn, subject: "configmaps default/a"},
	})
}

// A client that was refused may wait for as long as the queues of client-go do, 1,000 s at most.
func TestLateRetries(t *testing.T) {
	painter := func(retry time.Duration) shape {
		return shape{watches: []watched{watchThings}, users: lifeOfThing, retry: retry, reconcile: forThing(func(c *controller, thing fakeapi.Object) error {
			return c.ensure(defaultMaps, thing, configMap("a", thing, colorOf(thing)), []string{"data", "color"})
		})}
	}
	conflicts := []explore.Action{explore.Conflict}
	testAlarms(t, map[string]alarm{
		"after the longest back-off": {shape: painter(1000 * time.Second), actions: conflicts},
		"with less patience": {shape: painter(1000 * time.Second), actions: conflicts, pace: explore.Pace{Patience: time.Minute},
			want: explore.EndState, subject: "configmaps default/a"},
		"much later": {shape: painter(24 * time.Hour), actions: conflicts, want: explore.EndState, subject: "configmaps default/a"},
	})
}

// A process ends with its goroutines, unless they become more while it runs.
func TestLeaks(t *testing.T) {
	leaky := func(atStart, atReconcile, atExpiry int) shape {
		leak := func(n int) {
			for range n {
				go func() { select {} }()
			}
		}
		return shape{users: lifeOfThing, run: func(c *controller) {
			leak(atStart)
			c.watches = []watched{{path: things, keys: self, expired: func() { leak(atExpiry) }}}
			c.reconcile = forThing(func(c *controller, thing fakeapi.Object) error {
				leak(atReconcile)
				return c.ensure(defaultMaps, thing, configMap("a", thing, colorOf(thing)), []string{"data", "color"})
			})
			c.run()
		}}
	}
	testAlarms(t, map[string]alarm{
		"at each start":          {shape: leaky(3, 0, 0)},
		"at each reconciliation": {shape: leaky(0, 1, 0), want: explore.Leaks, subject: "Start"},
		"at each 410":            {shape: leaky(0, 0, 2), want: explore.Leaks, subject: "Start"},
	})
}
