package cluster

import (
	"github.com/kubefake/kubefake/internal/journal"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/usage"
)

// Usage returns what counts the requests of clients.
func (c *Cluster) Usage() *usage.Recorder { return &c.usage }

// maxFound is how many objects of a resource a usage has.
const maxFound = 1000

// ClientUsage returns what was counted, with the objects of the resources that clients have listed
// or watched: those in the store, and those that the journal knows.
func (c *Cluster) ClientUsage() *usage.Usage {
	out := c.usage.Usage()
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
		if t := c.Surface().Lookup(r.Group, r.Version, r.Resource); t != nil && !t.Virtual() {
			for o := range c.Store().All(t.Prefix) {
				add(resourceOf(r), o.Namespace, o.Name)
			}
		}
	}
	for _, e := range c.Journal().Transactions() {
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
