package registry

import (
	"slices"

	"github.com/kubefake/kubefake/internal/admission"
	"github.com/kubefake/kubefake/internal/admission/plugin/ownerreferencespermissionenforcement"
	"github.com/kubefake/kubefake/internal/authz"
	"github.com/kubefake/kubefake/internal/journal"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/usage"
)

// Usage returns what counts the requests of clients.
func (g *Registry) Usage() *usage.Recorder { return &g.usage }

// maxFound is how many objects of a resource a usage has.
const maxFound = 1000

// ClientUsage returns what was counted, with the objects of the resources that clients have listed
// or watched: those in the store, and those that the journal knows.
func (g *Registry) ClientUsage() *usage.Usage {
	out := g.usage.Usage()
	listed := map[string]*usage.Request{} // by resource
	for i := range out.Requests {
		if r := &out.Requests[i]; r.Unnamed && (r.Verb == "list" || r.Verb == "watch") && r.Subresource == "" && r.Path == "" {
			listed[resourceOf(r)] = r
		}
	}
	counts := map[string]int{}
	add := func(resource, namespace, name string) {
		r := listed[resource]
		if r == nil || counts[resource] == maxFound {
			return
		}
		counts[resource]++
		out.Objects = append(out.Objects, usage.Object{Group: r.Group, Resource: r.Resource, Namespace: namespace, Name: name})
	}
	for _, r := range listed {
		if t := g.Surface().Lookup(r.Group, r.Version, r.Resource); t != nil && !t.Virtual() {
			for o := range g.store.All(t.Prefix) {
				add(resourceOf(r), o.Namespace, o.Name)
			}
		}
	}
	for _, e := range g.journal.Transactions() {
		for i := range e.What.Changes {
			if c := &e.What.Changes[i]; c.Prev == nil {
				add(journal.SplitKey(c.Item.Key))
			}
		}
	}
	out.Sort()
	return out
}

// resourceOf returns the resource of requests as keys of the store have it.
func resourceOf(r *usage.Request) string {
	return status.GroupResource{Group: r.Group, Resource: r.Resource}.String()
}

// needGranted reports what the user needs for a write of a role or a binding.
func (op *operation) needGranted(w authz.RoleWrite) {
	rules, instead := op.authorizer.Granted(w)
	for _, rule := range rules {
		for _, single := range rule.Split() {
			op.Needs(single.Attributes(w.Namespace), usage.Grants, instead)
		}
	}
}

// needOwners reports what the plugin OwnerReferencesPermissionEnforcement would need of the user.
func (op *operation) needOwners(a admission.Attributes) {
	var needs authz.Needs
	a.Access = needsAccess{a.Access, &needs}
	if (ownerreferencespermissionenforcement.Plugin{}).Validate(&a) != nil {
		return // no plugin refuses here what the write fails for anyway
	}
	for _, at := range slices.Clone(needs) {
		op.Needs(at, usage.OwnerReferences, nil)
	}
}

// needsAccess answers as if the user might do everything, and records it.
type needsAccess struct {
	admission.Access
	needs *authz.Needs
}

// Authorize implements [admission.Access].
func (n needsAccess) Authorize(at authz.Attributes) authz.Decision {
	return n.needs.Authorize(nil, nil, &at)
}
