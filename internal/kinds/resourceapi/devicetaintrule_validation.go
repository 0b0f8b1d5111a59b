package resourceapi

import (
	"github.com/kubefake/kubefake/internal/kinds/core/volumes"
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

// checkDeviceTaint checks a taint. It does not check an effect that did not change.
func checkDeviceTaint(taint validation.View, old object.View) {
	taint.Format("key", validation.QualifiedName)
	taint.FormatIfSet("value", validation.LabelValue)
	if old.IsNil() || !kind.SameField(taint.Obj, old, "effect") {
		taint.Declarative(func(p validation.View) { p.RequireOneOf("effect", deviceEffects...) })
	}
}

func validateTaintRule(obj map[string]any, old object.View) validation.List {
	return validation.Collect(object.Map(obj, "spec"), validation.NewPath("spec"), func(spec validation.View) {
		spec.IfPresent("deviceSelector", func(selector validation.View) {
			if selector.Has("driver") {
				volumes.CheckCSIDriverName(selector, "driver")
			}
			if selector.Has("pool") {
				checkPoolName(selector, "pool")
			}
			if selector.Has("device") {
				selector.Format("device", validation.DNS1123Label)
			}
		})
		checkDeviceTaint(spec.Field("taint"), old.At("spec", "taint"))
	})
}

func validateTaintRuleStatus(obj map[string]any, _ object.View) validation.List {
	return validation.Collect(object.Map(obj, "status"), validation.NewPath("status"), func(status validation.View) {
		status.AddList(validation.Conditions(object.List(status.Obj, "conditions"), status.At("conditions")))
		checkSize(status, "conditions", maxTaintRuleStatuses)
	})
}
