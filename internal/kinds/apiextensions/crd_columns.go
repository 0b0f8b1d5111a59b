package apiextensions

import (
	"slices"
	"strings"
	"time"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/table"
)

// definitionCells returns the cells of a CustomResourceDefinition.
func definitionCells(r table.Row) []any {
	var versions []string
	for _, v := range r.Objects("spec", "versions") {
		name := object.String(v, "name")
		if object.Bool(v, "storage") {
			name += "(storage)"
		}
		if object.Bool(v, "served") {
			versions = append(versions, name)
		}
	}
	slices.Sort(versions)
	return []any{
		r.Name(), r.String("spec", "scope"), strings.Join(versions, ","), table.ParseTime(r.String("metadata", "creationTimestamp")).UTC().Format(time.RFC3339),
		r.String("spec", "group"), r.String("spec", "names", "kind"), strings.Join(object.Strings(r.Obj, "spec", "names", "shortNames"), ","),
		r.HasCondition("Established"),
	}
}
