package scheduling

import (
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
)

// maxClaims and maxTemplates are how many elements lists may have.
const (
	maxClaims    = 4
	maxTemplates = 8
)

func validatePodGroup(obj, old map[string]any) validation.List {
	return validation.Collect(obj, nil, func(p validation.View) {
		checkGroup(groupView{p.Field("spec"), object.Map(old, "spec"), old != nil}, true)
	})
}

func validateWorkload(obj, old map[string]any) validation.List {
	return validation.Collect(obj, nil, func(p validation.View) {
		spec := groupView{p.Field("spec"), object.Map(old, "spec"), old != nil}
		if spec.mayCheck("controllerRef") {
			spec.IfPresent("controllerRef", func(ref validation.View) {
				ref.FormatIfSet("apiGroup", validation.LongName)
				ref.RequireFormat("kind", validation.PathSegment)
				ref.RequireFormat("name", validation.PathSegment)
			})
		}
		may := spec.mayCheckList("podGroupTemplates", maxTemplates)
		if spec.Len("podGroupTemplates") == 0 {
			spec.Required("podGroupTemplates", "")
		}
		if !may {
			return
		}
		checkUniqueNames(spec.View, "podGroupTemplates")
		for _, template := range spec.Each("podGroupTemplates") {
			template.RequireFormat("name", validation.DNS1123Label)
			checkGroup(groupView{View: template}, false)
		}
	})
}

// A groupView is a view of a part of a PodGroup or Workload, none of whose fields may change.
type groupView struct {
	validation.View
	old    map[string]any
	update bool
}

// mayCheck reports whether a field is to be checked: one that an update changes is refused,
// and one that it keeps is not checked again.
func (p groupView) mayCheck(name string) bool {
	if p.update && !validation.Equal(p.Obj[name], p.old[name]) {
		p.Add(validation.Invalid(p.At(name), nil, "field is immutable"))
	}
	return !p.update
}

// mayCheckList is mayCheck for a list, whose length it checks.
func (p groupView) mayCheckList(name string, limit int) bool {
	may := p.mayCheck(name)
	if n := p.Len(name); n > limit && (may || !validation.Equal(p.Obj[name], p.old[name])) {
		p.Add(validation.TooMany(p.At(name), n, limit))
		return false
	}
	return may
}

// checkGroup checks the spec of a PodGroup, or a template of one.
func checkGroup(p groupView, isSpec bool) {
	if isSpec && p.mayCheck("podGroupTemplateRef") {
		p.IfPresent("podGroupTemplateRef", func(ref validation.View) {
			checkUnion(ref, "workload")
			ref.IfPresent("workload", func(workload validation.View) {
				workload.RequireFormat("workloadName", validation.LongName)
				workload.RequireFormat("podGroupTemplateName", validation.DNS1123Label)
			})
		})
	}
	if p.mayCheck("schedulingPolicy") {
		policy := p.Field("schedulingPolicy")
		checkUnion(policy, "basic", "gang")
		policy.IfPresent("gang", func(gang validation.View) {
			if gang.Int("minCount") == 0 {
				gang.Required("minCount", "")
			} else if gang.Int("minCount") < 1 {
				gang.Invalid("minCount", "must be greater than or equal to 1")
			}
		})
	}
	if p.mayCheck("schedulingConstraints") {
		p.IfPresent("schedulingConstraints", checkTopology)
	}
	if p.mayCheckList("resourceClaims", maxClaims) {
		checkUniqueNames(p.View, "resourceClaims")
		for _, claim := range p.Each("resourceClaims") {
			checkUnion(claim, "resourceClaimName", "resourceClaimTemplateName")
			claim.RequireFormat("name", validation.DNS1123Label)
			checkOptionalName(claim, "resourceClaimName")
			checkOptionalName(claim, "resourceClaimTemplateName")
		}
	}
	if p.mayCheck("disruptionMode") && p.Has("disruptionMode") {
		p.OneOf("disruptionMode", "Pod", "PodGroup")
	}
	if p.mayCheck("priorityClassName") {
		p.FormatIfSet("priorityClassName", validation.LongName)
	}
	if p.mayCheck("priority") && p.Int("priority") > highestUserPriority {
		p.Invalid("priority", "must be less than or equal to 1000000000")
	}
}

func checkTopology(p validation.View) {
	if n := p.Len("topology"); n > 1 {
		p.Add(validation.TooMany(p.At("topology"), n, 1))
		return
	}
	for _, constraint := range p.Each("topology") {
		constraint.RequireFormat("key", validation.QualifiedName)
	}
}

// checkOptionalName checks the name of an object, which may be absent but not empty.
func checkOptionalName(p validation.View, name string) {
	if p.Has(name) {
		p.Format(name, validation.LongName)
	}
}

// checkUnion checks that exactly one of the members is set.
func checkUnion(p validation.View, members ...string) {
	var quoted, set []string
	for _, name := range members {
		quoted = append(quoted, "`"+name+"`")
		if p.Has(name) {
			set = append(set, name)
		}
	}
	switch all := strings.Join(quoted, ", "); {
	case len(set) == 0:
		p.Add(validation.Invalid(p.Path, "", "must specify one of: "+all))
	case len(set) > 1:
		p.Add(validation.Invalid(p.Path, "{"+strings.Join(set, ", ")+"}", "must specify exactly one of: "+all))
	}
}

// checkUniqueNames checks that the elements of a list have different names.
func checkUniqueNames(p validation.View, list string) {
	var seen []string
	for i, element := range p.Each(list) {
		if name := element.String("name"); slices.Contains(seen, name) {
			p.Add(validation.Duplicate(p.At(list).Index(i), element.Obj))
		} else {
			seen = append(seen, name)
		}
	}
}

func validatePodGroupStatus(obj, _ map[string]any) validation.List {
	return validation.Collect(obj, nil, func(p validation.View) {
		status := p.Field("status")
		status.AddList(validation.Conditions(object.List(status.Obj, "conditions"), status.At("conditions")))
		var claims []string
		for claim := range object.Each(object.List(obj, "spec", "resourceClaims")) {
			claims = append(claims, object.String(claim, "name"))
		}
		for _, claim := range status.Each("resourceClaimStatuses") {
			if !slices.Contains(claims, claim.String("name")) {
				claim.Invalid("name", "must match the name of an entry in `spec.resourceClaims`")
			}
		}
		if n := status.Len("resourceClaimStatuses"); n > maxClaims {
			status.Add(validation.TooMany(status.At("resourceClaimStatuses"), n, maxClaims))
			return
		}
		checkUniqueNames(status, "resourceClaimStatuses")
		for _, claim := range status.Each("resourceClaimStatuses") {
			checkOptionalName(claim, "resourceClaimName")
		}
	})
}
