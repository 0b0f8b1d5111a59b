package controllers_test

import (
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi/faults"
	"github.com/kubefake/kubefake/internal/authz/chain"
	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/selector"
	"github.com/kubefake/kubefake/internal/server"
	"github.com/kubefake/kubefake/mvcc"
)

// A harness is a server on a manual clock with one controller.
type harness struct {
	t       *testing.T
	server  *server.Server
	runtime *controller.Runtime
	env     *controller.Env
	client  *controller.Client
}

func newHarness(t *testing.T, config server.Config, begin func(*controller.Env)) *harness {
	if config.Clock == nil {
		config.Clock = clock.NewManual(startTime)
	}
	newest, err := release.Open("")
	require.NoError(t, err)
	s, err := server.New(config)
	require.NoError(t, err)
	t.Cleanup(s.Close)
	h := &harness{t: t, server: s}
	h.runtime, err = controller.New(controller.Config{Cluster: s.Cluster(), Faults: s.Faults(), Release: newest}, []controller.Starter{{
		Name: "test-controller",
		Start: func(e *controller.Env) {
			h.env, h.client = e, e.Client("deployment-controller")
			begin(e)
		},
	}})
	require.NoError(t, err)
	t.Cleanup(h.runtime.Close)
	return h
}

func (h *harness) put(name string) {
	h.t.Helper()
	_, err := h.server.Cluster().Put([]byte(fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q,"uid":%q,"labels":{"app":%q}}}`, name, name, name)))
	require.NoError(h.t, err)
}

func (h *harness) advance(d time.Duration) {
	require.NoError(h.t, h.server.Control().Advance(d))
	h.runtime.Run()
}

func TestInformer(t *testing.T) {
	t.Parallel()
	var seen []string
	var informer *controller.Informer
	h := newHarness(t, server.Config{}, func(e *controller.Env) {
		informer = e.Informer(controller.ConfigMaps, func(old, new *controller.Object) {
			switch {
			case old == nil:
				seen = append(seen, "+"+new.Name)
			case new == nil:
				seen = append(seen, "-"+old.Name)
			default:
				seen = append(seen, "~"+new.Name)
			}
		})
		informer.Index("app", func(o *controller.Object) []string { return []string{o.Labels["app"]} })
	})
	assert.Contains(t, seen, "+kube-apiserver-legacy-service-account-token-tracking", "the objects that exist at the start are new")
	seen = nil
	h.put("a")
	assert.Empty(t, seen, "nothing is delivered before Run")
	h.put("b")
	h.put("a")
	h.runtime.Run()
	assert.Equal(t, []string{"+a", "+b", "~a"}, seen)
	require.Len(t, informer.By("app", "b"), 1)

	require.NoError(t, h.server.Cluster().Remove("configmaps", "default", "b"))
	h.runtime.Run()
	assert.Equal(t, "-b", seen[len(seen)-1])
	assert.Empty(t, informer.By("app", "b"), "an index has no deleted objects")
	assert.Nil(t, informer.Get("default", "b"))

	// A compaction that the Runtime has not kept up with ends its watch.
	h.put("c")
	require.NoError(t, h.server.Cluster().Remove("configmaps", "default", "a"))
	h.put("d")
	_, err := h.server.Cluster().Compact(0, true)
	require.NoError(t, err)
	seen = nil
	h.runtime.Run()
	assert.ElementsMatch(t, []string{"+c", "+d", "-a"}, seen)
}

// Informers show what the watch cache shows.
func TestInformerLag(t *testing.T) {
	t.Parallel()
	var informer *controller.Informer
	h := newHarness(t, server.Config{}, func(e *controller.Env) { informer = e.Informer(controller.ConfigMaps) })
	require.NoError(t, h.server.Control().Lag("configmaps", "", mvcc.Lag{By: 3 * time.Second}))
	h.put("a")
	h.runtime.Run()
	assert.Nil(t, informer.Get("default", "a"))
	h.advance(2 * time.Second)
	assert.Nil(t, informer.Get("default", "a"))
	h.advance(time.Second)
	assert.NotNil(t, informer.Get("default", "a"))

	h.put("b")
	h.runtime.Run()
	assert.Nil(t, informer.Get("default", "b"))
	require.NoError(t, h.server.Control().Lag("", "", mvcc.Lag{}))
	h.runtime.Run()
	assert.NotNil(t, informer.Get("default", "b"), "the end of the lag shows it")
}

// A definition adds a resource, and its deletion removes it.
func TestEachChange(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	h := newHarness(t, server.Config{}, func(e *controller.Env) {
		e.EachChange(func(old, new *controller.Object) {
			if new != nil {
				seen[new.Type.Name+"/"+new.Name]++
			} else {
				seen[old.Type.Name+"/"+old.Name]--
			}
		})
	})
	g := h.server.Cluster()
	_, err := g.Put([]byte(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"foos.x.io"},
		"spec":{"group":"x.io","scope":"Cluster","names":{"plural":"foos","singular":"foo","kind":"Foo","listKind":"FooList"},
		"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`))
	require.NoError(t, err)
	_, err = g.Put([]byte(`{"apiVersion":"x.io/v1","kind":"Foo","metadata":{"name":"a"}}`))
	require.NoError(t, err)
	h.runtime.Run()
	assert.Equal(t, 1, seen["foos/a"])
	assert.Equal(t, 1, seen["namespaces/default"])
	require.NoError(t, g.Remove("foos.x.io", "", "a"))
	h.runtime.Run()
	assert.Equal(t, 0, seen["foos/a"])
}

func TestQueue(t *testing.T) {
	t.Parallel()
	var calls []string
	fail := 0
	var q *controller.Queue
	h := newHarness(t, server.Config{}, func(e *controller.Env) {
		q = e.Queue(func(k controller.Key) error {
			calls = append(calls, k.Name+" "+e.Now().Sub(startTime).String())
			if k.Name == "panics" {
				panic("at the disco")
			}
			if fail > 0 {
				fail--
				return errors.New("failed")
			}
			return nil
		}, controller.QueueOptions{MaxRetries: 3})
	})
	run := func(d time.Duration) []string {
		calls = nil
		h.advance(d)
		return calls
	}
	a, b := controller.Key{Name: "a"}, controller.Key{Name: "b"}

	q.Add(b)
	q.Add(a)
	q.Add(b)
	assert.Equal(t, []string{"b 0s", "a 0s"}, run(0), "in the order of their additions, each once")

	q.AddAfter(a, 3*time.Second)
	q.AddAfter(b, 2*time.Second)
	q.AddAfter(a, time.Second)
	next, ok := h.runtime.Next()
	assert.True(t, ok)
	assert.Equal(t, startTime.Add(time.Second), next, "the earliest time applies")
	assert.Equal(t, []string{"a 2s", "b 2s"}, run(2*time.Second))
	assert.Empty(t, run(time.Hour))

	q.AddBatched(a, time.Second)
	q.Add(b)
	q.AddBatched(a, time.Second)
	assert.Equal(t, []string{"b 1h0m2s", "a 1h0m2s"}, run(0), "a batch ends when nothing else is due")
	assert.Empty(t, run(time.Minute))
	q.AddAfter(a, time.Millisecond)
	q.AddBatched(a, time.Second)
	assert.Empty(t, run(0), "an earlier time is no batch")
	assert.Len(t, run(time.Hour), 1)

	fail = 2
	q.Add(a)
	run(0)
	assert.Equal(t, 1, q.Failures(a))
	assert.Len(t, run(5*time.Millisecond), 1, "after the first back-off")
	assert.Empty(t, run(5*time.Millisecond), "the second one is longer")
	assert.Len(t, run(5*time.Millisecond), 1)
	assert.Zero(t, q.Failures(a), "a success ends the back-off")

	fail = 100
	q.Add(a)
	total := len(run(0))
	for range 20 {
		total += len(run(time.Hour))
	}
	assert.Equal(t, 4, total, "a sync and three retries")

	fail = 0
	q.Add(controller.Key{Name: "panics"})
	q.Add(b)
	assert.Len(t, run(0), 2, "a panic does not stop the others")
	notes := h.server.Cluster().Journal().Notes()
	assert.Contains(t, notes[len(notes)-1].What.Text, "at the disco")
}

func TestClient(t *testing.T) {
	t.Parallel()
	h := newHarness(t, server.Config{}, func(*controller.Env) {})
	made, err := h.client.Create(controller.ConfigMaps, "default", map[string]any{"metadata": map[string]any{"name": "a"}})
	require.NoError(t, err)
	assert.Equal(t, "a", made.Name)
	_, err = h.client.Create(controller.ConfigMaps, "default", map[string]any{"metadata": map[string]any{"name": "a"}})
	assert.True(t, controller.IsAlreadyExists(err))
	stale := made.Copy()
	fresh := made.Copy()
	fresh["data"] = map[string]any{"k": "v"}
	_, err = h.client.Update(controller.ConfigMaps, "", fresh)
	require.NoError(t, err)
	stale["data"] = map[string]any{"k": "w"}
	_, err = h.client.Update(controller.ConfigMaps, "", stale)
	assert.True(t, controller.IsConflict(err))
	_, err = h.client.Get(controller.ConfigMaps, "default", "b")
	assert.True(t, controller.IsNotFound(err))
	require.NoError(t, h.client.Delete(controller.ConfigMaps, "default", "a", controller.DeleteOptions{UID: made.UID}))

	requests := h.server.Cluster().Journal().Requests()
	last := requests[len(requests)-1].What
	assert.Equal(t, "DELETE", last.Method)
	assert.Equal(t, "/api/v1/namespaces/default/configmaps/a", last.URI)
	assert.Equal(t, 200, last.Code)
	assert.Equal(t, "system:serviceaccount:kube-system:deployment-controller", last.User)
	assert.Equal(t, "kube-controller-manager/v1.37.2 ("+runtime.GOOS+"/"+runtime.GOARCH+")/system:serviceaccount:kube-system:deployment-controller", last.UserAgent)
}

// RBAC limits a controller to the role of the real one.
func TestClientIsAuthorized(t *testing.T) {
	t.Parallel()
	modes, err := chain.OfModes([]string{"RBAC"}, nil, chain.Options{})
	require.NoError(t, err)
	var config server.Config
	config.Auth.Modes = chain.NewSource(modes)
	h := newHarness(t, config, func(*controller.Env) {})
	_, err = h.client.Get(controller.Deployments, "default", "a")
	assert.True(t, controller.IsNotFound(err), "the deployment-controller may get deployments: %v", err)
	_, err = h.client.Get(controller.Secrets, "default", "a")
	assert.ErrorContains(t, err, "forbidden")
}

func TestClientMeetsFaults(t *testing.T) {
	t.Parallel()
	create := func(h *harness, name string) error {
		_, err := h.client.Create(controller.ConfigMaps, "default", map[string]any{"metadata": map[string]any{"name": name}})
		return err
	}
	for _, row := range []struct {
		name   string
		fault  faults.Fault
		failed bool
		stored bool
	}{
		{"code", faults.Fault{Code: 503}, true, false},
		{"reset", faults.Fault{Reset: true}, true, false},
		{"lost response", faults.Fault{Reset: true, ServeFirst: true}, true, true},
		{"cut response", faults.Fault{CutAfterBytes: 1}, true, true},
		{"delay on a manual clock", faults.Fault{Delay: time.Hour}, false, true},
		{"another client", faults.Fault{Code: 503, UserAgent: "kubectl/*"}, false, true},
		{"another resource", faults.Fault{Code: 503, Resource: "pods"}, false, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			h := newHarness(t, server.Config{}, func(*controller.Env) {})
			_, err := h.server.Faults().Inject(row.fault)
			require.NoError(t, err)
			assert.Equal(t, row.failed, create(h, "a") != nil)
			h.server.Faults().Clear()
			_, err = h.client.Get(controller.ConfigMaps, "default", "a")
			assert.Equal(t, row.stored, err == nil)
		})
	}
}

func TestRecorder(t *testing.T) {
	t.Parallel()
	var r *controller.Recorder
	h := newHarness(t, server.Config{}, func(e *controller.Env) {
		r = e.Recorder(e.Client("deployment-controller"), "test-controller")
	})
	node, err := h.server.Cluster().Put([]byte(`{"apiVersion":"v1","kind":"Node","metadata":{"name":"n"}}`))
	require.NoError(t, err)
	ref := map[string]any{"kind": "Node", "apiVersion": "v1", "name": "n", "uid": node["metadata"].(map[string]any)["uid"]}
	counts := func() map[string]int64 {
		out := map[string]int64{}
		list, err := h.client.List(controller.Events, "default", selector.Labels{})
		require.NoError(t, err)
		for _, e := range list {
			n, _ := e.View().Int("count")
			out[e.View().String("message")] += n
		}
		return out
	}
	r.EventFor(ref, controller.Normal, "Started", "up")
	r.EventFor(ref, controller.Normal, "Started", "up")
	r.EventFor(ref, controller.Warning, "Failed", "down")
	assert.Equal(t, map[string]int64{"up": 2, "down": 1}, counts())

	for i := range 12 {
		r.EventFor(ref, controller.Warning, "Failed", "down %d", i)
	}
	got := counts()
	assert.EqualValues(t, 1, got["down 7"])
	assert.NotContains(t, got, "down 9")
	assert.EqualValues(t, 4, got["(combined from similar events): down 11"], "the tenth and later are combined: %v", got)

	for range 30 {
		r.EventFor(ref, controller.Normal, "Started", "up")
	}
	assert.EqualValues(t, 2+25-15, counts()["up"], "25 Events about one object, then one in five minutes")
	h.advance(5 * time.Minute)
	r.EventFor(ref, controller.Normal, "Started", "up")
	assert.EqualValues(t, 2+25-15+1, counts()["up"])
}

func TestObjectLinks(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, meta string
		owners     []controller.OwnerReference
		finalizers []string
	}{
		{"none", ``, nil, nil},
		{"finalizers", `,"finalizers":["example.com/a","example.com/b"]`, nil, []string{"example.com/a", "example.com/b"}},
		{"owners", `,"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"p","uid":"u"},
			{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"r","uid":"w","controller":true,"blockOwnerDeletion":true}]`,
			[]controller.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "p", UID: "u"},
				{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "r", UID: "w", Controller: true, BlockOwnerDeletion: true}}, nil},
	}
	for _, decoded := range []bool{false, true} {
		for _, tt := range tests {
			t.Run(fmt.Sprintf("%s, decoded %t", tt.name, decoded), func(t *testing.T) {
				var configs *controller.Informer
				h := newHarness(t, server.Config{}, func(e *controller.Env) { configs = e.Informer(controller.ConfigMaps) })
				_, err := h.server.Cluster().Put([]byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"default"` + tt.meta + `}}`))
				require.NoError(t, err)
				h.runtime.Run()
				o := configs.Get("default", "a")
				if decoded {
					o.View()
				}
				assert.Equal(t, tt.owners, o.Owners())
				assert.Equal(t, tt.finalizers, o.Finalizers())
			})
		}
	}
}
