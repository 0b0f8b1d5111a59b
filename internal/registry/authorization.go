package registry

import (
	"github.com/kubefake/kubefake/internal/authz"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/usage"
)

// attributes returns the attributes that authorize the operation.
func (op *operation) attributes() authz.Attributes {
	return authz.Attributes{
		Verb: op.verb, IsResource: true,
		Group: op.Type.Group, Version: op.Type.Version, Resource: op.Type.Name, Subresource: op.Subresource, Namespace: op.Namespace, Name: op.Name,
	}
}

// authorize fails with 403 if the user may not do at, which the operation also does.
func (op *operation) authorize(at authz.Attributes) error {
	if op.Needs != nil {
		op.Needs.Need(at, usage.Creates, nil)
	}
	return op.authorizer.Check(op.ctx, op.User, at)
}

// checkEscalation fails with 403 if the operation writes a role, or a binding to
// a role, that permits what its user may not do.
func (op *operation) checkEscalation(obj map[string]any, old object.View) error {
	if op.sub != nil {
		return nil
	}
	w := authz.RoleWrite{Type: op.Type, Namespace: op.Namespace, Name: op.Name, Object: obj, Old: old}
	if op.Needs != nil {
		op.needGranted(w)
	}
	return op.authorizer.CheckEscalation(op.ctx, op.User, w)
}
