package admissionregistration_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
)

func TestCells(t *testing.T) {
	kindtest.TestCells(t, "validatingadmissionpolicybindings.admissionregistration.k8s.io", []kindtest.CellsRow{
		{"policy binding", `{spec: {policyName: p, paramRef: {selector: {matchLabels: {a: b}, matchExpressions: [{key: k, operator: In, values: [x, w]}]}}}}`,
			[]any{"a", "p", "&LabelSelector{MatchLabels:map[string]string{a: b,},MatchExpressions:[]LabelSelectorRequirement{LabelSelectorRequirement{Key:k,Operator:In,Values:[x w],},},}", "60m"}},
	})
}
