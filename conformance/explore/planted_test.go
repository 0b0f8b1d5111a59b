package explore

import (
	"fmt"
	"net/http"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/apitest/explored"
	"github.com/kubefake/kubefake/scenarios/explore"
)

// A planted is a controller with a bug.
type planted struct {
	explored.Shape
	oracle  explore.Oracle
	subject string
	without bool // it is found without any decision
}

// bugs are controllers with one bug each. Most workloads end with a deletion, which hides what was
// wrong before.
var bugs = map[string]planted{
	"early removal of the finalizer": {oracle: explore.EndState, subject: "configmaps kube-public/default-a", Shape: explored.Shape{
		Watches: []explored.Watched{explored.WatchThings},
		Users:   explored.LifeOfThing,
		Reconcile: func(c *explored.Controller, key string) error {
			thing := c.Cached(explored.Things, key)
			if thing == nil {
				return nil
			}
			want := explored.StoreMap(key, "")
			ready, err := c.WithFinalizer(thing, func() error { return nil })
			if err != nil || explored.Deleted(thing) {
				_ = c.Remove(explored.StoreMaps+"/"+want.Name(), "") // too late: nothing repeats it
				return err
			}
			if !ready {
				return nil
			}
			if _, err := c.Create(explored.StoreMaps, want); err != nil && explored.CodeOf(err) != http.StatusConflict {
				return err
			}
			return nil
		},
	}},
	"creation from a stale cache": {oracle: explore.Churn, subject: "secrets default/a-*", Shape: explored.Shape{
		Watches: []explored.Watched{explored.WatchThings, {Path: explored.Secrets, Keys: explored.Owner}},
		Users:   explored.Users{explored.Thing("red", 1), explored.Thing("green", 1), explored.Thing("blue", 1), explored.Removes(explored.Things + "/a")},
		Reconcile: func(c *explored.Controller, key string) error {
			thing := c.Cached(explored.Things, key)
			if thing == nil || len(c.All(explored.Secrets, func(o fakeapi.Object) bool { return explored.Controls(thing, o) })) > 0 {
				return nil
			}
			return c.CreateSecret(thing, "shop/token")
		},
	}},
	"status from a stale read": {oracle: explore.EndState, subject: "things.shop.example.com default/a", Shape: explored.Shape{
		Watches: []explored.Watched{{Path: explored.Things, Keys: explored.Self, Changed: func(old, now fakeapi.Object) bool {
			return explored.ValueAt(old, "metadata", "generation") != explored.ValueAt(now, "metadata", "generation")
		}}, {Path: explored.DefaultMaps, Keys: explored.Labelled}},
		Users: explored.Users{
			explored.Thing("red", 1),
			explored.LabelledMap("one"),
			explored.Removes(explored.DefaultMaps + "/one"),
			explored.LabelledMap("two"),
			explored.Removes(explored.Things + "/a"),
		},
		Reconcile: func(c *explored.Controller, key string) error {
			thing := c.Cached(explored.Things, key)
			if thing == nil {
				return nil
			}
			maps := c.LabelledMaps(thing)
			status := map[string]any{"maps": float64(len(maps))}
			if fmt.Sprint(explored.ValueAt(thing, "status")) == fmt.Sprint(status) {
				return nil // or the cache is old
			}
			return c.Patch(explored.Things+"/a/status", map[string]any{"status": status})
		},
	}},
	"missing owner reference": {oracle: explore.Orphans, subject: "configmaps default/a-settings", without: true, Shape: explored.Shape{
		Watches: []explored.Watched{explored.WatchThings},
		Users:   explored.LifeOfThing,
		Reconcile: func(c *explored.Controller, key string) error {
			thing := c.Cached(explored.Things, key)
			if thing == nil {
				return nil
			}
			return c.API.Apply(explored.DefaultMaps+"/a-settings", fakeapi.Object{
				"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a-settings"}, "data": map[string]any{"color": explored.ColorOf(thing)},
			})
		},
	}},
	"two of what should be one": {oracle: explore.Duplicates, subject: "secrets default/a-*", without: true, Shape: explored.Shape{
		Watches: []explored.Watched{explored.WatchThings},
		Users:   explored.LifeOfThing,
		Reconcile: func(c *explored.Controller, key string) error {
			thing := c.Cached(explored.Things, key)
			if thing == nil || explored.Deleted(thing) || explored.Field(thing, "status", "secret") == "done" {
				return nil
			}
			if err := c.CreateSecret(thing, "shop/token"); err != nil {
				return err
			}
			if explored.Field(thing, "status", "secret") == "" {
				return c.Patch(explored.Things+"/a/status", map[string]any{"status": map[string]any{"secret": "begun"}})
			}
			return c.Patch(explored.Things+"/a/status", map[string]any{"status": map[string]any{"secret": "done"}})
		},
	}},
	"loop": {oracle: explore.WriteBudget, subject: "things.shop.example.com default/a", without: true, Shape: explored.Shape{
		Watches: []explored.Watched{explored.WatchThings},
		Users:   explored.Users{explored.Thing("red", 1)},
		Reconcile: func(c *explored.Controller, key string) error {
			n, _ := explored.ValueAt(c.Cached(explored.Things, key), "status", "seen").(float64)
			if n > 100 {
				return nil
			}
			return c.Patch(explored.Things+"/a/status", map[string]any{"status": map[string]any{"seen": n + 1}})
		},
	}},
	"lost update of another's field": {oracle: explore.EndState, subject: "configmaps default/settings", Shape: explored.Shape{
		Watches: []explored.Watched{{Path: explored.DefaultMaps, Keys: explored.Self}},
		Users: explored.Users{
			explored.Applies(explored.DefaultMaps+"/settings", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"settings","labels":{"n":"1"}},"data":{"color":"red"}}`),
			explored.Applies(explored.DefaultMaps+"/settings", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"settings","labels":{"n":"2"}},"data":{"color":"green"}}`),
			explored.Removes(explored.DefaultMaps + "/settings"),
		},
		Reconcile: func(c *explored.Controller, key string) error {
			is := c.Cached(explored.DefaultMaps, key)
			if is == nil || is.Name() != "settings" || explored.Field(is, "metadata", "annotations", "seen") == explored.Field(is, "metadata", "labels", "n") {
				return nil
			}
			is = explored.With(is, explored.Field(is, "metadata", "labels", "n"), "metadata", "annotations", "seen")
			return c.Update(explored.DefaultMaps+"/settings", explored.With(is, nil, "metadata", "resourceVersion"))
		},
	}},
	"adoption without a UID": {oracle: explore.EndState, subject: "configmaps default/one", Shape: explored.Shape{
		Watches: []explored.Watched{explored.WatchThings, {Path: explored.DefaultMaps, Keys: explored.Labelled}},
		Users:   adoptees,
		Reconcile: explored.ForThing(func(c *explored.Controller, thing fakeapi.Object) error {
			return c.Adopt(thing)
		}),
	}},
}
