package registry

import (
	"context"
	"errors"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/storage"
)

// An Availability is the condition Available of an APIService.
type Availability struct {
	Available       bool
	Reason, Message string
}

// status returns the status of the condition.
func (a *Availability) status() string {
	if a.Available {
		return "True"
	}
	return "False"
}

// SetAPIServiceAvailability sets the condition Available of an APIService, as kube-apiserver
// does. It writes nothing if the APIService has the condition already. It fails if the
// APIService is not that of o any more.
func (g *Registry) SetAPIServiceAvailability(ctx context.Context, o *storage.Object, a Availability) error {
	t := g.api().types.Lookup("apiregistration.k8s.io", "v1", "apiservices")
	if t == nil {
		return notFound("resource apiservices")
	}
	op, options := g.operation(ctx, "update", Request{Type: t, Name: o.Name, Subresource: "status", User: apiserverUser, UserAgent: ownUserAgent}), &WriteOptions{}
	was := o.Decode(t)
	_, err := op.change(change{options: options, uid: object.String(was, "metadata", "uid"), update: func(old *state) (map[string]any, error) {
		if !object.Equal(old.object["spec"], was["spec"]) {
			return nil, errors.New("the APIService has changed")
		}
		next := object.Copy(old.object)
		a.set(next, g.now())
		return op.withManagedFields(next, old, options), nil
	}})
	return err
}

// set sets the condition. lastTransitionTime changes with its status.
func (a *Availability) set(obj map[string]any, now string) {
	conditions := object.List(obj, "status", "conditions")
	var condition map[string]any
	for c := range object.Each(conditions) {
		if object.String(c, "type") == "Available" {
			condition = c
		}
	}
	if condition == nil {
		condition = map[string]any{"type": "Available"}
		object.Set(obj, append(conditions, condition), "status", "conditions")
	}
	if object.String(condition, "status") != a.status() {
		condition["status"], condition["lastTransitionTime"] = a.status(), now
	}
	condition["reason"], condition["message"] = a.Reason, a.Message
}
