package storage

import (
	"cmp"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/table"
)

// csiDriverCells returns the cells of a CSIDriver.
func csiDriverCells(r table.Row) []any {
	attach, tokens := true, table.Unset
	if r.Has("spec", "attachRequired") {
		attach = r.Bool("spec", "attachRequired")
	}
	if r.Has("spec", "tokenRequests") {
		var audiences []string
		for _, t := range r.Objects("spec", "tokenRequests") {
			audiences = append(audiences, object.String(t, "audience"))
		}
		tokens = strings.Join(audiences, ",")
	}
	modes := strings.Join(object.Strings(r.Obj, "spec", "volumeLifecycleModes"), ",")
	return []any{
		r.Name(), attach, r.Bool("spec", "podInfoOnMount"), r.Bool("spec", "storageCapacity"), tokens,
		r.Bool("spec", "requiresRepublish"), cmp.Or(modes, table.None), r.Age(),
	}
}
