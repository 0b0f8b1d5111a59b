package cluster

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/crd"
	"github.com/kubefake/kubefake/internal/journal"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/registry"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/serving"
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

// apiServicesType returns the type of APIServices, nil if the server does not serve it.
func (c *Cluster) apiServicesType() *resource.Type {
	return c.api().Builtin.Lookup("apiregistration.k8s.io", "v1", "apiservices")
}

// registerVersionsOf updates the APIServices of the group versions that definitions of
// the given names serve or served. was has those that were served before.
func (c *Cluster) registerVersionsOf(names []string, was serving.Definitions) {
	now := c.Surface().Definitions
	affected := map[resource.GroupVersion]bool{}
	for _, name := range names {
		for _, d := range []*serving.Definition{was.Get(name), now.Get(name)} {
			if d == nil {
				continue
			}
			for _, gv := range crd.GroupVersions(d.Object) {
				affected[gv] = true
			}
		}
	}
	for _, gv := range slices.SortedFunc(maps.Keys(affected), func(a, b resource.GroupVersion) int { return strings.Compare(a.String(), b.String()) }) {
		c.registerGroupVersion(gv)
	}
}

// registerGroupVersion creates the APIService of a group version that a definition serves,
// corrects one that was created so, and removes it if no definition serves the group version.
// It leaves the APIServices of users alone, and those of the server.
func (c *Cluster) registerGroupVersion(gv resource.GroupVersion) {
	t := c.apiServicesType()
	if t == nil {
		return
	}
	c.apiServicesMu.Lock()
	defer c.apiServicesMu.Unlock()
	request := followingRequest(registry.Request{Type: t, Name: gv.Version + "." + gv.Group})
	stored := c.Store().Newest(t.Key("", request.Name))
	served := c.Surface().Definitions.Versions.Has(gv)
	spec := map[string]any{"group": gv.Group, "version": gv.Version, "groupPriorityMinimum": int64(1000), "versionPriority": int64(100)}
	var err error
	switch {
	case stored == nil && served:
		_, err = c.Create(c.Context(), followingRequest(registry.Request{Type: t}), registry.Body{Object: map[string]any{
			"kind": t.Kind, "apiVersion": t.GroupVersion.String(), "spec": spec,
			"metadata": map[string]any{"name": request.Name, "labels": map[string]any{autoManaged: "true"}},
		}}, &registry.WriteOptions{})
	case stored == nil, stored.Labels[autoManaged] != "true", stored.Terminating:
	case !served:
		_, err = c.Delete(c.Context(), request, &registry.DeleteOptions{UID: &stored.UID})
	case !stored.Decoded(t).View().At("spec").EqualTo(spec):
		err = c.Change(c.Context(), request, registry.OwnChange{UID: stored.UID, Update: func(edit *object.Edit) error {
			edit.Set(spec, "spec")
			return nil
		}})
	}
	if err != nil {
		c.Journal().RecordNote(journal.Note{Kind: journal.State, Text: "the APIService " + request.Name + " is not in line with the definitions: " + err.Error(), Resource: "apiservices.apiregistration.k8s.io"})
	}
}

// SetAPIServiceAvailability sets the condition Available of an APIService, as kube-apiserver
// does. It writes nothing if the APIService has the condition already. It fails if the
// APIService is not that of o any more.
func (c *Cluster) SetAPIServiceAvailability(ctx context.Context, o *storage.Object, a Availability) error {
	t := c.apiServicesType()
	if t == nil {
		return registry.NotFound("resource apiservices")
	}
	r := registry.Request{Type: t, Name: o.Name, Subresource: "status", User: registry.Server, UserAgent: registry.ServerAgent}
	was := o.Decoded(t).View()
	return c.Change(ctx, r, registry.OwnChange{UID: o.UID, Update: func(edit *object.Edit) error {
		if !edit.View().At("spec").Equal(was.At("spec")) {
			return errors.New("the APIService has changed")
		}
		a.set(edit, c.now())
		return nil
	}})
}

// set sets the condition. lastTransitionTime changes with its status.
func (a *Availability) set(edit *object.Edit, now string) {
	object.SetCondition(edit, map[string]any{"type": "Available", "status": a.status(), "lastTransitionTime": now, "reason": a.Reason, "message": a.Message})
}
