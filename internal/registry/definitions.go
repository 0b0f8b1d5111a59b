package registry

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/crd"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/mvcc"
)

// The server serves what the CustomResourceDefinitions in its store define. A
// write of a definition reconciles them before it returns, so that a client that
// has its answer finds the resource served.
//
// Differs from kube-apiserver: new custom resources: kube-apiserver serves them
// some milliseconds after the write of their definition, and 404 before. Here
// they are served when the write returns. Request: GET of a custom resource
// after the POST of its definition.

// A definition is a stored CustomResourceDefinition and the types made of it.
type definition struct {
	stored *storage.Object
	object map[string]any
	*crd.Definition

	// reconciled is set when the status needs no change, whatever other definitions
	// there are. Forks share the definition.
	reconciled atomic.Bool
}

// definitionsType returns the type of CustomResourceDefinitions, nil in a release
// without.
func (g *Registry) definitionsType() *resource.Type {
	return g.base.types.Lookup("apiextensions.k8s.io", "v1", "customresourcedefinitions")
}

// reconcileDefinitions completes the status of the definitions in the store,
// serves their types, and deletes the objects of definitions that are being
// deleted. decoded saves the decoding of a definition that was just stored; it
// may be nil.
func (g *Registry) reconcileDefinitions(decoded *state) {
	t := g.definitionsType()
	if t == nil {
		return
	}
	g.reconciling.Lock()
	defer g.reconciling.Unlock()
	for {
		g.loadDefinitions(t, decoded)
		for next := g.reconcileStatus(t); next != nil; next = g.reconcileStatus(t) {
			g.loadDefinitions(t, next)
		}
		if !g.finalizeDefinition(t) {
			return
		}
	}
}

// loadDefinitions serves the definitions that are in the store now. decoded may
// hold one of them.
func (g *Registry) loadDefinitions(t *resource.Type, decoded *state) {
	was := g.served.Load()
	view, err := g.store.View(0)
	if err != nil {
		panic("registry: no newest view: " + err.Error()) // unreachable: revision 0 always exists
	}
	now := map[string]*definition{}
	changed := false
	for item := range view.Range(t.Prefix, mvcc.PrefixEnd(t.Prefix)) {
		o := item.Value
		old := was.definitions[o.Name]
		if old != nil && old.stored == o {
			now[o.Name] = old
			continue
		}
		d := &definition{stored: o}
		if decoded != nil && decoded.stored == o {
			d.object = decoded.object
			object.Meta(d.object)["resourceVersion"] = storage.FormatVersion(o.Revision)
		} else {
			d.object = o.Decode(t)
		}
		var before *crd.Definition
		if old != nil {
			before = old.Definition
		}
		d.Definition = crd.New(d.object, before, crd.Options{Webhooks: g.webhooks, UID: g.ids.UID, Since: int64(item.Created)})
		now[o.Name] = d
		changed = changed || d.Definition != before
	}
	if changed || len(now) != len(was.definitions) {
		g.serve(now)
		return
	}
	g.served.Store(was.withDefinitions(now))
}

// reconcileStatus writes the next status of the first definition that needs one,
// and returns the definition as written; nil if none does.
func (g *Registry) reconcileStatus(t *resource.Type) *state {
	definitions := g.served.Load().definitions
	due := sortedDefinitions(definitions, func(d *definition) bool { return !d.reconciled.Load() })
	if len(due) == 0 {
		return nil
	}
	all := make([]map[string]any, 0, len(definitions))
	for _, d := range definitions {
		all = append(all, d.object)
	}
	for _, d := range due {
		next := crd.Reconcile(d.object, all, g.now())
		if next == nil {
			d.reconciled.Store(crd.HasRequestedNames(d.object))
			continue
		}
		switch written, err := g.writeDefinitionStatus(t, d, next); {
		case err == nil:
			return written
		case errors.Is(err, errConflict):
			return &state{} // load the definition again
		}
	}
	return nil
}

func (g *Registry) writeDefinitionStatus(t *resource.Type, d *definition, next map[string]any) (*state, error) {
	op, o := g.definitionsOperation(Request{Type: t, Name: d.stored.Name, Subresource: "status"}), &WriteOptions{}
	return op.changeOnce(change{options: o, update: func(old *state) (map[string]any, error) {
		return op.withManagedFields(next, old, o), nil
	}}, d.stored, &state{d.stored, d.object})
}

// apiserverUser is the user that kube-apiserver reconciles definitions as.
var apiserverUser = &authn.User{Name: authn.APIServerUser, Groups: []string{authn.MastersGroup}}

// definitionsOperation begins a write of reconcileDefinitions, which must not
// call it again.
func (g *Registry) definitionsOperation(r Request) *operation {
	r.User, r.UserAgent = apiserverUser, ownUserAgent
	op := g.internal("update", r)
	op.reconciling = true
	return op
}

// finalizeDefinition deletes the objects of the definitions that are being
// deleted, and then one such definition. It reports whether it removed one.
func (g *Registry) finalizeDefinition(t *resource.Type) bool {
	for _, d := range sortedDefinitions(g.served.Load().definitions, func(d *definition) bool { return crd.IsTerminating(d.object) }) {
		if g.deleteInstances(d) {
			g.removeFinalizer(t, d)
			return true
		}
	}
	return false
}

// deleteInstances deletes the objects of a definition, and reports whether none
// is left.
func (g *Registry) deleteInstances(d *definition) bool {
	view, err := g.store.View(0)
	if err != nil {
		panic("registry: no newest view: " + err.Error()) // unreachable: revision 0 always exists
	}
	if len(d.Types) == 0 {
		return true // it was never established
	}
	t := d.Types[0].Storage()
	left := false
	for item := range view.Range(d.Prefix, mvcc.PrefixEnd(d.Prefix)) {
		op := g.definitionsOperation(Request{Type: t, Namespace: item.Value.Namespace, Name: item.Value.Name})
		_, gone, err := op.deleteObject(item.Key, &DeleteOptions{})
		left = left || err == nil && !gone
	}
	return !left
}

// removeFinalizer removes the server's finalizer from a definition, which deletes
// it unless it has another one.
func (g *Registry) removeFinalizer(t *resource.Type, d *definition) {
	_, err := g.writeDefinitionStatus(t, d, crd.RemoveFinalizer(d.object, g.now()))
	if err != nil && !errors.Is(err, errConflict) {
		panic(fmt.Sprintf("registry: removing the definition %s: %v", d.stored.Name, err))
	}
}
