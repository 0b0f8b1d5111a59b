package apiserver

import (
	"errors"

	"github.com/kubefake/kubefake/internal/allocator"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/storage"
)

func (s *Server) newAllocator() *allocator.Allocator {
	types := s.surface.registry
	return allocator.New(allocator.Config{
		Ranges:       s.config.ServiceRanges,
		Services:     types.Lookup("", "v1", "services"),
		Endpoints:    types.Lookup("", "v1", "endpoints"),
		IPAddresses:  types.Lookup("networking.k8s.io", "v1", "ipaddresses"),
		ServiceCIDRs: types.Lookup("networking.k8s.io", "v1", "servicecidrs"),
		Store:        s.store,
		Cache:        s.surface.parsed,
		Random:       s.ids.below,
		NewObject:    s.newObject,
	})
}

// newObject returns an object that the server itself creates, with defaults,
// managed fields, uid and creation time.
func (s *Server) newObject(t *resource.Type, obj map[string]any) *storage.Object {
	r := s.internalRequest(t, "create")
	obj = r.tracked().Update(nil, completed(t, obj), r.fieldOptions(&writeOptions{}))
	meta := object.Meta(obj)
	meta["uid"], meta["creationTimestamp"] = s.ids.uid(), r.now()
	return storage.New(t, obj)
}

// allocate allocates the cluster IPs and node ports of a Service. They are
// reserved until release.
func (r *request) allocate(obj, old map[string]any, dryRun bool) error {
	if r.typ.Allocate == nil {
		return nil
	}
	name := object.String(obj, "metadata", "name")
	err := r.typ.Allocate(obj, old, r.server.allocator.Pool(&r.reservation, r.Namespace, name, dryRun))
	var invalid *resource.Invalid
	var failure resource.Failure
	switch {
	case err == nil:
		return nil
	case errors.As(err, &invalid):
		return status.Invalid(r.groupKind(), name, invalid.Errors)
	case errors.As(err, &failure):
		return status.Unclassified(err.Error())
	}
	return status.Internal(err.Error())
}

// release ends the reservations of allocate.
func (r *request) release() { r.reservation.Release() }
