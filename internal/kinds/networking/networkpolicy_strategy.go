package networking

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/table"
)

func defaultNetworkPolicy(obj map[string]any) {
	spec := object.EnsureMap(obj, "spec")
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
				object.SetDefault(port, "protocol", "TCP")
			}
		}
	}
}

var networkPolicyStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		AllowUnconditionalUpdate: true,
		Default:                  defaultNetworkPolicy,
		Validate:                 validateNetworkPolicy,
		WarningsOnWrite:          warnNetworkPolicy,
	},
	ValidatedAsNewUntil: behavior.OtherUpdatesOnce,
	GenerationFields:    []string{"spec"},
	GenerationExact:     true,
	Cells:               func(r table.Row) []any { return []any{r.Name(), r.SelectorCell("spec", "podSelector"), r.Age()} },
}
