package resourceapi

import (
	"github.com/kubefake/kubefake/internal/kinds/core/resources"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

func (d deviceRules) validateClass(obj, _ map[string]any) validation.List {
	return validation.Collect(object.Map(obj, "spec"), validation.NewPath("spec"), func(spec validation.View) {
		checkItems(spec, "selectors", maxDeviceSelectors, d.checkSelector)
		checkItems(spec, "config", maxDeviceConfigs, checkOpaqueConfig)
		if name := spec.String("extendedResourceName"); spec.Has("extendedResourceName") && !resources.IsExtended(name) {
			spec.Invalid("extendedResourceName", "must be a valid extended resource name")
		}
	})
}
