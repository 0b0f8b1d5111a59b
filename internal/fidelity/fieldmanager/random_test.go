// Package fieldmanager_test compares server-side apply with the field manager of
// k8s.io/apimachinery. Both execute the same random sequences of writes.
package fieldmanager_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	gvk "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/yaml"

	"github.com/kubefake/kubefake/internal/fieldmanager"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/wire"
)

// A subject is a kind under test. Those of the group ex.com are custom
// resources.
type subject struct {
	gvk.GroupVersionKind
	// full is an object with all members that random objects choose from. A "@"
	// in a string is replaced by a digit.
	full string
	// subresource has the members that only writes to /status own.
	subresource bool
}

var subjects = []subject{
	{gvk.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, `
metadata:
  labels: {a: "@", b: "@"}
  annotations: {kubectl.kubernetes.io/last-applied-configuration: '{"apiVersion":"v1","kind":"ConfigMap","data":{"a":"0","b":"1"}}', x: "@"}
  finalizers: [ex.com/a, ex.com/b, ex.com/c]
  ownerReferences:
  - {apiVersion: v1, kind: Pod, name: p@, uid: u1}
  - {apiVersion: v1, kind: Pod, name: q@, uid: u2}
data: {a: "@", b: "@", c: "@", d: ""}
binaryData: {x: AAA=}
immutable: false
`, false},
	{gvk.GroupVersionKind{Version: "v1", Kind: "Service"}, `
metadata: {labels: {a: "@"}}
spec:
  type: ClusterIP
  selector: {a: "@", b: "@"}
  sessionAffinity: None
  ports:
  - {name: http@, port: 80, targetPort: 8080}
  - {name: dns@, port: 53, protocol: UDP, targetPort: dns@}
  - {name: dns-tcp, port: 53, protocol: TCP}
  externalIPs: [10.0.0.1, 10.0.0.@]
  clusterIPs: [10.1.0.@]
status:
  loadBalancer: {ingress: [{ip: 1.2.3.@}]}
  conditions:
  - {type: Ready, status: "True", reason: r@, message: m, lastTransitionTime: "2026-01-01T00:00:00Z"}
  - {type: Other, status: "False", reason: r@, message: m, lastTransitionTime: "2026-01-01T00:00:0@Z"}
`, true},
	{gvk.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}, `
metadata: {labels: {a: "@"}, annotations: {x: "@"}}
spec:
  replicas: 3
  paused: true
  minReadySeconds: 0
  selector: {matchLabels: {a: b@}}
  strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 25%, maxUnavailable: 1}}
  template:
    metadata: {labels: {a: b@}}
    spec:
      nodeSelector: {disk: "ssd@"}
      tolerations: [{key: k@, operator: Exists}]
      volumes: [{name: v, emptyDir: {}}, {name: w, configMap: {name: c@}}]
      containers:
      - name: c
        image: i@
        args: [x, y@]
        env: [{name: A, value: "@"}, {name: B, value: "@"}, {name: C}]
        ports: [{containerPort: 80}, {containerPort: 80, protocol: UDP, name: n@}, {containerPort: 9}]
        resources: {requests: {cpu: 100m, memory: 1Gi}}
        livenessProbe: {httpGet: {port: http, path: /p@}, periodSeconds: 5}
        volumeMounts: [{name: v, mountPath: /v}, {name: w, mountPath: /w, readOnly: true}]
      - {name: side, image: s@}
status:
  replicas: 2
  observedGeneration: 4
  conditions:
  - {type: Available, status: "True", reason: r@}
  - {type: Progressing, status: "False"}
`, true},
	{gvk.GroupVersionKind{Version: "v1", Kind: "Pod"}, `
metadata: {generateName: x@, labels: {a: "@"}}
spec:
  containers:
  - {name: c, image: i@, command: [a, b@], stdin: true, securityContext: {runAsUser: 0, capabilities: {add: [A@]}}}
  initContainers: [{name: i, image: j@}]
  imagePullSecrets: [{name: s}, {name: t}]
  hostAliases: [{ip: 1.1.1.1, hostnames: [h@]}]
  topologySpreadConstraints: [{maxSkew: 1, topologyKey: z, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {a: "@"}}}]
  readinessGates: [{conditionType: g@}]
  schedulingGates: [{name: g}]
  nodeName: n@
status:
  phase: Running
  podIPs: [{ip: 10.0.0.1}, {ip: "::1"}]
  conditions: [{type: Ready, status: "True"}, {type: Initialized, status: "@"}]
  containerStatuses: [{name: c, ready: true, image: i@}]
`, true},
	{gvk.GroupVersionKind{Group: "ex.com", Version: "v1", Kind: "Described"}, `
metadata: {labels: {a: "@"}, finalizers: [ex.com/a, ex.com/b]}
spec:
  items: [{name: i1, v: 1}, {name: i1, proto: UDP, v: 2}, {name: i2}]
  tags: [a, b, c@]
  ref: {x: "@", z: "@"}
  plain: [{x: "@"}, {x: "@"}]
  either: "@"
  free: {x: {z: "@"}, list: ["@"], known: 1}
  any: {x: {z: "@"}}
  map: {a: [{x: "@"}], b: [{x: "@"}]}
status: {x: "@", z: "@"}
`, true},
	{gvk.GroupVersionKind{Group: "ex.com", Version: "v1", Kind: "Deduced"}, `
metadata: {labels: {a: "@"}, finalizers: [ex.com/a, ex.com/b]}
spec: {x: {z: "@", w: ["@"]}, list: [{x: "@"}, {x: "@"}], n: 1.5, "null": null}
status: {x: "@", z: "@"}
`, true},
}

// kept are the members that a random part of an object always has: keys of list
// elements, and members that Go types require.
var kept = map[string]bool{
	"name": true, "containerPort": true, "port": true, "uid": true, "mountPath": true,
	"type": true, "ip": true, "topologyKey": true, "whenUnsatisfiable": true,
	"apiVersion": true, "kind": true,
}

// part returns a random part of a value.
func part(r *rand.Rand, v any, keep float64) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for _, name := range slices.Sorted(keys(v)) {
			if kept[name] || r.Float64() < keep {
				out[name] = part(r, v[name], keep)
			}
			if list, ok := out[name].([]any); ok && len(list) == 0 {
				// Canonical form has no empty lists.
				delete(out, name)
			}
		}
		return out
	case []any:
		out := []any{}
		for _, e := range v {
			if r.Float64() < keep {
				out = append(out, part(r, e, keep))
			}
		}
		return out
	case string:
		return strings.ReplaceAll(v, "@", fmt.Sprint(r.IntN(3)))
	case float64:
		return int64(v) + r.Int64N(2)
	}
	return v
}

func keys(m map[string]any) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// A world runs the same writes through both implementations.
type world struct {
	t   *testing.T
	r   *rand.Rand
	s   subject
	log []string

	full   map[string]any
	wire   *wire.Type // nil for custom resources
	ours   *fieldmanager.Type
	theirs map[string]*managedfields.FieldManager // by subresource

	managers []string

	live  map[string]any
	their runtime.Object
}

var filters = map[string]*fieldmanager.Filter{"": fieldmanager.Except("status"), "status": fieldmanager.Except("spec")}

func newWorld(t *testing.T, s subject, k description, seed uint64) *world {
	w := &world{t: t, r: rand.New(rand.NewPCG(seed, 0)), s: s, wire: k.wire, ours: fieldmanager.New(k.Kind), theirs: map[string]*managedfields.FieldManager{}}
	require.NoError(t, yaml.Unmarshal([]byte(s.full), &w.full))
	w.managers = strings.Fields("one two kubectl three")
	if seed%4 == 0 {
		w.managers = strings.Fields("a b c d e f g h i j k l m n o p q r s t u v w x kubectl")
	}
	resets := map[string]string{"": "status", "status": "spec"}
	var err error
	for _, sub := range []string{"", "status"} {
		w.theirs[sub], err = managedfields.NewDefaultFieldManager(
			k.types, k.objects, k.objects, k.objects, s.GroupVersionKind, s.GroupVersion(), sub,
			fieldpath.NewExcludeFilterSetMap(map[fieldpath.APIVersion]*fieldpath.Set{
				fieldpath.APIVersion(s.GroupVersion().String()): fieldpath.NewSet(fieldpath.MakePathOrDie(resets[sub])),
			}))
		require.NoError(t, err)
	}
	w.their = w.empty()
	return w
}

// empty returns an object without any set field.
func (w *world) empty() runtime.Object {
	if w.wire == nil {
		return custom{}.empty(w.s.GroupVersionKind)
	}
	obj, err := scheme.Scheme.New(w.s.GroupVersionKind)
	require.NoError(w.t, err)
	obj.GetObjectKind().SetGroupVersionKind(w.s.GroupVersionKind)
	return obj
}

func (w *world) canonical(obj map[string]any) map[string]any {
	obj["apiVersion"], obj["kind"] = w.s.GroupVersion().String(), w.s.Kind
	if w.wire == nil {
		return copied(obj)
	}
	out, _, err := w.wire.Normalize(obj, wire.DecodeOptions{})
	require.NoError(w.t, err)
	return out
}

// stored returns an object as the server reads it from the store.
func (w *world) stored(obj map[string]any) map[string]any {
	obj = w.canonical(obj)
	if w.wire == nil {
		return obj
	}
	return w.wire.OmitEmpty(obj)
}

// random returns a random object of the kind.
func (w *world) random(keep float64) map[string]any {
	obj := part(w.r, any(w.full), keep).(map[string]any)
	m, _ := obj["metadata"].(map[string]any)
	if m == nil {
		m = map[string]any{}
		obj["metadata"] = m
	}
	m["name"] = "o"
	obj["apiVersion"], obj["kind"] = w.s.GroupVersion().String(), w.s.Kind
	return obj
}

func copied(obj map[string]any) map[string]any { return object.Copy(obj) }

// typed returns an object in the form that upstream takes.
func (w *world) typed(obj map[string]any) runtime.Object {
	out := w.empty()
	text, err := json.Marshal(obj)
	require.NoError(w.t, err)
	require.NoError(w.t, json.Unmarshal(text, out))
	return out
}

// step makes one random request.
func (w *world) step() {
	o := fieldmanager.Options{Manager: w.managers[w.r.IntN(len(w.managers))], Now: time.Now()}
	if w.s.subresource && w.live != nil && w.r.IntN(4) == 0 {
		o.Subresource = "status"
	}
	o.Fields = filters[o.Subresource]
	if w.r.IntN(len(w.managers)/2) == 0 {
		o.Force = w.r.IntN(2) == 0
		w.apply(w.random(0.4), o)
	} else if w.live == nil || w.r.IntN(len(w.managers)/2) == 0 {
		w.update(w.random(0.75), o)
	} else {
		w.update(w.touched(), o)
	}
}

// touched returns the live object with one annotation changed.
func (w *world) touched() map[string]any {
	obj := copied(w.live)
	m := obj["metadata"].(map[string]any)
	delete(m, "managedFields")
	annotations, _ := m["annotations"].(map[string]any)
	if annotations == nil {
		annotations = map[string]any{}
		m["annotations"] = annotations
	}
	annotations[fmt.Sprint("n", w.r.IntN(20))] = fmt.Sprint(w.r.IntN(3))
	return obj
}

func (w *world) update(obj map[string]any, o fieldmanager.Options) {
	m := obj["metadata"].(map[string]any)
	if w.live != nil {
		m["uid"] = "u"
		switch w.r.IntN(20) {
		case 0:
			m["managedFields"] = []any{map[string]any{}}
		case 1:
			m["managedFields"] = []any{map[string]any{"manager": "x", "operation": "Update", "apiVersion": "v1"}}
		case 2:
			list := w.live["metadata"].(map[string]any)["managedFields"]
			if list, _ := list.([]any); len(list) > 1 {
				m["managedFields"] = list[1:]
			}
		}
	}
	w.note("update %+v %s", o, obj)
	theirs := w.theirs[o.Subresource].UpdateNoErrors(w.their.DeepCopyObject(), w.typed(copied(obj)), o.Manager)
	w.compare(w.ours.Update(object.ViewOf(w.live), w.canonical(copied(obj)), o), theirs)
}

func (w *world) apply(applied map[string]any, o fieldmanager.Options) {
	w.note("apply %+v %s", o, applied)
	theirs, theirErr := w.theirs[o.Subresource].Apply(
		w.their.DeepCopyObject(), &unstructured.Unstructured{Object: copied(applied)}, o.Manager, o.Force)
	ours, err := w.ours.Apply(object.ViewOf(w.live), applied, o)
	if theirErr != nil {
		w.note("error %v", theirErr)
		require.EqualError(w.t, err, theirErr.Error(), "%s", w)
		var status *apierrors.StatusError
		var conflict *fieldmanager.ConflictError
		if errors.As(theirErr, &status) && errors.As(err, &conflict) {
			var want, got []string
			for _, c := range status.ErrStatus.Details.Causes {
				want = append(want, c.Field+" "+c.Message)
			}
			for _, c := range conflict.Conflicts {
				got = append(got, c.Field+" "+c.String())
			}
			require.ElementsMatch(w.t, want, got, "%s", w)
		}
		return
	}
	require.NoError(w.t, err, "%s", w)
	w.compare(ours, theirs)
}

// compare fails if the results differ. It makes them the live object.
func (w *world) compare(ours map[string]any, theirs runtime.Object) {
	before := copied(ours)
	live := w.stored(ours)
	require.Equal(w.t, before, ours)
	theirs.GetObjectKind().SetGroupVersionKind(w.s.GroupVersionKind)
	w.note("result %s", live)
	require.JSONEq(w.t, text(theirs), text(live), "%s", w)
	accessor, err := meta.Accessor(theirs)
	require.NoError(w.t, err)
	accessor.SetUID("u")
	live["metadata"].(map[string]any)["uid"] = "u"
	w.live, w.their = live, theirs
}

func (w *world) note(format string, args ...any) {
	for i, a := range args {
		if m, ok := a.(map[string]any); ok {
			args[i] = text(m)
		}
	}
	w.log = append(w.log, fmt.Sprintf(format, args...))
}

func (w *world) String() string { return strings.Join(w.log, "\n") }

func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

func TestRandomWrites(t *testing.T) {
	const sequences, steps = 40, 30
	for _, s := range subjects {
		t.Run(s.Kind, func(t *testing.T) {
			k := describe(t, s)
			for seed := range uint64(sequences) {
				t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						w := newWorld(t, s, k, seed)
						for range steps {
							w.step()
							time.Sleep(time.Second)
						}
					})
				})
			}
		})
	}
}
