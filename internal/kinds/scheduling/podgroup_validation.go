package scheduling

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
	"github.com/kubefake/kubefake/internal/wire"
)

// maxClaims and maxTemplates are how many elements lists may have.
const (
	maxClaims    = 4
	maxTemplates = 8
)

// maxTemplateDepth is how many levels of templates a Workload may have.
const maxTemplateDepth = 4

func validatePodGroup(obj map[string]any, old object.View) validation.List {
	return validation.Collect(obj, nil, func(p validation.View) {
		spec := groupView{p.Field("spec"), old.At("spec"), !old.IsNil()}
		if spec.mayCheck("parentCompositePodGroupName") {
			if spec.Has("parentCompositePodGroupName") && !spec.Has("workloadRef") {
				spec.Required("workloadRef", "must be set when parentCompositePodGroupName is set")
			}
			checkOptionalName(spec.View, "parentCompositePodGroupName")
		}
		checkWorkloadRef(spec)
		checkGroup(spec)
	})
}

func validateCompositePodGroup(obj map[string]any, old object.View) validation.List {
	return validation.Collect(obj, nil, func(p validation.View) {
		spec := groupView{p.Field("spec"), old.At("spec"), !old.IsNil()}
		if spec.mayCheck("parentCompositePodGroupName") {
			checkOptionalName(spec.View, "parentCompositePodGroupName")
		}
		checkWorkloadRef(spec)
		if old.IsNil() && !spec.Has("workloadRef") {
			spec.Required("workloadRef", "")
		}
		checkCompositeGroup(spec, true)
	})
}

func validateWorkload(obj map[string]any, old object.View) validation.List {
	return validation.Collect(obj, nil, func(p validation.View) {
		spec := groupView{p.Field("spec"), old.At("spec"), !old.IsNil()}
		checkTemplateTree(spec.View)
		const both = "`podGroupTemplates`, `compositePodGroupTemplates`"
		switch hasGroups, hasComposites := spec.Len("podGroupTemplates") > 0, spec.Len("compositePodGroupTemplates") > 0; {
		case !hasGroups && !hasComposites:
			spec.Add(validation.Invalid(spec.Path, "", "must specify one of: "+both))
		case hasGroups && hasComposites:
			spec.Add(validation.Invalid(spec.Path, "{podGroupTemplates, compositePodGroupTemplates}", "must specify exactly one of: "+both))
		}
		checkControllerRef(spec)
		checkTemplates(spec)
	})
}

func checkControllerRef(p groupView) {
	if !p.mayCheck("controllerRef") {
		return
	}
	p.IfPresent("controllerRef", func(ref validation.View) {
		ref.FormatIfSet("apiGroup", validation.LongName)
		ref.RequireFormat("kind", validation.PathSegment)
		ref.RequireFormat("name", validation.PathSegment)
	})
}

// checkTemplates checks the templates of a Workload, or of the template of a
// CompositePodGroup. An update may neither add nor remove one, and is not checked further if it does.
func checkTemplates(p groupView) {
	for _, list := range []string{"podGroupTemplates", "compositePodGroupTemplates"} {
		was := map[string]object.View{}
		for template := range p.old.At(list).Objects() {
			was[template.String("name")] = template
		}
		n := p.Len(list)
		if n > maxTemplates {
			p.Add(validation.TooMany(p.At(list), n, maxTemplates))
		}
		if p.update && !checkSameTemplates(p.View, list, was) || n > maxTemplates {
			continue
		}
		checkUniqueTemplates(p.View, list)
		for _, template := range p.Each(list) {
			template.RequireFormat("name", validation.ShortName)
			group := groupView{template, was[template.String("name")], p.update}
			if list == "podGroupTemplates" {
				checkGroup(group)
				continue
			}
			checkCompositeGroup(group, false)
			checkTemplates(group)
		}
	}
}

// checkSameTemplates checks that a list has templates of the same names as before.
func checkSameTemplates(p validation.View, list string, was map[string]object.View) (same bool) {
	same = true
	names := map[string]bool{}
	for _, template := range p.Each(list) {
		name := template.String("name")
		names[name] = true
		if was[name].IsNil() {
			same = false
			p.Add(validation.Forbidden(template.Path, "item may not be added"))
		}
	}
	for name := range was {
		if !names[name] {
			same = false
			p.Forbidden(list, "item may not be removed")
		}
	}
	return same
}

// checkTemplateTree checks what concerns all templates of a Workload: their names, the depth of
// the tree, that all have the same priority, and that its leaves are PodGroupTemplates.
func checkTemplateTree(spec validation.View) {
	names := map[string]bool{}
	for _, group := range spec.Each("podGroupTemplates") {
		names[group.String("name")] = true
	}
	checkTemplateNames(spec, names)
	for _, composite := range spec.Each("compositePodGroupTemplates") {
		if compositeDepth(composite) >= maxTemplateDepth {
			spec.Add(validation.Invalid(composite.Path, validation.AsGoType("[]scheduling.CompositePodGroupTemplate", composite.Obj["compositePodGroupTemplates"]),
				fmt.Sprintf("maximum template hierarchy depth is %d", maxTemplateDepth)))
		}
	}
	checkSamePriority(spec)
	checkChildren(spec)
}

// checkTemplateNames checks that no template below p has the name of one in another list.
func checkTemplateNames(p validation.View, names map[string]bool) {
	checkNewNames(p, "compositePodGroupTemplates", names)
	for _, composite := range p.Each("compositePodGroupTemplates") {
		checkNewNames(composite, "podGroupTemplates", names)
		checkTemplateNames(composite, names)
	}
}

// checkNewNames checks that no template in a list has one of the names, and adds theirs.
func checkNewNames(p validation.View, list string, names map[string]bool) {
	for _, template := range p.Each(list) {
		if name := template.String("name"); names[name] {
			p.Add(validation.Duplicate(template.At("name"), name))
		}
	}
	for _, template := range p.Each(list) {
		names[template.String("name")] = true
	}
}

// compositeDepth returns how many CompositePodGroupTemplates are on the longest way down from p.
func compositeDepth(p validation.View) int {
	deepest := 0
	for _, child := range p.Each("compositePodGroupTemplates") {
		deepest = max(deepest, compositeDepth(child))
	}
	return deepest + 1
}

// checkSamePriority checks that all templates have the same priority and priorityClassName.
func checkSamePriority(spec validation.View) {
	var first []any
	differs := func(template validation.View) bool {
		priority := []any{template.String("priorityClassName"), template.Obj["priority"]}
		if first == nil {
			first = priority
		}
		return !slices.Equal(priority, first)
	}
	if slices.ContainsFunc(views(spec, "podGroupTemplates"), differs) {
		spec.Add(validation.Invalid(spec.Path, nil, "detected multiple priority configurations"))
		return
	}
	var differsBelow func(composite validation.View) bool
	differsBelow = func(composite validation.View) bool {
		return differs(composite) || slices.ContainsFunc(views(composite, "compositePodGroupTemplates"), differsBelow) ||
			slices.ContainsFunc(views(composite, "podGroupTemplates"), differs)
	}
	if slices.ContainsFunc(views(spec, "compositePodGroupTemplates"), differsBelow) {
		spec.Add(validation.Invalid(spec.Path, nil, "all priority and priorityClassName values must be identical, detected multiple values"))
	}
}

// views returns the views of the elements of a list.
func views(p validation.View, list string) (out []validation.View) {
	for _, v := range p.Each(list) {
		out = append(out, v)
	}
	return out
}

// checkChildren checks that each CompositePodGroupTemplate below p has templates.
func checkChildren(p validation.View) {
	for _, composite := range p.Each("compositePodGroupTemplates") {
		if composite.Len("podGroupTemplates")+composite.Len("compositePodGroupTemplates") == 0 {
			p.Add(validation.Invalid(composite.Path, composite.String("name"), "must have at least one child PodGroupTemplate or CompositePodGroupTemplate"))
		}
		checkChildren(composite)
	}
}

// checkWorkloadRef checks the Workload that the spec of a group names.
func checkWorkloadRef(p groupView) {
	if p.mayCheck("workloadRef") {
		p.IfPresent("workloadRef", func(ref validation.View) {
			ref.RequireFormat("workloadName", validation.LongName)
			ref.RequireFormat("templateName", validation.ShortName)
		})
	}
}

// checkGroup checks the spec of a PodGroup, or a template of one.
func checkGroup(p groupView) {
	checkPolicy(p, "minCount")
	if p.mayCheck("schedulingConstraints") {
		p.IfPresent("schedulingConstraints", checkTopology)
	}
	checkClaims(p)
	checkDisruptionAndPriority(p)
}

// checkCompositeGroup checks the spec of a CompositePodGroup, whose policy does not change, or
// a template of one.
func checkCompositeGroup(p groupView, isSpec bool) {
	if !isSpec || p.mayCheck("schedulingPolicy") {
		checkPolicy(p, "minGroupCount")
	}
	if p.mayCheck("schedulingConstraints") {
		p.IfPresent("schedulingConstraints", checkTopology)
	}
	checkDisruptionAndPriority(p)
}

// checkPolicy checks the policy of a group, whose gang may change, but not become another
// policy.
func checkPolicy(p groupView, count string) {
	policy, was := p.Field("schedulingPolicy"), p.old.At("schedulingPolicy")
	checkUnion(policy, "basic", "gang")
	groupView{policy, was, p.update}.mayCheck("basic")
	switch before, after := !was.IsNil("gang"), policy.Has("gang"); {
	case p.update && before && !after:
		policy.Add(validation.Invalid(policy.At("gang"), nil, "field cannot be cleared once set"))
	case p.update && !before && after:
		policy.Add(validation.Invalid(policy.At("gang"), nil, "field cannot be set once created"))
	default:
		checkGang(policy, count)
	}
}

func checkGang(policy validation.View, count string) {
	policy.IfPresent("gang", func(gang validation.View) {
		if gang.Int(count) == 0 {
			gang.Required(count, "")
		} else if gang.Int(count) < 1 {
			gang.Invalid(count, "must be greater than or equal to 1")
		}
	})
}

func checkClaims(p groupView) {
	if p.mayCheckList("resourceClaims", maxClaims) {
		checkUniqueNames(p.View, "resourceClaims")
		for _, claim := range p.Each("resourceClaims") {
			checkUnion(claim, "resourceClaimName", "resourceClaimTemplateName")
			claim.RequireFormat("name", validation.ShortName)
			checkOptionalName(claim, "resourceClaimName")
			checkOptionalName(claim, "resourceClaimTemplateName")
		}
	}
}

func checkDisruptionAndPriority(p groupView) {
	if p.mayCheck("disruptionMode") {
		p.IfPresent("disruptionMode", checkDisruptionMode)
	}
	checkPriority(p)
	if p.mayCheck("preemptionPolicy") && p.Has("preemptionPolicy") {
		p.OneOf("preemptionPolicy", "Never", "PreemptLowerPriority")
	}
}

func checkDisruptionMode(mode validation.View) { checkUnion(mode, "single", "all") }

func checkPriority(p groupView) {
	if p.mayCheck("priorityClassName") {
		p.FormatIfSet("priorityClassName", validation.LongName)
	}
	if p.mayCheck("priority") && p.Int("priority") > highestUserPriority {
		p.Invalid("priority", "must be less than or equal to 1000000000")
	}
}

// validateGroupConditions checks the conditions in a status.
func validateGroupConditions(obj map[string]any, _ object.View) validation.List {
	return validation.Conditions(object.List(obj, "status", "conditions"), validation.NewPath("status", "conditions"))
}

// A groupView is a view of a part of a PodGroup or Workload, none of whose fields may change.
type groupView struct {
	validation.View
	old    object.View
	update bool
}

// mayCheck reports whether a field is to be checked: one that an update changes is refused,
// and one that it keeps is not checked again.
func (p groupView) mayCheck(name string) bool {
	if p.update && !validation.Equal(p.Obj[name], p.old.At(name)) {
		p.Add(validation.Invalid(p.At(name), nil, "field is immutable"))
	}
	return !p.update
}

// mayCheckList is mayCheck for a list, whose length it checks.
func (p groupView) mayCheckList(name string, limit int) bool {
	may := p.mayCheck(name)
	if n := p.Len(name); n > limit && (may || !validation.Equal(p.Obj[name], p.old.At(name))) {
		p.Add(validation.TooMany(p.At(name), n, limit))
		return false
	}
	return may
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

// checkUniqueTemplates checks that the templates in a list of a Workload have different names.
func checkUniqueTemplates(p validation.View, list string) {
	checkUnique(p, list, func(template map[string]any) any {
		return wire.QuotedElement("scheduling.k8s.io", "v1beta1", "Workload", []string{"spec", list}, template)
	})
}

// checkUniqueNames checks that the elements of a list have different names.
func checkUniqueNames(p validation.View, list string) {
	checkUnique(p, list, func(element map[string]any) any { return element })
}

// checkUnique checks that the elements of a list have different names. quoted returns an element as the
// error quotes it.
func checkUnique(p validation.View, list string, quoted func(element map[string]any) any) {
	seen := map[string]bool{}
	for _, element := range p.Each(list) {
		name := element.String("name")
		if seen[name] {
			p.Add(validation.Duplicate(element.Path, quoted(element.Obj)))
		}
		seen[name] = true
	}
}

func validatePodGroupStatus(obj map[string]any, _ object.View) validation.List {
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
