package networking

import (
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/table"
)

// ingressClassCells returns the cells of an IngressClass.
func ingressClassCells(r table.Row) []any {
	parameters := table.None
	if r.Has("spec", "parameters") {
		parameters = r.String("spec", "parameters", "kind")
		if r.Has("spec", "parameters", "apiGroup") {
			parameters += "." + r.String("spec", "parameters", "apiGroup")
		}
		parameters += "/" + r.String("spec", "parameters", "name")
	}
	if r.Before(behavior.DefaultIngressClassName) {
		return []any{r.Name(), r.String("spec", "controller"), parameters, r.Age()}
	}
	return []any{r.ClassName("ingressclass.kubernetes.io/is-default-class"), r.String("spec", "controller"), parameters, r.Age()}
}
