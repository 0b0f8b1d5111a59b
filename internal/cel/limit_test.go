//go:build go1.24

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

// Each row of these tests is at a cost limit or one unit above it. The errors are those
// of kube-apiserver v1.36.3.

// ten is a rule with a cost of 10.
const ten = "self >= 0 && self >= 1 && self >= 2 && self >= 3 && self >= 4"

// integerList returns the schema of a list of at most maxItems integers with a rule.
func integerList(maxItems int, rule string) string {
	return fmt.Sprintf(`{type: array, maxItems: %d, items: {type: integer, x-kubernetes-validations: [{rule: "%s"}]}}`, maxItems, rule)
}

func TestEstimatedLimits(t *testing.T) {
	const advice = " (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)"
	var tens []string // their sum is the limit of a schema
	for i := range 10 {
		tens = append(tens, fmt.Sprintf("l%d: %s", i, integerList(1_000_000, ten)))
	}
	contributed := func(name string) string {
		return "schema.properties[" + name + "].items.x-kubernetes-validations[0].rule: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema"
	}
	twice := func(length int) string {
		return fmt.Sprintf(`s: {type: string, maxLength: %d, x-kubernetes-validations: [{rule: "true", messageExpression: "self + self"}]}`, length)
	}
	for _, row := range []struct {
		name, properties string
		want             []string
	}{
		{"rule at the limit", "l: " + integerList(1_000_000, ten), nil},
		{"rule above the limit", "l: " + integerList(909_091, ten+" && self == 5"), []string{
			"schema.properties[l].items.x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by factor of 1.000000x" + advice,
		}},
		{"rule far above the limit", "l: " + integerList(16_000_000, ten), []string{
			"schema.properties[l].items.x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by factor of 16.0x" + advice,
			contributed("l"),
			"schema: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of 1.6x" + advice,
		}},
		{"messageExpression at the limit", twice(12_499_997), nil},
		{"messageExpression above the limit", twice(12_499_998), []string{
			"schema.properties[s].x-kubernetes-validations[0].messageExpression: Forbidden: estimated messageExpression cost exceeds budget by factor of 1.000000x" + advice,
		}},
		{"schema at the limit", strings.Join(tens, ", "), nil},
		{"schema above the limit", strings.Join(tens, ", ") + `, x: {type: integer, x-kubernetes-validations: [{rule: "self == 1"}]}`, []string{
			contributed("l0"), contributed("l1"), contributed("l2"), contributed("l3"),
			"schema: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of 1.000000x" + advice,
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			props := read(t, "{type: object, properties: {"+row.properties+"}}")
			_, list := schema.DefinitionCheck{Rules: RuleChecker{Context: t.Context()}}.Check(props, validation.NewPath("schema"))
			require.Equal(t, row.want, errorTexts(list))
		})
	}
}

func TestRuntimeLimits(t *testing.T) {
	// On a string of this length, the expression costs perCallLimit, a tenth of Budget.
	const length = 101_009
	expensive := "self.matches('" + strings.Repeat("a", 396) + "')"
	rulesOf := func(rules ...string) string {
		var list []string
		for _, rule := range rules {
			list = append(list, fmt.Sprintf(`{rule: "%s", message: long}`, rule))
		}
		return strings.Join(list, ", ")
	}
	repeated := func(n int, more ...string) string {
		return rulesOf(append(slices.Repeat([]string{expensive}, n), more...)...)
	}
	withMessageExpression := func(expression string) string {
		return fmt.Sprintf(`{rule: "self == ''", messageExpression: "%s ? 'a' : 'b'"}`, expression)
	}
	const budgetExceeded = `Invalid value: "%s": validation failed due to running out of cost budget, no further validation rules will be run`
	for _, row := range []struct {
		name, rules string
		value       map[string]any // of other fields than s
		want        []string
	}{
		{"rule at the limit", rulesOf(expensive), nil, nil},
		{"rule above the limit", rulesOf(expensive + " && 1 == 1"), nil, []string{
			`s: Invalid value: "string": 'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule: long`,
		}},
		{"object at the limit", repeated(10, "true"), nil, nil},
		{"object above the limit", repeated(10, "1 == 1"), nil, []string{"s: " + fmt.Sprintf(budgetExceeded, "string")}},
		{"budget used up before a rule of another field", repeated(10), map[string]any{"t": int64(1)}, []string{"t: " + fmt.Sprintf(budgetExceeded, "integer")}},
		{"messageExpression at the limit", withMessageExpression(expensive), nil, []string{"s: Invalid value: " + fmt.Sprintf("%q", strings.Repeat("a", length)) + ": a"}},
		{"messageExpression above the limit", withMessageExpression(expensive + " && 1 == 1"), nil, []string{
			`s: Invalid value: "string": no further validation rules will be run due to call cost exceeds limit for messageExpression: "` + expensive + ` && 1 == 1 ? 'a' : 'b'"`,
		}},
		{"budget used up before a messageExpression", repeated(9) + ", " + withMessageExpression(expensive), nil, []string{
			`s: Invalid value: "string": messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run`,
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := fmt.Sprintf(`{type: object, properties: {s: {type: string, maxLength: %d, x-kubernetes-validations: [%s]}, t: {type: integer, x-kubernetes-validations: [{rule: "true"}]}}}`, length, row.rules)
			value := map[string]any{"s": strings.Repeat("a", length)}
			maps.Copy(value, row.value)
			errs, _ := NewValidator(schemaOf(t, s)).Validate(t.Context(), nil, value, nil, Budget)
			require.Equal(t, row.want, errorTexts(errs))
		})
	}
}

// TestReplaceLimit checks that a short expression cannot make a string that is far longer
// than its arguments.
func TestReplaceLimit(t *testing.T) {
	for _, row := range []struct {
		name, rule string
		length     int
		want       []string
	}{
		{"a long result", "self.replace('', self) != ''", 1000, nil},
		{"too long a result", "self.replace('', self) != ''", 10_000, []string{
			`s: Invalid value: "string": the result of replace has more than 16777216 bytes evaluating rule: long`,
		}},
		{"few replacements", "self.replace('', self, 3) != ''", 10_000, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := fmt.Sprintf(`{type: object, properties: {s: {type: string, maxLength: %d, x-kubernetes-validations: [{rule: "%s", message: long}]}}}`, row.length, row.rule)
			value := map[string]any{"s": strings.Repeat("a", row.length)}
			errs, _ := NewValidator(schemaOf(t, s)).Validate(t.Context(), nil, value, nil, Budget)
			require.Equal(t, row.want, errorTexts(errs))
		})
	}
}
