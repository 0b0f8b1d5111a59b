package core

import (
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/table"
)

// componentStatusCells returns the first condition of type Healthy.
func componentStatusCells(r table.Row) []any {
	for _, c := range r.Objects("conditions") {
		if object.String(c, "type") == "Healthy" {
			health := "Unhealthy"
			if object.String(c, "status") == "True" {
				health = "Healthy"
			}
			return []any{r.Name(), health, object.String(c, "message"), object.String(c, "error")}
		}
	}
	return []any{r.Name(), "Unknown", "", ""}
}
