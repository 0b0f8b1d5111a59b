package validation_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/validation"
)

func TestLabelSelector(t *testing.T) {
	p := validation.NewPath("s")
	none := validation.LabelSelectorOptions{}
	expr := func(key, operator string, values ...any) fields {
		return fields{"matchExpressions": []any{fields{"key": key, "operator": operator, "values": values}}}
	}
	runListCases(t, []listCase{
		{"nil", validation.LabelSelector(nil, none, p), nil},
		{"labels", validation.LabelSelector(fields{"matchLabels": fields{"a": "-"}}, none, p), []string{`s.matchLabels: Invalid value: "-": ` + labelValueText}},
		{"values", validation.LabelSelector(expr("a", "In", "b", ""), none, p), nil},
		{"no values", validation.LabelSelector(expr("a", "NotIn"), none, p), []string{"s.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'"}},
		{"values of Exists", validation.LabelSelector(expr("a", "Exists", "b"), none, p), []string{"s.matchExpressions[0].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'"}},
		{"operator", validation.LabelSelector(expr("a", "Gt"), none, p), []string{`s.matchExpressions[0].operator: Invalid value: "Gt": not a valid selector operator`}},
		{"operator allowed", validation.LabelSelector(expr("a", "Gt"), validation.LabelSelectorOptions{UnknownOperators: true}, p), nil},
		{"key and value", validation.LabelSelector(expr("-", "In", "a", "-"), none, p), []string{
			`s.matchExpressions[0].key: Invalid value: "-": ` + namePartText, `s.matchExpressions[0].values[1]: Invalid value: "-": ` + labelValueText,
		}},
		{"value allowed", validation.LabelSelector(expr("a", "In", "-"), validation.LabelSelectorOptions{InvalidValues: true}, p), nil},
	})
}
