package registry

import (
	"slices"

	"github.com/kubefake/kubefake/internal/admission"
	"github.com/kubefake/kubefake/internal/admission/plugin/ownerreferencespermissionenforcement"
	"github.com/kubefake/kubefake/internal/authz"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/usage"
)

// needGranted reports what the user needs for a write of a role or a binding.
func (op *operation) needGranted(w authz.RoleWrite) {
	rules, instead := op.authorizer.Granted(w)
	for _, rule := range rules {
		for _, single := range rule.Split() {
			op.Needs.Need(single.Attributes(w.Namespace), usage.Grants, instead)
		}
	}
}

// needOwners reports what the plugin OwnerReferencesPermissionEnforcement would need of the user.
func (op *operation) needOwners(of *admission.Attributes) {
	if ownersOf(object.ViewOf(of.Object)).IsNil() && ownersOf(of.Old).IsNil() {
		return
	}
	var needs authz.Needs
	a := *of
	a.Access = needsAccess{a.Access, &needs}
	if (ownerreferencespermissionenforcement.Plugin{}).Validate(&a) != nil {
		return // no plugin refuses here what the write fails for anyway
	}
	for _, at := range slices.Clone(needs) {
		op.Needs.Need(at, usage.OwnerReferences, nil)
	}
}

func ownersOf(obj object.View) object.View { return obj.At("metadata", "ownerReferences") }

// needsAccess answers as if the user might do everything, and records it.
type needsAccess struct {
	admission.Access
	needs *authz.Needs
}

// Authorize implements [admission.Access].
func (n needsAccess) Authorize(at authz.Attributes) authz.Decision {
	return n.needs.Authorize(nil, nil, &at)
}
