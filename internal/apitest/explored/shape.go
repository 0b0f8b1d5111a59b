package explored

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/scenarios/explore"
)

// A Shape is a sort of controller, with a workload for it.
type Shape struct {
	Watches   []Watched
	Reconcile func(c *Controller, key string) error
	Retry     time.Duration       // see controller
	Run       func(c *Controller) // instead of the controller's run
	Users     Users
}

// Start is System.Start of a search.
func (s Shape) Start(ctx context.Context, srv *fakeapi.Server) error {
	c := &Controller{API: API{Ctx: ctx, Srv: srv, Agent: "controller"}, Watches: s.Watches, Reconcile: s.Reconcile, retry: s.Retry}
	if s.Run != nil {
		s.Run(c)
		return nil
	}
	c.Run()
	return nil
}

// The collections of the shapes.
const (
	Things       = "/apis/shop.example.com/v1/namespaces/default/things"
	DefaultMaps  = "/api/v1/namespaces/default/configmaps"
	StoreMaps    = "/api/v1/namespaces/kube-public/configmaps"
	AllMaps      = "/api/v1/configmaps"
	Secrets      = "/api/v1/namespaces/default/secrets"
	Services     = "/api/v1/namespaces/default/services"
	Deployments  = "/apis/apps/v1/namespaces/default/deployments"
	StatefulSets = "/apis/apps/v1/namespaces/default/statefulsets"
	Jobs         = "/apis/batch/v1/namespaces/default/jobs"
	Leases       = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
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

// Thing returns a step that applies the Thing a.
func Thing(color string, size int) func(a *API) error {
	return Applies(Things+"/a", fmt.Sprintf(`{"apiVersion":"shop.example.com/v1","kind":"Thing","metadata":{"name":"a"},"spec":{"color":%q,"size":%d}}`, color, size))
}

// LifeOfThing creates, changes and deletes a Thing.
var LifeOfThing = Users{Thing("red", 1), Thing("green", 3), Thing("blue", 2), Removes(Things + "/a")}

// LabelledMap returns a step that applies a ConfigMap with the label of the Thing a.
func LabelledMap(name string) func(a *API) error {
	return Applies(DefaultMaps+"/"+name, fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q,"labels":{"thing":"a"}}}`, name))
}

// WatchThings has a Thing reconciled when it changes.
var WatchThings = Watched{Path: Things, Keys: Self}

// SizeOf returns the size in the spec of a Thing.
func SizeOf(thing fakeapi.Object) int {
	n, _ := ValueAt(thing, "spec", "size").(float64)
	return int(n)
}

// ColorOf returns the color in the spec of a Thing.
func ColorOf(thing fakeapi.Object) string { return Field(thing, "spec", "color") }

// Object returns an object that a Thing controls.
func Object(apiVersion, kind, name string, thing fakeapi.Object, fields map[string]any) fakeapi.Object {
	o := fakeapi.Object{"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"name": name, "ownerReferences": refTo(thing), "labels": map[string]any{"thing": thing.Name()}}}
	for k, v := range fields {
		o[k] = v
	}
	return o
}

// ConfigMap returns a ConfigMap that a Thing controls.
func ConfigMap(name string, thing fakeapi.Object, color string) fakeapi.Object {
	return Object("v1", "ConfigMap", name, thing, map[string]any{"data": map[string]any{"color": color}})
}

// PodTemplate returns the template of Pods of a Thing.
func PodTemplate(thing fakeapi.Object) map[string]any {
	return map[string]any{
		"metadata": map[string]any{"labels": map[string]any{"app": thing.Name()}},
		"spec":     map[string]any{"containers": []any{map[string]any{"name": "main", "image": "shop:" + ColorOf(thing)}}},
	}
}

// SelectorOf returns the selector of the Pods of a Thing.
func SelectorOf(thing fakeapi.Object) map[string]any {
	return map[string]any{"matchLabels": map[string]any{"app": thing.Name()}}
}

// DeploymentOf returns the Deployment of a Thing.
func DeploymentOf(thing fakeapi.Object) fakeapi.Object {
	return Object("apps/v1", "Deployment", thing.Name(), thing, map[string]any{"spec": map[string]any{
		"replicas": SizeOf(thing), "selector": SelectorOf(thing), "template": PodTemplate(thing),
	}})
}

// ForThing returns a reconcile function that is called for a Thing which is in the cache and not
// deleted.
func ForThing(reconcile func(c *Controller, thing fakeapi.Object) error) func(c *Controller, key string) error {
	return func(c *Controller, key string) error {
		thing := c.Cached(Things, key)
		if thing == nil || Deleted(thing) {
			return nil
		}
		return reconcile(c, thing)
	}
}

// CreateSecret creates a Secret of a Thing with a type and a generated name.
func (c *Controller) CreateSecret(thing fakeapi.Object, typ string) error {
	secret := Object("v1", "Secret", "", thing, map[string]any{"type": typ})
	_, err := c.Create(Secrets, With(With(secret, thing.Name()+"-", "metadata", "generateName"), nil, "metadata", "name"))
	return err
}

// StoreMap returns the ConfigMap of the key of a Thing in another namespace. It has no owner.
func StoreMap(key, color string) fakeapi.Object {
	o := fakeapi.Object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": strings.ReplaceAll(key, "/", "-")}}
	if color != "" {
		o["data"] = map[string]any{"color": color}
	}
	return o
}

// LabelledMaps returns the ConfigMaps in the cache with the label of a Thing.
func (c *Controller) LabelledMaps(thing fakeapi.Object) []fakeapi.Object {
	return c.All(DefaultMaps, func(o fakeapi.Object) bool { return Field(o, "metadata", "labels", "thing") == thing.Name() })
}

// Ensure creates a child, or updates the fields of it that differ. It does not touch an object
// that another one controls.
func (c *Controller) Ensure(collection string, thing, want fakeapi.Object, fields ...[]string) error {
	path := collection + "/" + want.Name()
	is, err := c.Get(path)
	if CodeOf(err) == http.StatusNotFound {
		_, err := c.Create(collection, want)
		return err
	}
	if err != nil {
		return err
	}
	if !Controls(thing, is) {
		return fmt.Errorf("%s has another controller", path)
	}
	changed := is
	for _, f := range fields {
		if v := ValueAt(want, f...); fmt.Sprint(ValueAt(is, f...)) != fmt.Sprint(v) {
			changed = With(changed, v, f...)
		}
	}
	if reflect.DeepEqual(is, changed) {
		return nil
	}
	return c.Update(path, changed)
}

// SetStatus updates the status of a Thing unless it is up to date.
func (c *Controller) SetStatus(thing fakeapi.Object, status map[string]any) error {
	if fmt.Sprint(ValueAt(thing, "status")) == fmt.Sprint(status) {
		return nil
	}
	return c.Update(Things+"/"+thing.Name()+"/status", With(thing, status, "status"))
}

const finalizer = "shop.example.com/cleanup"

// WithFinalizer adds the finalizer to a Thing, and reports whether the Thing has it. Of a deleted
// Thing it calls clean, and lets it go.
func (c *Controller) WithFinalizer(thing fakeapi.Object, clean func() error) (ready bool, err error) {
	path := Things + "/" + thing.Name()
	finalizers, _ := ValueAt(thing, "metadata", "finalizers").([]any)
	has := len(finalizers) > 0
	switch {
	case Deleted(thing) && !has:
		return false, nil
	case Deleted(thing):
		if err := clean(); err != nil {
			return false, err
		}
		err := c.Update(path, With(thing, []any{}, "metadata", "finalizers"))
		if CodeOf(err) == http.StatusNotFound {
			return false, nil
		}
		return false, err
	case !has:
		return false, c.Update(path, With(thing, []any{finalizer}, "metadata", "finalizers"))
	}
	return true, nil
}

// Adopt makes a Thing the controller of the ConfigMaps with its label that have none.
func (c *Controller) Adopt(thing fakeapi.Object) error {
	for _, o := range c.LabelledMaps(thing) {
		if controllerOf(o) != nil || Deleted(o) {
			continue
		}
		err := c.Patch(DefaultMaps+"/"+o.Name(), map[string]any{"metadata": map[string]any{
			"uid": UIDOf(o), "resourceVersion": o.ResourceVersion(), "ownerReferences": refTo(thing),
		}})
		if err != nil && CodeOf(err) != http.StatusNotFound {
			return err
		}
	}
	return nil
}

// Settings are the controllers of the cluster beside the system.
var Settings = map[string][]fakeapi.Option{
	"no controllers":    nil,
	"basic controllers": {fakeapi.WithControllers(fakeapi.BasicControllers...)},
	"all controllers":   {fakeapi.WithControllers("*")},
}

// System returns the system of a search for up to ten plans.
func (s Shape) System(t *testing.T, options []fakeapi.Option) explore.System {
	definitions := fstest.MapFS{"things.yaml": {Data: []byte(thingDefinition)}}
	return explore.System{
		Options:  append([]fakeapi.Option{fakeapi.WithCRDs(definitions, "things.yaml")}, options...),
		Start:    s.Start,
		Workload: s.Users.workload(),
		Dir:      t.TempDir(),
		Plans:    10,
		All:      true,
	}
}
