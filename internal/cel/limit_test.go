package cel

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/schema"
	"github.com/kubefake/kubefake/internal/validation"
)

// Each row of the tests here is at a limit or one unit beyond it, and what is
// wrong with it is what a kube-apiserver v1.36.3 said.

// ten is a rule that costs 10.
const ten = "self >= 0 && self >= 1 && self >= 2 && self >= 3 && self >= 4"

// numbers is the schema of a list of at most so many integers with a rule.
func numbers(most int, rule string) string {
	return fmt.Sprintf(`{type: array, maxItems: %d, items: {type: integer, x-kubernetes-validations: [{rule: "%s"}]}}`, most, rule)
}

func TestEstimatedLimits(t *testing.T) {
	const advice = " (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)"
	var tens []string // together at the limit of a schema
	for i := range 10 {
		tens = append(tens, fmt.Sprintf("l%d: %s", i, numbers(1_000_000, ten)))
	}
	contributed := func(name string) string {
		return "schema.properties[" + name + "].items.x-kubernetes-validations[0].rule: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema"
	}
	twice := func(length int) string {
		return fmt.Sprintf(`s: {type: string, maxLength: %d, x-kubernetes-validations: [{rule: "true", messageExpression: "self + self"}]}`, length)
	}
	for _, row := range []struct {
		name, properties string
		wrong            []string
	}{
		{"rule at the limit", "l: " + numbers(1_000_000, ten), nil},
		{"rule beyond the limit", "l: " + numbers(909_091, ten+" && self == 5"), []string{
			"schema.properties[l].items.x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by factor of 1.000000x" + advice,
		}},
		{"rule far beyond the limit", "l: " + numbers(16_000_000, ten), []string{
			"schema.properties[l].items.x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by factor of 16.0x" + advice,
			contributed("l"),
			"schema: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of 1.6x" + advice,
		}},
		{"messageExpression at the limit", twice(12_499_997), nil},
		{"messageExpression beyond the limit", twice(12_499_998), []string{
			"schema.properties[s].x-kubernetes-validations[0].messageExpression: Forbidden: estimated messageExpression cost exceeds budget by factor of 1.000000x" + advice,
		}},
		{"schema at the limit", strings.Join(tens, ", "), nil},
		{"schema beyond the limit", strings.Join(tens, ", ") + `, x: {type: integer, x-kubernetes-validations: [{rule: "self == 1"}]}`, []string{
			contributed("l0"), contributed("l1"), contributed("l2"), contributed("l3"),
			"schema: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of 1.000000x" + advice,
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			props := read(t, "{type: object, properties: {"+row.properties+"}}")
			list := schema.DefinitionCheck{Rules: Rules{}}.Check(props, validation.NewPath("schema"))
			require.Equal(t, row.wrong, errorTexts(list))
		})
	}
}

func TestRuntimeLimits(t *testing.T) {
	// On a string of as many bytes the expression costs as much as any may, a
	// tenth of what all rules about an object may cost.
	const length = 101_009
	most := "self.matches('" + strings.Repeat("a", 396) + "')"
	all := func(rules ...string) string {
		var list []string
		for _, rule := range rules {
			list = append(list, fmt.Sprintf(`{rule: "%s", message: long}`, rule))
		}
		return strings.Join(list, ", ")
	}
	times := func(n int, more ...string) string { return all(append(slices.Repeat([]string{most}, n), more...)...) }
	explained := func(expression string) string {
		return fmt.Sprintf(`{rule: "self == ''", messageExpression: "%s ? 'a' : 'b'"}`, expression)
	}
	const spent = `Invalid value: "%s": validation failed due to running out of cost budget, no further validation rules will be run`
	for _, row := range []struct {
		name, rules string
		value       map[string]any // besides s
		wrong       []string
	}{
		{"rule at the limit", all(most), nil, nil},
		{"rule beyond the limit", all(most + " && 1 == 1"), nil, []string{
			`s: Invalid value: "string": 'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule: long`,
		}},
		{"object at the limit", times(10, "true"), nil, nil},
		{"object beyond the limit", times(10, "1 == 1"), nil, []string{"s: " + fmt.Sprintf(spent, "string")}},
		{"nothing left for a free rule elsewhere", times(10), map[string]any{"t": int64(1)}, []string{"t: " + fmt.Sprintf(spent, "integer")}},
		{"messageExpression at the limit", explained(most), nil, []string{"s: Invalid value: " + fmt.Sprintf("%q", strings.Repeat("a", length)) + ": a"}},
		{"messageExpression beyond the limit", explained(most + " && 1 == 1"), nil, []string{
			`s: Invalid value: "string": no further validation rules will be run due to call cost exceeds limit for messageExpression: "` + most + ` && 1 == 1 ? 'a' : 'b'"`,
		}},
		{"nothing left for a messageExpression", times(9) + ", " + explained(most), nil, []string{
			`s: Invalid value: "string": messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run`,
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := fmt.Sprintf(`{type: object, properties: {s: {type: string, maxLength: %d, x-kubernetes-validations: [%s]}, t: {type: integer, x-kubernetes-validations: [{rule: "true"}]}}}`, length, row.rules)
			value := map[string]any{"s": strings.Repeat("a", length)}
			maps.Copy(value, row.value)
			errs, _ := NewValidator(schemaOf(t, s)).Validate(nil, value, nil, Budget)
			require.Equal(t, row.wrong, errorTexts(errs))
		})
	}
}
