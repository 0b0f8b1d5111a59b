package cluster

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/kubefake/kubefake/internal/crd"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/registry"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/serving"
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

// definitionsType returns the type of CustomResourceDefinitions, nil in a release
// without.
func (c *Cluster) definitionsType() *resource.Type {
	return c.api().Builtin.Lookup("apiextensions.k8s.io", "v1", "customresourcedefinitions")
}

// reconcileDefinitions completes the status of definitions, serves their types, registers
// their group versions, and deletes the objects of definitions that are being deleted. changed
// has the names of those that were written since the last call. The caller holds c.definitionsMu
// since before the writes.
func (c *Cluster) reconcileDefinitions(changed []string) {
	t := c.definitionsType()
	if t == nil {
		return
	}
	failed := map[string]bool{}
	was, written := c.Surface().Definitions, slices.Clone(changed)
	for {
		c.loadDefinitions(t, changed)
		for {
			name := c.reconcileStatus(t)
			if name == "" {
				break
			}
			c.loadDefinitions(t, []string{name})
		}
		name := c.finalizeDefinition(t, failed)
		if name == "" {
			break
		}
		changed = []string{name}
		written = append(written, name)
	}
	c.registerVersionsOf(written, was)
	c.scheduleFinalization(len(failed) > 0)
}

// allDefinitions returns the names of the definitions that are served or in the store.
func (c *Cluster) allDefinitions() []string {
	var names []string
	definitions := c.Surface().Definitions
	for name := range definitions.All() {
		names = append(names, name)
	}
	if t := c.definitionsType(); t != nil {
		for o := range c.Store().All(t.Prefix) {
			names = append(names, o.Name)
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(names)))
}

// loadDefinitions serves the definitions of the given names as they are in the store
// now.
func (c *Cluster) loadDefinitions(t *resource.Type, names []string) {
	for _, a := range c.apis() {
		c.loadDefinitionsIn(a, t, names)
	}
}

// loadDefinitionsIn is loadDefinitions for the API of one release.
func (c *Cluster) loadDefinitionsIn(a *serving.API, t *resource.Type, names []string) {
	view := c.Store().NewestView()
	was := a.Surface()
	now, types := was.Definitions, was.Types
	for _, name := range names {
		var before, after []*resource.Type
		old, next := now.Get(name), (*serving.Definition)(nil)
		if old != nil {
			before = old.Types
		}
		if item, ok := view.Get(t.Key("", name)); ok {
			if old != nil && old.Stored == item.Value {
				continue
			}
			next = serving.NewDefinition(c.Context(), a.Release, t, item.Value, old, c.definitionOptions(item))
			after = next.Types
		}
		now = now.With(name, next)
		if old == nil || next == nil || old.Definition != next.Definition {
			types = types.Replace(before, after)
		}
	}
	a.Serve(now, types)
}

// reloadWebhookConversions makes the definitions again whose conversion calls webhooks,
// so that a fork calls them on its own clock and through its own faults.
func (c *Cluster) reloadWebhookConversions() {
	was := c.Surface()
	if len(was.Definitions.Webhooks) == 0 {
		return
	}
	now, types := was.Definitions, was.Types
	for name, d := range was.Definitions.Webhooks {
		now, types = now.With(name, nil), types.Replace(d.Types, nil)
	}
	c.api().Serve(now, types)
	c.loadDefinitions(c.definitionsType(), slices.Collect(maps.Keys(was.Definitions.Webhooks)))
}

// reconcileStatus writes the next status of the first definition that needs one. It
// returns its name, "" if none needs one.
func (c *Cluster) reconcileStatus(t *resource.Type) string {
	was := c.Surface()
	for _, name := range slices.Sorted(maps.Keys(was.Definitions.Unsettled)) {
		d := was.Definitions.Unsettled[name]
		next := crd.Reconcile(d.Object, was.Definitions.Names, c.now())
		if next == nil {
			if crd.HasRequestedNames(d.Object) && !crd.IsTerminating(d.Object) {
				now := c.Surface()
				c.api().Serve(now.Definitions.Settled(name), now.Types)
			}
			continue
		}
		if err := c.writeDefinitionStatus(t, d, next); err == nil || errors.Is(err, registry.ErrConflict) {
			return name
		}
	}
	return ""
}

// definitionOptions returns how the types of a stored definition are made.
func (c *Cluster) definitionOptions(item *mvcc.Item[*storage.Object]) crd.Options {
	return crd.Options{Webhooks: c.config.Webhooks, UID: c.IDs().UID, Since: int64(item.Created), Coverage: c.config.Coverage}
}

// writeDefinitionStatus stores a definition with the metadata and the status of next. It fails with
// registry.ErrConflict if it is not the newest any more.
func (c *Cluster) writeDefinitionStatus(t *resource.Type, d *serving.Definition, next map[string]any) error {
	return c.Change(c.Context(), followingRequest(registry.Request{Type: t, Name: d.Stored.Name, Subresource: "status"}), registry.OwnChange{
		Of: d.Stored,
		Update: func(edit *object.Edit) error {
			edit.Set(next["metadata"], "metadata")
			edit.Set(next["status"], "status")
			return nil
		},
	})
}

// followingRequest returns a request of kube-apiserver's own controllers that follows from another
// write.
func followingRequest(r registry.Request) registry.Request {
	r.User, r.UserAgent, r.Follows, r.SkipWebhooks = registry.Server, registry.ServerAgent, true, true
	return r
}

// finalizeDefinition deletes the objects of the definitions that are being
// deleted, and then one such definition. It returns the name of the first one that
// it wrote, "" if none. It adds those whose objects it could not delete to failed, and
// skips those that are there already.
func (c *Cluster) finalizeDefinition(t *resource.Type, failed map[string]bool) string {
	unsettled := c.Surface().Definitions.Unsettled
	for _, name := range slices.Sorted(maps.Keys(unsettled)) {
		d := unsettled[name]
		if failed[name] || !crd.IsTerminating(d.Object) {
			continue
		}
		left, err := c.deleteInstances(d)
		switch {
		case err != nil:
			failed[name] = true
			if next := crd.DeletionFailed(d.Object, err, c.now()); next != nil {
				if err := c.writeDefinitionStatus(t, d, next); err == nil {
					return name
				}
			}
		case !left:
			c.removeFinalizer(t, d)
			return name
		}
	}
	return ""
}

// deleteInstances deletes the objects of a definition, and reports whether any are
// left, which wait for their finalizers. Like kube-apiserver it fails, and deletes
// nothing, if an object cannot be converted to the storage version.
func (c *Cluster) deleteInstances(d *serving.Definition) (left bool, err error) {
	view := c.Store().NewestView()
	if len(d.Types) == 0 {
		return false, nil // it was never established
	}
	t := d.Types[0].Storage()
	var stored []*storage.Object
	for item := range view.Range(d.Prefix, mvcc.PrefixEnd(d.Prefix)) {
		stored = append(stored, item.Value)
	}
	if _, err := storage.In(c.Context(), t, stored); err != nil {
		var failed *storage.ConversionError
		if errors.As(err, &failed) && c.Surface().Release().Enabled("AllowUnsafeMalformedObjectDeletion") {
			if all := storage.FindUnreadable(c.Context(), t, view, d.Prefix, mvcc.PrefixEnd(d.Prefix), failed); all != nil {
				all.Cached = true
				err = all
			}
		}
		return true, fmt.Errorf("could not list instances: %w", err)
	}
	var problems []error
	for _, o := range stored {
		result, err := c.Delete(c.Context(), followingRequest(registry.Request{Type: t, Namespace: o.Namespace, Name: o.Name}), &registry.DeleteOptions{})
		var st *status.Status
		switch {
		case err == nil:
			left = left || !result.Deleted
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
func (c *Cluster) removeFinalizer(t *resource.Type, d *serving.Definition) {
	err := c.writeDefinitionStatus(t, d, crd.RemoveFinalizer(d.Object, c.now()))
	if err != nil && !errors.Is(err, registry.ErrConflict) {
		panic(fmt.Sprintf("cluster: removing the definition %s: %v", d.Stored.Name, err))
	}
}

// CheckServed fails if a definition is not served because another one has its
// names. It fails with registry.ErrNotFound if there is no such definition.
func (c *Cluster) CheckServed(definition string) error {
	definitions := c.Surface().Definitions
	d := definitions.Get(definition)
	if d == nil {
		return registry.NotFound("definition " + definition)
	}
	if c := d.Object.Condition("NamesAccepted", "False"); !c.IsNil() {
		return fmt.Errorf("it is not served: %s", c.String("message"))
	}
	return nil
}
