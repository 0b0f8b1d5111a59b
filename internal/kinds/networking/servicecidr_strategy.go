package networking

import (
	"strings"

	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/table"
)

var serviceCIDRStrategy = kind.Strategy{
	Strategy: resource.Strategy{
		AllowUnconditionalUpdate: true,
		Validate:                 validateServiceCIDR,
	},
	ValidatedAsNewUntil: behavior.ServiceCIDRUpdatesOnce,
	Status:              kind.Status{Metadata: kind.StatusMetadataNone, ResetGate: "ServiceCIDRStatusFieldWiping"},
	Cells: func(r table.Row) []any {
		return []any{r.Name(), strings.Join(object.Strings(r.Obj, "spec", "cidrs"), ","), r.Age()}
	},
}
