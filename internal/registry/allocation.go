package registry

import (
	"errors"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
)

// allocate allocates the cluster IPs and node ports of a Service, and reserves them.
func (op *operation) allocate(c *candidate, old object.View) error {
	if op.Type.Allocate == nil {
		return nil
	}
	name := object.String(c.object, "metadata", "name")
	err := op.Type.Allocate(c.object, old, op.api().Allocator.Pool(&c.reservation, op.Namespace, name, op.dryRun(), op.inWordsOfRelease))
	var invalid *resource.Invalid
	var failure resource.Failure
	switch {
	case err == nil:
		return nil
	case errors.As(err, &invalid):
		return status.Invalid(op.groupKind(), name, op.inWordsOfRelease(invalid.Errors))
	case errors.As(err, &failure):
		return status.Unclassified(err.Error())
	}
	return status.Internal(err.Error())
}
