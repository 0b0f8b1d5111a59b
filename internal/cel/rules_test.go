//go:build go1.24

package cel

import (
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/schema"
	"github.com/kubefake/kubefake/internal/validation"
)

// read decodes YAML with integers as int64.
func read(t testing.TB, text string) map[string]any {
	t.Helper()
	var m map[string]any
	require.NoError(t, yaml.Unmarshal([]byte(text), &m))
	return integers(m).(map[string]any)
}

func integers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			v[k] = integers(e)
		}
	case []any:
		for i, e := range v {
			v[i] = integers(e)
		}
	case float64:
		if v == float64(int64(v)) {
			return int64(v)
		}
	}
	return v
}

func schemaOf(t testing.TB, text string) *schema.Schema {
	t.Helper()
	s, err := schema.FromProps(read(t, text))
	require.NoError(t, err)
	return s
}

func errorTexts(list validation.List) []string {
	var out []string
	for _, e := range list {
		out = append(out, e.Error())
	}
	return out
}

func TestValidate(t *testing.T) {
	for _, row := range []struct {
		name                    string
		schema                  string
		value, old              string
		wantErrs, wantTolerated []string
		free                    bool // no rule is evaluated
	}{
		{
			name:   "rule passes",
			schema: `{type: object, properties: {spec: {type: object, x-kubernetes-validations: [{rule: "self.a < self.b"}], properties: {a: {type: integer}, b: {type: integer}}}}}`,
			value:  `{spec: {a: 1, b: 2}}`,
		},
		{
			name:     "rules fail",
			schema:   `{type: object, properties: {spec: {type: object, x-kubernetes-validations: [{rule: "self.a < self.b"}, {rule: "self.a == 0", message: " zero ", reason: FieldValueForbidden, fieldPath: ".a"}, {rule: "self.a == 1", messageExpression: "'a is ' + string(self.a)"}], properties: {a: {type: integer}, b: {type: integer}}}}}`,
			value:    `{spec: {a: 2, b: 2}}`,
			wantErrs: []string{`spec: Invalid value: failed rule: self.a < self.b`, `spec.a: Forbidden: zero`, `spec: Invalid value: a is 2`},
		},
		{
			name:     "rules at the root",
			schema:   `{type: object, x-kubernetes-validations: [{rule: "self.metadata.name.startsWith('x')"}, {rule: "self.kind == 'K' && self.apiVersion == 'v'"}]}`,
			value:    `{apiVersion: v, kind: K, metadata: {name: z}}`,
			wantErrs: []string{`<nil>: Invalid value: failed rule: self.metadata.name.startsWith('x')`},
		},
		{
			name:     "a rule for the items of an object",
			schema:   `{type: object, properties: {l: {type: object, items: {type: object, x-kubernetes-validations: [{rule: "self.a > 0"}], properties: {a: {type: integer}}}}}}`,
			value:    `{l: [{a: 1}]}`,
			old:      `{l: [{a: 1}]}`,
			wantErrs: []string{`l[0]: Invalid value: "object": rule compiler initialization error: failed to convert to declType for CEL validation rules`},
			free:     true,
		},
		{
			name:   "a rule for the items of a scalar",
			schema: `{type: object, properties: {l: {type: string, items: {type: object, x-kubernetes-validations: [{rule: "self.a > 0"}], properties: {a: {type: integer}}}}}}`,
			value:  `{l: a}`,
			free:   true,
		},
		{
			name:     "transition rule in a list of type map",
			schema:   `{type: object, properties: {l: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {type: object, required: [k], x-kubernetes-validations: [{rule: "self.v >= oldSelf.v"}], properties: {k: {type: string}, v: {type: integer}}}}}}`,
			value:    `{l: [{k: b, v: 1}, {k: a, v: 1}, {k: c, v: 0}]}`,
			old:      `{l: [{k: a, v: 2}, {k: b, v: 1}]}`,
			wantErrs: []string{`l[1]: Invalid value: failed rule: self.v >= oldSelf.v`},
		},
		{
			name:     "optionalOldSelf",
			schema:   `{type: object, properties: {s: {type: string, x-kubernetes-validations: [{rule: "oldSelf.orValue('a') == self", optionalOldSelf: true}]}}}`,
			value:    `{s: b}`,
			wantErrs: []string{`s: Invalid value: "b": failed rule: oldSelf.orValue('a') == self`},
		},
		{
			name:          "ratcheting",
			schema:        `{type: object, properties: {a: {type: string, x-kubernetes-validations: [{rule: "self == 'x'"}]}, b: {type: string, x-kubernetes-validations: [{rule: "self == 'x'"}]}}}`,
			value:         `{a: old, b: new}`,
			old:           `{a: old, b: old}`,
			wantErrs:      []string{`b: Invalid value: "new": failed rule: self == 'x'`},
			wantTolerated: []string{`a: Invalid value: "old": failed rule: self == 'x'`},
		},
		{
			name:     "escaped names, sets and null",
			schema:   `{type: object, x-kubernetes-validations: [{rule: "self.namespace == 'ns' && self.__namespace__ == 'ns' && self.a__dash__b == 1 && self.s == self.t && self.s + self.t == ['x', 'z']"}, {rule: "has(self.nothing)"}], properties: {namespace: {type: string}, a-b: {type: integer}, s: {type: array, x-kubernetes-list-type: set, items: {type: string}}, t: {type: array, x-kubernetes-list-type: set, items: {type: string}}, nothing: {type: string, nullable: true}}}`,
			value:    `{namespace: ns, a-b: 1, s: [x, z], t: [z, x], nothing: null}`,
			wantErrs: []string{`<nil>: Invalid value: failed rule: has(self.nothing)`},
		},
		{
			name:     "list of an unknown type", // the default of an invalid definition is checked too
			schema:   `{type: object, properties: {l: {type: array, x-kubernetes-list-type: odd, items: {type: string}, x-kubernetes-validations: [{rule: "self.size() == 1"}]}}}`,
			value:    `{l: [a]}`,
			wantErrs: []string{`l: Invalid value: "array": invalid x-kubernetes-list-type, expected 'map', 'set' or 'atomic' but got odd evaluating rule: self.size() == 1`},
		},
		{
			name:   "evaluation errors",
			schema: `{type: object, x-kubernetes-validations: [{rule: "self.m['x'] == 1"}, {rule: "self.i + 1 > 0"}, {rule: "[1].map(x, x / (self.k - self.k))[0] == 1"}], properties: {m: {type: object, additionalProperties: {type: integer}}, k: {type: integer}, i: {x-kubernetes-int-or-string: true}}}`,
			value:  `{m: {}, k: 1, i: a}`,
			wantErrs: []string{
				`<nil>: Invalid value: "object": no such key: x evaluating rule: self.m['x'] == 1`,
				`<nil>: Invalid value: "object": 'no such overload': call arguments did not match a supported operator, function or macro signature for rule: self.i + 1 > 0`,
				`<nil>: Invalid value: "object": division by zero evaluating rule: [1].map(x, x / (self.k - self.k))[0] == 1`,
			},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			var old any
			if row.old != "" {
				old = read(t, row.old)
			}
			value := read(t, row.value)
			before := object.Copy(value)
			errs, remaining := NewValidator(schemaOf(t, row.schema)).Validate(t.Context(), nil, value, old, Budget)
			failures, tolerated := errs.Split()
			require.Equal(t, row.wantErrs, errorTexts(failures))
			require.Equal(t, row.wantTolerated, tolerated)
			require.Equal(t, !row.free, remaining < Budget)
			require.Equal(t, before, value)
		})
	}
}

// TestCheckRules checks the errors of rules in a definition.
func TestCheckRules(t *testing.T) {
	rule := func(text string) string { return `{rule: "` + text + `"}` }
	quoted := func(rule, message string) string {
		return `Invalid value: {"Rule":"` + rule + `","Message":"","MessageExpression":"` + message + `","Reason":null,"FieldPath":"","OptionalOldSelf":null}: `
	}
	for _, row := range []struct{ name, rule, want string }{
		{"valid", rule("self.s == 'a'"), ""},
		{"result is not a boolean", rule("self.s"), "rule: " + quoted("self.s", "") + "cel expression must evaluate to a bool"},
		{"unknown field", rule("self.x == 1"), "rule: " + quoted("self.x == 1", "") + "compilation failed: ERROR: <input>:1:5: undefined field 'x'\n | self.x == 1\n | ....^"},
		{"constant conversion error", rule("int('a') == 1"), "rule: " + quoted("int('a') == 1", "") + "program instantiation failed: type conversion error from 'string' to 'int'"},
		{"messageExpression is not a string", `{rule: "true", messageExpression: "1"}`, "messageExpression: " + quoted("true", "1") + "messageExpression must evaluate to a string"},
		{"messageExpression with an unknown field", `{rule: "true", messageExpression: "self.x"}`, "messageExpression: " + quoted("true", "self.x") + "messageExpression compilation failed: ERROR: <input>:1:5: undefined field 'x'\n | self.x\n | ....^"},
		{"messageExpression with a constant conversion error", `{rule: "true", messageExpression: "string(int('a'))"}`, "messageExpression: " + quoted("true", "string(int('a'))") + "messageExpression instantiation failed: type conversion error from 'string' to 'int'"},
	} {
		t.Run(row.name, func(t *testing.T) {
			props := read(t, `{type: object, properties: {o: {type: object, properties: {s: {type: string}}, x-kubernetes-validations: [`+row.rule+`]}}}`)
			_, list := schema.DefinitionCheck{Rules: RuleChecker{Context: t.Context()}}.Check(props, validation.NewPath("schema"))
			var want []string
			if row.want != "" {
				want = []string{"schema.properties[o].x-kubernetes-validations[0]." + row.want}
			}
			require.Equal(t, want, errorTexts(list))
		})
	}
}
