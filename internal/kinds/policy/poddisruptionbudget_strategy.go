package policy

import (
	"maps"

	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/validation"
)

var podDisruptionBudgetStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		AllowUnqualifiedFinalizers: true,
		MetadataValidation:         resource.MetadataNone,
		Name:                       validation.PathSegmentName,
		GenerationBeforePrepare:    true,
		Prepare:                    prepareDisruptionBudget,
		Validate:                   validateDisruptionBudget,
	},
	GenerationFields: []string{"spec"},
	Status:           kind.Status{Validate: validateDisruptionBudgetStatus},
	Cells:            disruptionBudgetCells,
}

// selectsNothing is the key of an expression by which the selector of a budget of policy/v1beta1 matches
// no Pods in policy/v1. Other selectors cannot have it.
const selectsNothing = "pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match"

// prepareDisruptionBudget removes the expressions with the key selectsNothing from a new or changed
// selector that has anything else.
func prepareDisruptionBudget(obj map[string]any, old object.View) {
	selector := object.Map(obj, "spec", "selector")
	if selector == nil || !old.IsNil() && validation.Equal(selector, old.At("spec", "selector")) {
		return
	}
	kept, marks := []any{}, 0
	exists := false
	for e := range object.Each(selector["matchExpressions"]) {
		if object.String(e, "key") != selectsNothing {
			kept = append(kept, e)
			continue
		}
		marks++
		exists = object.String(e, "operator") == "Exists"
	}
	alone := len(object.Map(selector, "matchLabels")) == 0 && len(kept) == 0 && marks == 1
	if marks == 0 || alone && exists {
		return
	}
	spec := maps.Clone(object.Map(obj, "spec"))
	selector = maps.Clone(selector)
	selector["matchExpressions"] = kept
	spec["selector"], obj["spec"] = selector, spec
}
