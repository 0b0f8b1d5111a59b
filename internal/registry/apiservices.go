package registry

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/crd"
	"github.com/kubefake/kubefake/internal/journal"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
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
func (g *Registry) apiServicesType() *resource.Type {
	return g.api().types.Lookup("apiregistration.k8s.io", "v1", "apiservices")
}

// registerVersionsOf brings the APIServices of the group versions in line that definitions of
// the given names serve or served. was has those that were served before.
func (g *Registry) registerVersionsOf(names []string, was definitions) {
	now := g.Surface().definitions
	affected := map[resource.GroupVersion]bool{}
	for _, name := range names {
		for _, d := range []*definition{was.get(name), now.get(name)} {
			if d == nil {
				continue
			}
			for _, gv := range crd.GroupVersions(d.object) {
				affected[gv] = true
			}
		}
	}
	for _, gv := range slices.SortedFunc(maps.Keys(affected), func(a, b resource.GroupVersion) int { return strings.Compare(a.String(), b.String()) }) {
		g.registerGroupVersion(gv)
	}
}

// registerGroupVersion creates the APIService of a group version that a definition serves,
// corrects one that was created so, and removes it if no definition serves the group version.
// It leaves the APIServices of users alone, and those of the server.
func (g *Registry) registerGroupVersion(gv resource.GroupVersion) {
	t := g.apiServicesType()
	if t == nil {
		return
	}
	g.apiServicesMu.Lock()
	defer g.apiServicesMu.Unlock()
	request := Request{Type: t, Name: gv.Version + "." + gv.Group}
	stored := g.store.Newest(t.Key("", request.Name))
	served := g.Surface().definitions.versions.Has(gv)
	options := &WriteOptions{}
	spec := map[string]any{"group": gv.Group, "version": gv.Version, "groupPriorityMinimum": int64(1000), "versionPriority": int64(100)}
	var err error
	switch {
	case stored == nil && served:
		op := g.ownOperation("create", request)
		var obj map[string]any
		obj, err = op.readNew(Body{Object: map[string]any{
			"kind": t.Kind, "apiVersion": t.GroupVersion.String(), "spec": spec,
			"metadata": map[string]any{"name": request.Name, "labels": map[string]any{autoManaged: "true"}},
		}}, options)
		if err == nil {
			_, err = op.createNamed(obj, options)
		}
	case stored == nil, stored.Labels[autoManaged] != "true", stored.Terminating:
	case !served:
		op := g.ownOperation("delete", request)
		_, _, err = op.deleteObject(op.key(), &DeleteOptions{UID: &stored.UID})
	case !stored.Decoded(t).Object().At("spec").EqualTo(spec):
		op := g.ownOperation("update", request)
		_, err = op.change(change{options: options, uid: stored.UID, update: func(old *storage.Decoded) (map[string]any, error) {
			edit := old.Object().Edit()
			edit.Set(spec, "spec")
			return op.withManagedFields(edit.Map(), old, options), nil
		}})
	}
	if err != nil {
		g.journal.RecordNote(journal.Note{Kind: journal.State, Text: "the APIService " + request.Name + " is not in line with the definitions: " + err.Error(), Resource: "apiservices.apiregistration.k8s.io"})
	}
}

// SetAPIServiceAvailability sets the condition Available of an APIService, as kube-apiserver
// does. It writes nothing if the APIService has the condition already. It fails if the
// APIService is not that of o any more.
func (g *Registry) SetAPIServiceAvailability(ctx context.Context, o *storage.Object, a Availability) error {
	t := g.apiServicesType()
	if t == nil {
		return notFound("resource apiservices")
	}
	op, options := g.operation(ctx, "update", Request{Type: t, Name: o.Name, Subresource: "status", User: apiserverUser, UserAgent: ownUserAgent}), &WriteOptions{}
	was := o.Decoded(t).Object()
	_, err := op.change(change{options: options, uid: o.UID, update: func(old *storage.Decoded) (map[string]any, error) {
		if !old.Object().At("spec").Equal(was.At("spec")) {
			return nil, errors.New("the APIService has changed")
		}
		edit := old.Object().Edit()
		a.set(edit, g.now())
		return op.withManagedFields(edit.Map(), old, options), nil
	}})
	return err
}

// set sets the condition. lastTransitionTime changes with its status.
func (a *Availability) set(edit *object.Edit, now string) {
	setCondition(edit, map[string]any{"type": "Available", "status": a.status(), "lastTransitionTime": now, "reason": a.Reason, "message": a.Message})
}
