package core

import (
	"maps"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/table"
)

// resourceQuotaCells returns the used and the hard amounts. Limits have a column of their own.
func resourceQuotaCells(r table.Row) []any {
	var requests, limits []string
	for _, name := range slices.Sorted(maps.Keys(object.Map(r.Obj, "status", "hard"))) {
		text := name + ": " + r.Or("0", "status", "used", name) + "/" + r.Or("0", "status", "hard", name)
		if strings.HasPrefix(name, "limits.") {
			limits = append(limits, text)
		} else {
			requests = append(requests, text)
		}
	}
	if r.Before(behavior.QuotaColumns) {
		return []any{r.Name(), r.Age(), strings.Join(requests, ", "), strings.Join(limits, ", ")}
	}
	return []any{r.Name(), strings.Join(requests, ", "), strings.Join(limits, ", "), r.Age()}
}
