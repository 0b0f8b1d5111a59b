package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/kubefake/kubefake/internal/object"
)

// nodes are the nodes that the puppet binds Pods to.
var nodes = []string{"node-a", "node-b"}

// prepare creates the nodes of both clusters and starts the puppet.
func (c *comparison) prepare(ctx context.Context) error {
	for _, cluster := range c.clusters() {
		if err := cluster.createNodes(ctx); err != nil {
			return err
		}
		if cluster.url != c.real.url || cluster == c.real {
			go cluster.puppet(ctx)
		}
	}
	return nil
}

func (c *cluster) createNodes(ctx context.Context) error {
	for _, name := range nodes {
		_, _, err := c.do(ctx, http.MethodPost, "/api/v1/nodes", "", obj{
			"apiVersion": "v1", "kind": "Node", "metadata": obj{"name": name, "labels": obj{"kubernetes.io/hostname": name}},
		})
		if err != nil {
			return err
		}
		_, _, err = c.do(ctx, http.MethodPatch, "/api/v1/nodes/"+name+"/status", "application/merge-patch+json", obj{"status": obj{
			"allocatable": obj{"cpu": "64", "memory": "256Gi", "pods": "1000"},
			"capacity":    obj{"cpu": "64", "memory": "256Gi", "pods": "1000"},
			"conditions":  []any{obj{"type": "Ready", "status": "True", "reason": "KubeletReady", "lastHeartbeatTime": "2026-01-01T00:00:00Z", "lastTransitionTime": "2026-01-01T00:00:00Z"}},
		}})
		if err != nil {
			return err
		}
		// A node that is new has a taint until a controller that is off takes it away.
		_, _, err = c.do(ctx, http.MethodPatch, "/api/v1/nodes/"+name, "application/merge-patch+json", obj{"spec": obj{"taints": nil}})
		if err != nil {
			return err
		}
	}
	return nil
}

// puppet plays the scheduler and the kubelets until ctx ends.
func (c *cluster) puppet(ctx context.Context) {
	for ctx.Err() == nil {
		if pods, err := c.list(ctx, "/api/v1/pods"); err == nil {
			for _, pod := range pods {
				c.play(ctx, pod)
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(c.quiet / 10):
		}
	}
}

// play makes the next step of a Pod.
func (c *cluster) play(ctx context.Context, pod map[string]any) {
	path := fmt.Sprintf("/api/v1/namespaces/%s/pods/%s", object.String(pod, "metadata", "namespace"), object.String(pod, "metadata", "name"))
	part, phase := object.String(pod, "metadata", "annotations", "puppet"), object.String(pod, "status", "phase")
	switch {
	case object.String(pod, "metadata", "deletionTimestamp") != "":
		if object.Value(pod, "metadata", "deletionGracePeriodSeconds") != float64(0) {
			c.do(ctx, http.MethodDelete, path, "", obj{"gracePeriodSeconds": 0, "preconditions": obj{"uid": object.String(pod, "metadata", "uid")}})
		}
	case part == "hang" || phase != "Pending" && phase != "":
	case object.String(pod, "spec", "nodeName") == "":
		if gates, _ := object.Value(pod, "spec", "schedulingGates").([]any); len(gates) > 0 {
			return
		}
		c.do(ctx, http.MethodPost, path+"/binding", "", obj{
			"apiVersion": "v1", "kind": "Binding", "metadata": obj{"name": object.String(pod, "metadata", "name")},
			"target": obj{"apiVersion": "v1", "kind": "Node", "name": nodeFor(pod)},
		})
	default:
		c.do(ctx, http.MethodPatch, path+"/status", "application/merge-patch+json", obj{"status": puppetStatus(pod, part)})
	}
}

// nodeFor returns the node for a Pod: the one that its affinity names, as that of a Pod of a
// DaemonSet does, or the first.
func nodeFor(pod map[string]any) string {
	terms := object.List(pod, "spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")
	for term := range object.Each(terms) {
		for field := range object.Each(term["matchFields"]) {
			if names := object.Strings(field, "values"); object.String(field, "key") == "metadata.name" && len(names) == 1 {
				return names[0]
			}
		}
	}
	return nodes[0]
}

// puppetStatus returns the status of a Pod that has started.
func puppetStatus(pod map[string]any, part string) obj {
	now := time.Now().UTC().Format(time.RFC3339)
	phase, ready, running := "Running", "True", obj{"running": obj{"startedAt": now}}
	switch part {
	case "succeed":
		phase, ready, running = "Succeeded", "False", obj{"terminated": obj{"exitCode": 0, "reason": "Completed"}}
	case "fail":
		phase, ready, running = "Failed", "False", obj{"terminated": obj{"exitCode": 1, "reason": "Error"}}
	case "unready":
		ready = "False"
	}
	var conditions []any
	for _, typ := range []string{"Ready", "ContainersReady", "Initialized", "PodScheduled"} {
		status := ready
		if typ == "Initialized" || typ == "PodScheduled" {
			status = "True"
		}
		conditions = append(conditions, obj{"type": typ, "status": status, "lastTransitionTime": now})
	}
	var statuses []any
	containers, _ := object.Value(pod, "spec", "containers").([]any)
	for _, one := range containers {
		spec := one.(map[string]any)
		statuses = append(statuses, obj{
			"name": spec["name"], "image": spec["image"], "imageID": "", "restartCount": 0,
			"ready": ready == "True", "started": phase == "Running", "state": running,
		})
	}
	return obj{
		"phase": phase, "conditions": conditions, "containerStatuses": statuses, "startTime": now,
		"podIP": "10.244.0.9", "podIPs": []any{obj{"ip": "10.244.0.9"}}, "hostIP": "192.0.2.9", "hostIPs": []any{obj{"ip": "192.0.2.9"}},
	}
}
