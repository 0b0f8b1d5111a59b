package controllers_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/journal"
	"github.com/kubefake/kubefake/internal/object"
)

// ownerKinds are kinds of objects by a letter.
var ownerKinds = map[byte]struct{ apiVersion, kind, resource string }{
	'd': {"apps/v1", "Deployment", "deployments"},
	'r': {"apps/v1", "ReplicaSet", "replicasets"},
	'p': {"v1", "Pod", "pods"},
	'c': {"v1", "ConfigMap", "configmaps"},
	'w': {"example.com/v1", "Widget", "widgets"},
	'n': {"v1", "Node", "nodes"},
}

// objectOf returns an object described by words: its name, whose first letter is its
// kind and which is its UID too, and its owners, such as "d". An owner with a "!" does
// not block. "ns=x" is the namespace instead of shop, "f=x" a finalizer, and
// "d=Widget/x" an owner with other coordinates.
func objectOf(words string) string {
	fields := strings.Fields(words)
	name := fields[0]
	k := ownerKinds[name[0]]
	meta := map[string]any{"name": name, "uid": name}
	if k.kind != "Node" {
		meta["namespace"] = "shop"
	}
	var owners, finalizers []any
	for _, w := range fields[1:] {
		if v, ok := strings.CutPrefix(w, "ns="); ok {
			meta["namespace"] = v
			continue
		}
		if v, ok := strings.CutPrefix(w, "f="); ok {
			finalizers = append(finalizers, v)
			continue
		}
		uid, other, _ := strings.Cut(w, "=")
		uid, open := strings.CutSuffix(uid, "!")
		ref := map[string]any{"apiVersion": ownerKinds[uid[0]].apiVersion, "kind": ownerKinds[uid[0]].kind, "name": uid, "uid": uid, "blockOwnerDeletion": !open}
		if kind, name, ok := strings.Cut(other, "/"); ok {
			ref["kind"], ref["name"] = kind, name
		}
		owners = append(owners, ref)
	}
	meta["ownerReferences"], meta["finalizers"] = owners, finalizers
	obj := map[string]any{"apiVersion": k.apiVersion, "kind": k.kind, "metadata": meta}
	selector := map[string]any{"matchLabels": map[string]any{"a": "b"}}
	template := map[string]any{"metadata": map[string]any{"labels": map[string]any{"a": "b"}}, "spec": map[string]any{"containers": []any{map[string]any{"name": "c", "image": "i"}}}}
	switch k.kind {
	case "Deployment", "ReplicaSet":
		obj["spec"] = map[string]any{"selector": selector, "template": template}
	case "Pod":
		obj["spec"] = template["spec"]
	}
	b, _ := json.Marshal(obj)
	return string(b)
}

// wordsOf returns an object in the words of objectOf, with "deleted" if it is being
// deleted.
func wordsOf(o fakeapi.Object) string {
	words := []string{o.Name()}
	if ns := o.Namespace(); ns != "shop" && ns != "" {
		words = append(words, "ns="+ns)
	}
	for ref := range object.Each(object.Value(o, "metadata", "ownerReferences")) {
		uid := object.String(ref, "uid")
		if ref["blockOwnerDeletion"] != true {
			uid += "!"
		}
		words = append(words, uid)
	}
	for _, f := range object.Strings(o, "metadata", "finalizers") {
		words = append(words, "f="+f)
	}
	if object.Value(o, "metadata", "deletionTimestamp") != nil {
		words = append(words, "deleted")
	}
	return strings.Join(words, " ")
}

func allWords(c cluster) []string {
	c.t.Helper()
	out := []string{}
	for _, resource := range []string{"deployments", "replicasets", "pods", "configmaps", "widgets", "nodes"} {
		for _, o := range c.List(resource, "") {
			if o.Name() != "kube-root-ca.crt" && !strings.HasPrefix(o.Namespace(), "kube-") {
				out = append(out, wordsOf(o))
			}
		}
	}
	return out
}

func pathOf(name string) string {
	k := ownerKinds[name[0]]
	prefix := "/apis/"
	if !strings.Contains(k.apiVersion, "/") {
		prefix = "/api/"
	}
	if k.kind == "Node" {
		return prefix + k.apiVersion + "/nodes/" + name
	}
	return prefix + k.apiVersion + "/namespaces/shop/" + k.resource + "/" + name
}

func startGarbageCollector(t testing.TB) cluster {
	c := startCluster(t, "garbage-collector-controller", fakeapi.WithNamespaces("shop", "other"))
	c.Put(widgets)
	return c
}

// deploymentTree is a Deployment with a ReplicaSet and two Pods.
var deploymentTree = []string{"d", "r d", "p1 r", "p2 r"}

func TestGarbageCollectorCascade(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name        string
		objects     []string
		remove      string // the name of the object that is deleted; none if ""
		propagation string // as kubectl's --cascade says
		want        []string
	}{
		{"default of a Deployment", deploymentTree, "d", "", nil},
		{"background", deploymentTree, "d", "Background", nil},
		{"foreground", deploymentTree, "d", "Foreground", nil},
		{"orphan", deploymentTree, "d", "Orphan", []string{"r", "p1 r", "p2 r"}},
		{"orphan of a ReplicaSet", deploymentTree, "r", "Orphan", []string{"d", "p1", "p2"}},
		{"background of a ReplicaSet", deploymentTree, "r", "Background", []string{"d"}},
		{"nothing is deleted", deploymentTree, "", "", deploymentTree},

		{
			"foreground waits for blocking dependents", []string{"d", "r d", "p1 r f=example.com/hold", "p2 r"}, "d", "Foreground",
			[]string{"d f=foregroundDeletion deleted", "r d f=foregroundDeletion deleted", "p1 r f=example.com/hold deleted"},
		},
		{
			"foreground does not wait for others", []string{"d", "r d", "p1 r! f=example.com/hold"}, "d", "Foreground",
			[]string{"p1 r! f=example.com/hold deleted"},
		},
		{"foreground of a leaf", []string{"c"}, "c", "Foreground", nil},
		{
			"background deletes what waits for finalizers once it is gone", []string{"d f=example.com/hold", "r d"}, "d", "Background",
			[]string{"d f=example.com/hold deleted", "r d"},
		},
		{"a dependent that asks for orphans", []string{"d", "r d f=orphan", "p1 r"}, "d", "Background", []string{"p1"}},
		{"a cycle in the foreground", []string{"c1 c2", "c2 c1"}, "c1", "Foreground", nil},

		{"another owner exists", []string{"c1", "c2", "c3 c1 c2"}, "c1", "Background", []string{"c2", "c3 c2"}},
		{"another owner exists, foreground", []string{"c1", "c2", "c3 c1 c2"}, "c1", "Foreground", []string{"c2", "c3 c2"}},
		{"two owners, deleted one", []string{"c1", "c3 c1 c9"}, "c1", "Background", nil},
		{"a chain", []string{"c1", "c2 c1", "c3 c2", "c4 c3", "c5 c4"}, "c1", "Background", nil},

		{"an absent owner", []string{"c1 c9"}, "", "", nil},
		{"an absent owner beside one that exists", []string{"c1", "c2 c9 c1"}, "", "", []string{"c1", "c2 c1"}},
		{"an owner of another kind", []string{"c1", "c2 c1=Pod/c1"}, "", "", []string{"c1"}},
		{"an owner of another name", []string{"c1", "c2 c1=ConfigMap/cx"}, "", "", []string{"c1"}},
		{"references that disagree about an absent owner", []string{"c1 c9=ConfigMap/a", "c2 c9=ConfigMap/b", "c3 c9=Secret/a"}, "", "", nil},
		{"a kind that is not served", []string{"c1 c9=Unknown/a"}, "", "", []string{"c1 c9"}},
		{"an owner in another namespace", []string{"c1 ns=other", "c2 c1"}, "", "", []string{"c1 ns=other"}},
		{"a cluster-scoped owner", []string{"n", "c1 n", "c2 ns=other n"}, "n", "Background", nil},
		{"a cluster-scoped object of a namespaced owner", []string{"c1", "n c1"}, "c1", "Background", []string{"n c1"}},
		{"a cluster-scoped object of an absent owner", []string{"n n9"}, "", "", nil},

		{"custom resources, background", []string{"w1", "w2 w1", "c1 w2"}, "w1", "Background", nil},
		{"custom resources, foreground", []string{"w1", "w2 w1", "c1 w2"}, "w1", "Foreground", nil},
		{"custom resources, orphan", []string{"w1", "w2 w1", "c1 w1"}, "w1", "Orphan", []string{"c1", "w2"}},
		{"a cycle of custom resources", []string{"w1 w2", "w2 w1"}, "w1", "Foreground", nil},
		{"a custom resource of two owners", []string{"c1", "c2", "w1 c1 c2"}, "c1", "Background", []string{"c2", "w1 c2"}},
	}
	for _, tt := range tests {
		for _, order := range []string{"owners first", "dependents first"} {
			t.Run(tt.name+"/"+order, func(t *testing.T) {
				t.Parallel()
				c := startGarbageCollector(t)
				for i := range tt.objects {
					if order == "dependents first" {
						i = len(tt.objects) - 1 - i
					}
					c.Put(objectOf(tt.objects[i]))
				}
				c.SettleWithin(time.Second)
				if tt.remove != "" {
					c.DeleteWith(tt.propagation, pathOf(tt.remove))
				}
				c.SettleWithin(time.Second)
				assert.ElementsMatch(t, tt.want, allWords(c))
			})
		}
	}
}

// In a foreground deletion dependents go before their owners.
func TestGarbageCollectorForegroundOrder(t *testing.T) {
	t.Parallel()
	c := startGarbageCollector(t)
	for _, o := range deploymentTree {
		c.Put(objectOf(o))
	}
	c.Settle()
	from := c.Revision()
	c.DeleteWith("Foreground", pathOf("d"))
	c.Settle()
	var gone []string
	for _, w := range c.Writes(from + 1) {
		for _, c := range w.Changes {
			if c.Type == journal.Deleted {
				gone = append(gone, c.Name)
			}
		}
	}
	assert.Equal(t, []string{"p1", "p2", "r", "d"}, gone)
}

// The owner in another namespace is reported, and the dependent deleted.
func TestGarbageCollectorOwnerInvalidNamespace(t *testing.T) {
	t.Parallel()
	c := startGarbageCollector(t)
	c.Put(objectOf("c1 ns=other"), objectOf("c2 c1"))
	c.Settle()
	events := c.List("events", "shop")
	require.Len(t, events, 1)
	e := events[0]
	assert.Equal(t, "OwnerRefInvalidNamespace", e["reason"])
	assert.Equal(t, "Warning", e["type"])
	assert.Equal(t, `ownerRef [v1/ConfigMap, namespace: shop, name: c1, uid: c1] does not exist in namespace "shop"`, e["message"])
	assert.Equal(t, map[string]any{"component": "garbage-collector-controller"}, e["source"])
	assert.Equal(t, map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "name": "c2", "namespace": "shop", "uid": "c2"}, e["involvedObject"])
}

// What custom resources own goes with their definition.
func TestGarbageCollectorDefinitionDeleted(t *testing.T) {
	t.Parallel()
	c := startGarbageCollector(t)
	c.Put(objectOf("w1"), objectOf("c1 w1"))
	c.Settle()
	c.Delete("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com")
	c.Settle()
	assert.Nil(t, c.Get("configmaps", "shop", "c1"))
}

// An owner that a snapshot restores is no longer absent.
func TestGarbageCollectorRestore(t *testing.T) {
	t.Parallel()
	c := startGarbageCollector(t)
	c.Put(objectOf("c1"), objectOf("c2 c1"))
	c.Settle()
	snapshot := c.Snapshot()
	require.NoError(t, c.Remove("configmaps", "shop", "c1"))
	c.Settle()
	assert.Empty(t, allWords(c))

	require.NoError(t, c.Restore(snapshot))
	c.Put(objectOf("c3 c1"))
	c.Settle()
	assert.ElementsMatch(t, []string{"c1", "c2 c1", "c3 c1"}, allWords(c))
}

// BenchmarkGarbageCollector deletes a Deployment with 10 ReplicaSets of 100 Pods.
func BenchmarkGarbageCollector(b *testing.B) {
	origin := startGarbageCollector(b)
	origin.Put(objectOf("d"))
	for i := range 10 {
		origin.Put(objectOf(fmt.Sprintf("r%d d", i)))
		for j := range 100 {
			origin.Put(objectOf(fmt.Sprintf("p%d-%d r%d", i, j, i)))
		}
	}
	for _, propagation := range []string{"Background", "Foreground"} {
		b.Run(propagation, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				b.StopTimer()
				c := origin.fork(b)
				c.Settle()
				b.StartTimer()
				c.DeleteWith(propagation, pathOf("d"))
				c.Settle()
				b.StopTimer()
				require.Empty(b, c.Names("pods"))
				c.Close()
				b.StartTimer()
			}
		})
	}
}
