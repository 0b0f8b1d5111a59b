package discovery

import (
	"slices"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

func warnEndpointSlice(obj map[string]any, old object.View) []string {
	var warnings []string
	if old.IsNil() && object.String(obj, "addressType") == "FQDN" {
		warnings = append(warnings, "spec.addressType: FQDN endpoints are deprecated")
	}
	if slices.Contains(sliceControllers, object.String(obj, "metadata", "labels", "endpointslice.kubernetes.io/managed-by")) {
		return warnings
	}
	for _, endpoint := range (validation.View{Obj: obj}).Each("endpoints") {
		for i, address := range endpoint.Strings("addresses") {
			warnings = append(warnings, validation.IPWarnings(address, endpoint.At("addresses").Index(i))...)
		}
	}
	return warnings
}

// sliceControllers are the controllers whose slices cause no warnings.
var sliceControllers = []string{"endpointslice-controller.k8s.io", "endpointslicemirroring-controller.k8s.io"}
