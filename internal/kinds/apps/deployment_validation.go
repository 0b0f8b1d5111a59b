package apps

import (
	"github.com/kubefake/kubefake/internal/kinds/core/pods"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

// validateDeployment returns the Validate of Deployments with a rule for the pod template.
func validateDeployment(template func(validation.View)) func(obj map[string]any, old object.View) validation.List {
	return func(obj map[string]any, old object.View) validation.List {
		errs := validation.Collect(object.Map(obj, "spec"), validation.NewPath("spec"), func(p validation.View) { checkDeploymentSpec(p, template) })
		return append(errs, checkImmutableSelector(obj, old)...)
	}
}

func checkDeploymentSpec(p validation.View, template func(validation.View)) {
	p.NonNegative("replicas")
	pods.CheckRequiredSelector(p, "deployment", "invalid label selector", template)
	checkDeploymentStrategy(p.Field("strategy"))
	p.NonNegative("minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds")
	if p.Has("progressDeadlineSeconds") && p.Int("progressDeadlineSeconds") <= p.Int("minReadySeconds") {
		p.Invalid("progressDeadlineSeconds", "must be greater than minReadySeconds")
	}
}

func checkDeploymentStrategy(p validation.View) {
	switch p.String("type") {
	case "Recreate":
		if p.Has("rollingUpdate") {
			p.Forbidden("rollingUpdate", "may not be specified when strategy `type` is 'Recreate'")
		}
	case "RollingUpdate":
		rolling := p.Field("rollingUpdate")
		rolling.IntOrPercent("maxUnavailable")
		rolling.IntOrPercent("maxSurge")
		if isZeroNumberOrPercent(rolling, "maxUnavailable") && isZeroNumberOrPercent(rolling, "maxSurge") {
			rolling.Add(validation.Invalid(rolling.At("maxUnavailable"), validation.AsGoType("o", rolling.Obj["maxUnavailable"]), "may not be 0 when `maxSurge` is 0"))
		}
		rolling.PercentUpTo100("maxUnavailable")
	default:
		p.Add(validation.NotSupported(p.Path, validation.AsGoType("apps.DeploymentStrategy", p.Obj), []string{"Recreate", "RollingUpdate"}))
	}
}

var deploymentCounters = pods.StatusCounters{
	NonNegative:     []string{"observedGeneration", "replicas", "updatedReplicas", "readyReplicas", "availableReplicas", "unavailableReplicas", "terminatingReplicas", "collisionCount"},
	WithinReplicas:  []string{"updatedReplicas", "readyReplicas", "availableReplicas"},
	AvailableDetail: "cannot be greater than readyReplicas",
}
