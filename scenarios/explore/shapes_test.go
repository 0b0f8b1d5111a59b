package explore_test

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/kubefake/kubefake/fakeapi"
)

// A shape is a sort of controller, with a workload for it.
type shape struct {
	watches   []watched
	reconcile func(c *controller, key string) error
	retry     time.Duration       // see controller
	run       func(c *controller) // instead of the controller's run
	users     users
}

func (s shape) start(ctx context.Context, srv *fakeapi.Server) error {
	c := &controller{api: api{ctx: ctx, srv: srv, agent: "controller"}, watches: s.watches, reconcile: s.reconcile, retry: s.retry}
	if s.run != nil {
		s.run(c)
		return nil
	}
	c.run()
	return nil
}

// The collections of the shapes.
const (
	things       = "/apis/shop.example.com/v1/namespaces/default/things"
	defaultMaps  = "/api/v1/namespaces/default/configmaps"
	storeMaps    = "/api/v1/namespaces/kube-public/configmaps"
	allMaps      = "/api/v1/configmaps"
	secrets      = "/api/v1/namespaces/default/secrets"
	services     = "/api/v1/namespaces/default/services"
	deployments  = "/apis/apps/v1/namespaces/default/deployments"
	statefulSets = "/apis/apps/v1/namespaces/default/statefulsets"
	jobs         = "/apis/batch/v1/namespaces/default/jobs"
	leases       = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
)

// thingDefinition defines Things. The spec of a Thing has what the shapes need.
const thingDefinition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.shop.example.com}
spec:
  group: shop.example.com
  scope: Namespaced
  names: {plural: things, singular: thing, kind: Thing, listKind: ThingList}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, x-kubernetes-preserve-unknown-fields: true}
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
`

// thing returns a step that applies the Thing a.
func thing(color string, size int) func(a *api) error {
	return applies(things+"/a", fmt.Sprintf(`{"apiVersion":"shop.example.com/v1","kind":"Thing","metadata":{"name":"a"},"spec":{"color":%q,"size":%d}}`, color, size))
}

// lifeOfThing creates, changes and deletes a Thing.
var lifeOfThing = users{thing("red", 1), thing("green", 3), thing("blue", 2), removes(things + "/a")}

// labelledMap returns a step that applies a ConfigMap with the label of the Thing a.
func labelledMap(name string) func(a *api) error {
	return applies(defaultMaps+"/"+name, fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q,"labels":{"thing":"a"}}}`, name))
}

var watchThings = watched{path: things, keys: self}

func sizeOf(thing fakeapi.Object) int {
	n, _ := valueAt(thing, "spec", "size").(float64)
	return int(n)
}

func colorOf(thing fakeapi.Object) string { return field(thing, "spec", "color") }

func object(apiVersion, kind, name string, thing fakeapi.Object, fields map[string]any) fakeapi.Object {
	o := fakeapi.Object{"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"name": name, "ownerReferences": refTo(thing), "labels": map[string]any{"thing": thing.Name()}}}
	for k, v := range fields {
		o[k] = v
	}
	return o
}

func configMap(name string, thing fakeapi.Object, color string) fakeapi.Object {
	return object("v1", "ConfigMap", name, thing, map[string]any{"data": map[string]any{"color": color}})
}

// podTemplate returns the template of Pods of a Thing.
func podTemplate(thing fakeapi.Object) map[string]any {
	return map[string]any{
		"metadata": map[string]any{"labels": map[string]any{"app": thing.Name()}},
		"spec":     map[string]any{"containers": []any{map[string]any{"name": "main", "image": "shop:" + colorOf(thing)}}},
	}
}

func selectorOf(thing fakeapi.Object) map[string]any {
	return map[string]any{"matchLabels": map[string]any{"app": thing.Name()}}
}

func deploymentOf(thing fakeapi.Object) fakeapi.Object {
	return object("apps/v1", "Deployment", thing.Name(), thing, map[string]any{"spec": map[string]any{
		"replicas": sizeOf(thing), "selector": selectorOf(thing), "template": podTemplate(thing),
	}})
}

// forThing returns a reconcile function that is called for a Thing which is in the cache and not
// deleted.
func forThing(reconcile func(c *controller, thing fakeapi.Object) error) func(c *controller, key string) error {
	return func(c *controller, key string) error {
		thing := c.cached(things, key)
		if thing == nil || deleted(thing) {
			return nil
		}
		return reconcile(c, thing)
	}
}

// createSecret creates a Secret of a Thing with a type and a generated name.
func (c *controller) createSecret(thing fakeapi.Object, typ string) error {
	secret := object("v1", "Secret", "", thing, map[string]any{"type": typ})
	_, err := c.create(secrets, with(with(secret, thing.Name()+"-", "metadata", "generateName"), nil, "metadata", "name"))
	return err
}

// storeMap returns the ConfigMap of the key of a Thing in another namespace. It has no owner.
func storeMap(key, color string) fakeapi.Object {
	o := fakeapi.Object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": strings.ReplaceAll(key, "/", "-")}}
	if color != "" {
		o["data"] = map[string]any{"color": color}
	}
	return o
}

// labelledMaps returns the ConfigMaps in the cache with the label of a Thing.
func (c *controller) labelledMaps(thing fakeapi.Object) []fakeapi.Object {
	return c.all(defaultMaps, func(o fakeapi.Object) bool { return field(o, "metadata", "labels", "thing") == thing.Name() })
}

// ensure creates a child, or updates the fields of it that differ. It does not touch an object
// that another one controls.
func (c *controller) ensure(collection string, thing, want fakeapi.Object, fields ...[]string) error {
	path := collection + "/" + want.Name()
	is, err := c.get(path)
	if codeOf(err) == http.StatusNotFound {
		_, err := c.create(collection, want)
		return err
	}
	if err != nil {
		return err
	}
	if !controls(thing, is) {
		return fmt.Errorf("%s has another controller", path)
	}
	changed := is
	for _, f := range fields {
		if v := valueAt(want, f...); fmt.Sprint(valueAt(is, f...)) != fmt.Sprint(v) {
			changed = with(changed, v, f...)
		}
	}
	if reflect.DeepEqual(is, changed) {
		return nil
	}
	return c.update(path, changed)
}

// setStatus updates the status of a Thing unless it is up to date.
func (c *controller) setStatus(thing fakeapi.Object, status map[string]any) error {
	if fmt.Sprint(valueAt(thing, "status")) == fmt.Sprint(status) {
		return nil
	}
	return c.update(things+"/"+thing.Name()+"/status", with(thing, status, "status"))
}

const finalizer = "shop.example.com/cleanup"

// withFinalizer adds the finalizer to a Thing, and reports whether the Thing has it. Of a deleted
// Thing it calls clean, and lets it go.
func (c *controller) withFinalizer(thing fakeapi.Object, clean func() error) (ready bool, err error) {
	path := things + "/" + thing.Name()
	finalizers, _ := valueAt(thing, "metadata", "finalizers").([]any)
	has := len(finalizers) > 0
	switch {
	case deleted(thing) && !has:
		return false, nil
	case deleted(thing):
		if err := clean(); err != nil {
			return false, err
		}
		err := c.update(path, with(thing, []any{}, "metadata", "finalizers"))
		if codeOf(err) == http.StatusNotFound {
			return false, nil
		}
		return false, err
	case !has:
		return false, c.update(path, with(thing, []any{finalizer}, "metadata", "finalizers"))
	}
	return true, nil
}

// runsDeployment is a controller that runs a Deployment for each Thing.
var runsDeployment = shape{
	watches: []watched{watchThings, {path: deployments, keys: owner}},
	users:   lifeOfThing,
	reconcile: forThing(func(c *controller, thing fakeapi.Object) error {
		if err := c.ensure(deployments, thing, deploymentOf(thing), []string{"spec", "replicas"}, []string{"spec", "template", "spec", "containers", "0", "image"}); err != nil {
			return err
		}
		is, err := c.get(deployments + "/" + thing.Name())
		if err != nil {
			return err
		}
		ready := valueAt(is, "status", "readyReplicas")
		if ready == nil {
			ready = 0.0
		}
		return c.setStatus(thing, map[string]any{"ready": ready})
	}),
}

// correct are controllers without a bug.
var correct = map[string]shape{
	"finalizer and external child": {
		watches: []watched{watchThings},
		users:   lifeOfThing,
		reconcile: func(c *controller, key string) error {
			thing := c.cached(things, key)
			if thing == nil {
				return nil
			}
			want := storeMap(key, colorOf(thing))
			path := storeMaps + "/" + want.Name()
			ready, err := c.withFinalizer(thing, func() error { return c.remove(path, "") })
			if !ready {
				return err
			}
			is, err := c.get(path)
			switch {
			case codeOf(err) == http.StatusNotFound:
				_, err = c.create(storeMaps, want)
			case err == nil && field(is, "data", "color") != colorOf(thing):
				err = c.update(path, with(is, colorOf(thing), "data", "color"))
			}
			return err
		},
	},
	"Deployment": runsDeployment,
	"status": {
		watches: []watched{watchThings, {path: defaultMaps, keys: labelled}},
		users: users{
			thing("red", 1),
			labelledMap("one"),
			labelledMap("two"),
			thing("green", 1),
			removes(defaultMaps + "/one"),
			removes(things + "/a"),
		},
		reconcile: func(c *controller, key string) error {
			thing := c.cached(things, key)
			if thing == nil {
				return nil
			}
			maps := c.labelledMaps(thing)
			return c.setStatus(thing, map[string]any{"color": colorOf(thing), "maps": float64(len(maps))})
		},
	},
	"copier across namespaces": {
		watches: []watched{{path: allMaps, keys: func(o fakeapi.Object) []string {
			if field(o, "metadata", "labels", "copy") == "true" {
				return []string{o.Name()}
			}
			if from := field(o, "metadata", "labels", "copied-from"); from != "" {
				return []string{from}
			}
			return nil
		}}},
		users: users{
			applies(defaultMaps+"/settings", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"settings","labels":{"copy":"true"}},"data":{"color":"red"}}`),
			applies(defaultMaps+"/settings", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"settings","labels":{"copy":"true"}},"data":{"color":"green"}}`),
			removes(storeMaps + "/settings"),
			removes(defaultMaps + "/settings"),
		},
		reconcile: func(c *controller, name string) error {
			source, err := c.get(defaultMaps + "/" + name)
			if err != nil && codeOf(err) != http.StatusNotFound {
				return err
			}
			for _, namespace := range []string{"kube-public", "kube-node-lease"} {
				collection := "/api/v1/namespaces/" + namespace + "/configmaps"
				is, err := c.get(collection + "/" + name)
				switch {
				case err != nil && codeOf(err) != http.StatusNotFound:
				case source == nil && err == nil:
					err = c.remove(collection+"/"+name, uidOf(is))
				case source == nil:
					err = nil
				case err != nil:
					_, err = c.create(collection, fakeapi.Object{
						"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name, "labels": map[string]any{"copied-from": name}}, "data": source["data"],
					})
				case fmt.Sprint(is["data"]) != fmt.Sprint(source["data"]):
					err = c.update(collection+"/"+name, with(is, source["data"], "data"))
				}
				if err != nil {
					return err
				}
			}
			return nil
		},
	},
	"Job runner": {
		watches: []watched{watchThings, {path: jobs, keys: owner}},
		users:   lifeOfThing,
		reconcile: func(c *controller, key string) error {
			thing, err := c.get(things + "/" + strings.TrimPrefix(key, "default/"))
			if codeOf(err) == http.StatusNotFound {
				return nil
			}
			if err != nil || deleted(thing) {
				return err
			}
			name := thing.Name() + "-" + colorOf(thing)
			for _, job := range c.all(jobs, func(o fakeapi.Object) bool { return controls(thing, o) && o.Name() != name }) {
				if err := c.remove(jobs+"/"+job.Name(), uidOf(job)); err != nil {
					return err
				}
			}
			is, err := c.get(jobs + "/" + name)
			if codeOf(err) == http.StatusNotFound {
				template := with(podTemplate(thing), "Never", "spec", "restartPolicy")
				is, err = c.create(jobs, object("batch/v1", "Job", name, thing, map[string]any{"spec": map[string]any{"template": template}}))
			}
			if err != nil {
				return err
			}
			succeeded := valueAt(is, "status", "succeeded")
			return c.setStatus(thing, map[string]any{"color": colorOf(thing), "done": succeeded != nil})
		},
	},
	"StatefulSet": {
		watches: []watched{watchThings, {path: statefulSets, keys: owner}, {path: services, keys: owner}},
		users:   lifeOfThing,
		reconcile: forThing(func(c *controller, thing fakeapi.Object) error {
			service := object("v1", "Service", thing.Name(), thing, map[string]any{"spec": map[string]any{
				"clusterIP": "None", "selector": map[string]any{"app": thing.Name()}, "ports": []any{map[string]any{"port": 80}},
			}})
			if err := c.ensure(services, thing, service); err != nil {
				return err
			}
			set := object("apps/v1", "StatefulSet", thing.Name(), thing, map[string]any{"spec": map[string]any{
				"replicas": sizeOf(thing), "serviceName": thing.Name(), "selector": selectorOf(thing), "template": podTemplate(thing),
			}})
			return c.ensure(statefulSets, thing, set, []string{"spec", "replicas"}, []string{"spec", "template", "spec", "containers", "0", "image"})
		}),
	},
	"leader election": {
		users: lifeOfThing,
		run:   runElected,
	},
	"children that the garbage collector deletes": {
		watches: []watched{watchThings, {path: defaultMaps, keys: owner}},
		users:   lifeOfThing,
		reconcile: forThing(func(c *controller, thing fakeapi.Object) error {
			for i := range 3 {
				name := fmt.Sprintf("%s-%d", thing.Name(), i)
				if i >= sizeOf(thing) {
					is := c.cached(defaultMaps, "default/"+name)
					if is != nil && controls(thing, is) {
						if err := c.remove(defaultMaps+"/"+name, uidOf(is)); err != nil {
							return err
						}
					}
					continue
				}
				if err := c.ensure(defaultMaps, thing, configMap(name, thing, colorOf(thing)), []string{"data", "color"}); err != nil {
					return err
				}
			}
			return nil
		}),
	},
	"server-side apply": {
		watches: []watched{watchThings, {path: deployments, keys: owner}, {path: defaultMaps, keys: owner}},
		users:   lifeOfThing,
		reconcile: forThing(func(c *controller, thing fakeapi.Object) error {
			if err := c.api.apply(defaultMaps+"/"+thing.Name(), configMap(thing.Name(), thing, colorOf(thing))); err != nil {
				return err
			}
			if err := c.api.apply(deployments+"/"+thing.Name(), deploymentOf(thing)); err != nil {
				return err
			}
			return c.api.apply(things+"/"+thing.Name()+"/status", map[string]any{
				"apiVersion": "shop.example.com/v1", "kind": "Thing", "status": map[string]any{"color": colorOf(thing)},
			})
		}),
	},
	"retries with a back-off": {
		watches: []watched{watchThings},
		users: users{
			thing("red", 1),
			applies(secrets+"/a", `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"},"stringData":{"token":"t"}}`),
			thing("green", 1),
			removes(things + "/a"),
			removes(secrets + "/a"),
		},
		reconcile: forThing(func(c *controller, thing fakeapi.Object) error {
			if _, err := c.get(secrets + "/" + thing.Name()); err != nil && field(thing, "status", "color") == "" {
				return err // nothing says when the Secret is there
			}
			return c.setStatus(thing, map[string]any{"color": colorOf(thing)})
		}),
	},
	"adoption": {
		watches: []watched{watchThings, {path: defaultMaps, keys: labelled}},
		users:   adoptees,
		reconcile: func(c *controller, key string) error {
			cached := c.cached(things, key)
			if cached == nil || deleted(cached) {
				return nil
			}
			thing, err := c.get(things + "/" + cached.Name())
			if err != nil && codeOf(err) != http.StatusNotFound {
				return err
			}
			if err != nil || deleted(thing) || uidOf(thing) != uidOf(cached) {
				return nil // its events are about to come
			}
			return c.adopt(thing)
		},
	},
	"rollout that skips intermediate specs": {
		watches: []watched{watchThings},
		users: users{
			thing("red", 1), thing("green", 2),
			func(a *api) error {
				for _, color := range []string{"blue", "white", "black"} {
					if err := thing(color, 2)(a); err != nil {
						return err
					}
					time.Sleep(3 * time.Second)
				}
				return nil
			},
			thing("black", 1), removes(things + "/a"),
		},
		reconcile: func(c *controller, key string) error {
			thing := c.cached(things, key)
			if thing == nil || deleted(thing) {
				return nil
			}
			timer := time.NewTimer(5 * time.Second)
			defer timer.Stop()
			select {
			case <-timer.C:
			case <-c.ctx.Done():
				return nil
			}
			if now := c.cached(things, key); now == nil || colorOf(now) != colorOf(thing) || deleted(now) {
				return nil // the key is in the queue again
			}
			return c.ensure(deployments, thing, deploymentOf(thing), []string{"spec", "replicas"}, []string{"spec", "template", "spec", "containers", "0", "image"})
		},
	},
	"generated names": {
		watches: []watched{watchThings},
		users:   lifeOfThing,
		reconcile: forThing(func(c *controller, thing fakeapi.Object) error {
			list, err := c.get(secrets + "?labelSelector=thing%3D" + thing.Name())
			if err != nil {
				return err
			}
			items, _ := list["items"].([]any)
			for _, item := range items {
				if o := item.(map[string]any); controls(thing, o) {
					if field(o, "type") == "shop/"+colorOf(thing) {
						return nil
					}
					if err := c.remove(secrets+"/"+fakeapi.Object(o).Name(), uidOf(o)); err != nil {
						return err
					}
				}
			}
			return c.createSecret(thing, "shop/"+colorOf(thing))
		}),
	},
}

// adoptees creates a Thing twice, and ConfigMaps that the second one adopts.
var adoptees = users{
	thing("red", 1),
	func(a *api) error {
		for _, step := range []func(a *api) error{removes(things + "/a"), thing("green", 1), labelledMap("one")} {
			if err := step(a); err != nil {
				return err
			}
		}
		return nil
	},
	labelledMap("two"),
	thing("blue", 1),
}

// adopt makes a Thing the controller of the ConfigMaps with its label that have none.
func (c *controller) adopt(thing fakeapi.Object) error {
	for _, o := range c.labelledMaps(thing) {
		if controllerOf(o) != nil || deleted(o) {
			continue
		}
		err := c.patch(defaultMaps+"/"+o.Name(), map[string]any{"metadata": map[string]any{
			"uid": uidOf(o), "resourceVersion": o.ResourceVersion(), "ownerReferences": refTo(thing),
		}})
		if err != nil && codeOf(err) != http.StatusNotFound {
			return err
		}
	}
	return nil
}

// runElected runs a controller of ConfigMaps while it has the Lease.
func runElected(c *controller) {
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
	lost, lose := context.WithCancel(c.ctx)
	defer lose()
	for last := time.Now(); lost.Err() == nil; {
		lease, err := c.get(leases + "/controller")
		switch {
		case codeOf(err) == http.StatusNotFound:
			_, err = c.create(leases, fakeapi.Object{"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": map[string]any{"name": "controller"}, "spec": spec()})
		case err == nil:
			if version := lease.ResourceVersion(); version != seen {
				seen, seenAt = version, time.Now()
			}
			if field(lease, "spec", "holderIdentity") != me && time.Since(seenAt) < duration {
				err = fmt.Errorf("another leads")
				break
			}
			err = c.update(leases+"/controller", with(lease, spec(), "spec"))
		}
		if err == nil {
			last = time.Now()
			if !leading {
				leading = true
				inner := &controller{api: c.api, watches: runsDeployment.watches, reconcile: runsDeployment.reconcile}
				inner.ctx = lost
				started.Add(1)
				go func() {
					defer started.Done()
					inner.run()
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
