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

// A Step is one request, after which both ends settle.
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

// A teller makes up the steps of a story.
type teller struct {
	*rand.Rand
	story *Story
}

// kindsOfStories are the kinds of stories, by group.
var kindsOfStories = map[string][]struct {
	name string
	tell func(*teller)
}{
	groupBasic: {
		{"namespace", (*teller).namespace},
		{"owners", (*teller).owners},
		{"claims", (*teller).claims},
		{"accounts", (*teller).accounts},
		{"quota", (*teller).quota},
		{"roles", (*teller).roles},
		{"cascade", (*teller).cascade},
		{"volumes", (*teller).volumes},
	},
	groupWorkloads: {
		{"deployment", (*teller).deployment},
		{"replicaset", (*teller).replicaSet},
		{"statefulset", (*teller).statefulSet},
		{"daemonset", (*teller).daemonSet},
		{"job", (*teller).job},
		{"service", (*teller).service},
		{"budget", (*teller).budget},
		{"retention", (*teller).retention},
		{"evictions", (*teller).evictions},
		{"taints", (*teller).taints},
		{"drain", (*teller).drain},
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
	t := &teller{r, &Story{Seed: seed, Number: number, Group: group, Kind: kind.name}}
	t.post("/api/v1/namespaces", obj{"apiVersion": "v1", "kind": "Namespace", "metadata": obj{"name": "NS"}})
	kind.tell(t)
	return t.story
}

func (t *teller) step(s Step)                { t.story.Steps = append(t.story.Steps, s) }
func (t *teller) post(path string, body obj) { t.step(Step{Method: "POST", Path: path, Body: body}) }
func (t *teller) merge(path string, body obj) {
	t.step(Step{Method: "PATCH", Path: path, Type: "application/merge-patch+json", Body: body})
}
func (t *teller) delete(path, policy string) {
	s := Step{Method: "DELETE", Path: path}
	if policy != "" {
		s.Body = obj{"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": policy}
	}
	t.step(s)
}

func (t *teller) oneOf(list ...string) string { return list[t.IntN(len(list))] }
func (t *teller) maybe() bool                 { return t.IntN(2) == 0 }

// policy returns a propagation policy.
func (t *teller) policy() string { return t.oneOf("", "Background", "Foreground", "Orphan") }

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
func (t *teller) template(name, image string) obj {
	return obj{
		"metadata": obj{"labels": obj{"app": name}, "annotations": obj{"puppet": t.oneOf("", "", "", "hang", "unready")}},
		"spec":     obj{"containers": []any{obj{"name": "main", "image": image}}},
	}
}

func selects(name string) obj { return obj{"matchLabels": obj{"app": name}} }

// namespace fills a namespace, and deletes it.
func (t *teller) namespace() {
	for i := range t.IntN(4) {
		meta := obj{}
		if t.IntN(3) == 0 {
			meta["finalizers"] = []any{t.oneOf("example.com/a", "example.com/b")}
		}
		t.post(core+"configmaps", configMap(fmt.Sprint("c", i), meta))
	}
	if t.maybe() {
		t.post(apps+"deployments", t.deploymentObject("web", t.IntN(3)))
	}
	if t.maybe() {
		t.post(core+"pods", obj{"apiVersion": "v1", "kind": "Pod", "metadata": obj{"name": "p"}, "spec": t.template("p", "a:1")["spec"]})
	}
	t.delete("/api/v1/namespaces/NS", t.oneOf("", "Background", "Foreground"))
	t.post(core+"configmaps", configMap("late", nil))
	for i := range 4 {
		if t.maybe() {
			t.merge(core+fmt.Sprint("configmaps/c", i), obj{"metadata": obj{"finalizers": nil}})
		}
	}
}

// owners makes a graph of ConfigMaps whose owners are found by name: a step that needs a
// UID reads it from its own object through a server-side apply is not possible, so the
// owners are Deployments' ReplicaSets, and absent owners have made-up UIDs.
func (t *teller) owners() {
	t.post(core+"configmaps", configMap("orphaned", obj{"ownerReferences": []any{obj{
		"apiVersion": "v1", "kind": t.oneOf("ConfigMap", "Secret", "Pod"), "name": "absent", "uid": "11111111-1111-4111-8111-111111111111",
	}}}))
	t.post(core+"configmaps", configMap("unknown-kind", obj{"ownerReferences": []any{obj{
		"apiVersion": "example.com/v1", "kind": "Foo", "name": "absent", "uid": "22222222-2222-4222-8222-222222222222",
	}}}))
	t.post(core+"configmaps", configMap("wrong-uid", obj{"ownerReferences": []any{obj{
		"apiVersion": "v1", "kind": "ServiceAccount", "name": "default", "uid": "33333333-3333-4333-8333-333333333333", "controller": t.maybe(),
	}}}))
	t.post(core+"configmaps", configMap("foreground", obj{"finalizers": []any{"foregroundDeletion"}}))
	t.delete(core+"configmaps/foreground", t.policy())
	t.post(core+"configmaps", configMap("kept", obj{"finalizers": []any{"example.com/a"}}))
	t.delete(core+"configmaps/kept", t.policy())
	t.merge(core+"configmaps/kept", obj{"metadata": obj{"finalizers": nil}})
}

// cascade deletes a tree of owners with each policy.
func (t *teller) cascade() {
	switch t.IntN(3) {
	case 0:
		t.post(apps+"deployments", t.deploymentObject("web", 1+t.IntN(2)))
		t.delete(apps+"deployments/web", t.policy())
	case 1:
		t.post(apps+"replicasets", t.replicaSetObject("web", 1+t.IntN(2)))
		if t.maybe() {
			t.merge(apps+"replicasets/web", obj{"metadata": obj{"finalizers": []any{"example.com/a"}}})
		}
		t.delete(apps+"replicasets/web", t.policy())
		t.merge(apps+"replicasets/web", obj{"metadata": obj{"finalizers": nil}})
	case 2:
		t.post(batch+"jobs", t.jobObject("work"))
		t.delete(batch+"jobs/work", t.policy())
	}
}

// claims uses and deletes claims and volumes.
func (t *teller) claims() {
	t.post("/api/v1/persistentvolumes", obj{"apiVersion": "v1", "kind": "PersistentVolume", "metadata": obj{"name": "NS-v"}, "spec": obj{
		"capacity": obj{"storage": "1Gi"}, "accessModes": []any{"ReadWriteOnce"}, "storageClassName": "manual",
		"persistentVolumeReclaimPolicy": t.oneOf("Retain", "Delete"), "hostPath": obj{"path": "/tmp/NS"}, "claimRef": obj{"namespace": "NS", "name": "data"},
	}})
	t.post(core+"persistentvolumeclaims", obj{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": obj{"name": "data"}, "spec": obj{
		"accessModes": []any{"ReadWriteOnce"}, "storageClassName": "manual", "resources": obj{"requests": obj{"storage": "1Gi"}},
	}})
	if t.maybe() {
		t.post(core+"pods", obj{"apiVersion": "v1", "kind": "Pod", "metadata": obj{"name": "p"}, "spec": obj{
			"containers": []any{obj{"name": "main", "image": "a:1"}},
			"volumes":    []any{obj{"name": "data", "persistentVolumeClaim": obj{"claimName": "data"}}},
		}})
	}
	t.delete(core+"persistentvolumeclaims/data", "")
	if t.maybe() {
		t.delete(core+"pods/p", "")
	}
	t.delete("/api/v1/persistentvolumes/NS-v", "")
}

// accounts deletes and changes what every namespace has.
func (t *teller) accounts() {
	t.delete(core+"serviceaccounts/default", "")
	if t.maybe() {
		t.merge(core+"configmaps/kube-root-ca.crt", obj{"data": obj{"ca.crt": "changed"}})
	} else {
		t.delete(core+"configmaps/kube-root-ca.crt", "")
	}
	t.post(core+"serviceaccounts", obj{"apiVersion": "v1", "kind": "ServiceAccount", "metadata": obj{"name": "robot"}})
	t.post(core+"secrets", obj{"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/service-account-token", "metadata": obj{
		"name": "token", "annotations": obj{"kubernetes.io/service-account.name": t.oneOf("robot", "nobody")},
	}})
	t.delete(core+"serviceaccounts/robot", "")
}

// quota fills a quota.
func (t *teller) quota() {
	if t.maybe() {
		t.post(core+"configmaps", configMap("before", nil))
	}
	t.post(core+"resourcequotas", obj{"apiVersion": "v1", "kind": "ResourceQuota", "metadata": obj{"name": "q"}, "spec": obj{
		"hard": obj{"configmaps": "3", "pods": "2", "count/deployments.apps": "1", "requests.cpu": "1"},
	}})
	for i := range 1 + t.IntN(3) {
		t.post(core+"configmaps", configMap(fmt.Sprint("c", i), nil))
	}
	t.post(apps+"replicasets", t.replicaSetObject("web", 1+t.IntN(3)))
	t.delete(core+"configmaps/c0", "")
	t.merge(core+"resourcequotas/q", obj{"spec": obj{"hard": obj{"configmaps": t.oneOf("1", "5"), "pods": nil}}})
}

// roles aggregates cluster roles.
func (t *teller) roles() {
	rule := func(resource string) []any {
		return []any{obj{"apiGroups": []any{""}, "resources": []any{resource}, "verbs": []any{"get"}}}
	}
	role := func(name string, labels obj, rules []any) obj {
		return obj{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": obj{"name": "NS-" + name, "labels": labels}, "rules": rules}
	}
	path := "/apis/rbac.authorization.k8s.io/v1/clusterroles"
	all := role("all", nil, nil)
	all["aggregationRule"] = obj{"clusterRoleSelectors": []any{selects("NS-a"), selects("NS-b")}}
	t.post(path, all)
	t.post(path, role("a", obj{"app": "NS-a"}, rule("pods")))
	t.post(path, role("b", obj{"app": t.oneOf("NS-b", "NS-c")}, rule(t.oneOf("pods", "secrets"))))
	t.merge(path+"/NS-a", obj{"rules": rule("nodes")})
	t.delete(path+"/NS-b", "")
	t.delete(path+"/NS-a", "")
	t.delete(path+"/NS-all", "")
}

func (t *teller) deploymentObject(name string, replicas int) obj {
	spec := obj{"replicas": replicas, "selector": selects(name), "template": t.template(name, "a:1")}
	switch t.IntN(4) {
	case 0:
		spec["strategy"] = obj{"type": "Recreate"}
	case 1:
		spec["strategy"] = obj{"type": "RollingUpdate", "rollingUpdate": obj{"maxSurge": t.oneOf("0%", "50%", "100%"), "maxUnavailable": t.oneOf("25%", "50%")}}
	}
	if t.IntN(4) == 0 {
		spec["revisionHistoryLimit"] = t.IntN(2)
	}
	return obj{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": obj{"name": name}, "spec": spec}
}

func (t *teller) deployment() {
	path := apps + "deployments/web"
	t.post(apps+"deployments", t.deploymentObject("web", t.IntN(4)))
	for range 2 + t.IntN(4) {
		switch t.IntN(7) {
		case 0:
			t.merge(path, obj{"spec": obj{"replicas": t.IntN(5)}})
		case 1, 2:
			t.merge(path, obj{"spec": obj{"template": obj{"spec": obj{"containers": []any{obj{"name": "main", "image": t.oneOf("a:1", "a:2", "a:3")}}}}}})
		case 3:
			t.merge(path, obj{"spec": obj{"paused": t.maybe()}})
		case 4:
			t.merge(path, obj{"spec": obj{"template": obj{"metadata": obj{"annotations": obj{"puppet": t.oneOf("hang", "unready", "")}}}}})
		case 5:
			t.merge(path, obj{"metadata": obj{"annotations": obj{"example.com/note": t.oneOf("x", "y")}}})
		case 6:
			t.merge(path, obj{"spec": obj{"revisionHistoryLimit": t.IntN(2)}})
		}
	}
	if t.maybe() {
		t.delete(path, t.policy())
	}
}

func (t *teller) replicaSetObject(name string, replicas int) obj {
	return obj{"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": obj{"name": name}, "spec": obj{
		"replicas": replicas, "selector": selects(name), "template": t.template(name, "a:1"),
	}}
}

func (t *teller) replicaSet() {
	if t.maybe() {
		pod := t.template("web", "a:0")
		t.post(core+"pods", obj{"apiVersion": "v1", "kind": "Pod", "metadata": obj{"name": "stray", "labels": obj{"app": "web"}}, "spec": pod["spec"]})
	}
	if t.maybe() {
		t.post(apps+"replicasets", t.replicaSetObject("web", t.IntN(4)))
	} else {
		o := t.replicaSetObject("web", t.IntN(4))
		o["apiVersion"], o["kind"] = "v1", "ReplicationController"
		o["spec"].(obj)["selector"] = obj{"app": "web"}
		t.post(core+"replicationcontrollers", o)
	}
	for range 1 + t.IntN(3) {
		switch t.IntN(3) {
		case 0:
			t.merge(apps+"replicasets/web", obj{"spec": obj{"replicas": t.IntN(5)}})
		case 1:
			t.merge(core+"replicationcontrollers/web", obj{"spec": obj{"replicas": t.IntN(5)}})
		case 2:
			t.merge(core+"pods/stray", obj{"metadata": obj{"labels": obj{"app": t.oneOf("web", "other")}}})
		}
	}
}

func (t *teller) statefulSet() {
	spec := obj{"replicas": t.IntN(4), "serviceName": "db", "selector": selects("db"), "template": t.template("db", "a:1")}
	if t.maybe() {
		spec["podManagementPolicy"] = "Parallel"
	}
	if t.maybe() {
		spec["updateStrategy"] = obj{"type": "RollingUpdate", "rollingUpdate": obj{"partition": t.IntN(3)}}
	}
	if t.maybe() {
		spec["volumeClaimTemplates"] = []any{obj{"metadata": obj{"name": "data"}, "spec": obj{
			"accessModes": []any{"ReadWriteOnce"}, "storageClassName": "none", "resources": obj{"requests": obj{"storage": "1Gi"}},
		}}}
		if t.maybe() {
			spec["persistentVolumeClaimRetentionPolicy"] = obj{"whenDeleted": t.oneOf("Retain", "Delete"), "whenScaled": t.oneOf("Retain", "Delete")}
		}
	}
	t.post(apps+"statefulsets", obj{"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": obj{"name": "db"}, "spec": spec})
	path := apps + "statefulsets/db"
	for range 1 + t.IntN(4) {
		switch t.IntN(4) {
		case 0, 1:
			t.merge(path, obj{"spec": obj{"replicas": t.IntN(4)}})
		case 2:
			t.merge(path, obj{"spec": obj{"template": obj{"spec": obj{"containers": []any{obj{"name": "main", "image": t.oneOf("a:1", "a:2")}}}}}})
		case 3:
			t.delete(core+"pods/db-0", "")
		}
	}
	if t.maybe() {
		t.delete(path, t.policy())
	}
}

func (t *teller) daemonSet() {
	template := t.template("agent", "a:1")
	if t.maybe() {
		template["spec"].(obj)["nodeSelector"] = obj{"kubernetes.io/hostname": t.oneOf("node-a", "node-b", "none")}
	}
	spec := obj{"selector": selects("agent"), "template": template}
	if t.maybe() {
		spec["updateStrategy"] = obj{"type": "OnDelete"}
	}
	t.post(apps+"daemonsets", obj{"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": obj{"name": "agent"}, "spec": spec})
	path := apps + "daemonsets/agent"
	for range 1 + t.IntN(3) {
		t.merge(path, obj{"spec": obj{"template": obj{"spec": obj{"containers": []any{obj{"name": "main", "image": t.oneOf("a:1", "a:2")}}}}}})
	}
	if t.maybe() {
		t.delete(path, t.policy())
	}
}

func (t *teller) jobObject(name string) obj {
	template := obj{
		"metadata": obj{"annotations": obj{"puppet": t.oneOf("succeed", "succeed", "fail", "hang")}},
		"spec":     obj{"restartPolicy": "Never", "containers": []any{obj{"name": "main", "image": "a:1"}}},
	}
	spec := obj{"template": template, "backoffLimit": 0}
	if t.maybe() {
		spec["completions"], spec["parallelism"] = 1+t.IntN(3), 1+t.IntN(3)
		if t.maybe() {
			spec["completionMode"] = "Indexed"
		}
	}
	if t.IntN(4) == 0 {
		spec["suspend"] = true
	}
	if t.IntN(4) == 0 {
		spec["ttlSecondsAfterFinished"] = 0
	}
	return obj{"apiVersion": "batch/v1", "kind": "Job", "metadata": obj{"name": name}, "spec": spec}
}

func (t *teller) job() {
	t.post(batch+"jobs", t.jobObject("work"))
	path := batch + "jobs/work"
	for range t.IntN(3) {
		switch t.IntN(2) {
		case 0:
			t.merge(path, obj{"spec": obj{"suspend": t.maybe()}})
		case 1:
			t.merge(path, obj{"spec": obj{"parallelism": t.IntN(3)}})
		}
	}
	if t.maybe() {
		t.delete(path, t.policy())
	}
}

func (t *teller) service() {
	spec := obj{"ports": []any{obj{"name": "http", "port": 80, "targetPort": t.oneOf("http", "web")}}}
	if t.IntN(4) > 0 {
		spec["selector"] = obj{"app": "web"}
	}
	if t.maybe() {
		spec["clusterIP"] = "None"
	}
	if t.maybe() {
		spec["publishNotReadyAddresses"] = true
	}
	t.post(core+"services", obj{"apiVersion": "v1", "kind": "Service", "metadata": obj{"name": "web"}, "spec": spec})
	o := t.replicaSetObject("web", t.IntN(3))
	container := object.Value(o, "spec", "template", "spec", "containers").([]any)[0].(obj)
	container["ports"] = []any{obj{"name": "http", "containerPort": 8080}}
	t.post(apps+"replicasets", o)
	t.merge(apps+"replicasets/web", obj{"spec": obj{"replicas": t.IntN(3)}})
	if t.maybe() {
		t.merge(core+"services/web", obj{"metadata": obj{"labels": obj{"tier": "front"}}})
	}
	if t.maybe() {
		t.post(core+"endpoints", obj{"apiVersion": "v1", "kind": "Endpoints", "metadata": obj{"name": "web"}, "subsets": []any{obj{
			"addresses": []any{obj{"ip": "192.0.2.7"}}, "ports": []any{obj{"name": "http", "port": 80}},
		}}})
	}
	t.delete(core+"services/web", "")
}

func (t *teller) budget() {
	spec := obj{"selector": selects("web")}
	if t.maybe() {
		spec["minAvailable"] = t.oneOf("50%", "100%")
	} else {
		spec["maxUnavailable"] = t.IntN(2)
	}
	t.post("/apis/policy/v1/namespaces/NS/poddisruptionbudgets", obj{"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": obj{"name": "web"}, "spec": spec})
	t.post(apps+"replicasets", t.replicaSetObject("web", 1+t.IntN(3)))
	t.merge(apps+"replicasets/web", obj{"spec": obj{"replicas": t.IntN(3)}})
	t.delete(apps+"replicasets/web", "Background")
}
