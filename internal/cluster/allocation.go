package cluster

import (
	"github.com/kubefake/kubefake/internal/admission/plugin"
	"github.com/kubefake/kubefake/internal/allocator"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/serving"
	"github.com/kubefake/kubefake/internal/storage"
)

// newAllocator returns the allocator of an API. It shares the reservations
// of the first one.
func (c *Cluster) newAllocator(a *serving.API) *allocator.Allocator {
	types := a.Builtin
	config := allocator.Config{
		Ranges:       c.config.ServiceRanges,
		NodePorts:    c.config.NodePorts,
		Services:     types.Lookup("", "v1", "services"),
		IPAddresses:  types.Lookup("networking.k8s.io", "v1", "ipaddresses"),
		ServiceCIDRs: types.Lookup("networking.k8s.io", "v1", "servicecidrs"),
		Store:        c.Store(),
		Random:       c.IDs().Below,
		NewObject:    func(t *resource.Type, obj map[string]any) *storage.Object { return c.NewObject(a.Surface(), t, obj) },
	}
	if !a.Release.Has(behavior.KeepsEndpoints) {
		config.Endpoints = types.Lookup("", "v1", "endpoints")
	}
	if first := c.api(); first != nil {
		return first.Allocator.With(config)
	}
	return allocator.New(config)
}

// newAPI returns the API of a release.
func (c *Cluster) newAPI(p *release.Release, plugins *plugin.Chain) *serving.API {
	a := serving.NewAPI(c.Context(), p, plugins)
	a.Allocator = c.newAllocator(a)
	return a
}
