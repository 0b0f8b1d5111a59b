package kinds

import (
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

func validateDisruptionBudget(obj, old map[string]any) validation.List {
	selectors := validation.LabelSelectorOptions{InvalidValues: brokenSelector(old, "spec", "selector")}
	return mistakes(object.Map(obj, "spec"), specPath, func(p part) {
		if p.has("minAvailable") && p.has("maxUnavailable") {
			p.note(validation.Invalid(p.path, internal("policy.PodDisruptionBudgetSpec", p.obj), "minAvailable and maxUnavailable cannot be both set"))
		}
		for _, name := range []string{"minAvailable", "maxUnavailable"} {
			if p.has(name) {
				p.share(name)
			}
		}
		p.labelSelector("selector", selectors)
		p.ifOneOf("unhealthyPodEvictionPolicy", "AlwaysAllow", "IfHealthyBudget")
	})
}

func validateDisruptionBudgetStatus(obj, _ map[string]any) validation.List {
	return mistakes(object.Map(obj, "status"), statusPath, func(p part) {
		p.add(validation.Conditions(object.List(p.obj, "conditions"), p.at("conditions")))
		p.notNegative("disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods")
	})
}
