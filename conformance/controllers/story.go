package main

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
)

// The groups of stories.
const (
	groupBasic     = "basic"     // namespaces, owners, protection, quota
	groupWorkloads = "workloads" // what makes Pods
)

type obj = map[string]any

// A Story is a sequence of requests in a namespace of its own. NS stands for the name
// of the namespace in paths and bodies.
type Story struct {
	Seed   uint64 `json:"seed"`
	Number int    `json:"number"`
	Group  string `json:"group"`
	Kind   string `json:"kind"`
	Steps  []Step `json:"steps"`
}

// A Step is one request, after which both clusters settle.
type Step struct {
	Method string `json:"method"`
	Path   string `json:"path"`
	Type   string `json:"type,omitempty"` // Content-Type
	Body   any    `json:"body,omitempty"`
}

func (s Step) String() string { return s.Method + " " + s.Path }

// namespace returns the name of the namespace of a story.
func (c *cluster) namespace(s *Story) string {
	return fmt.Sprintf("%s%d-%d", c.prefix, s.Seed, s.Number)
}

// expand replaces NS in a body.
func expand(v any, ns string) any {
	switch t := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(t))
		for k, item := range t {
			out[k] = expand(item, ns)
		}
		return out
	case []any:
		out := make([]any, len(t))
		for i := range t {
			out[i] = expand(t[i], ns)
		}
		return out
	case string:
		return strings.ReplaceAll(t, "NS", ns)
	}
	return v
}

// A storyWriter chooses the steps of a story.
type storyWriter struct {
	*rand.Rand
	story *Story
}

// kindsOfStories are the kinds of stories, by group.
var kindsOfStories = map[string][]struct {
	name  string
	write func(*storyWriter)
}{
	groupBasic: {
		{"namespace", (*storyWriter).namespace},
		{"owners", (*storyWriter).owners},
		{"claims", (*storyWriter).claims},
		{"accounts", (*storyWriter).accounts},
		{"quota", (*storyWriter).quota},
		{"roles", (*storyWriter).roles},
		{"cascade", (*storyWriter).cascade},
		{"volumes", (*storyWriter).volumes},
	},
	groupWorkloads: {
		{"deployment", (*storyWriter).deployment},
		{"replicaset", (*storyWriter).replicaSet},
		{"statefulset", (*storyWriter).statefulSet},
		{"daemonset", (*storyWriter).daemonSet},
		{"job", (*storyWriter).job},
		{"service", (*storyWriter).service},
		{"budget", (*storyWriter).budget},
		{"retention", (*storyWriter).retention},
		{"evictions", (*storyWriter).evictions},
		{"taints", (*storyWriter).taints},
		{"drain", (*storyWriter).drain},
		{"autoscaler", (*storyWriter).autoscaler},
	},
}

// newStory returns the story of a seed and a number. group "" is any.
func newStory(seed uint64, number int, group string) *Story {
	r := rand.New(rand.NewPCG(seed, uint64(number)))
	if group == "" {
		group = []string{groupBasic, groupWorkloads}[number%2]
	}
	kinds := kindsOfStories[group]
	kind := kinds[r.IntN(len(kinds))]
	w := &storyWriter{r, &Story{Seed: seed, Number: number, Group: group, Kind: kind.name}}
	w.post("/api/v1/namespaces", obj{"apiVersion": "v1", "kind": "Namespace", "metadata": obj{"name": "NS"}})
	kind.write(w)
	return w.story
}

func (w *storyWriter) step(s Step) { w.story.Steps = append(w.story.Steps, s) }
func (w *storyWriter) post(path string, body obj) {
	w.step(Step{Method: "POST", Path: path, Body: body})
}
func (w *storyWriter) merge(path string, body obj) {
	w.step(Step{Method: "PATCH", Path: path, Type: "application/merge-patch+json", Body: body})
}
func (w *storyWriter) delete(path, policy string) {
	s := Step{Method: "DELETE", Path: path}
	if policy != "" {
		s.Body = obj{"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": policy}
	}
	w.step(s)
}

func (w *storyWriter) oneOf(list ...string) string { return list[w.IntN(len(list))] }
func (w *storyWriter) maybe() bool                 { return w.IntN(2) == 0 }

// policy returns a propagation policy.
func (w *storyWriter) policy() string { return w.oneOf("", "Background", "Foreground", "Orphan") }

const (
	core  = "/api/v1/namespaces/NS/"
	apps  = "/apis/apps/v1/namespaces/NS/"
	batch = "/apis/batch/v1/namespaces/NS/"
)

func configMap(name string, meta obj) obj {
	m := obj{"name": name}
	for k, v := range meta {
		m[k] = v
	}
	return obj{"apiVersion": "v1", "kind": "ConfigMap", "metadata": m, "data": obj{"k": "v"}}
}

// template returns a Pod template with the label app=name.
func (w *storyWriter) template(name, image string) obj {
	return obj{
		"metadata": obj{"labels": obj{"app": name}, "annotations": obj{"puppet": w.oneOf("", "", "", "hang", "unready")}},
		"spec":     obj{"containers": []any{obj{"name": "main", "image": image}}},
	}
}

func selects(name string) obj { return obj{"matchLabels": obj{"app": name}} }

// namespace fills a namespace, and deletes it.
func (w *storyWriter) namespace() {
	for i := range w.IntN(4) {
		meta := obj{}
		if w.IntN(3) == 0 {
			meta["finalizers"] = []any{w.oneOf("example.com/a", "example.com/b")}
		}
		w.post(core+"configmaps", configMap(fmt.Sprint("c", i), meta))
	}
	if w.maybe() {
		w.post(apps+"deployments", w.deploymentObject("web", w.IntN(3)))
	}
	if w.maybe() {
		w.post(core+"pods", obj{"apiVersion": "v1", "kind": "Pod", "metadata": obj{"name": "p"}, "spec": w.template("p", "a:1")["spec"]})
	}
	w.delete("/api/v1/namespaces/NS", w.oneOf("", "Background", "Foreground"))
	w.post(core+"configmaps", configMap("late", nil))
	for i := range 4 {
		if w.maybe() {
			w.merge(core+fmt.Sprint("configmaps/c", i), obj{"metadata": obj{"finalizers": nil}})
		}
	}
}

// owners makes a graph of ConfigMaps whose owners are found by name: a step that needs a
// UID reads it from its own object through a server-side apply is not possible, so the
// owners are Deployments' ReplicaSets, and absent owners have made-up UIDs.
func (w *storyWriter) owners() {
	w.post(core+"configmaps", configMap("orphaned", obj{"ownerReferences": []any{obj{
		"apiVersion": "v1", "kind": w.oneOf("ConfigMap", "Secret", "Pod"), "name": "absent", "uid": "11111111-1111-4111-8111-111111111111",
	}}}))
	w.post(core+"configmaps", configMap("unknown-kind", obj{"ownerReferences": []any{obj{
		"apiVersion": "example.com/v1", "kind": "Foo", "name": "absent", "uid": "22222222-2222-4222-8222-222222222222",
	}}}))
	w.post(core+"configmaps", configMap("wrong-uid", obj{"ownerReferences": []any{obj{
		"apiVersion": "v1", "kind": "ServiceAccount", "name": "default", "uid": "33333333-3333-4333-8333-333333333333", "controller": w.maybe(),
	}}}))
	w.post(core+"configmaps", configMap("foreground", obj{"finalizers": []any{"foregroundDeletion"}}))
	w.delete(core+"configmaps/foreground", w.policy())
	w.post(core+"configmaps", configMap("kept", obj{"finalizers": []any{"example.com/a"}}))
	w.delete(core+"configmaps/kept", w.policy())
	w.merge(core+"configmaps/kept", obj{"metadata": obj{"finalizers": nil}})
}

// cascade deletes a tree of owners with each policy.
func (w *storyWriter) cascade() {
	switch w.IntN(3) {
	case 0:
		w.post(apps+"deployments", w.deploymentObject("web", 1+w.IntN(2)))
		w.delete(apps+"deployments/web", w.policy())
	case 1:
		w.post(apps+"replicasets", w.replicaSetObject("web", 1+w.IntN(2)))
		if w.maybe() {
			w.merge(apps+"replicasets/web", obj{"metadata": obj{"finalizers": []any{"example.com/a"}}})
		}
		w.delete(apps+"replicasets/web", w.policy())
		w.merge(apps+"replicasets/web", obj{"metadata": obj{"finalizers": nil}})
	case 2:
		w.post(batch+"jobs", w.jobObject("work"))
		w.delete(batch+"jobs/work", w.policy())
	}
}

// claims uses and deletes claims and volumes.
func (w *storyWriter) claims() {
	w.post("/api/v1/persistentvolumes", obj{"apiVersion": "v1", "kind": "PersistentVolume", "metadata": obj{"name": "NS-v"}, "spec": obj{
		"capacity": obj{"storage": "1Gi"}, "accessModes": []any{"ReadWriteOnce"}, "storageClassName": "manual",
		"persistentVolumeReclaimPolicy": w.oneOf("Retain", "Delete"), "hostPath": obj{"path": "/tmp/NS"}, "claimRef": obj{"namespace": "NS", "name": "data"},
	}})
	w.post(core+"persistentvolumeclaims", obj{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": obj{"name": "data"}, "spec": obj{
		"accessModes": []any{"ReadWriteOnce"}, "storageClassName": "manual", "resources": obj{"requests": obj{"storage": "1Gi"}},
	}})
	if w.maybe() {
		w.post(core+"pods", obj{"apiVersion": "v1", "kind": "Pod", "metadata": obj{"name": "p"}, "spec": obj{
			"containers": []any{obj{"name": "main", "image": "a:1"}},
			"volumes":    []any{obj{"name": "data", "persistentVolumeClaim": obj{"claimName": "data"}}},
		}})
	}
	w.delete(core+"persistentvolumeclaims/data", "")
	if w.maybe() {
		w.delete(core+"pods/p", "")
	}
	w.delete("/api/v1/persistentvolumes/NS-v", "")
}

// accounts deletes and changes what every namespace has.
func (w *storyWriter) accounts() {
	w.delete(core+"serviceaccounts/default", "")
	if w.maybe() {
		w.merge(core+"configmaps/kube-root-ca.crt", obj{"data": obj{"ca.crt": "changed"}})
	} else {
		w.delete(core+"configmaps/kube-root-ca.crt", "")
	}
	w.post(core+"serviceaccounts", obj{"apiVersion": "v1", "kind": "ServiceAccount", "metadata": obj{"name": "robot"}})
	w.post(core+"secrets", obj{"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/service-account-token", "metadata": obj{
		"name": "token", "annotations": obj{"kubernetes.io/service-account.name": w.oneOf("robot", "nobody")},
	}})
	w.delete(core+"serviceaccounts/robot", "")
}

// quota fills a quota.
func (w *storyWriter) quota() {
	if w.maybe() {
		w.post(core+"configmaps", configMap("before", nil))
	}
	w.post(core+"resourcequotas", obj{"apiVersion": "v1", "kind": "ResourceQuota", "metadata": obj{"name": "q"}, "spec": obj{
		"hard": obj{"configmaps": "3", "pods": "2", "count/deployments.apps": "1", "requests.cpu": "1"},
	}})
	for i := range 1 + w.IntN(3) {
		w.post(core+"configmaps", configMap(fmt.Sprint("c", i), nil))
	}
	w.post(apps+"replicasets", w.replicaSetObject("web", 1+w.IntN(3)))
	w.delete(core+"configmaps/c0", "")
	w.merge(core+"resourcequotas/q", obj{"spec": obj{"hard": obj{"configmaps": w.oneOf("1", "5"), "pods": nil}}})
}

// roles aggregates cluster roles.
func (w *storyWriter) roles() {
	rule := func(resource string) []any {
		return []any{obj{"apiGroups": []any{""}, "resources": []any{resource}, "verbs": []any{"get"}}}
	}
	role := func(name string, labels obj, rules []any) obj {
		return obj{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": obj{"name": "NS-" + name, "labels": labels}, "rules": rules}
	}
	path := "/apis/rbac.authorization.k8s.io/v1/clusterroles"
	all := role("all", nil, nil)
	all["aggregationRule"] = obj{"clusterRoleSelectors": []any{selects("NS-a"), selects("NS-b")}}
	w.post(path, all)
	w.post(path, role("a", obj{"app": "NS-a"}, rule("pods")))
	w.post(path, role("b", obj{"app": w.oneOf("NS-b", "NS-c")}, rule(w.oneOf("pods", "secrets"))))
	w.merge(path+"/NS-a", obj{"rules": rule("nodes")})
	w.delete(path+"/NS-b", "")
	w.delete(path+"/NS-a", "")
	w.delete(path+"/NS-all", "")
}

func (w *storyWriter) deploymentObject(name string, replicas int) obj {
	spec := obj{"replicas": replicas, "selector": selects(name), "template": w.template(name, "a:1")}
	switch w.IntN(4) {
	case 0:
		spec["strategy"] = obj{"type": "Recreate"}
	case 1:
		spec["strategy"] = obj{"type": "RollingUpdate", "rollingUpdate": obj{"maxSurge": w.oneOf("0%", "50%", "100%"), "maxUnavailable": w.oneOf("25%", "50%")}}
	}
	if w.IntN(4) == 0 {
		spec["revisionHistoryLimit"] = w.IntN(2)
	}
	return obj{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": obj{"name": name}, "spec": spec}
}

func (w *storyWriter) deployment() {
	path := apps + "deployments/web"
	w.post(apps+"deployments", w.deploymentObject("web", w.IntN(4)))
	for range 2 + w.IntN(4) {
		switch w.IntN(7) {
		case 0:
			w.merge(path, obj{"spec": obj{"replicas": w.IntN(5)}})
		case 1, 2:
			w.merge(path, obj{"spec": obj{"template": obj{"spec": obj{"containers": []any{obj{"name": "main", "image": w.oneOf("a:1", "a:2", "a:3")}}}}}})
		case 3:
			w.merge(path, obj{"spec": obj{"paused": w.maybe()}})
		case 4:
			w.merge(path, obj{"spec": obj{"template": obj{"metadata": obj{"annotations": obj{"puppet": w.oneOf("hang", "unready", "")}}}}})
		case 5:
			w.merge(path, obj{"metadata": obj{"annotations": obj{"example.com/note": w.oneOf("x", "y")}}})
		case 6:
			w.merge(path, obj{"spec": obj{"revisionHistoryLimit": w.IntN(2)}})
		}
	}
	if w.maybe() {
		w.delete(path, w.policy())
	}
}

// autoscaler bounds the replicas of a Deployment. There are no metrics. Replicas that a client sets
// would be changed within 15 s.
func (w *storyWriter) autoscaler() {
	const path = "/apis/autoscaling/v2/namespaces/NS/horizontalpodautoscalers"
	least := 1 + w.IntN(3)
	w.post(apps+"deployments", w.deploymentObject("web", w.IntN(4)))
	w.post(path, obj{"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": obj{"name": "web"}, "spec": obj{
		"scaleTargetRef": obj{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}, "minReplicas": least, "maxReplicas": least + w.IntN(3),
	}})
	for range 1 + w.IntN(3) {
		least := 1 + w.IntN(4)
		w.merge(path+"/web", obj{"spec": obj{"minReplicas": least, "maxReplicas": least + w.IntN(2)}})
	}
}

func (w *storyWriter) replicaSetObject(name string, replicas int) obj {
	return obj{"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": obj{"name": name}, "spec": obj{
		"replicas": replicas, "selector": selects(name), "template": w.template(name, "a:1"),
	}}
}

func (w *storyWriter) replicaSet() {
	if w.maybe() {
		pod := w.template("web", "a:0")
		w.post(core+"pods", obj{"apiVersion": "v1", "kind": "Pod", "metadata": obj{"name": "stray", "labels": obj{"app": "web"}}, "spec": pod["spec"]})
	}
	if w.maybe() {
		w.post(apps+"replicasets", w.replicaSetObject("web", w.IntN(4)))
	} else {
		o := w.replicaSetObject("web", w.IntN(4))
		o["apiVersion"], o["kind"] = "v1", "ReplicationController"
		o["spec"].(obj)["selector"] = obj{"app": "web"}
		w.post(core+"replicationcontrollers", o)
	}
	for range 1 + w.IntN(3) {
		switch w.IntN(3) {
		case 0:
			w.merge(apps+"replicasets/web", obj{"spec": obj{"replicas": w.IntN(5)}})
		case 1:
			w.merge(core+"replicationcontrollers/web", obj{"spec": obj{"replicas": w.IntN(5)}})
		case 2:
			w.merge(core+"pods/stray", obj{"metadata": obj{"labels": obj{"app": w.oneOf("web", "other")}}})
		}
	}
}

func (w *storyWriter) statefulSet() {
	spec := obj{"replicas": w.IntN(4), "serviceName": "db", "selector": selects("db"), "template": w.template("db", "a:1")}
	if w.maybe() {
		spec["podManagementPolicy"] = "Parallel"
	}
	switch w.IntN(4) {
	case 0:
		spec["updateStrategy"] = obj{"type": "RollingUpdate", "rollingUpdate": obj{"partition": w.IntN(3)}}
	case 1:
		spec["updateStrategy"] = obj{"type": "RollingUpdate", "rollingUpdate": obj{"maxUnavailable": w.oneOf("50%", "100%")}}
	case 2:
		spec["updateStrategy"] = obj{"type": "OnDelete"}
	}
	if w.maybe() {
		spec["volumeClaimTemplates"] = []any{obj{"metadata": obj{"name": "data"}, "spec": obj{
			"accessModes": []any{"ReadWriteOnce"}, "storageClassName": "none", "resources": obj{"requests": obj{"storage": "1Gi"}},
		}}}
		if w.maybe() {
			spec["persistentVolumeClaimRetentionPolicy"] = obj{"whenDeleted": w.oneOf("Retain", "Delete"), "whenScaled": w.oneOf("Retain", "Delete")}
		}
	}
	w.post(apps+"statefulsets", obj{"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": obj{"name": "db"}, "spec": spec})
	path := apps + "statefulsets/db"
	for range 1 + w.IntN(4) {
		switch w.IntN(4) {
		case 0, 1:
			w.merge(path, obj{"spec": obj{"replicas": w.IntN(4)}})
		case 2:
			w.merge(path, obj{"spec": obj{"template": obj{"spec": obj{"containers": []any{obj{"name": "main", "image": w.oneOf("a:1", "a:2")}}}}}})
		case 3:
			w.delete(core+"pods/db-0", "")
		}
	}
	if w.maybe() {
		w.delete(path, w.policy())
	}
}

func (w *storyWriter) daemonSet() {
	template := w.template("agent", "a:1")
	if w.maybe() {
		template["spec"].(obj)["nodeSelector"] = obj{"kubernetes.io/hostname": w.oneOf("node-a", "node-b", "none")}
	}
	spec := obj{"selector": selects("agent"), "template": template}
	if w.maybe() {
		spec["updateStrategy"] = obj{"type": "OnDelete"}
	}
	w.post(apps+"daemonsets", obj{"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": obj{"name": "agent"}, "spec": spec})
	path := apps + "daemonsets/agent"
	for range 1 + w.IntN(3) {
		w.merge(path, obj{"spec": obj{"template": obj{"spec": obj{"containers": []any{obj{"name": "main", "image": w.oneOf("a:1", "a:2")}}}}}})
	}
	if w.maybe() {
		w.delete(path, w.policy())
	}
}

func (w *storyWriter) jobObject(name string) obj {
	template := obj{
		"metadata": obj{"annotations": obj{"puppet": w.oneOf("succeed", "succeed", "fail", "hang")}},
		"spec":     obj{"restartPolicy": "Never", "containers": []any{obj{"name": "main", "image": "a:1"}}},
	}
	spec := obj{"template": template, "backoffLimit": 0}
	if w.maybe() {
		spec["completions"], spec["parallelism"] = 1+w.IntN(3), 1+w.IntN(3)
		if w.maybe() {
			spec["completionMode"] = "Indexed"
		}
	}
	if w.IntN(4) == 0 {
		spec["suspend"] = true
	}
	if w.IntN(4) == 0 {
		spec["ttlSecondsAfterFinished"] = 0
	}
	return obj{"apiVersion": "batch/v1", "kind": "Job", "metadata": obj{"name": name}, "spec": spec}
}

func (w *storyWriter) job() {
	w.post(batch+"jobs", w.jobObject("work"))
	path := batch + "jobs/work"
	for range w.IntN(3) {
		switch w.IntN(2) {
		case 0:
			w.merge(path, obj{"spec": obj{"suspend": w.maybe()}})
		case 1:
			w.merge(path, obj{"spec": obj{"parallelism": w.IntN(3)}})
		}
	}
	if w.maybe() {
		w.delete(path, w.policy())
	}
}

func (w *storyWriter) service() {
	spec := obj{"ports": []any{obj{"name": "http", "port": 80, "targetPort": w.oneOf("http", "web")}}}
	if w.IntN(4) > 0 {
		spec["selector"] = obj{"app": "web"}
	}
	if w.maybe() {
		spec["clusterIP"] = "None"
	}
	if w.maybe() {
		spec["publishNotReadyAddresses"] = true
	}
	w.post(core+"services", obj{"apiVersion": "v1", "kind": "Service", "metadata": obj{"name": "web"}, "spec": spec})
	o := w.replicaSetObject("web", w.IntN(3))
	container := object.Value(o, "spec", "template", "spec", "containers").([]any)[0].(obj)
	container["ports"] = []any{obj{"name": "http", "containerPort": 8080}}
	w.post(apps+"replicasets", o)
	w.merge(apps+"replicasets/web", obj{"spec": obj{"replicas": w.IntN(3)}})
	if w.maybe() {
		w.merge(core+"services/web", obj{"metadata": obj{"labels": obj{"tier": "front"}}})
	}
	if w.maybe() {
		w.post(core+"endpoints", obj{"apiVersion": "v1", "kind": "Endpoints", "metadata": obj{"name": "web"}, "subsets": []any{obj{
			"addresses": []any{obj{"ip": "192.0.2.7"}}, "ports": []any{obj{"name": "http", "port": 80}},
		}}})
	}
	w.delete(core+"services/web", "")
}

func (w *storyWriter) budget() {
	spec := obj{"selector": selects("web")}
	if w.maybe() {
		spec["minAvailable"] = w.oneOf("50%", "100%")
	} else {
		spec["maxUnavailable"] = w.IntN(2)
	}
	w.post("/apis/policy/v1/namespaces/NS/poddisruptionbudgets", obj{"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": obj{"name": "web"}, "spec": spec})
	w.post(apps+"replicasets", w.replicaSetObject("web", 1+w.IntN(3)))
	w.merge(apps+"replicasets/web", obj{"spec": obj{"replicas": w.IntN(3)}})
	w.delete(apps+"replicasets/web", "Background")
}
