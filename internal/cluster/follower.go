package cluster

import (
	"strings"

	"github.com/kubefake/kubefake/internal/admission/dynamic"
	"github.com/kubefake/kubefake/internal/flowcontrol"
	"github.com/kubefake/kubefake/internal/registry"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/serving"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/mvcc"
)

// A follower follows the writes of the Registry of a Cluster.
type follower struct{ c *Cluster }

var _ registry.Follower = follower{}

// Surface implements [registry.Follower].
func (f follower) Surface() *serving.Surface { return f.c.Surface() }

// Begin implements [registry.Follower]: definitions are written one after the other.
func (f follower) Begin(t *resource.Type, follows bool) (end func()) {
	if follows || !reconciles(t) {
		return func() {}
	}
	f.c.definitionsMu.Lock()
	return f.c.definitionsMu.Unlock
}

// reconciles reports whether a write to objects of the type may change what definitions define: to a
// definition, or to the last custom resource of one that is being deleted.
func reconciles(t *resource.Type) bool {
	return !t.Virtual() && (t.DefinesAPI || t.CreateForbidden != "")
}

// isAPIService reports whether objects of the type are APIServices.
func isAPIService(t *resource.Type) bool { return t.Group == "apiregistration.k8s.io" }

// Committed implements [registry.Follower].
func (f follower) Committed(w registry.Write) {
	c, t := f.c, w.Type
	var names []string // of definitions or APIServices
	if !t.Virtual() && t.DefinesAPI || isAPIService(t) {
		names = namesIn(t, w.Events)
	}
	c.changed(t, names)
	c.repairDeleted(w.Events)
	switch t.Group {
	case dynamic.Group:
		c.reloadAdmission()
	case flowcontrol.Group:
		c.flows.changed()
		if !w.Follows {
			c.reconcileFlowSchemas(w.Surface)
			c.scheduleFlowRepair()
		}
	case coordinationGroup:
		if !w.Follows {
			c.followElections(w)
		}
	}
	switch {
	case w.Follows:
	case reconciles(t):
		c.reconcileDefinitions(names)
	case isAPIService(t):
		for _, name := range names {
			version, group, _ := strings.Cut(name, ".")
			c.registerGroupVersion(resource.GroupVersion{Group: group, Version: version})
		}
	}
}

// namesIn returns the names of the objects of a cluster-scoped type that a transaction has written.
func namesIn(t *resource.Type, events []mvcc.Event[*storage.Object]) (names []string) {
	for i := range events {
		if name, ok := strings.CutPrefix(events[i].Item.Key, t.Prefix); ok {
			names = append(names, name)
		}
	}
	return names
}
