package registry

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/crd"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/sortedset"
	"github.com/kubefake/kubefake/internal/status"
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

// A definition is a stored CustomResourceDefinition and the types made of it. It is
// immutable; forks share it.
type definition struct {
	stored *storage.Object
	object map[string]any
	*crd.Definition

	// managers are the field managers of the types.
	managers *fieldManagerCache
}

// definitions is the set of definitions that are served. It is immutable, and a
// change takes time in the order of the logarithm of their number.
type definitions struct {
	all      *sortedset.Set[namedDefinition]
	names    *crd.Names // accepted ones
	versions *crd.ServedVersions

	// unsettled are the definitions whose status may change without a write to
	// them: it is not complete, another definition has the names, or custom resources
	// are to be deleted.
	unsettled map[string]*definition

	// webhooks are the definitions whose conversion calls webhooks.
	webhooks map[string]*definition
}

type namedDefinition struct {
	name string
	*definition
}

func newDefinitions() definitions {
	return definitions{
		all:      sortedset.New(func(a, b namedDefinition) bool { return a.name < b.name }),
		names:    crd.NewNames(),
		versions: crd.NewServedVersions(),
	}
}

// get returns a definition by name, nil if there is none.
func (d *definitions) get(name string) *definition {
	found, _ := d.all.Get(namedDefinition{name: name})
	return found.definition
}

// of returns the definition of a type, nil if there is none.
func (d *definitions) of(t *resource.Type) *definition { return d.get(strings.Trim(t.Prefix, "/")) }

// with returns the set with another state of a definition; nil removes it.
func (d *definitions) with(name string, replacement *definition) definitions {
	var before, after map[string]any
	if old := d.get(name); old != nil {
		before = old.object
	}
	out := definitions{unsettled: d.unsettled, webhooks: d.webhooks}
	if replacement == nil {
		out.all = d.all.With([]namedDefinition{{name: name}}, nil)
	} else {
		after = replacement.object
		out.all = d.all.With(nil, []namedDefinition{{name, replacement}})
	}
	out.names = d.names.Replace(before, after)
	out.versions = d.versions.Replace(before, after)
	out.unsettled = withEntry(d.unsettled, name, replacement, replacement != nil)
	out.webhooks = withEntry(d.webhooks, name, replacement, after != nil && object.String(after, "spec", "conversion", "strategy") == "Webhook")
	return out
}

// settled returns the set with a definition that is no longer unsettled.
func (d *definitions) settled(name string) definitions {
	out := *d
	out.unsettled = withEntry(d.unsettled, name, nil, false)
	return out
}

// withEntry returns m with an entry, or without it if present is false. It does not
// change m.
func withEntry(m map[string]*definition, name string, d *definition, present bool) map[string]*definition {
	if _, ok := m[name]; !ok && !present {
		return m
	}
	out := make(map[string]*definition, len(m)+1)
	maps.Copy(out, m)
	delete(out, name)
	if present {
		out[name] = d
	}
	return out
}

// definitionsType returns the type of CustomResourceDefinitions, nil in a release
// without.
func (g *Registry) definitionsType() *resource.Type {
	return g.api().types.Lookup("apiextensions.k8s.io", "v1", "customresourcedefinitions")
}

// reconcileDefinitions completes the status of definitions, serves their types, registers
// their group versions, and deletes the objects of definitions that are being deleted. changed
// has the names of
// those that were written since the last call. The caller holds g.definitionsMu since before the
// writes.
func (g *Registry) reconcileDefinitions(changed []string) {
	t := g.definitionsType()
	if t == nil {
		return
	}
	failed := map[string]bool{}
	was, written := g.Surface().definitions, slices.Clone(changed)
	for {
		g.loadDefinitions(t, changed)
		for {
			name := g.reconcileStatus(t)
			if name == "" {
				break
			}
			g.loadDefinitions(t, []string{name})
		}
		name := g.finalizeDefinition(t, failed)
		if name == "" {
			break
		}
		changed = []string{name}
		written = append(written, name)
	}
	g.registerVersionsOf(written, was)
	g.scheduleFinalization(len(failed) > 0)
}

// allDefinitions returns the names of the definitions that are served or in the store.
func (g *Registry) allDefinitions() []string {
	var names []string
	for d := range g.Surface().definitions.all.All() {
		names = append(names, d.name)
	}
	if t := g.definitionsType(); t != nil {
		for o := range g.store.All(t.Prefix) {
			names = append(names, o.Name)
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(names)))
}

// loadDefinitions serves the definitions of the given names as they are in the store
// now.
func (g *Registry) loadDefinitions(t *resource.Type, names []string) {
	for _, a := range g.apis() {
		g.loadDefinitionsIn(a, t, names)
	}
}

// loadDefinitionsIn is loadDefinitions for the API of one release.
func (g *Registry) loadDefinitionsIn(a *releaseAPI, t *resource.Type, names []string) {
	view := g.store.NewestView()
	was := a.served.Load()
	now, types := was.definitions, was.Types
	for _, name := range names {
		var before, after []*resource.Type
		old, next := now.get(name), (*definition)(nil)
		if old != nil {
			before = old.Types
		}
		if item, ok := view.Get(t.Key("", name)); ok {
			if old != nil && old.stored == item.Value {
				continue
			}
			next = g.newDefinition(a.release, t, item, old)
			after = next.Types
		}
		now = now.with(name, next)
		if old == nil || next == nil || old.Definition != next.Definition {
			types = types.Replace(before, after)
		}
	}
	a.serve(now, types)
}

// reloadWebhookConversions makes the definitions again whose conversion calls webhooks,
// so that a fork calls them on its own clock and through its own faults.
func (g *Registry) reloadWebhookConversions() {
	was := g.Surface()
	if len(was.definitions.webhooks) == 0 {
		return
	}
	now, types := was.definitions, was.Types
	for name, d := range was.definitions.webhooks {
		now, types = now.with(name, nil), types.Replace(d.Types, nil)
	}
	g.api().serve(now, types)
	g.loadDefinitions(g.definitionsType(), slices.Collect(maps.Keys(was.definitions.webhooks)))
}

// newDefinition returns the definition that is in the store, by the rules of a release. old
// is what is served of it, or nil.
func (g *Registry) newDefinition(r *release.Release, t *resource.Type, item *mvcc.Item[*storage.Object], old *definition) *definition {
	d := &definition{stored: item.Value, object: item.Value.Decoded(t).Map()}
	var before *crd.Definition
	if old != nil {
		before = old.Definition
	}
	d.Definition = crd.New(d.object, before, crd.Options{Webhooks: g.webhooks, UID: g.ids.UID, Since: int64(item.Created), Rules: crd.RulesOf(r), Coverage: g.coverage})
	if d.Definition == before {
		d.managers = old.managers
	} else {
		d.managers = newFieldManagerCache(g.config.Context, r)
	}
	return d
}

// reconcileStatus writes the next status of the first definition that needs one. It
// returns its name, "" if none needs one.
func (g *Registry) reconcileStatus(t *resource.Type) string {
	was := g.Surface()
	for _, name := range slices.Sorted(maps.Keys(was.definitions.unsettled)) {
		d := was.definitions.unsettled[name]
		next := crd.Reconcile(d.object, was.definitions.names, g.now())
		if next == nil {
			if crd.HasRequestedNames(d.object) && !crd.IsTerminating(d.object) {
				now := g.Surface()
				g.api().served.Store(now.withDefinitions(now.definitions.settled(name)))
			}
			continue
		}
		if err := g.writeDefinitionStatus(t, d, next); err == nil || errors.Is(err, errConflict) {
			return name
		}
	}
	return ""
}

func (g *Registry) writeDefinitionStatus(t *resource.Type, d *definition, next map[string]any) error {
	op, o := g.ownOperation("update", Request{Type: t, Name: d.stored.Name, Subresource: "status"}), &WriteOptions{}
	_, err := op.changeOnce(change{options: o, update: func(old *storage.Decoded) (map[string]any, error) {
		return op.withManagedFields(next, old, o), nil
	}}, d.stored, op.decoded(d.stored))
	return err
}

// apiserverUser is the user that kube-apiserver reconciles definitions as.
var apiserverUser = &authn.User{Name: authn.APIServerUser, Groups: []string{authn.MastersGroup}}

// ownOperation begins a write of kube-apiserver's own controllers that follows from another
// one: no other follows from it.
func (g *Registry) ownOperation(verb string, r Request) *operation {
	r.User, r.UserAgent = apiserverUser, ownUserAgent
	op := g.internal(verb, r)
	op.reconciling = true
	return op
}

// finalizeDefinition deletes the objects of the definitions that are being
// deleted, and then one such definition. It returns the name of the first one that
// it wrote, "" if none. It adds those whose objects it could not delete to failed, and
// skips those that are there already.
func (g *Registry) finalizeDefinition(t *resource.Type, failed map[string]bool) string {
	unsettled := g.Surface().definitions.unsettled
	for _, name := range slices.Sorted(maps.Keys(unsettled)) {
		d := unsettled[name]
		if failed[name] || !crd.IsTerminating(d.object) {
			continue
		}
		left, err := g.deleteInstances(d)
		switch {
		case err != nil:
			failed[name] = true
			if next := crd.DeletionFailed(d.object, err, g.now()); next != nil {
				if err := g.writeDefinitionStatus(t, d, next); err == nil {
					return name
				}
			}
		case !left:
			g.removeFinalizer(t, d)
			return name
		}
	}
	return ""
}

// deleteInstances deletes the objects of a definition, and reports whether any are
// left, which wait for their finalizers. Like kube-apiserver it fails, and deletes
// nothing, if an object cannot be converted to the storage version.
func (g *Registry) deleteInstances(d *definition) (left bool, err error) {
	view := g.store.NewestView()
	if len(d.Types) == 0 {
		return false, nil // it was never established
	}
	t := d.Types[0].Storage()
	var stored []*storage.Object
	for item := range view.Range(d.Prefix, mvcc.PrefixEnd(d.Prefix)) {
		stored = append(stored, item.Value)
	}
	if _, err := storage.In(g.config.Context, t, stored); err != nil {
		return true, fmt.Errorf("could not list instances: %w", err)
	}
	var problems []error
	for _, o := range stored {
		op := g.ownOperation("update", Request{Type: t, Namespace: o.Namespace, Name: o.Name})
		_, gone, err := op.deleteObject(op.key(), &DeleteOptions{})
		var st *status.Status
		switch {
		case err == nil:
			left = left || !gone
		case !errors.As(err, &st) || st.Reason != status.ReasonNotFound:
			problems = append(problems, err)
		}
	}
	if len(problems) > 0 {
		return true, errors.New("could not issue all deletes: " + status.Aggregate(problems))
	}
	return left, nil
}

// removeFinalizer removes the server's finalizer from a definition, which deletes
// it unless it has another one.
func (g *Registry) removeFinalizer(t *resource.Type, d *definition) {
	err := g.writeDefinitionStatus(t, d, crd.RemoveFinalizer(d.object, g.now()))
	if err != nil && !errors.Is(err, errConflict) {
		panic(fmt.Sprintf("registry: removing the definition %s: %v", d.stored.Name, err))
	}
}
