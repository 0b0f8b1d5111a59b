package cluster

import (
	"encoding/json"
	"fmt"
	"sync/atomic"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/authz"
	"github.com/kubefake/kubefake/internal/flowcontrol"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/patch"
	"github.com/kubefake/kubefake/internal/registry"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/serving"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/internal/validation"
)

// A flowClassifier keeps the Classifier of the FlowSchemas in the store. It is
// made when a request needs it, because most servers are used for few requests.
type flowClassifier struct {
	generation atomic.Int64 // raised after a write of the group
	made       atomic.Pointer[madeClassifier]
}

type madeClassifier struct {
	*flowcontrol.Classifier
	generation int64 // before the FlowSchemas were read
}

// changed has the next request make a new Classifier.
func (f *flowClassifier) changed() { f.generation.Add(1) }

// Classify returns the FlowSchema and the priority level of a request that the user
// makes and that does at, nil if the FlowSchemas do not match it.
func (c *Cluster) Classify(u *authn.User, at *authz.Attributes) *flowcontrol.Class {
	generation := c.flows.generation.Load()
	made := c.flows.made.Load()
	if made == nil || made.generation != generation {
		api := c.api()
		schemas, levels := api.Builtin.Find("flowschemas."+flowcontrol.Group), api.Builtin.Find("prioritylevelconfigurations."+flowcontrol.Group)
		if schemas == nil || levels == nil {
			return nil
		}
		made = &madeClassifier{flowcontrol.New(c.Store().All(schemas.Prefix), c.Store().All(levels.Prefix)), generation}
		c.flows.made.Store(made)
	}
	return made.Classify(u, at)
}

// flowManager is the field manager of the condition Dangling of FlowSchemas.
const flowManager = "api-priority-and-fairness-config-consumer-v1"

// reconcileFlowSchemas applies the condition Dangling of FlowSchemas, which says whether their
// priority levels exist, where it has changed. kube-apiserver does so some milliseconds after
// the write of the FlowSchema or the priority level.
func (c *Cluster) reconcileFlowSchemas(served *serving.Surface) {
	schemas, levels := served.Find("flowschemas."+flowcontrol.Group), served.Find("prioritylevelconfigurations."+flowcontrol.Group)
	if schemas == nil || levels == nil {
		return
	}
	t := schemas.Storage()
	for o := range c.Store().All(t.Prefix) {
		stored, err := o.In(c.Context(), t)
		if err != nil {
			continue // no conversion of FlowSchemas fails
		}
		obj := stored.Decode(t)
		level := object.String(obj, "spec", "priorityLevelConfiguration", "name")
		condition := danglingCondition(level, c.Store().Newest(levels.Key("", level)) != nil)
		if !hasCondition(obj, condition) {
			condition["lastTransitionTime"] = c.now()
			c.applyCondition(served, t, o, condition)
		}
	}
}

// danglingCondition returns the condition of a FlowSchema whose priority level exists or not,
// without a time.
func danglingCondition(level string, exists bool) map[string]any {
	condition := map[string]any{"type": "Dangling", "status": "True", "reason": "NotFound",
		"message": fmt.Sprintf("This FlowSchema references the PriorityLevelConfiguration object named %q but there is no such object", level)}
	if exists {
		condition["status"], condition["reason"] = "False", "Found"
		condition["message"] = fmt.Sprintf("This FlowSchema references the PriorityLevelConfiguration object named %q and it exists", level)
	}
	return condition
}

// hasCondition reports whether an object has a condition, at any time.
func hasCondition(obj, condition map[string]any) bool {
	for c := range object.Each(object.List(obj, "status", "conditions")) {
		if c["type"] == condition["type"] {
			return c["status"] == condition["status"] && c["reason"] == condition["reason"] && c["message"] == condition["message"]
		}
	}
	return false
}

// applyCondition applies a condition to a FlowSchema, unless it is gone or admission refuses
// that.
func (c *Cluster) applyCondition(served *serving.Surface, t *resource.Type, o *storage.Object, condition map[string]any) {
	config, err := json.Marshal(map[string]any{
		"kind": t.Kind, "apiVersion": t.GroupVersion.String(), "metadata": map[string]any{"name": o.Name, "uid": o.UID},
		"status": map[string]any{"conditions": []any{condition}},
	})
	if err != nil {
		panic("cluster: " + err.Error()) // unreachable: the values are strings
	}
	r := followingRequest(registry.Request{Type: t, Name: o.Name, Subresource: "status", Surface: served})
	options := &registry.WriteOptions{WriteOptions: validation.WriteOptions{FieldManager: flowManager}, Force: true}
	_, _ = c.Patch(c.Context(), r, registry.Patch{Type: patch.ApplyType, Data: config}, options)
}
