package networking

import (
	"strings"

	"github.com/kubefake/kubefake/internal/table"
)

// ipAddressCells returns the cells of an IPAddress. kube-apiserver returns one
// cell more than there are columns.
func ipAddressCells(r table.Row) []any {
	parent := table.None
	if r.Has("spec", "parentRef") {
		ref := func(name string) string { return r.String("spec", "parentRef", name) }
		parent = ref("resource")
		if group := ref("group"); group != "" {
			parent += "." + group
		}
		parent = strings.ToLower(parent)
		if namespace := ref("namespace"); namespace != "" {
			parent += "/" + namespace
		}
		parent += "/" + ref("name")
	}
	return []any{r.Name(), parent, r.Age()}
}
