package rbac

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/validation"
)

// defaultRoleBinding sets the API groups of the references in a RoleBinding or a
// ClusterRoleBinding.
func defaultRoleBinding(obj map[string]any) {
	object.SetDefaultIfZero(object.EnsureMap(obj, "roleRef"), "apiGroup", rbacGroup)
	for subject := range object.Each(obj["subjects"]) {
		switch subject["kind"] {
		case "User", "Group":
			object.SetDefaultIfZero(subject, "apiGroup", rbacGroup)
		}
	}
}

var clusterRoleBindingStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		MetadataValidation:       resource.MetadataUpdateAndCreate,
		AllowUnconditionalUpdate: true,
		AllowCreateOnUpdate:      true,
		NoUnsafeDeletion:         true,
		Name:                     validation.RBACName,
		Validate:                 validateClusterRoleBinding,
		Default:                  defaultRoleBinding,
	},
	ValidatedAsNewUntil: behavior.UpdatesOnce,
	Cells:               roleBindingCells,
}

var roleBindingStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		MetadataValidation:       resource.MetadataUpdateAndCreate,
		AllowUnconditionalUpdate: true,
		AllowCreateOnUpdate:      true,
		NoUnsafeDeletion:         true,
		Name:                     validation.RBACName,
		Validate:                 validateRoleBinding,
		Default:                  defaultRoleBinding,
	},
	ValidatedAsNewUntil: behavior.UpdatesOnce,
	Cells:               roleBindingCells,
}
