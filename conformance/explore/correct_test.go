package explore

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/apitest/explored"
)

// runsDeployment is a controller that runs a Deployment for each Thing.
var runsDeployment = explored.Shape{
	Watches: []explored.Watched{explored.WatchThings, {Path: explored.Deployments, Keys: explored.Owner}},
	Users:   explored.LifeOfThing,
	Reconcile: explored.ForThing(func(c *explored.Controller, thing fakeapi.Object) error {
		if err := c.Ensure(explored.Deployments, thing, explored.DeploymentOf(thing), []string{"spec", "replicas"}, []string{"spec", "template", "spec", "containers", "0", "image"}); err != nil {
			return err
		}
		is, err := c.Get(explored.Deployments + "/" + thing.Name())
		if err != nil {
			return err
		}
		ready := explored.ValueAt(is, "status", "readyReplicas")
		if ready == nil {
			ready = 0.0
		}
		return c.SetStatus(thing, map[string]any{"ready": ready})
	}),
}

// correct are controllers without a bug.
var correct = map[string]explored.Shape{
	"finalizer and external child": {
		Watches: []explored.Watched{explored.WatchThings},
		Users:   explored.LifeOfThing,
		Reconcile: func(c *explored.Controller, key string) error {
			thing := c.Cached(explored.Things, key)
			if thing == nil {
				return nil
			}
			want := explored.StoreMap(key, explored.ColorOf(thing))
			path := explored.StoreMaps + "/" + want.Name()
			ready, err := c.WithFinalizer(thing, func() error { return c.Remove(path, "") })
			if !ready {
				return err
			}
			is, err := c.Get(path)
			switch {
			case explored.CodeOf(err) == http.StatusNotFound:
				_, err = c.Create(explored.StoreMaps, want)
			case err == nil && explored.Field(is, "data", "color") != explored.ColorOf(thing):
				err = c.Update(path, explored.With(is, explored.ColorOf(thing), "data", "color"))
			}
			return err
		},
	},
	"Deployment": runsDeployment,
	"status": {
		Watches: []explored.Watched{explored.WatchThings, {Path: explored.DefaultMaps, Keys: explored.Labelled}},
		Users: explored.Users{
			explored.Thing("red", 1),
			explored.LabelledMap("one"),
			explored.LabelledMap("two"),
			explored.Thing("green", 1),
			explored.Removes(explored.DefaultMaps + "/one"),
			explored.Removes(explored.Things + "/a"),
		},
		Reconcile: func(c *explored.Controller, key string) error {
			thing := c.Cached(explored.Things, key)
			if thing == nil {
				return nil
			}
			maps := c.LabelledMaps(thing)
			return c.SetStatus(thing, map[string]any{"color": explored.ColorOf(thing), "maps": float64(len(maps))})
		},
	},
	"copier across namespaces": {
		Watches: []explored.Watched{{Path: explored.AllMaps, Keys: func(o fakeapi.Object) []string {
			if explored.Field(o, "metadata", "labels", "copy") == "true" {
				return []string{o.Name()}
			}
			if from := explored.Field(o, "metadata", "labels", "copied-from"); from != "" {
				return []string{from}
			}
			return nil
		}}},
		Users: explored.Users{
			explored.Applies(explored.DefaultMaps+"/settings", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"settings","labels":{"copy":"true"}},"data":{"color":"red"}}`),
			explored.Applies(explored.DefaultMaps+"/settings", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"settings","labels":{"copy":"true"}},"data":{"color":"green"}}`),
			explored.Removes(explored.StoreMaps + "/settings"),
			explored.Removes(explored.DefaultMaps + "/settings"),
		},
		Reconcile: func(c *explored.Controller, name string) error {
			source, err := c.Get(explored.DefaultMaps + "/" + name)
			if err != nil && explored.CodeOf(err) != http.StatusNotFound {
				return err
			}
			for _, namespace := range []string{"kube-public", "kube-node-lease"} {
				collection := "/api/v1/namespaces/" + namespace + "/configmaps"
				is, err := c.Get(collection + "/" + name)
				switch {
				case err != nil && explored.CodeOf(err) != http.StatusNotFound:
				case source == nil && err == nil:
					err = c.Remove(collection+"/"+name, explored.UIDOf(is))
				case source == nil:
					err = nil
				case err != nil:
					_, err = c.Create(collection, fakeapi.Object{
						"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name, "labels": map[string]any{"copied-from": name}}, "data": source["data"],
					})
				case fmt.Sprint(is["data"]) != fmt.Sprint(source["data"]):
					err = c.Update(collection+"/"+name, explored.With(is, source["data"], "data"))
				}
				if err != nil {
					return err
				}
			}
			return nil
		},
	},
	"Job runner": {
		Watches: []explored.Watched{explored.WatchThings, {Path: explored.Jobs, Keys: explored.Owner}},
		Users:   explored.LifeOfThing,
		Reconcile: func(c *explored.Controller, key string) error {
			thing, err := c.Get(explored.Things + "/" + strings.TrimPrefix(key, "default/"))
			if explored.CodeOf(err) == http.StatusNotFound {
				return nil
			}
			if err != nil || explored.Deleted(thing) {
				return err
			}
			name := thing.Name() + "-" + explored.ColorOf(thing)
			for _, job := range c.All(explored.Jobs, func(o fakeapi.Object) bool { return explored.Controls(thing, o) && o.Name() != name }) {
				if err := c.Remove(explored.Jobs+"/"+job.Name(), explored.UIDOf(job)); err != nil {
					return err
				}
			}
			is, err := c.Get(explored.Jobs + "/" + name)
			if explored.CodeOf(err) == http.StatusNotFound {
				template := explored.With(explored.PodTemplate(thing), "Never", "spec", "restartPolicy")
				is, err = c.Create(explored.Jobs, explored.Object("batch/v1", "Job", name, thing, map[string]any{"spec": map[string]any{"template": template}}))
			}
			if err != nil {
				return err
			}
			succeeded := explored.ValueAt(is, "status", "succeeded")
			return c.SetStatus(thing, map[string]any{"color": explored.ColorOf(thing), "done": succeeded != nil})
		},
	},
	"StatefulSet": {
		Watches: []explored.Watched{explored.WatchThings, {Path: explored.StatefulSets, Keys: explored.Owner}, {Path: explored.Services, Keys: explored.Owner}},
		Users:   explored.LifeOfThing,
		Reconcile: explored.ForThing(func(c *explored.Controller, thing fakeapi.Object) error {
			service := explored.Object("v1", "Service", thing.Name(), thing, map[string]any{"spec": map[string]any{
				"clusterIP": "None", "selector": map[string]any{"app": thing.Name()}, "ports": []any{map[string]any{"port": 80}},
			}})
			if err := c.Ensure(explored.Services, thing, service); err != nil {
				return err
			}
			set := explored.Object("apps/v1", "StatefulSet", thing.Name(), thing, map[string]any{"spec": map[string]any{
				"replicas": explored.SizeOf(thing), "serviceName": thing.Name(), "selector": explored.SelectorOf(thing), "template": explored.PodTemplate(thing),
			}})
			return c.Ensure(explored.StatefulSets, thing, set, []string{"spec", "replicas"}, []string{"spec", "template", "spec", "containers", "0", "image"})
		}),
	},
	"leader election": {
		Users: explored.LifeOfThing,
		Run:   runElected,
	},
	"children that the garbage collector deletes": {
		Watches: []explored.Watched{explored.WatchThings, {Path: explored.DefaultMaps, Keys: explored.Owner}},
		Users:   explored.LifeOfThing,
		Reconcile: explored.ForThing(func(c *explored.Controller, thing fakeapi.Object) error {
			for i := range 3 {
				name := fmt.Sprintf("%s-%d", thing.Name(), i)
				if i >= explored.SizeOf(thing) {
					is := c.Cached(explored.DefaultMaps, "default/"+name)
					if is != nil && explored.Controls(thing, is) {
						if err := c.Remove(explored.DefaultMaps+"/"+name, explored.UIDOf(is)); err != nil {
							return err
						}
					}
					continue
				}
				if err := c.Ensure(explored.DefaultMaps, thing, explored.ConfigMap(name, thing, explored.ColorOf(thing)), []string{"data", "color"}); err != nil {
					return err
				}
			}
			return nil
		}),
	},
	"server-side apply": {
		Watches: []explored.Watched{explored.WatchThings, {Path: explored.Deployments, Keys: explored.Owner}, {Path: explored.DefaultMaps, Keys: explored.Owner}},
		Users:   explored.LifeOfThing,
		Reconcile: explored.ForThing(func(c *explored.Controller, thing fakeapi.Object) error {
			if err := c.API.Apply(explored.DefaultMaps+"/"+thing.Name(), explored.ConfigMap(thing.Name(), thing, explored.ColorOf(thing))); err != nil {
				return err
			}
			if err := c.API.Apply(explored.Deployments+"/"+thing.Name(), explored.DeploymentOf(thing)); err != nil {
				return err
			}
			return c.API.Apply(explored.Things+"/"+thing.Name()+"/status", map[string]any{
				"apiVersion": "shop.example.com/v1", "kind": "Thing", "status": map[string]any{"color": explored.ColorOf(thing)},
			})
		}),
	},
	"retries with a back-off": {
		Watches: []explored.Watched{explored.WatchThings},
		Users: explored.Users{
			explored.Thing("red", 1),
			explored.Applies(explored.Secrets+"/a", `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"},"stringData":{"token":"t"}}`),
			explored.Thing("green", 1),
			explored.Removes(explored.Things + "/a"),
			explored.Removes(explored.Secrets + "/a"),
		},
		Reconcile: explored.ForThing(func(c *explored.Controller, thing fakeapi.Object) error {
			if _, err := c.Get(explored.Secrets + "/" + thing.Name()); err != nil && explored.Field(thing, "status", "color") == "" {
				return err // nothing says when the Secret is there
			}
			return c.SetStatus(thing, map[string]any{"color": explored.ColorOf(thing)})
		}),
	},
	"adoption": {
		Watches: []explored.Watched{explored.WatchThings, {Path: explored.DefaultMaps, Keys: explored.Labelled}},
		Users:   adoptees,
		Reconcile: func(c *explored.Controller, key string) error {
			cached := c.Cached(explored.Things, key)
			if cached == nil || explored.Deleted(cached) {
				return nil
			}
			thing, err := c.Get(explored.Things + "/" + cached.Name())
			if err != nil && explored.CodeOf(err) != http.StatusNotFound {
				return err
			}
			if err != nil || explored.Deleted(thing) || explored.UIDOf(thing) != explored.UIDOf(cached) {
				return nil // its events are about to come
			}
			return c.Adopt(thing)
		},
	},
	"rollout that skips intermediate specs": {
		Watches: []explored.Watched{explored.WatchThings},
		Users: explored.Users{
			explored.Thing("red", 1), explored.Thing("green", 2),
			func(a *explored.API) error {
				for _, color := range []string{"blue", "white", "black"} {
					if err := explored.Thing(color, 2)(a); err != nil {
						return err
					}
					time.Sleep(3 * time.Second)
				}
				return nil
			},
			explored.Thing("black", 1), explored.Removes(explored.Things + "/a"),
		},
		Reconcile: func(c *explored.Controller, key string) error {
			thing := c.Cached(explored.Things, key)
			if thing == nil || explored.Deleted(thing) {
				return nil
			}
			timer := time.NewTimer(5 * time.Second)
			defer timer.Stop()
			select {
			case <-timer.C:
			case <-c.Ctx.Done():
				return nil
			}
			if now := c.Cached(explored.Things, key); now == nil || explored.ColorOf(now) != explored.ColorOf(thing) || explored.Deleted(now) {
				return nil // the key is in the queue again
			}
			return c.Ensure(explored.Deployments, thing, explored.DeploymentOf(thing), []string{"spec", "replicas"}, []string{"spec", "template", "spec", "containers", "0", "image"})
		},
	},
	"generated names": {
		Watches: []explored.Watched{explored.WatchThings},
		Users:   explored.LifeOfThing,
		Reconcile: explored.ForThing(func(c *explored.Controller, thing fakeapi.Object) error {
			list, err := c.Get(explored.Secrets + "?labelSelector=thing%3D" + thing.Name())
			if err != nil {
				return err
			}
			items, _ := list["items"].([]any)
			for _, item := range items {
				if o := item.(map[string]any); explored.Controls(thing, o) {
					if explored.Field(o, "type") == "shop/"+explored.ColorOf(thing) {
						return nil
					}
					if err := c.Remove(explored.Secrets+"/"+fakeapi.Object(o).Name(), explored.UIDOf(o)); err != nil {
						return err
					}
				}
			}
			return c.CreateSecret(thing, "shop/"+explored.ColorOf(thing))
		}),
	},
}

// adoptees creates a Thing twice, and ConfigMaps that the second one adopts.
var adoptees = explored.Users{
	explored.Thing("red", 1),
	func(a *explored.API) error {
		for _, step := range []func(a *explored.API) error{explored.Removes(explored.Things + "/a"), explored.Thing("green", 1), explored.LabelledMap("one")} {
			if err := step(a); err != nil {
				return err
			}
		}
		return nil
	},
	explored.LabelledMap("two"),
	explored.Thing("blue", 1),
}

// runElected runs a controller of ConfigMaps while it has the Lease.
func runElected(c *explored.Controller) {
	const duration, renewal = 15 * time.Second, 2 * time.Second
	me := fmt.Sprint(time.Now().UnixNano())
	spec := func() map[string]any {
		return map[string]any{"holderIdentity": me, "leaseDurationSeconds": 15, "renewTime": time.Now().UTC().Format("2006-01-02T15:04:05.000000Z07:00")}
	}
	var seen string
	var seenAt time.Time
	var started sync.WaitGroup
	defer started.Wait()
	leading := false
	lost, lose := context.WithCancel(c.Ctx)
	defer lose()
	for last := time.Now(); lost.Err() == nil; {
		lease, err := c.Get(explored.Leases + "/controller")
		switch {
		case explored.CodeOf(err) == http.StatusNotFound:
			_, err = c.Create(explored.Leases, fakeapi.Object{"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": map[string]any{"name": "controller"}, "spec": spec()})
		case err == nil:
			if version := lease.ResourceVersion(); version != seen {
				seen, seenAt = version, time.Now()
			}
			if explored.Field(lease, "spec", "holderIdentity") != me && time.Since(seenAt) < duration {
				err = fmt.Errorf("another leads")
				break
			}
			err = c.Update(explored.Leases+"/controller", explored.With(lease, spec(), "spec"))
		}
		if err == nil {
			last = time.Now()
			if !leading {
				leading = true
				inner := &explored.Controller{API: c.API, Watches: runsDeployment.Watches, Reconcile: runsDeployment.Reconcile}
				inner.Ctx = lost
				started.Add(1)
				go func() {
					defer started.Done()
					inner.Run()
				}()
			}
		} else if leading && time.Since(last) > 10*time.Second {
			return
		}
		timer := time.NewTimer(renewal)
		select {
		case <-timer.C:
		case <-lost.Done():
			timer.Stop()
		}
	}
}
