package batch

import (
	"fmt"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

// checkJobScheduling checks the scheduling of a Job against its parallelism, and its disruption mode against
// its policy, which is basic by default.
func checkJobScheduling(p validation.View) {
	scheduling, ok := p.Lookup("scheduling")
	if !ok {
		return
	}
	policy := scheduling.Field("schedulingPolicy")
	gang := policy.Field("gang")
	parallelism := int64(1)
	if p.Has("parallelism") {
		parallelism = p.Int("parallelism")
	}
	if gang.Has("minCount") && gang.Int("minCount") > parallelism {
		gang.Invalid("minCount", fmt.Sprintf("must not be greater than parallelism (%d)", parallelism))
	}
	basic, mode := policy.Has("basic") || !policy.Has("gang"), scheduling.Field("disruptionMode")
	if basic && mode.Has("all") && !mode.Has("single") {
		scheduling.Add(validation.Invalid(scheduling.At("disruptionMode"), "", "the disruptionMode `all` is not supported with the Basic scheduling policy"))
	}
}

// checkJobSchedulingUpdate checks that an update does not replace a basic policy by a gang, or a gang by it.
func checkJobSchedulingUpdate(p validation.View, old object.View) {
	policy, was := object.Map(p.Obj, "scheduling", "schedulingPolicy"), old.At("scheduling", "schedulingPolicy")
	if policy != nil && !was.IsNil() && (policy["basic"] != nil) != (!was.IsNil("basic")) {
		p.Add(validation.Invalid(p.Field("scheduling").At("schedulingPolicy"), nil, "the basic/gang policy variant is immutable after creation; only schedulingPolicy.gang.minCount may be updated"))
	}
}
