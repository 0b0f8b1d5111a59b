package apiregistration

import (
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/table"
)

// apiServiceCells returns the cells of an APIService.
func apiServiceCells(r table.Row) []any {
	service, available := "Local", "Unknown"
	if r.Has("spec", "service") {
		service = r.String("spec", "service", "namespace") + "/" + r.String("spec", "service", "name")
	}
	for _, c := range r.Objects("status", "conditions") {
		if object.String(c, "type") != "Available" {
			continue
		}
		available = object.String(c, "status")
		if reason := object.String(c, "reason"); available != "True" && reason != "" {
			available += " (" + reason + ")"
		}
		break
	}
	return []any{r.Name(), service, available, r.Age()}
}
