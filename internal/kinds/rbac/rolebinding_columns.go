package rbac

import (
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/table"
)

// roleBindingCells returns the role and the subjects of a binding.
func roleBindingCells(r table.Row) []any {
	subjects := map[string][]string{}
	for _, s := range r.Objects("subjects") {
		kind, name := object.String(s, "kind"), object.String(s, "name")
		if kind == "ServiceAccount" {
			name = object.String(s, "namespace") + "/" + name
		}
		subjects[kind] = append(subjects[kind], name)
	}
	all := func(kind string) string { return strings.Join(subjects[kind], ", ") }
	return []any{
		r.Name(), r.String("roleRef", "kind") + "/" + r.String("roleRef", "name"), r.Age(),
		all("User"), all("Group"), all("ServiceAccount"),
	}
}
