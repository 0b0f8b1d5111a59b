package discovery

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/validation"
)

func defaultEndpointSlice(obj map[string]any) {
	for port := range object.Each(obj["ports"]) {
		object.SetDefault(port, "name", "")
		object.SetDefault(port, "protocol", "TCP")
	}
}

// prepareEndpointSlice drops deprecatedTopology, unless an update does not change the
// endpoints.
func prepareEndpointSlice(obj map[string]any, old object.View) {
	if !old.IsNil() && validation.Equal(obj["endpoints"], old.At("endpoints")) {
		return
	}
	object.PruneItems(obj, "endpoints", func(field string) bool { return field == "deprecatedTopology" })
}

var endpointSliceStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		GenerationBeforePrepare:  true,
		MetadataValidation:       resource.MetadataCreate,
		AllowUnconditionalUpdate: true,
		Default:                  defaultEndpointSlice,
		Prepare:                  prepareEndpointSlice,
		Validate:                 validateEndpointSlice,
		WarningsOnWrite:          warnEndpointSlice,
	},
	Released: func(r *release.Release, s *resource.Strategy) {
		if !r.Has(behavior.RatchetsEndpointSlices) {
			s.Validate = validateWholeEndpointSlice
		}
	},
	GenerationFields: []string{"addressType", "endpoints", "ports", "labels"},
	Cells:            endpointSliceCells,
}
