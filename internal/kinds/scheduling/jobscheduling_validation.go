package scheduling

import (
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

// ValidateJobScheduling returns what generated validation finds in the scheduling of a Job, a field of
// its spec, which has the path. An update has the old spec: it may change the minCount of a gang only.
func ValidateJobScheduling(spec map[string]any, old object.View, path *validation.Path) validation.List {
	const gate = "WorkloadWithJob"
	specView := groupView{validation.View{Obj: spec}, old, !old.IsNil()}
	if specView.keeps("scheduling") {
		return nil
	}
	errs := validation.Collect(spec, path, func(p validation.View) {
		if spec := (groupView{p, old, !old.IsNil()}); spec.mayReplace("scheduling") {
			scheduling := groupView{spec.Field("scheduling"), old.At("scheduling"), spec.update}
			checkPolicyOfJob(scheduling)
			checkSettings(scheduling)
		}
	}).Declarative().WithGate(gate)
	if specView.Has("scheduling") {
		errs = append(errs, validation.List{validation.Forbidden(path.Child("scheduling"), "")}.Declarative().WithoutGate(gate)...)
	}
	return errs
}

// checkSettings checks the settings of the scheduling of a Job other than its policy.
func checkSettings(p groupView) {
	if p.mayCheck("schedulingConstraints") {
		p.IfPresent("schedulingConstraints", checkTopology)
	}
	if p.mayCheck("disruptionMode") {
		p.IfPresent("disruptionMode", checkDisruptionMode)
	}
	checkClaims(p)
}

// checkPolicyOfJob checks the policy of the scheduling of a Job, whose gang has no minCount if it is to be
// as large as the parallelism.
func checkPolicyOfJob(p groupView) {
	if p.keeps("schedulingPolicy") || !p.mayReplace("schedulingPolicy") {
		return
	}
	policy := p.Field("schedulingPolicy")
	checkUnion(policy, "basic", "gang")
	policy.IfPresent("gang", func(gang validation.View) {
		if gang.Has("minCount") && gang.Int("minCount") < 1 {
			gang.Invalid("minCount", "must be greater than or equal to 1")
		}
	})
}

// keeps reports whether an update keeps a field.
func (p groupView) keeps(name string) bool {
	return p.update && validation.Equal(p.Obj[name], p.old.At(name))
}

// mayReplace reports whether a field is to be checked: one that an update sets or clears is refused.
func (p groupView) mayReplace(name string) bool {
	switch had := !p.old.IsNil(name); {
	case p.update && had && !p.Has(name):
		p.Add(validation.Invalid(p.At(name), nil, "field cannot be cleared once set"))
	case p.update && !had && p.Has(name):
		p.Add(validation.Invalid(p.At(name), nil, "field cannot be set once created"))
	default:
		return p.Has(name)
	}
	return false
}
