package garbagecollector

import (
	"slices"

	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/resource"
)

// The finalizers by which an API server asks for dependents to be handled first.
const (
	finalizerOrphan     = "orphan"
	finalizerForeground = "foregroundDeletion"
)

// identityOf returns the identity of an object, in the preferred version of its
// resource.
func (c *collector) identityOf(o *controller.Object) identity {
	t := c.preferred(o.Type)
	return identity{apiVersion: t.GroupVersion.String(), kind: t.Kind, name: o.Name, uid: o.UID, namespace: o.Namespace}
}

// preferred returns the type of a resource in its preferred version.
func (c *collector) preferred(t *resource.Type) *resource.Type {
	if t.Versions == nil {
		return t
	}
	if types := c.env.Types(); c.types != types {
		c.types, c.byPrefix = types, map[string]*resource.Type{}
		for _, p := range c.env.PreferredTypes() {
			c.byPrefix[p.Prefix] = p
		}
	}
	if p := c.byPrefix[t.Prefix]; p != nil {
		return p
	}
	return t
}

// changed updates the graph for a change of an object, and queues the nodes
// that the change makes collectable. Events are not in the graph: nothing owns them.
func (c *collector) changed(old, o *controller.Object) {
	newest := o
	if o == nil {
		newest = old
	}
	if newest.Type.Name == "events" && (newest.Type.Group == "" || newest.Type.Group == "events.k8s.io") {
		return
	}
	n := c.graph.nodes[newest.UID]
	if n != nil && n.virtual {
		n = c.observe(n, c.identityOf(newest))
	}
	if o == nil {
		if n != nil {
			c.remove(n)
		}
		return
	}
	foreground := o.Terminating && slices.Contains(o.Finalizers(), finalizerForeground)
	if n == nil {
		n = &node{identity: c.identityOf(o), owners: o.Owners(), beingDeleted: o.Terminating, deletingDependents: foreground}
		c.absent.remove(n.identity)
		c.graph.add(n)
		c.link(n, n.owners)
	} else {
		c.update(n, o.Owners())
		n.beingDeleted = n.beingDeleted || o.Terminating
	}
	if o.Terminating && slices.Contains(o.Finalizers(), finalizerOrphan) && !waited(old, finalizerOrphan) {
		c.toOrphan.Add(key(n))
	} else if foreground && !waited(old, finalizerForeground) {
		n.deletingDependents = true
		for _, d := range n.sorted() {
			c.toDelete.Add(key(d))
		}
		c.toDelete.Add(key(n))
	}
}

// waited reports whether the deletion of an object has waited for a finalizer before.
func waited(old *controller.Object, finalizer string) bool {
	return old != nil && old.Terminating && slices.Contains(old.Finalizers(), finalizer)
}

// observe returns the node of an owner that an informer shows for the first time, in
// the place of its virtual node. Dependents whose references do not fit are queued.
func (c *collector) observe(n *node, id identity) *node {
	n.virtual = false
	if n.identity == id {
		return n
	}
	_, others := partition(n.sorted(), id)
	for _, d := range others {
		if id.namespace != "" && d.namespace != id.namespace {
			c.reportNamespace(d, id.uid)
		}
		c.toDelete.Add(key(d))
	}
	n = n.renamed(id)
	c.graph.add(n)
	return n
}

// update replaces the owners of a node.
func (c *collector) update(n *node, owners []controller.OwnerReference) {
	added, removed, changed := changes(n.owners, owners)
	if len(added)+len(removed)+len(changed) == 0 {
		return
	}
	unblocked := func(uid string) {
		if owner := c.graph.nodes[uid]; owner != nil {
			c.toDelete.Add(key(owner))
		}
	}
	for i := range removed {
		if removed[i].BlockOwnerDeletion {
			unblocked(removed[i].UID)
		}
	}
	for _, ref := range changed {
		if ref[0].BlockOwnerDeletion && !ref[1].BlockOwnerDeletion {
			unblocked(ref[1].UID)
		}
	}
	n.owners = owners
	c.link(n, added)
	c.graph.unlink(n, removed)
}

// link adds a node to the dependents of owners. It adds virtual nodes for owners that
// are not in the graph, and queues them and nodes with references that may not be
// valid, so that they are verified.
func (c *collector) link(n *node, owners []controller.OwnerReference) {
	suspect := false
	for i := range owners {
		ref := &owners[i]
		owner := c.graph.nodes[ref.UID]
		if owner == nil {
			owner = &node{identity: coordinates(ref, n.namespace), virtual: true}
			c.graph.add(owner)
			n.link(owner)
			c.toDelete.Add(key(owner))
			continue
		}
		n.link(owner)
		switch {
		case suspect:
		case owner.namespace != "" && owner.namespace != n.namespace:
			if !owner.virtual {
				c.reportNamespace(n, ref.UID)
			}
			suspect = true
		case !owner.names(ref):
			suspect = true
		case owner.namespace == "" && n.namespace != "" && owner.virtual:
			// A cluster-scoped dependent may have named an owner of a namespaced kind.
			suspect = true
		}
	}
	if suspect {
		c.toDelete.Add(key(n))
	}
}

// reportNamespace records the Event for a reference to an owner of another namespace.
func (c *collector) reportNamespace(n *node, owner string) {
	for i := range n.owners {
		if ref := &n.owners[i]; ref.UID == owner {
			about := map[string]any{"kind": n.kind, "apiVersion": n.apiVersion, "name": n.name, "uid": n.uid}
			if n.namespace != "" {
				about["namespace"] = n.namespace
			}
			c.recorder.EventFor(about, controller.Warning, "OwnerRefInvalidNamespace",
				"ownerRef %s does not exist in namespace %q", coordinates(ref, n.namespace), n.namespace)
			return
		}
	}
}

// remove removes the node of an object that is gone, and queues its dependents, and
// its owners that wait for the deletion of theirs.
func (c *collector) remove(n *node) {
	delete(c.graph.nodes, n.uid)
	c.graph.unlink(n, n.owners)
	if len(n.dependents) > 0 {
		c.absent.add(n.identity)
	}
	for _, d := range n.sorted() {
		c.toDelete.Add(key(d))
	}
	for i := range n.owners {
		if owner := c.graph.nodes[n.owners[i].UID]; owner != nil && owner.deletingDependents {
			c.toDelete.Add(key(owner))
		}
	}
}

// verifiedAbsent is called with the identity of a node that the server does not know.
func (c *collector) verifiedAbsent(n *node) {
	matching, others := partition(n.sorted(), n.identity)
	if !n.virtual || len(others) == 0 {
		c.remove(n)
		return
	}
	// Some dependents name the owner in another way: it may exist so.
	c.collect(n.identity, matching)
	if next, ok := alternative(others, n.identity); ok {
		n = n.renamed(next)
		c.graph.add(n)
		c.toDelete.AddRateLimited(key(n))
	}
}

// collect queues the dependents of an owner that does not exist.
func (c *collector) collect(absent identity, dependents []*node) {
	if len(dependents) > 0 {
		c.absent.add(absent)
	}
	for _, d := range dependents {
		c.toDelete.Add(key(d))
	}
}
