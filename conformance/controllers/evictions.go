package main

import "fmt"

// evict asks for the eviction of a Pod.
func (w *storyWriter) evict(pod string) {
	w.post(core+"pods/"+pod+"/eviction", obj{"apiVersion": "policy/v1", "kind": "Eviction", "metadata": obj{"name": pod}})
}

// disruptionBudget creates a budget for the Pods with the label app=name.
func (w *storyWriter) disruptionBudget(name string) {
	spec := obj{"selector": selects(name)}
	switch w.IntN(4) {
	case 0:
		spec["minAvailable"] = 1 + w.IntN(2)
	case 1:
		spec["maxUnavailable"] = w.IntN(2)
	case 2:
		spec["minAvailable"] = w.oneOf("50%", "100%")
	case 3:
		spec["maxUnavailable"] = w.oneOf("0%", "50%")
	}
	if w.maybe() {
		spec["unhealthyPodEvictionPolicy"] = w.oneOf("IfHealthyBudget", "AlwaysAllow")
	}
	w.post("/apis/policy/v1/namespaces/NS/poddisruptionbudgets", obj{"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": obj{"name": name}, "spec": spec})
}

// evictions evicts the Pods of a StatefulSet, whose names are known, with a budget or two.
func (w *storyWriter) evictions() {
	template := w.template("db", "a:1")
	w.post(apps+"statefulsets", obj{"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": obj{"name": "db"}, "spec": obj{
		"replicas": 1 + w.IntN(3), "serviceName": "db", "selector": selects("db"), "template": template, "podManagementPolicy": "Parallel",
	}})
	if w.IntN(4) > 0 {
		w.disruptionBudget("db")
	}
	for range 2 + w.IntN(4) {
		switch w.IntN(6) {
		case 0, 1, 2:
			w.evict(fmt.Sprint("db-", w.IntN(3)))
		case 3:
			w.merge(apps+"statefulsets/db", obj{"spec": obj{"replicas": w.IntN(4)}})
		case 4:
			w.delete("/apis/policy/v1/namespaces/NS/poddisruptionbudgets/db", "")
		case 5:
			w.merge("/apis/policy/v1/namespaces/NS/poddisruptionbudgets/db", obj{"spec": obj{"minAvailable": 0, "maxUnavailable": nil}})
		}
	}
}

const privateNode = "/api/v1/nodes/NS-n"

// node creates a Node for the Pods of the story only: others do not tolerate its taint.
func (w *storyWriter) node() {
	w.post("/api/v1/nodes", obj{"apiVersion": "v1", "kind": "Node", "metadata": obj{"name": "NS-n"}, "spec": obj{"taints": privateTaints()}})
}

func privateTaints(more ...any) []any {
	return append([]any{obj{"key": "example.com/private", "effect": "NoSchedule"}}, more...)
}

// podOnNode creates a Pod on the Node of the story, with or without a toleration of the taint
// of taints.
func (w *storyWriter) podOnNode(name string) {
	spec := obj{"nodeName": "NS-n", "containers": []any{obj{"name": "main", "image": "a:1"}}}
	switch w.IntN(3) {
	case 0:
		spec["tolerations"] = []any{obj{"key": "example.com/out", "operator": "Exists", "effect": w.oneOf("NoExecute", "NoSchedule")}}
	case 1:
		spec["tolerations"] = []any{obj{"key": "example.com/out", "operator": "Equal", "value": w.oneOf("a", "b"), "effect": "NoExecute", "tolerationSeconds": []int{0, 3600}[w.IntN(2)]}}
	}
	w.post(core+"pods", obj{"apiVersion": "v1", "kind": "Pod", "metadata": obj{"name": name, "labels": obj{"app": "p"}}, "spec": spec})
}

// taints taints a Node, from which Pods are evicted that do not tolerate it.
func (w *storyWriter) taints() {
	w.node()
	for i := range 1 + w.IntN(3) {
		w.podOnNode(fmt.Sprint("p", i))
	}
	for range 1 + w.IntN(3) {
		switch w.IntN(4) {
		case 0, 1:
			w.merge(privateNode, obj{"spec": obj{"taints": privateTaints(obj{"key": "example.com/out", "value": w.oneOf("a", "b"), "effect": w.oneOf("NoExecute", "NoExecute", "NoSchedule")})}})
		case 2:
			w.merge(privateNode, obj{"spec": obj{"taints": privateTaints()}})
		case 3:
			w.podOnNode("late")
		}
	}
	w.emptyNode(3, "late")
}

// emptyNode deletes the Pods of a Node, and then the Node.
func (w *storyWriter) emptyNode(n int, more ...string) {
	for i := range n {
		more = append(more, fmt.Sprint("p", i))
	}
	for _, name := range more {
		w.delete(core+"pods/"+name, "")
	}
	w.delete(privateNode, "")
}

// drain does what kubectl drain does: it makes a Node unschedulable and evicts its Pods, of
// which a budget may keep some.
func (w *storyWriter) drain() {
	w.node()
	n := 1 + w.IntN(3)
	for i := range n {
		w.podOnNode(fmt.Sprint("p", i))
	}
	if w.maybe() {
		w.disruptionBudget("p")
	}
	w.merge(privateNode, obj{"spec": obj{"unschedulable": true}})
	for i := range n {
		w.evict(fmt.Sprint("p", i))
	}
	if w.maybe() {
		w.delete("/apis/policy/v1/namespaces/NS/poddisruptionbudgets/p", "")
		w.evict("p0")
	}
	if w.maybe() {
		w.merge(privateNode, obj{"spec": obj{"unschedulable": nil}})
	}
	w.emptyNode(n)
}
