package podautoscaler

import (
	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release/behavior"
)

// scaledToZero is the condition of a target that the controller, and nobody else, has scaled to zero.
const scaledToZero = "ScaledToZero"

// mayBeZero reports whether the minimum may be zero.
func (r *reconciliation) mayBeZero() bool { return r.env.Release().Enabled("HPAScaleToZero") }

// leavesZero reports whether a target without replicas is scaled.
func (r *reconciliation) leavesZero() bool {
	switch {
	case !r.mayBeZero():
		return false
	case !r.env.Release().Has(behavior.ScaledToZeroConditions):
		return r.min == 0
	}
	condition := controller.ConditionIn(r.status, scaledToZero)
	return object.String(condition, "status") == "True" && (r.min != 0 || r.hasOtherMetrics())
}

// hasOtherMetrics reports whether there is a metric that is not one of Pods.
func (r *reconciliation) hasOtherMetrics() bool {
	for spec := range r.hpa.At("spec", "metrics").Objects() {
		if typ := spec.String("type"); typ == "Object" || typ == "External" {
			return true
		}
	}
	return false
}

// setScaledToZero sets the condition of a target that has been scaled.
func (r *reconciliation) setScaledToZero(desired int64) {
	switch {
	case !r.env.Release().Has(behavior.ScaledToZeroConditions):
	case !r.mayBeZero():
		controller.RemoveCondition(r.status, scaledToZero)
	case desired == 0 && r.min == 0 && r.hasOtherMetrics():
		r.setCondition(scaledToZero, "True", "ScaledToZero", "the HPA controller scaled the workload to zero")
	default:
		r.setCondition(scaledToZero, "False", "NotScaledToZero", "the HPA controller did not scale the workload to zero")
	}
}
