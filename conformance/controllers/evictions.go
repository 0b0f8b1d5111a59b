package main

import "fmt"

// evict asks for the eviction of a Pod.
func (t *teller) evict(pod string) {
	t.post(core+"pods/"+pod+"/eviction", obj{"apiVersion": "policy/v1", "kind": "Eviction", "metadata": obj{"name": pod}})
}

// disruptionBudget creates a budget for the Pods with the label app=name.
func (t *teller) disruptionBudget(name string) {
	spec := obj{"selector": selects(name)}
	switch t.IntN(4) {
	case 0:
		spec["minAvailable"] = 1 + t.IntN(2)
	case 1:
		spec["maxUnavailable"] = t.IntN(2)
	case 2:
		spec["minAvailable"] = t.oneOf("50%", "100%")
	case 3:
		spec["maxUnavailable"] = t.oneOf("0%", "50%")
	}
	if t.maybe() {
		spec["unhealthyPodEvictionPolicy"] = t.oneOf("IfHealthyBudget", "AlwaysAllow")
	}
	t.post("/apis/policy/v1/namespaces/NS/poddisruptionbudgets", obj{"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": obj{"name": name}, "spec": spec})
}

// evictions evicts the Pods of a StatefulSet, whose names are known, with a budget or two.
func (t *teller) evictions() {
	template := t.template("db", "a:1")
	t.post(apps+"statefulsets", obj{"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": obj{"name": "db"}, "spec": obj{
		"replicas": 1 + t.IntN(3), "serviceName": "db", "selector": selects("db"), "template": template, "podManagementPolicy": "Parallel",
	}})
	if t.IntN(4) > 0 {
		t.disruptionBudget("db")
	}
	for range 2 + t.IntN(4) {
		switch t.IntN(6) {
		case 0, 1, 2:
			t.evict(fmt.Sprint("db-", t.IntN(3)))
		case 3:
			t.merge(apps+"statefulsets/db", obj{"spec": obj{"replicas": t.IntN(4)}})
		case 4:
			t.delete("/apis/policy/v1/namespaces/NS/poddisruptionbudgets/db", "")
		case 5:
			t.merge("/apis/policy/v1/namespaces/NS/poddisruptionbudgets/db", obj{"spec": obj{"minAvailable": 0, "maxUnavailable": nil}})
		}
	}
}

const privateNode = "/api/v1/nodes/NS-n"

// node creates a Node for the Pods of the story only: others do not tolerate its taint.
func (t *teller) node() {
	t.post("/api/v1/nodes", obj{"apiVersion": "v1", "kind": "Node", "metadata": obj{"name": "NS-n"}, "spec": obj{"taints": privateTaints()}})
}

func privateTaints(more ...any) []any {
	return append([]any{obj{"key": "example.com/private", "effect": "NoSchedule"}}, more...)
}

// podOnNode creates a Pod on the Node of the story, with or without a toleration of the taint
// of taints.
func (t *teller) podOnNode(name string) {
	spec := obj{"nodeName": "NS-n", "containers": []any{obj{"name": "main", "image": "a:1"}}}
	switch t.IntN(3) {
	case 0:
		spec["tolerations"] = []any{obj{"key": "example.com/out", "operator": "Exists", "effect": t.oneOf("NoExecute", "NoSchedule")}}
	case 1:
		spec["tolerations"] = []any{obj{"key": "example.com/out", "operator": "Equal", "value": t.oneOf("a", "b"), "effect": "NoExecute", "tolerationSeconds": []int{0, 3600}[t.IntN(2)]}}
	}
	t.post(core+"pods", obj{"apiVersion": "v1", "kind": "Pod", "metadata": obj{"name": name, "labels": obj{"app": "p"}}, "spec": spec})
}

// taints taints a Node, from which Pods are evicted that do not tolerate it.
func (t *teller) taints() {
	t.node()
	for i := range 1 + t.IntN(3) {
		t.podOnNode(fmt.Sprint("p", i))
	}
	for range 1 + t.IntN(3) {
		switch t.IntN(4) {
		case 0, 1:
			t.merge(privateNode, obj{"spec": obj{"taints": privateTaints(obj{"key": "example.com/out", "value": t.oneOf("a", "b"), "effect": t.oneOf("NoExecute", "NoExecute", "NoSchedule")})}})
		case 2:
			t.merge(privateNode, obj{"spec": obj{"taints": privateTaints()}})
		case 3:
			t.podOnNode("late")
		}
	}
	t.emptyNode(3, "late")
}

// emptyNode deletes the Pods of a Node, and then the Node.
func (t *teller) emptyNode(n int, more ...string) {
	for i := range n {
		more = append(more, fmt.Sprint("p", i))
	}
	for _, name := range more {
		t.delete(core+"pods/"+name, "")
	}
	t.delete(privateNode, "")
}

// drain does what kubectl drain does: it makes a Node unschedulable and evicts its Pods, of
// which a budget may keep some.
func (t *teller) drain() {
	t.node()
	n := 1 + t.IntN(3)
	for i := range n {
		t.podOnNode(fmt.Sprint("p", i))
	}
	if t.maybe() {
		t.disruptionBudget("p")
	}
	t.merge(privateNode, obj{"spec": obj{"unschedulable": true}})
	for i := range n {
		t.evict(fmt.Sprint("p", i))
	}
	if t.maybe() {
		t.delete("/apis/policy/v1/namespaces/NS/poddisruptionbudgets/p", "")
		t.evict("p0")
	}
	if t.maybe() {
		t.merge(privateNode, obj{"spec": obj{"unschedulable": nil}})
	}
	t.emptyNode(n)
}
