package garbagecollector

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/kubefake/kubefake/internal/controllers/controller"
)

// An identity is what an owner reference says of an object, and a namespace.
type identity struct {
	apiVersion, kind, name, uid, namespace string
}

// String returns the identity as Events have it.
func (id identity) String() string {
	return fmt.Sprintf("[%s/%s, namespace: %s, name: %s, uid: %s]", id.apiVersion, id.kind, id.namespace, id.name, id.uid)
}

func compareIdentities(a, b identity) int {
	return cmp.Or(
		cmp.Compare(a.kind, b.kind), cmp.Compare(a.apiVersion, b.apiVersion),
		cmp.Compare(a.namespace, b.namespace), cmp.Compare(a.name, b.name), cmp.Compare(a.uid, b.uid),
	)
}

// coordinates returns the identity of the object that a reference in a namespace
// names.
func coordinates(ref *controller.OwnerReference, namespace string) identity {
	return identity{apiVersion: ref.APIVersion, kind: ref.Kind, name: ref.Name, uid: ref.UID, namespace: namespace}
}

// names reports whether ref has the coordinates of id, its namespace aside.
func (id identity) names(ref *controller.OwnerReference) bool {
	return id == coordinates(ref, id.namespace)
}

// A node is an object in the graph, or, if it is virtual, an owner that references
// name and that no informer has shown.
type node struct {
	identity
	order      int // of its addition to the graph
	owners     []controller.OwnerReference
	dependents map[*node]struct{}
	virtual    bool

	beingDeleted bool
	// deletingDependents is set if the object waits for the deletion of its dependents.
	deletingDependents bool
}

// A graph has the nodes of all objects by UID. Edges are owner references.
type graph struct {
	nodes map[string]*node
	added int // the number of nodes that were ever added
}

// add adds a node, in place of the node of its UID.
func (g *graph) add(n *node) {
	g.added++
	n.order = g.added
	g.nodes[n.uid] = n
}

// link adds n to the dependents of owner.
func (n *node) link(owner *node) {
	if owner.dependents == nil {
		owner.dependents = map[*node]struct{}{}
	}
	owner.dependents[n] = struct{}{}
}

// unlink removes n from the dependents of its owners.
func (g *graph) unlink(n *node, owners []controller.OwnerReference) {
	for i := range owners {
		if owner := g.nodes[owners[i].UID]; owner != nil {
			delete(owner.dependents, n)
		}
	}
}

// sorted returns the dependents of n in the order of their additions.
func (n *node) sorted() []*node {
	out := make([]*node, 0, len(n.dependents))
	for d := range n.dependents {
		out = append(out, d)
	}
	slices.SortFunc(out, func(a, b *node) int { return cmp.Compare(a.order, b.order) })
	return out
}

// blocking returns the dependents without whose deletion n is not deleted in the
// foreground.
func (n *node) blocking() (out []*node) {
	for _, d := range n.sorted() {
		if slices.ContainsFunc(d.owners, func(ref controller.OwnerReference) bool { return ref.UID == n.uid && ref.BlockOwnerDeletion }) {
			out = append(out, d)
		}
	}
	return out
}

// renamed returns a copy of n with another identity.
func (n *node) renamed(id identity) *node {
	out := *n
	out.identity = id
	return &out
}

// partition returns the dependents whose references name id, and those whose references
// to its UID do not. A dependent with several references may be in both.
func partition(dependents []*node, id identity) (matching, others []*node) {
	for _, d := range dependents {
		match, mismatch := false, false
		if id.namespace != "" && id.namespace != d.namespace {
			mismatch = true
		} else {
			for i := range d.owners {
				if ref := &d.owners[i]; ref.UID == id.uid {
					match = match || id.names(ref)
					mismatch = mismatch || !id.names(ref)
				}
			}
		}
		if match {
			matching = append(matching, d)
		}
		if mismatch {
			others = append(others, d)
		}
	}
	return matching, others
}

// alternative returns another identity by which dependents refer to the UID of absent:
// the next in the order of identities, or else the first. It returns false if there is
// none.
func alternative(dependents []*node, absent identity) (identity, bool) {
	var found []identity
	for _, d := range dependents {
		for i := range d.owners {
			ref := &d.owners[i]
			if ref.UID != absent.uid || absent.names(ref) && (absent.namespace == "" || absent.namespace == d.namespace) {
				continue
			}
			id := coordinates(ref, d.namespace)
			if absent.namespace == "" && id.apiVersion == absent.apiVersion && id.kind == absent.kind {
				id.namespace = "" // absent shows that the kind is cluster-scoped
			}
			if id != absent {
				found = append(found, id)
			}
		}
	}
	if len(found) == 0 {
		return identity{}, false
	}
	slices.SortFunc(found, compareIdentities)
	if i := slices.IndexFunc(found, func(id identity) bool { return compareIdentities(id, absent) > 0 }); i >= 0 {
		return found[i], true
	}
	return found[0], true
}

// changes returns the references that an update of the references of an object adds,
// removes and changes, by UID. changed has the old and the new form in turn.
func changes(old, new []controller.OwnerReference) (added, removed []controller.OwnerReference, changed [][2]controller.OwnerReference) {
	if slices.Equal(old, new) {
		return nil, nil, nil
	}
	before := make(map[string]controller.OwnerReference, len(old))
	for _, ref := range old {
		before[ref.UID] = ref
	}
	for _, ref := range new {
		was, ok := before[ref.UID]
		switch {
		case !ok:
			added = append(added, ref)
			continue
		case was != ref:
			changed = append(changed, [2]controller.OwnerReference{was, ref})
		}
		delete(before, ref.UID)
	}
	for _, ref := range old {
		if was, ok := before[ref.UID]; ok {
			removed = append(removed, was)
			delete(before, ref.UID)
		}
	}
	return added, removed, changed
}

// maxAbsent is the number of identities that absentOwners remembers.
const maxAbsent = 500

// absentOwners are identities that do not exist. It forgets the oldest.
type absentOwners struct {
	known map[identity]struct{}
	order []identity
}

func (a *absentOwners) has(id identity) bool {
	_, ok := a.known[id]
	return ok
}

func (a *absentOwners) add(id identity) {
	if a.has(id) {
		return
	}
	if len(a.order) == maxAbsent {
		delete(a.known, a.order[0])
		a.order = slices.Delete(a.order, 0, 1)
	}
	if a.known == nil {
		a.known = map[identity]struct{}{}
	}
	a.known[id] = struct{}{}
	a.order = append(a.order, id)
}

// remove forgets an identity that exists again: that of a snapshot that was restored.
func (a *absentOwners) remove(id identity) {
	if a.has(id) {
		delete(a.known, id)
		a.order = slices.DeleteFunc(a.order, func(other identity) bool { return other == id })
	}
}
