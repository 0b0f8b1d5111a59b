package kinds

import (
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

func defaultNetworkPolicy(obj map[string]any) {
	spec := child(obj, "spec")
	if len(object.List(spec, "policyTypes")) == 0 {
		types := []any{"Ingress"}
		if len(object.List(spec, "egress")) > 0 {
			types = append(types, "Egress")
		}
		spec["policyTypes"] = types
	}
	for _, direction := range []string{"ingress", "egress"} {
		for rule := range object.Each(spec[direction]) {
			for port := range object.Each(rule["ports"]) {
				fill(port, "protocol", "TCP")
			}
		}
	}
}

func defaultIngressClass(obj map[string]any) {
	if parameters := object.Map(obj, "spec", "parameters"); parameters != nil {
		fill(parameters, "scope", "Cluster")
	}
}

func defaultEndpointSlice(obj map[string]any) {
	for port := range object.Each(obj["ports"]) {
		fill(port, "name", "")
		fill(port, "protocol", "TCP")
	}
}

// prepareEndpointSlice drops what version 1 keeps only as it finds it.
func prepareEndpointSlice(obj, old map[string]any) {
	if old != nil && validation.Equal(obj["endpoints"], old["endpoints"]) {
		return
	}
	for endpoint := range object.Each(obj["endpoints"]) {
		delete(endpoint, "deprecatedTopology")
	}
}
