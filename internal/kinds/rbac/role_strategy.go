package rbac

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/validation"
)

var clusterRoleStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		MetadataValidation:       resource.MetadataUpdateAndCreate,
		AllowUnconditionalUpdate: true,
		AllowCreateOnUpdate:      true,
		NoUnsafeDeletion:         true,
		Name:                     validation.RBACName,
		Validate:                 validateClusterRole,
	},
	ValidatedAsNewUntil: behavior.UpdatesOnce,
}

var roleStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		MetadataValidation:       resource.MetadataUpdateAndCreate,
		AllowUnconditionalUpdate: true,
		AllowCreateOnUpdate:      true,
		NoUnsafeDeletion:         true,
		Name:                     validation.RBACName,
		Validate:                 validateRole,
	},
	ValidatedAsNewUntil: behavior.UpdatesOnce,
}
