package admissionregistration

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/selector"
	"github.com/kubefake/kubefake/internal/table"
)

// policyBindingCells returns the cells of the binding of an admission policy.
func policyBindingCells(r table.Row) []any {
	param := table.Unset
	if name := r.String("spec", "paramRef", "name"); name != "" {
		param = r.Or("*", "spec", "paramRef", "namespace") + "/" + name
	} else if s := object.Map(r.Obj, "spec", "paramRef", "selector"); s != nil {
		param = selectorDump(s)
	}
	return []any{r.Name(), r.String("spec", "policyName"), param, r.Age()}
}

// selectorDump formats a label selector as the Go type's String method does.
func selectorDump(m map[string]any) string {
	s := selector.FromMap(m)
	var b strings.Builder
	b.WriteString("&LabelSelector{MatchLabels:map[string]string{")
	for _, k := range slices.Sorted(maps.Keys(s.MatchLabels)) {
		fmt.Fprintf(&b, "%s: %s,", k, s.MatchLabels[k])
	}
	b.WriteString("},MatchExpressions:[]LabelSelectorRequirement{")
	for _, e := range s.MatchExpressions {
		fmt.Fprintf(&b, "LabelSelectorRequirement{Key:%s,Operator:%s,Values:%v,},", e.Key, e.Operator, e.Values)
	}
	b.WriteString("},}")
	return b.String()
}
