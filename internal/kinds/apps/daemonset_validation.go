package apps

import (
	"github.com/kubefake/kubefake/internal/kinds/core/pods"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/selector"
	"github.com/kubefake/kubefake/internal/validation"
)

// validateDaemonSet returns the Validate of DaemonSets with a rule for the pod template.
func validateDaemonSet(template func(validation.View)) func(obj map[string]any, old object.View) validation.List {
	return func(obj map[string]any, old object.View) validation.List {
		selectors := validation.LabelSelectorOptions{InvalidValues: validation.HasInvalidLabelSelector(old, "spec", "selector")}
		return append(checkImmutableSelector(obj, old), validation.Collect(object.Map(obj, "spec"), validation.NewPath("spec"), func(p validation.View) {
			p.LabelSelector("selector", selectors)
			if labels, err := selector.FromMap(object.Map(p.Obj, "selector")).Selector(); err == nil {
				pods.CheckSelectorMatches(p, labels)
			}
			pods.CheckNotEmptySelector(p, "daemonset")
			template(p.Field("template"))
			p.NonNegative("minReadySeconds")
			checkDaemonSetUpdateStrategy(p.Field("updateStrategy"))
			p.NonNegative("revisionHistoryLimit")
		})...)
	}
}

func checkDaemonSetUpdateStrategy(p validation.View) {
	switch p.String("type") {
	case "OnDelete":
	case "RollingUpdate":
		rolling := p.Field("rollingUpdate")
		for _, check := range []func(string){rolling.IntOrPercent, rolling.PercentUpTo100} {
			check("maxUnavailable")
			check("maxSurge")
		}
		switch unavailable, surge := !isZeroNumberOrPercent(rolling, "maxUnavailable"), !isZeroNumberOrPercent(rolling, "maxSurge"); {
		case unavailable && surge:
			rolling.Add(validation.Invalid(rolling.At("maxSurge"), validation.AsGoType("o", rolling.Obj["maxSurge"]), "may not be set when maxUnavailable is non-zero"))
		case !unavailable && !surge:
			rolling.Required("maxUnavailable", "cannot be 0 when maxSurge is 0")
		}
	default:
		p.Add(validation.NotSupported(p.Path, validation.AsGoType("apps.DaemonSetUpdateStrategy", p.Obj), []string{"RollingUpdate", "OnDelete"}))
	}
}

func warnDaemonSet(r validation.Release, obj map[string]any, old object.View) []string {
	if !old.IsNil() && templateGenerationOf(object.ViewOf(obj)) == templateGenerationOf(old) {
		return nil
	}
	return pods.WarnPodTemplate(r, object.Map(obj, "spec", "template"), validation.NewPath("spec").Child("template"))
}

var daemonSetCounters = pods.StatusCounters{NonNegative: []string{
	"currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady", "observedGeneration",
	"updatedNumberScheduled", "numberAvailable", "numberUnavailable", "collisionCount",
}}
