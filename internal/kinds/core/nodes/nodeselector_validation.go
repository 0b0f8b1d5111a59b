package nodes

import (
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/validation"
)

// CheckNodeSelector validates the node selector of a Pod or a PersistentVolume.
func CheckNodeSelector(p validation.View) {
	if p.Len("nodeSelectorTerms") == 0 {
		p.Required("nodeSelectorTerms", "must have at least one node selector term")
		return
	}
	for _, term := range p.Each("nodeSelectorTerms") {
		CheckNodeSelectorTerm(term, false)
	}
}

// CheckNodeSelectorTerm validates one term of a node selector. If allowInvalidValues
// is set, values need not be valid label values.
func CheckNodeSelectorTerm(p validation.View, allowInvalidValues bool) {
	for _, requirement := range p.Each("matchExpressions") {
		checkNodeRequirement(requirement, allowInvalidValues)
	}
	for _, requirement := range p.Each("matchFields") {
		checkNodeFieldRequirement(requirement)
	}
}

func checkNodeRequirement(p validation.View, allowInvalidValues bool) {
	values := p.Len("values")
	switch p.String("operator") {
	case "In", "NotIn":
		if values == 0 {
			p.Required("values", "must be specified when `operator` is 'In' or 'NotIn'")
		}
	case "Exists", "DoesNotExist":
		if values > 0 {
			p.Forbidden("values", "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")
		}
	case "Gt", "Lt":
		if values != 1 {
			p.Required("values", "must be specified single value when `operator` is 'Lt' or 'Gt'")
		}
	default:
		p.InvalidNamed("operator", "not a valid selector operator")
	}
	p.AddList(validation.LabelKey(p.String("key"), p.At("key")))
	if !allowInvalidValues {
		p.AddList(validation.Collect(p.Obj, p.Path, func(p validation.View) { p.EachFormat("values", validation.LabelValue) }).Since(behavior.ValidatesAffinityValues))
	}
}

func checkNodeFieldRequirement(p validation.View) {
	switch p.String("operator") {
	case "In", "NotIn":
		if p.Len("values") != 1 {
			p.Required("values", "must be only one value when `operator` is 'In' or 'NotIn' for node field selector")
		}
	default:
		p.InvalidNamed("operator", "not a valid selector operator")
	}
	if p.String("key") != "metadata.name" {
		p.Add(validation.Invalid(p.At("key"), p.String("key"), "not a valid field selector key"))
		return
	}
	p.EachFormat("values", validation.Subdomain)
}
