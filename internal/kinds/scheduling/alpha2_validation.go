package scheduling

import (
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

func validateAlpha2PodGroup(obj map[string]any, old object.View) validation.List {
	return validation.Collect(obj, nil, func(p validation.View) {
		checkAlpha2Group(groupView{p.Field("spec"), old.At("spec"), !old.IsNil()}, true)
	})
}

func validateAlpha2Workload(obj map[string]any, old object.View) validation.List {
	return validation.Collect(obj, nil, func(p validation.View) {
		spec := groupView{p.Field("spec"), old.At("spec"), !old.IsNil()}
		checkControllerRef(spec)
		may := spec.mayCheckList("podGroupTemplates", maxTemplates)
		if spec.Len("podGroupTemplates") == 0 {
			spec.Required("podGroupTemplates", "")
		}
		if !may {
			return
		}
		checkUniqueNames(spec.View, "podGroupTemplates")
		for _, template := range spec.Each("podGroupTemplates") {
			template.RequireFormat("name", validation.ShortName)
			checkAlpha2Group(groupView{View: template}, false)
		}
	})
}

// checkAlpha2Group checks the spec of a PodGroup of v1alpha2, or a template of one.
func checkAlpha2Group(p groupView, isSpec bool) {
	if isSpec && p.mayCheck("podGroupTemplateRef") {
		p.IfPresent("podGroupTemplateRef", func(ref validation.View) {
			checkUnion(ref, "workload")
			ref.IfPresent("workload", func(workload validation.View) {
				workload.RequireFormat("workloadName", validation.LongName)
				workload.RequireFormat("podGroupTemplateName", validation.ShortName)
			})
		})
	}
	if p.mayCheck("schedulingPolicy") {
		policy := p.Field("schedulingPolicy")
		checkUnion(policy, "basic", "gang")
		checkGang(policy, "minCount")
	}
	if p.mayCheck("schedulingConstraints") {
		p.IfPresent("schedulingConstraints", checkTopology)
	}
	checkClaims(p)
	if p.mayCheck("disruptionMode") && p.Has("disruptionMode") {
		p.OneOf("disruptionMode", "Pod", "PodGroup")
	}
	checkPriority(p)
}
