package admissionregistration

import (
	"github.com/kubefake/kubefake/internal/table"
)

// policyCells returns a function that returns the cells of a policy. rules is the
// field of spec that lists its rules.
func policyCells(rules string) func(table.Row) []any {
	return func(r table.Row) []any {
		param := table.Unset
		if r.Has("spec", "paramKind") {
			param = r.String("spec", "paramKind", "apiVersion") + "/" + r.String("spec", "paramKind", "kind")
		}
		return []any{r.Name(), r.Len("spec", rules), param, r.Age()}
	}
}
