package coordination

import (
	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/table"
	"github.com/kubefake/kubefake/internal/validation"
)

var leaseCandidateStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		AllowUnqualifiedFinalizers: true,
		AllowCreateOnUpdate:        true,
		Name:                       validation.LeaseCandidateName,
		Validate:                   validateLeaseCandidate,
	},
	Cells: func(r table.Row) []any {
		return []any{r.Name(), r.String("spec", "leaseName"), r.String("spec", "binaryVersion"), r.String("spec", "emulationVersion"), r.Age()}
	},
}
