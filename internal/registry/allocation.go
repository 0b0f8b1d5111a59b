package registry

import (
	"errors"

	"github.com/kubefake/kubefake/internal/allocator"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/storage"
)

// newAllocator returns the allocator of an API of the registry. It shares the reservations
// of the first one.
func (g *Registry) newAllocator(a *releaseAPI) *allocator.Allocator {
	types := a.types
	config := allocator.Config{
		Ranges:       g.config.ServiceRanges,
		Services:     types.Lookup("", "v1", "services"),
		Endpoints:    types.Lookup("", "v1", "endpoints"),
		IPAddresses:  types.Lookup("networking.k8s.io", "v1", "ipaddresses"),
		ServiceCIDRs: types.Lookup("networking.k8s.io", "v1", "servicecidrs"),
		Store:        g.store,
		Random:       g.ids.Below,
		NewObject:    func(t *resource.Type, obj map[string]any) *storage.Object { return g.newObject(a, t, obj) },
	}
	if first := g.api(); first != nil {
		return first.allocator.With(config)
	}
	return allocator.New(config)
}

// newObject returns an object that the server itself creates, with defaults,
// managed fields, uid and creation time.
func (g *Registry) newObject(a *releaseAPI, t *resource.Type, obj map[string]any) *storage.Object {
	op := g.internal("create", Request{Type: t, Surface: a.served.Load(), UserAgent: ownUserAgent})
	obj = op.fieldManagers().Update(nil, defaulted(t, obj, nil), op.fieldOptions(&WriteOptions{}))
	meta := object.Meta(obj)
	meta["uid"], meta["creationTimestamp"] = g.ids.UID(), g.now()
	return storage.New(t, obj, nil)
}

// allocate allocates the cluster IPs and node ports of a Service. They are
// reserved until release.
func (op *operation) allocate(obj, old map[string]any, dryRun bool) error {
	if op.Type.Allocate == nil {
		return nil
	}
	name := object.String(obj, "metadata", "name")
	err := op.Type.Allocate(obj, old, op.allocator.Pool(&op.reservation, op.Namespace, name, dryRun, op.released))
	var invalid *resource.Invalid
	var failure resource.Failure
	switch {
	case err == nil:
		return nil
	case errors.As(err, &invalid):
		return status.Invalid(op.groupKind(), name, op.released(invalid.Errors))
	case errors.As(err, &failure):
		return status.Unclassified(err.Error())
	}
	return status.Internal(err.Error())
}

// release ends the reservations of allocate.
func (op *operation) release() { op.reservation.Release() }
