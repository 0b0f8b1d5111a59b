package registry

import (
	"errors"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
)

// allocate allocates the cluster IPs and node ports of a Service. They are
// reserved until release.
func (op *operation) allocate(obj, old map[string]any, dryRun bool) error {
	if op.Type.Allocate == nil {
		return nil
	}
	name := object.String(obj, "metadata", "name")
	err := op.Type.Allocate(obj, old, op.api().Allocator.Pool(&op.reservation, op.Namespace, name, dryRun, op.released))
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
