package fakeapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/patch"
	"github.com/kubefake/kubefake/internal/registry"
	"github.com/kubefake/kubefake/internal/resource"
)

// SetStatus writes fields of the status of an object, as the controller of a cluster would:
// through validation, admission and the watches, without HTTP. status is a JSON merge patch
// of the status: a Go value whose JSON is an object, or JSON or YAML as []byte or string.
// Fields that it does not have stay, lists are replaced. namespace is "" at cluster scope.
// It returns the stored object.
//
//	srv.SetStatus("services.", "shop", "web", `{loadBalancer: {ingress: [{ip: 192.0.2.1}]}}`)
//
// Errors: ErrNotFound, otherwise ErrInvalidObject.
func (s *Server) SetStatus(resource, namespace, name string, status any) (Object, error) {
	o, err := s.setStatus(resource, namespace, name, func(*target) (map[string]any, error) { return fieldsOf(status) })
	if err != nil {
		return nil, fmt.Errorf("fakeapi: SetStatus: %w", objectError(err))
	}
	return o, nil
}

// setStatus merges fields into the status of an object.
func (s *Server) setStatus(resource, namespace, name string, fields func(*target) (map[string]any, error)) (Object, error) {
	t, err := s.target(resource, namespace, name)
	if err != nil {
		return nil, err
	}
	status, err := fields(t)
	if err != nil {
		return nil, err
	}
	return t.patch("status", map[string]any{"status": status})
}

// fieldsOf returns the fields of a value of SetStatus.
func fieldsOf(status any) (map[string]any, error) {
	var text []byte
	switch v := status.(type) {
	case []byte:
		text = v
	case string:
		text = []byte(v)
	default:
		var err error
		if text, err = json.Marshal(v); err != nil {
			return nil, err
		}
	}
	text, err := toJSON(text)
	if err != nil {
		return nil, err
	}
	var fields map[string]any
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, err
	}
	if fields == nil {
		return nil, errors.New("the status is not an object")
	}
	return fields, nil
}

// MarkReady writes the status that an object has when it has reached what its spec asks
// for, so that no controller need run: a Deployment is rolled out, a StatefulSet, a
// DaemonSet, a ReplicaSet and a ReplicationController have all their Pods, a Pod is running
// and ready, and a Job is complete. The Pods themselves do not come into being. It returns
// the stored object.
//
// Errors: ErrNotFound; ErrInvalidObject for another kind.
func (s *Server) MarkReady(resource, namespace, name string) (Object, error) {
	o, err := s.setStatus(resource, namespace, name, (*target).readyStatus)
	if err != nil {
		return nil, fmt.Errorf("fakeapi: MarkReady: %w", objectError(err))
	}
	return o, nil
}

// FinishDeletion ends the deletion of an object that is being deleted: it removes the
// finalizers of the object, of a Namespace also those of its spec, and ends the grace period
// of a Pod. What is in a Namespace stays, as when a user removes the finalizers of one.
//
// Errors: ErrNotFound; ErrInvalidObject if the object is not being deleted.
func (s *Server) FinishDeletion(resource, namespace, name string) error {
	t, err := s.target(resource, namespace, name)
	if err == nil {
		err = t.finishDeletion()
	}
	if err != nil {
		return fmt.Errorf("fakeapi: FinishDeletion: %w", objectError(err))
	}
	return nil
}

// A target is an object that is written without HTTP, as an administrator.
type target struct {
	server  *Server
	object  Object
	request registry.Request
}

func (s *Server) target(resourceName, namespace, name string) (*target, error) {
	o, err := s.Get(resourceName, namespace, name)
	if err != nil {
		return nil, err
	}
	gv, err := resource.ParseGroupVersion(object.String(o, "apiVersion"))
	if err != nil {
		return nil, err
	}
	t := s.api.Registry().Surface().ForKind(resource.Kind{GroupVersion: gv, Kind: object.String(o, "kind")})
	if t == nil {
		return nil, fmt.Errorf("%s: %w", resourceName, ErrNotFound)
	}
	return &target{s, o, registry.Request{
		Type: t, Namespace: o.Namespace(), Name: o.Name(), User: authn.Administrator(), UserAgent: "fakeapi",
	}}, nil
}

// patch merges into the part of the object that a subresource shows.
func (t *target) patch(subresource string, change map[string]any) (Object, error) {
	data, err := json.Marshal(change)
	if err != nil {
		return nil, err
	}
	r := t.request
	if r.Type.Subresource(subresource) != nil {
		r.Subresource = subresource
	}
	result, err := t.server.api.Registry().Patch(context.Background(), r, registry.Patch{Type: patch.MergeType, Data: data}, &registry.WriteOptions{})
	if err != nil || result.Object == nil {
		return nil, err
	}
	return result.Object.Decode(r.Type), nil
}

func (t *target) finishDeletion() error {
	if object.String(t.object, "metadata", "deletionTimestamp") == "" {
		return fmt.Errorf("%s %q is not being deleted", t.request.Type.Kind, t.object.Name())
	}
	if len(object.List(t.object, "metadata", "finalizers")) > 0 {
		if _, err := t.patch("", map[string]any{"metadata": map[string]any{"finalizers": nil}}); err != nil {
			return err
		}
	}
	g, r := t.server.api.Registry(), t.request
	if t.request.Type.Kind == "Namespace" && len(object.List(t.object, "spec", "finalizers")) > 0 {
		fresh, err := t.server.Get("namespaces.", "", t.object.Name())
		if err != nil {
			return err
		}
		object.Set(fresh, nil, "spec", "finalizers")
		r.Subresource = "finalize"
		if _, err = g.Update(context.Background(), r, registry.Body{Object: fresh}, &registry.WriteOptions{}); err != nil {
			return err
		}
		r.Subresource = ""
	}
	if _, err := t.server.Get(t.resource(), t.object.Namespace(), t.object.Name()); err != nil {
		return nil // it is gone
	}
	zero, uid := int64(0), object.String(t.object, "metadata", "uid")
	o := &registry.DeleteOptions{GracePeriodSeconds: &zero}
	o.UID = &uid
	_, err := g.Delete(context.Background(), r, o)
	return err
}

// resource returns the resource as Get takes it.
func (t *target) resource() string { return t.request.Type.Name + "." + t.request.Type.Group }

// readyStatus returns the fields of the status of MarkReady.
func (t *target) readyStatus() (map[string]any, error) {
	now := t.server.Clock().Now().UTC().Format(time.RFC3339)
	condition := func(typ, reason, message string) map[string]any {
		c := map[string]any{"type": typ, "status": "True", "lastTransitionTime": now}
		if reason != "" {
			c["reason"], c["message"] = reason, message
		}
		return c
	}
	spec := object.Map(t.object, "spec")
	replicas := int64(1)
	if n, ok := object.Int(spec, "replicas"); ok {
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
		progressing := condition("Progressing", "NewReplicaSetAvailable", fmt.Sprintf("Deployment %q has successfully progressed.", t.object.Name()))
		available := condition("Available", "MinimumReplicasAvailable", "Deployment has minimum availability.")
		progressing["lastUpdateTime"], available["lastUpdateTime"] = now, now
		status["conditions"] = []any{available, progressing}
	case "StatefulSet":
		count("replicas", "currentReplicas", "updatedReplicas", "readyReplicas", "availableReplicas")
		revision := object.String(t.object, "status", "updateRevision")
		if revision == "" {
			revision = t.object.Name() + "-1"
		}
		status["currentRevision"], status["updateRevision"] = revision, revision
	case "ReplicaSet", "ReplicationController":
		count("replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas")
	case "DaemonSet":
		nodes, err := t.server.List("nodes.")
		if err != nil {
			return nil, err
		}
		replicas = int64(max(1, len(nodes)))
		count("desiredNumberScheduled", "currentNumberScheduled", "updatedNumberScheduled", "numberReady", "numberAvailable")
		status["numberMisscheduled"], status["numberUnavailable"] = int64(0), nil
	case "Job":
		completions, ok := object.Int(spec, "completions")
		if !ok {
			completions = 1
		}
		const reason, message = "CompletionsReached", "Reached expected number of succeeded pods"
		start := object.String(t.object, "status", "startTime")
		if start == "" {
			start = now
		}
		met, complete := condition("SuccessCriteriaMet", reason, message), condition("Complete", reason, message)
		met["lastProbeTime"], complete["lastProbeTime"] = now, now
		return map[string]any{
			"startTime": start, "completionTime": now, "succeeded": completions, "active": nil, "ready": int64(0), "terminating": int64(0),
			"uncountedTerminatedPods": map[string]any{}, "conditions": []any{met, complete},
		}, nil
	case "Pod":
		var containers []any
		for c := range object.Each(spec["containers"]) {
			containers = append(containers, map[string]any{
				"name": c["name"], "image": c["image"], "imageID": c["image"], "ready": true, "started": true, "restartCount": int64(0),
				"state": map[string]any{"running": map[string]any{"startedAt": now}},
			})
		}
		return map[string]any{
			"phase": "Running", "startTime": now, "containerStatuses": containers,
			"conditions": []any{
				condition("PodReadyToStartContainers", "", ""), condition("Initialized", "", ""), condition("Ready", "", ""),
				condition("ContainersReady", "", ""), condition("PodScheduled", "", ""),
			},
		}, nil
	default:
		return nil, fmt.Errorf("MarkReady knows no status of a ready %s", t.request.Type.Kind)
	}
	return status, nil
}
