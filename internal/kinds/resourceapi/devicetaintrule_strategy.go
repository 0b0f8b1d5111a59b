package resourceapi

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
)

// defaultTaintRule sets timeAdded of the taint.
func defaultTaintRule(obj map[string]any, now string) {
	if taint := object.Map(obj, "spec", "taint"); taint != nil {
		object.SetDefault(taint, "timeAdded", now)
	}
}

// stampTaintRule sets timeAdded of the taint if it is absent, or if the effect changes
// and timeAdded does not.
func stampTaintRule(obj map[string]any, old object.View, by resource.Author) {
	taint, before := object.Map(obj, "spec", "taint"), old.At("spec", "taint")
	switch {
	case taint == nil:
	case taint["timeAdded"] == nil,
		!before.IsNil() && !kind.SameField(taint, before, "effect") && kind.SameField(taint, before, "timeAdded"):
		taint["timeAdded"] = by.Now
	}
}

var deviceTaintRuleStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		DefaultTime:       defaultTaintRule,
		PrepareWithAuthor: stampTaintRule,
		Validate:          validateTaintRule,
	},
	Versioned: func(version string, s *resource.Strategy) {
		beta := version != "v1"
		s.AllowUnconditionalUpdate, s.ReturnDeletedObject = beta, beta
	},
	GenerationFields: []string{"spec"},
	Status: kind.Status{
		Metadata: kind.StatusMetadataNone,
		Validate: validateTaintRuleStatus,
	},
	Cells: taintRuleCells,
}
