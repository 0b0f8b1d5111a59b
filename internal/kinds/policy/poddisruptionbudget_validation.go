package policy

import (
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

func validateDisruptionBudget(obj map[string]any, old object.View) validation.List {
	selectors := validation.LabelSelectorOptions{InvalidValues: validation.HasInvalidLabelSelector(old, "spec", "selector")}
	return validation.Collect(object.Map(obj, "spec"), validation.NewPath("spec"), func(p validation.View) {
		if p.Has("minAvailable") && p.Has("maxUnavailable") {
			p.Add(validation.Invalid(p.Path, validation.AsGoType("policy.PodDisruptionBudgetSpec", p.Obj), "minAvailable and maxUnavailable cannot be both set"))
		}
		for _, name := range []string{"minAvailable", "maxUnavailable"} {
			if p.Has(name) {
				p.IntOrPercentUpTo100(name)
			}
		}
		p.LabelSelector("selector", selectors)
		p.OneOfIfSet("unhealthyPodEvictionPolicy", "AlwaysAllow", "IfHealthyBudget")
	})
}

func validateDisruptionBudgetStatus(obj map[string]any, _ object.View) validation.List {
	return validation.Collect(object.Map(obj, "status"), validation.NewPath("status"), func(p validation.View) {
		p.AddList(validation.Conditions(object.List(p.Obj, "conditions"), p.At("conditions")))
		p.NonNegative("disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods")
	})
}
