package controllers_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/object"
)

// workloads is a cluster with the namespace shop and without a kubelet: a test moves the
// Pods through their phases.
type workloads struct{ cluster }

func startWorkloads(t testing.TB, controllers string, options ...fakeapi.Option) workloads {
	t.Helper()
	c := startCluster(t, controllers, append(options, fakeapi.WithNamespaces("shop"))...)
	c.Put(`{apiVersion: v1, kind: ServiceAccount, metadata: {name: default, namespace: shop}}`)
	return workloads{c}
}

// groupPaths are the paths of the API groups of resources.
var groupPaths = map[string]string{
	"pods": "/api/v1", "replicationcontrollers": "/api/v1", "persistentvolumeclaims": "/api/v1", "nodes": "/api/v1", "resourcequotas": "/api/v1",
	"replicasets": "/apis/apps/v1", "deployments": "/apis/apps/v1", "statefulsets": "/apis/apps/v1", "daemonsets": "/apis/apps/v1",
	"jobs": "/apis/batch/v1", "cronjobs": "/apis/batch/v1",
}

func pathInShop(resource, name, subresource string) string {
	p := groupPaths[resource] + "/namespaces/shop/" + resource
	if resource == "nodes" {
		p = groupPaths[resource] + "/nodes"
	}
	for _, part := range []string{name, subresource} {
		if part != "" {
			p += "/" + part
		}
	}
	return p
}

// Create creates an object of JSON in the namespace shop, and settles.
func (c workloads) Create(resource, json string) fakeapi.Object {
	c.t.Helper()
	obj := c.Do(http.MethodPost, pathInShop(resource, "", ""), json)
	c.Settle()
	return obj
}

// Patch changes an object by a JSON merge patch, and settles.
func (c workloads) Patch(resource, name, json string) fakeapi.Object {
	c.t.Helper()
	obj := c.Do(http.MethodPatch, pathInShop(resource, name, ""), json)
	c.Settle()
	return obj
}

// PatchStatus changes the status of an object by a JSON merge patch.
func (c workloads) PatchStatus(resource, name, json string) fakeapi.Object {
	c.t.Helper()
	return c.Do(http.MethodPatch, pathInShop(resource, name, "status"), json)
}

// Remove deletes an object as a client does, in the background, and settles.
func (c workloads) Remove(resource, name string) {
	c.t.Helper()
	c.DeleteWith("Background", pathInShop(resource, name, ""))
	c.Settle()
}

// Kill deletes a Pod at once, as a kubelet does in the end, and settles.
func (c workloads) Kill(pod string) {
	c.t.Helper()
	c.Do(http.MethodDelete, pathInShop("pods", pod, ""), `{"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":0}`)
	c.Settle()
}

// Get returns an object of the namespace shop.
func (c workloads) Get(resource, name string) fakeapi.Object {
	c.t.Helper()
	namespace := "shop"
	if resource == "nodes" {
		namespace = ""
	}
	obj := c.cluster.Get(resource, namespace, name)
	require.NotNil(c.t, obj, "%s %s", resource, name)
	return obj
}

// Status returns the status of an object as text without conditions and times:
// "readyReplicas=1 replicas=3".
func (c workloads) Status(resource, name string) string {
	c.t.Helper()
	status := object.Map(c.Get(resource, name), "status")
	var out []string
	for _, field := range slices.Sorted(maps.Keys(status)) {
		switch v := status[field].(type) {
		case []any, map[string]any:
		case string:
			if _, err := time.Parse(time.RFC3339, v); err != nil {
				out = append(out, fmt.Sprintf("%s=%s", field, v))
			}
		default:
			out = append(out, fmt.Sprintf("%s=%v", field, v))
		}
	}
	return strings.Join(out, " ")
}

// Conditions returns the conditions of an object, sorted by type:
// "Available=False MinimumReplicasUnavailable: Deployment does not have...".
func (c workloads) Conditions(resource, name string) []string {
	c.t.Helper()
	out := []string{}
	for cond := range object.Each(object.Value(c.Get(resource, name), "status", "conditions")) {
		out = append(out, fmt.Sprintf("%s=%s %s: %s", cond["type"], cond["status"], object.String(cond, "reason"), object.String(cond, "message")))
	}
	slices.Sort(out)
	return out
}

// List returns the objects of a resource in the namespace shop, sorted by name.
func (c workloads) List(resource string) []fakeapi.Object {
	c.t.Helper()
	return c.cluster.List(resource, "shop")
}

// Pods returns the Pods of the namespace shop, sorted by name.
func (c workloads) Pods() []fakeapi.Object {
	c.t.Helper()
	return c.List("pods")
}

// Living returns the Pods that are not being deleted.
func (c workloads) Living() (living []fakeapi.Object) {
	c.t.Helper()
	for _, pod := range c.Pods() {
		if object.String(pod, "metadata", "deletionTimestamp") == "" {
			living = append(living, pod)
		}
	}
	return living
}

// namesOf returns the names of objects.
func namesOf(objects []fakeapi.Object) []string {
	out := make([]string, len(objects))
	for i, o := range objects {
		out[i] = o.Name()
	}
	return out
}

// Run makes Pods run and be ready, on the node of their spec or on "node", all that
// are pending if there is no argument, and settles.
func (c workloads) Run(names ...string) {
	c.t.Helper()
	c.RunOn("node", names...)
}

// RunOn is Run with another node for Pods without one.
func (c workloads) RunOn(node string, names ...string) {
	c.t.Helper()
	for _, pod := range c.Pods() {
		if !chosen(pod, names) {
			continue
		}
		if object.String(pod, "spec", "nodeName") == "" {
			c.Do(http.MethodPost, pathInShop("pods", pod.Name(), "binding"),
				`{"apiVersion":"v1","kind":"Binding","metadata":{"name":"`+pod.Name()+`"},"target":{"kind":"Node","name":"`+node+`"}}`)
		}
		now := c.Clock().Now().UTC().Format(time.RFC3339)
		c.PatchStatus("pods", pod.Name(), `{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True","lastTransitionTime":"`+now+`"}]}}`)
	}
	c.Settle()
}

// Reap ends the deletion of the Pods that are being deleted, as a kubelet does, and
// settles.
func (c workloads) Reap() {
	c.t.Helper()
	for _, pod := range c.Pods() {
		if object.String(pod, "metadata", "deletionTimestamp") != "" {
			c.Do(http.MethodDelete, pathInShop("pods", pod.Name(), ""), `{"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":0}`)
		}
	}
	c.Settle()
}

// RunAll makes Pods run and ends deletions until nothing changes.
func (c workloads) RunAll() {
	c.t.Helper()
	for before := int64(-1); before != c.Revision(); {
		before = c.Revision()
		c.Run()
		c.Reap()
	}
}

// End gives Pods a phase, such as Succeeded, all that are pending or running if there
// is no name, and settles. code is the exit code of their containers.
func (c workloads) End(phase string, code int, names ...string) {
	c.t.Helper()
	for _, pod := range c.Pods() {
		if !chosen(pod, names) && !(len(names) == 0 && object.String(pod, "status", "phase") == "Running") {
			continue
		}
		now := c.Clock().Now().UTC().Format(time.RFC3339)
		container := object.String(object.List(pod, "spec", "containers")[0].(map[string]any), "name")
		c.PatchStatus("pods", pod.Name(), fmt.Sprintf(`{"status":{"phase":%q,"conditions":[{"type":"Ready","status":"False","lastTransitionTime":%q}],
			"containerStatuses":[{"name":%q,"image":"x","imageID":"x","restartCount":0,"ready":false,
			"state":{"terminated":{"exitCode":%d,"finishedAt":%q,"startedAt":%q}}}]}}`, phase, now, container, code, now, now))
	}
	c.Settle()
}

func chosen(pod fakeapi.Object, names []string) bool {
	if len(names) == 0 {
		return object.String(pod, "status", "phase") == "Pending" && object.String(pod, "metadata", "deletionTimestamp") == ""
	}
	return slices.Contains(names, pod.Name())
}

// Events returns the Events about an object in the order of their names: "Normal
// SuccessfulCreate: Created pod: web-x (x2)".
func (c workloads) Events(kind, name string) []string {
	c.t.Helper()
	events := c.List("events")
	slices.SortFunc(events, func(a, b fakeapi.Object) int { return strings.Compare(a.Name(), b.Name()) })
	out := []string{}
	for _, e := range events {
		if object.String(e, "involvedObject", "kind") != kind || object.String(e, "involvedObject", "name") != name {
			continue
		}
		line := fmt.Sprintf("%s %s: %s", e["type"], e["reason"], e["message"])
		if n, _ := e["count"].(int64); n > 1 {
			line += fmt.Sprintf(" (x%d)", n)
		}
		out = append(out, line)
	}
	return out
}

// withImage is a patch of the image of a template.
func withImage(image string) string {
	return `{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"` + image + `"}]}}}}`
}
