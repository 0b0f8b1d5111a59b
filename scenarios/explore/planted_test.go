package explore_test

import (
	"fmt"
	"net/http"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/scenarios/explore"
)

// A planted is a controller with a bug.
type planted struct {
	shape
	oracle  explore.Oracle
	subject string
	without bool // it is found without any decision
}

// bugs are controllers with one bug each. Most workloads end with a deletion, which hides what was
// wrong before.
var bugs = map[string]planted{
	"early removal of the finalizer": {oracle: explore.EndState, subject: "configmaps kube-public/default-a", shape: shape{
		watches: []watched{watchThings},
		users:   lifeOfThing,
		reconcile: func(c *controller, key string) error {
			thing := c.cached(things, key)
			if thing == nil {
				return nil
			}
			want := storeMap(key, "")
			ready, err := c.withFinalizer(thing, func() error { return nil })
			if err != nil || deleted(thing) {
				_ = c.remove(storeMaps+"/"+want.Name(), "") // too late: nothing repeats it
				return err
			}
			if !ready {
				return nil
			}
			if _, err := c.create(storeMaps, want); err != nil && codeOf(err) != http.StatusConflict {
				return err
			}
			return nil
		},
	}},
	"creation from a stale cache": {oracle: explore.Churn, subject: "secrets default/a-*", shape: shape{
		watches: []watched{watchThings, {path: secrets, keys: owner}},
		users:   users{thing("red", 1), thing("green", 1), thing("blue", 1), removes(things + "/a")},
		reconcile: func(c *controller, key string) error {
			thing := c.cached(things, key)
			if thing == nil || len(c.all(secrets, func(o fakeapi.Object) bool { return controls(thing, o) })) > 0 {
				return nil
			}
			return c.createSecret(thing, "shop/token")
		},
	}},
	"status from a stale read": {oracle: explore.EndState, subject: "things.shop.example.com default/a", shape: shape{
		watches: []watched{{path: things, keys: self, changed: func(old, now fakeapi.Object) bool {
			return valueAt(old, "metadata", "generation") != valueAt(now, "metadata", "generation")
		}}, {path: defaultMaps, keys: labelled}},
		users: users{
			thing("red", 1),
			labelledMap("one"),
			removes(defaultMaps + "/one"),
			labelledMap("two"),
			removes(things + "/a"),
		},
		reconcile: func(c *controller, key string) error {
			thing := c.cached(things, key)
			if thing == nil {
				return nil
			}
			maps := c.labelledMaps(thing)
			status := map[string]any{"maps": float64(len(maps))}
			if fmt.Sprint(valueAt(thing, "status")) == fmt.Sprint(status) {
				return nil // or the cache is old
			}
			return c.patch(things+"/a/status", map[string]any{"status": status})
		},
	}},
	"missing owner reference": {oracle: explore.Orphans, subject: "configmaps default/a-settings", without: true, shape: shape{
		watches: []watched{watchThings},
		users:   lifeOfThing,
		reconcile: func(c *controller, key string) error {
			thing := c.cached(things, key)
			if thing == nil {
				return nil
			}
			return c.api.apply(defaultMaps+"/a-settings", fakeapi.Object{
				"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a-settings"}, "data": map[string]any{"color": colorOf(thing)},
			})
		},
	}},
	"two of what should be one": {oracle: explore.Duplicates, subject: "secrets default/a-*", without: true, shape: shape{
		watches: []watched{watchThings},
		users:   lifeOfThing,
		reconcile: func(c *controller, key string) error {
			thing := c.cached(things, key)
			if thing == nil || deleted(thing) || field(thing, "status", "secret") == "done" {
				return nil
			}
			if err := c.createSecret(thing, "shop/token"); err != nil {
				return err
			}
			if field(thing, "status", "secret") == "" {
				return c.patch(things+"/a/status", map[string]any{"status": map[string]any{"secret": "begun"}})
			}
			return c.patch(things+"/a/status", map[string]any{"status": map[string]any{"secret": "done"}})
		},
	}},
	"loop": {oracle: explore.WriteBudget, subject: "things.shop.example.com default/a", without: true, shape: shape{
		watches: []watched{watchThings},
		users:   users{thing("red", 1)},
		reconcile: func(c *controller, key string) error {
			n, _ := valueAt(c.cached(things, key), "status", "seen").(float64)
			if n > 100 {
				return nil
			}
			return c.patch(things+"/a/status", map[string]any{"status": map[string]any{"seen": n + 1}})
		},
	}},
	"lost update of another's field": {oracle: explore.EndState, subject: "configmaps default/settings", shape: shape{
		watches: []watched{{path: defaultMaps, keys: self}},
		users: users{
			applies(defaultMaps+"/settings", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"settings","labels":{"n":"1"}},"data":{"color":"red"}}`),
			applies(defaultMaps+"/settings", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"settings","labels":{"n":"2"}},"data":{"color":"green"}}`),
			removes(defaultMaps + "/settings"),
		},
		reconcile: func(c *controller, key string) error {
			is := c.cached(defaultMaps, key)
			if is == nil || is.Name() != "settings" || field(is, "metadata", "annotations", "seen") == field(is, "metadata", "labels", "n") {
				return nil
			}
			is = with(is, field(is, "metadata", "labels", "n"), "metadata", "annotations", "seen")
			return c.update(defaultMaps+"/settings", with(is, nil, "metadata", "resourceVersion"))
		},
	}},
	"adoption without a UID": {oracle: explore.EndState, subject: "configmaps default/one", shape: shape{
		watches: []watched{watchThings, {path: defaultMaps, keys: labelled}},
		users:   adoptees,
		reconcile: forThing(func(c *controller, thing fakeapi.Object) error {
			return c.adopt(thing)
		}),
	}},
}
