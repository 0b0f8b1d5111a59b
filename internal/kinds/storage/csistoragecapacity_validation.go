package storage

import (
	"fmt"

	"github.com/kubefake/kubefake/internal/kinds/core/nodes"
	"github.com/kubefake/kubefake/internal/kinds/core/resources"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

func validateCSIStorageCapacity(obj map[string]any, old object.View) validation.List {
	opts := validation.LabelSelectorOptions{InvalidValues: validation.HasInvalidLabelSelector(old, "nodeTopology")}
	capacity := func(p validation.View) {
		p.LabelSelector("nodeTopology", opts)
		p.Format("storageClassName", validation.Subdomain)
		if quantity, ok := p.Obj["capacity"].(string); ok {
			p.AddList(resources.ValidateNonNegativeQuantity(quantity, p.At("capacity")))
		}
	}
	if old.IsNil() {
		return validation.Collect(obj, nil, capacity)
	}
	return validation.Collect(obj, nil, capacity, func(p validation.View) {
		p.ImmutableAs("nodeTopology", "*metav1.LabelSelector", old)
		p.ImmutableAs("storageClassName", "s", old)
	})
}

func warnCSIStorageCapacity(obj map[string]any, _ object.View) []string {
	topology := validation.View{Obj: object.Map(obj, "nodeTopology"), Path: validation.NewPath("nodeTopology")}
	var warnings []string
	for _, e := range topology.Each("matchExpressions") {
		if key := e.String("key"); nodes.DeprecatedLabel(key) != "" {
			warnings = append(warnings, fmt.Sprintf("%s: %s is %s", e.At("key"), key, nodes.DeprecatedLabel(key)))
		}
	}
	for label := range topology.Entries("matchLabels") {
		if message := nodes.DeprecatedLabel(label); message != "" {
			warnings = append(warnings, fmt.Sprintf("%s: %s", topology.At("matchLabels").Child(label), message))
		}
	}
	return warnings
}
