package resourceapi

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/table"
	"github.com/kubefake/kubefake/internal/validation"
)

var deviceClassStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		MetadataValidation:       resource.MetadataUpdateAndCreate,
		AllowUnconditionalUpdate: true,
		ReturnDeletedObject:      true,
		Name:                     validation.UnprefixedName,
		DeclaresName:             true,
	},
	Released: func(r *release.Release, s *resource.Strategy) {
		s.Validate = newDeviceRules(r).validateClass
		validateMetadataOnce(r, s)
	},
	ValidatedAsNewUntil: behavior.UpdatesOnce,
	GenerationFields:    []string{"spec"},
	Cells:               table.NameAndAge,
}

// validateMetadataOnce changes the validation of updates in releases that validate them as
// new objects: these validate the new metadata there.
func validateMetadataOnce(r *release.Release, s *resource.Strategy) {
	if !r.Has(behavior.UpdatesOnce) {
		s.MetadataValidation = resource.MetadataUpdate
	}
}
