// Package garbagecollector has the garbage-collector-controller: it deletes objects
// whose owners are gone, and carries out foreground and orphan deletions.
//
// A graph has a node for each object, and an edge for each owner reference. Changes of
// objects change the graph and queue nodes. A node that is queued is compared with the
// newest version of its object before anything is deleted.
//
// See https://kubernetes.io/docs/concepts/architecture/garbage-collection/.
package garbagecollector

import (
	"errors"
	"fmt"
	"slices"

	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/storage"
)

type collector struct {
	env      *controller.Env
	client   *controller.Client
	recorder *controller.Recorder
	graph    graph
	absent   absentOwners
	toDelete *controller.Queue // of nodes that may be deleted
	toOrphan *controller.Queue // of nodes whose dependents are to be orphaned

	types    *resource.Types           // of which byPrefix is made
	byPrefix map[string]*resource.Type // the preferred types
}

// Start starts the controller.
func Start(e *controller.Env) {
	c := &collector{env: e, client: e.Client("generic-garbage-collector"), graph: graph{nodes: map[string]*node{}}}
	c.recorder = e.Recorder(c.client, "garbage-collector-controller")
	c.toDelete, c.toOrphan = e.Queue(c.attemptToDelete), e.Queue(c.attemptToOrphan)
	e.EachChange(c.changed)
}

// key returns the key of a node in the queues.
func key(n *node) controller.Key { return controller.Key{Name: n.uid} }

var (
	// errClusterScoped is the error for a cluster-scoped object with an owner of a
	// namespaced kind. To repeat the attempt does not help.
	errClusterScoped = errors.New("cluster-scoped objects cannot refer to namespaced owners")

	// errNotObserved repeats the attempt for an owner that exists and that no informer
	// has shown.
	errNotObserved = errors.New("the owner has not been observed")
)

// attemptToDelete deletes the object of a node if all its owners are gone, and
// continues its foreground deletion.
func (c *collector) attemptToDelete(k controller.Key) error {
	n := c.graph.nodes[k.Name]
	if n == nil {
		return nil
	}
	err := c.process(n)
	switch {
	case errors.Is(err, errClusterScoped):
		return nil
	case controller.IsNotFound(err):
		c.verifiedAbsent(n)
		return nil
	case err == nil && n.virtual:
		return errNotObserved
	}
	return err
}

// process is attemptToDelete of a node. It fails with NotFound if its object is gone.
func (c *collector) process(n *node) error {
	if n.beingDeleted && !n.deletingDependents {
		return nil // its dependents follow when it is gone
	}
	t, err := c.typeOf(n.apiVersion, n.kind)
	if err != nil {
		return err
	}
	latest, err := c.get(t, n.identity)
	if err != nil {
		return err
	}
	if latest.UID != n.uid {
		return status.NotFound(status.GroupResource{Group: t.Group, Resource: t.Name}, n.name)
	}
	if n.deletingDependents {
		return c.continueForeground(n)
	}
	if len(latest.Owners()) == 0 {
		return nil
	}
	owners, err := c.classify(n, latest.Owners())
	if err != nil {
		return err
	}
	propagation := "Background"
	switch {
	case owners.solid > 0:
		if len(owners.gone) == 0 {
			return nil
		}
		return c.removeOwners(n, t, owners.gone)
	case owners.waiting > 0 && len(n.dependents) > 0:
		if slices.ContainsFunc(n.sorted(), func(d *node) bool { return d.deletingDependents }) {
			// An owner and a dependent wait for deletions: there may be a cycle.
			if err := c.unblock(n, t); err != nil {
				return err
			}
		}
		propagation = "Foreground"
	case slices.Contains(latest.Finalizers(), finalizerOrphan):
		propagation = "Orphan"
	case slices.Contains(latest.Finalizers(), finalizerForeground):
		propagation = "Foreground"
	}
	return c.delete(t, latest, propagation)
}

// typeOf returns the type of a kind.
func (c *collector) typeOf(apiVersion, kind string) (*resource.Type, error) {
	gv, err := resource.ParseGroupVersion(apiVersion)
	if err == nil {
		if t := c.env.Types().ForKind(resource.Kind{GroupVersion: gv, Kind: kind}); t != nil && t.Allows("get") {
			return t, nil
		}
	}
	return nil, fmt.Errorf("unable to get REST mapping for %s/%s", apiVersion, kind)
}

// get reads the newest version of an object.
func (c *collector) get(t *resource.Type, id identity) (*controller.Object, error) {
	namespace := id.namespace
	if !t.Namespaced {
		namespace = ""
	} else if namespace == "" {
		return nil, errClusterScoped
	}
	return c.client.Get(controller.ResourceOf(t), namespace, id.name)
}

// owners is what has become of the owners of an object.
type owners struct {
	solid   int      // the number of those that exist
	waiting int      // the number of those that wait for the deletion of their dependents
	gone    []string // the UIDs of those that do not exist, and of those that wait
}

func (c *collector) classify(n *node, refs []controller.OwnerReference) (out owners, err error) {
	var waiting []string
	for i := range refs {
		owner, err := c.owner(n, &refs[i])
		switch {
		case err != nil:
			return out, err
		case owner == nil:
			out.gone = append(out.gone, refs[i].UID)
		case owner.Terminating && slices.Contains(owner.Finalizers(), finalizerForeground):
			waiting = append(waiting, refs[i].UID)
		default:
			out.solid++
		}
	}
	out.waiting = len(waiting)
	out.gone = append(out.gone, waiting...)
	return out, nil
}

// owner returns the object that a reference of n names, nil if it does not exist.
func (c *collector) owner(n *node, ref *controller.OwnerReference) (*controller.Object, error) {
	id := coordinates(ref, n.namespace)
	if c.absent.has(id) || c.absent.has(coordinates(ref, "")) {
		return nil, nil
	}
	t, err := c.typeOf(ref.APIVersion, ref.Kind)
	if err != nil {
		return nil, err
	}
	owner, err := c.get(t, id)
	if !t.Namespaced {
		id.namespace = ""
	}
	if controller.IsNotFound(err) || err == nil && owner.UID != ref.UID {
		c.absent.add(id)
		return nil, nil
	}
	return owner, err
}

// delete deletes an object, unless its owner references have changed.
func (c *collector) delete(t *resource.Type, latest *controller.Object, propagation string) error {
	res := controller.ResourceOf(t)
	o := controller.DeleteOptions{UID: latest.UID, ResourceVersion: storage.FormatVersion(latest.Revision), Propagation: propagation}
	err := c.client.Delete(res, latest.Namespace, latest.Name, o)
	if !controller.IsConflict(err) {
		return err
	}
	now, getErr := c.client.Get(res, latest.Namespace, latest.Name)
	switch {
	case controller.IsNotFound(getErr):
		return getErr
	case getErr != nil || now.UID != latest.UID || now.Revision == latest.Revision || !slices.Equal(now.Owners(), latest.Owners()):
		return err
	}
	o.ResourceVersion = ""
	return c.client.Delete(res, latest.Namespace, latest.Name, o)
}

// continueForeground ends the foreground deletion of an object that no dependent
// blocks, or queues those that block it.
func (c *collector) continueForeground(n *node) error {
	blocking := n.blocking()
	if len(blocking) == 0 {
		return c.removeFinalizer(n.identity, finalizerForeground)
	}
	for _, d := range blocking {
		if !d.deletingDependents {
			c.toDelete.Add(key(d))
		}
	}
	return nil
}

// attemptToOrphan removes the references of the dependents of a node to it, and then
// its finalizer.
func (c *collector) attemptToOrphan(k controller.Key) error {
	n := c.graph.nodes[k.Name]
	if n == nil {
		return nil
	}
	var errs []error
	for _, d := range n.sorted() {
		t, err := c.typeOf(d.apiVersion, d.kind)
		if err == nil {
			err = c.removeOwners(d, t, []string{n.uid})
		}
		if err != nil && !controller.IsNotFound(err) {
			errs = append(errs, fmt.Errorf("orphaning %s failed, %w", d.identity, err))
		}
	}
	if len(errs) > 0 {
		return fmt.Errorf("failed to orphan dependents of owner %s, got errors: %s", n.identity, status.Aggregate(errs))
	}
	return c.removeFinalizer(n.identity, finalizerOrphan)
}

// maxConflicts is how many times in a row removeFinalizer is repeated at once.
const maxConflicts = 5

// removeFinalizer removes a finalizer from an object, if both exist.
func (c *collector) removeFinalizer(id identity, finalizer string) (err error) {
	t, err := c.typeOf(id.apiVersion, id.kind)
	if err != nil {
		return err
	}
	for range maxConflicts {
		o, err := c.get(t, id)
		if controller.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("cannot finalize owner %s, because cannot get it: %w. The garbage collector will retry later", id, err)
		}
		kept := slices.DeleteFunc(slices.Clone(o.Finalizers()), func(f string) bool { return f == finalizer })
		if len(kept) == len(o.Finalizers()) {
			return nil
		}
		meta := map[string]any{"resourceVersion": storage.FormatVersion(o.Revision), "finalizers": nil}
		if len(kept) > 0 {
			meta["finalizers"] = object.FromStrings(kept)
		}
		if err = c.patchMeta(c.client.MergePatch, t, id, meta); !controller.IsConflict(err) {
			return err
		}
	}
	return fmt.Errorf("updateMaxRetries(%d) has reached. The garbage collector will retry later for owner %s", maxConflicts, id)
}

// removeOwners removes the references to UIDs from an object.
func (c *collector) removeOwners(n *node, t *resource.Type, uids []string) error {
	if c.env.Builtin(t) {
		refs := make([]any, len(uids))
		for i, uid := range uids {
			refs[i] = map[string]any{"$patch": "delete", "uid": uid}
		}
		return c.patchMeta(c.client.StrategicPatch, t, n.identity, map[string]any{"uid": n.uid, "ownerReferences": refs})
	}
	return c.replaceOwners(n, t, func(ref map[string]any) bool { return !slices.Contains(uids, object.String(ref, "uid")) })
}

// unblock makes the references of an object not block the deletion of its owners.
func (c *collector) unblock(n *node, t *resource.Type) error {
	if !c.env.Builtin(t) {
		return c.replaceOwners(n, t, func(ref map[string]any) bool {
			ref["blockOwnerDeletion"] = false
			return true
		})
	}
	var refs []any
	for i := range n.owners {
		if ref := &n.owners[i]; ref.BlockOwnerDeletion {
			refs = append(refs, map[string]any{
				"apiVersion": ref.APIVersion, "kind": ref.Kind, "name": ref.Name, "uid": ref.UID, "blockOwnerDeletion": false,
			})
		}
	}
	return c.patchMeta(c.client.StrategicPatch, t, n.identity, map[string]any{"uid": n.uid, "ownerReferences": refs})
}

// replaceOwners replaces the owner references of an object, for which no strategic merge
// patch exists, by those that keep accepts. keep may change a reference.
func (c *collector) replaceOwners(n *node, t *resource.Type, keep func(ref map[string]any) bool) error {
	o, err := c.get(t, n.identity)
	if err != nil {
		return err
	}
	var refs any // null if none is left
	var kept []any
	for ref := range object.Each(object.Value(o.Copy(), "metadata", "ownerReferences")) {
		if keep(ref) {
			kept = append(kept, ref)
			refs = kept
		}
	}
	return c.patchMeta(c.client.MergePatch, t, n.identity, map[string]any{
		"resourceVersion": storage.FormatVersion(o.Revision), "ownerReferences": refs,
	})
}

// A patchFunc is a method of Client that patches an object.
type patchFunc func(res controller.Resource, namespace, name, subresource string, change map[string]any) (*controller.Object, error)

func (c *collector) patchMeta(patch patchFunc, t *resource.Type, id identity, meta map[string]any) error {
	namespace := id.namespace
	if !t.Namespaced {
		namespace = ""
	}
	_, err := patch(controller.ResourceOf(t), namespace, id.name, "", map[string]any{"metadata": meta})
	return err
}
