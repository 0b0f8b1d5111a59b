package control

import (
	"encoding/json"
	"fmt"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/cluster"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/patch"
	"github.com/kubefake/kubefake/internal/registry"
	"github.com/kubefake/kubefake/internal/resource"
)

// An ObjectName is the name of an object.
type ObjectName struct {
	// Resource is a resource, such as deployments.apps or pods.
	Resource string `json:"resource"`
	// Namespace is that of a namespaced object. The default is the namespace default.
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// A StatusChange says what the status of an object becomes.
type StatusChange struct {
	ObjectName
	// Status is a JSON merge patch of the status.
	Status map[string]any `json:"status,omitempty"`
	// Ready writes the status that the object has when it has reached what its spec asks
	// for: of a workload, a Job or a Pod. Status is then merged into that.
	Ready bool `json:"ready,omitempty"`
}

func (c *Control) changeStatus(_ *Request, in StatusChange) (Revision, error) {
	if t := c.cluster.Surface().Find(in.Resource); t != nil && t.Namespaced && in.Namespace == "" {
		in.Namespace = registry.DefaultNamespace
	}
	if in.Ready {
		if _, err := c.MarkReady(in.ObjectName); err != nil {
			return Revision{}, lookupError(err)
		}
	}
	if in.Status != nil || !in.Ready {
		if _, err := c.SetStatus(in.ObjectName, in.Status); err != nil {
			return Revision{}, lookupError(err)
		}
	}
	return c.revision(nil)
}

// SetStatus merges fields into the status of an object, through validation, admission and
// the watches. It returns the stored object. Its errors are those of the registry.
func (c *Control) SetStatus(of ObjectName, fields map[string]any) (map[string]any, error) {
	return c.setStatus(of, func(*target) (map[string]any, error) { return fields, nil })
}

// MarkReady writes the status that an object has when it has reached what its spec asks for.
// It returns the stored object. It fails for a kind that it does not know.
func (c *Control) MarkReady(of ObjectName) (map[string]any, error) {
	return c.setStatus(of, (*target).readyStatus)
}

// FinishDeletion ends the deletion of an object: it removes its finalizers and its grace
// period. It fails if the object is not being deleted.
func (c *Control) FinishDeletion(of ObjectName) error {
	t, err := c.target(of)
	if err != nil {
		return err
	}
	return t.finishDeletion()
}

func (c *Control) setStatus(of ObjectName, fields func(*target) (map[string]any, error)) (map[string]any, error) {
	t, err := c.target(of)
	if err != nil {
		return nil, err
	}
	status, err := fields(t)
	if err != nil {
		return nil, err
	}
	return t.patch("status", map[string]any{"status": status})
}

// A target is an object that is written without HTTP, as an administrator.
type target struct {
	cluster *cluster.Cluster
	object  map[string]any
	request registry.Request
}

func (c *Control) target(of ObjectName) (*target, error) {
	found, err := c.cluster.ReadAt(0, of.Resource, of.Namespace, of.Name)
	if err != nil {
		return nil, err
	}
	o := found[0]
	gv, err := resource.ParseGroupVersion(object.String(o, "apiVersion"))
	if err != nil {
		return nil, err
	}
	t := c.cluster.Surface().ForKind(resource.Kind{GroupVersion: gv, Kind: object.String(o, "kind")})
	if t == nil {
		return nil, fmt.Errorf("%s: %w", of.Resource, registry.ErrNotFound)
	}
	return &target{c.cluster, o, registry.Request{
		Type: t, Namespace: of.Namespace, Name: of.Name, User: authn.Administrator(), UserAgent: "fakeapi",
	}}, nil
}

// patch merges into the part of the object that a subresource shows.
func (t *target) patch(subresource string, change map[string]any) (map[string]any, error) {
	data, err := json.Marshal(change)
	if err != nil {
		return nil, err
	}
	r := t.request
	if r.Type.Subresource(subresource) != nil {
		r.Subresource = subresource
	}
	result, err := t.cluster.Patch(t.cluster.Context(), r, registry.Patch{Type: patch.MergeType, Data: data}, &registry.WriteOptions{})
	if err != nil || result.Object == nil {
		return nil, err
	}
	return result.Object.Decode(r.Type), nil
}

func (t *target) finishDeletion() error {
	if object.String(t.object, "metadata", "deletionTimestamp") == "" {
		return fmt.Errorf("%s %q is not being deleted", t.request.Type.Kind, t.request.Name)
	}
	if len(object.List(t.object, "metadata", "finalizers")) > 0 {
		if _, err := t.patch("", map[string]any{"metadata": map[string]any{"finalizers": nil}}); err != nil {
			return err
		}
	}
	g, r := t.cluster, t.request
	if t.request.Type.Kind == "Namespace" && len(object.List(t.object, "spec", "finalizers")) > 0 {
		fresh, err := t.cluster.ReadAt(0, "namespaces.", "", t.request.Name)
		if err != nil {
			return err
		}
		object.Set(fresh[0], nil, "spec", "finalizers")
		r.Subresource = "finalize"
		if _, err = g.Update(g.Context(), r, registry.Body{Object: fresh[0]}, &registry.WriteOptions{}); err != nil {
			return err
		}
		r.Subresource = ""
	}
	if _, err := t.cluster.ReadAt(0, t.resource(), t.request.Namespace, t.request.Name); err != nil {
		return nil // it is gone
	}
	zero, uid := int64(0), object.String(t.object, "metadata", "uid")
	o := &registry.DeleteOptions{GracePeriodSeconds: &zero}
	o.UID = &uid
	_, err := g.Delete(g.Context(), r, o)
	return err
}

// resource returns the resource as ReadAt takes it.
func (t *target) resource() string { return t.request.Type.Name + "." + t.request.Type.Group }

// readyStatus returns the fields of the status of MarkReady.
func (t *target) readyStatus() (map[string]any, error) {
	now := clock.Timestamp(t.cluster.Clock().Now())
	replicas := int64(1)
	if n, ok := object.Int(t.object, "spec", "replicas"); ok {
		replicas = n
	}
	generation, _ := object.Int(t.object, "metadata", "generation")
	status := map[string]any{"observedGeneration": generation}
	count := func(names ...string) {
		for _, name := range names {
			status[name] = replicas
		}
	}
	switch t.request.Type.Kind {
	case "Deployment":
		count("replicas", "updatedReplicas", "readyReplicas", "availableReplicas")
		status["unavailableReplicas"] = nil
		progressing := trueCondition(now, "Progressing", "NewReplicaSetAvailable", fmt.Sprintf("Deployment %q has successfully progressed.", t.request.Name))
		available := trueCondition(now, "Available", "MinimumReplicasAvailable", "Deployment has minimum availability.")
		progressing["lastUpdateTime"], available["lastUpdateTime"] = now, now
		status["conditions"] = []any{available, progressing}
	case "StatefulSet":
		count("replicas", "currentReplicas", "updatedReplicas", "readyReplicas", "availableReplicas")
		revision := object.String(t.object, "status", "updateRevision")
		if revision == "" {
			revision = t.request.Name + "-1"
		}
		status["currentRevision"], status["updateRevision"] = revision, revision
	case "ReplicaSet", "ReplicationController":
		count("replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas")
	case "DaemonSet":
		nodes, err := t.cluster.ReadAt(0, "nodes.", "", "")
		if err != nil {
			return nil, err
		}
		replicas = int64(max(1, len(nodes)))
		count("desiredNumberScheduled", "currentNumberScheduled", "updatedNumberScheduled", "numberReady", "numberAvailable")
		status["numberMisscheduled"], status["numberUnavailable"] = int64(0), nil
	case "Job":
		return completeJob(t.object, now), nil
	case "Pod":
		return runningPod(t.object, now), nil
	default:
		return nil, fmt.Errorf("MarkReady knows no status of a ready %s", t.request.Type.Kind)
	}
	return status, nil
}

// completeJob returns the status of a Job that is complete.
func completeJob(job map[string]any, now string) map[string]any {
	completions, ok := object.Int(job, "spec", "completions")
	if !ok {
		completions = 1
	}
	start := object.String(job, "status", "startTime")
	if start == "" {
		start = now
	}
	const reason, message = "CompletionsReached", "Reached expected number of succeeded pods"
	met, complete := trueCondition(now, "SuccessCriteriaMet", reason, message), trueCondition(now, "Complete", reason, message)
	met["lastProbeTime"], complete["lastProbeTime"] = now, now
	return map[string]any{
		"startTime": start, "completionTime": now, "succeeded": completions, "active": nil, "ready": int64(0), "terminating": int64(0),
		"uncountedTerminatedPods": map[string]any{}, "conditions": []any{met, complete},
	}
}

// runningPod returns the status of a Pod that is ready.
func runningPod(pod map[string]any, now string) map[string]any {
	var containers, conditions []any
	for c := range object.Each(object.Value(pod, "spec", "containers")) {
		containers = append(containers, map[string]any{
			"name": c["name"], "image": c["image"], "imageID": c["image"], "ready": true, "started": true, "restartCount": int64(0),
			"state": map[string]any{"running": map[string]any{"startedAt": now}},
		})
	}
	for _, typ := range []string{"PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"} {
		conditions = append(conditions, trueCondition(now, typ, "", ""))
	}
	return map[string]any{"phase": "Running", "startTime": now, "containerStatuses": containers, "conditions": conditions}
}

// trueCondition returns a condition that is true, with a reason unless that is "".
func trueCondition(now, typ, reason, message string) map[string]any {
	c := map[string]any{"type": typ, "status": "True", "lastTransitionTime": now}
	if reason != "" {
		c["reason"], c["message"] = reason, message
	}
	return c
}
