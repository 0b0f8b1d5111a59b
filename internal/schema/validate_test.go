package schema_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/kubefake/kubefake/internal/schema"
	"github.com/kubefake/kubefake/internal/validation"
	"github.com/kubefake/kubefake/internal/wire"
)

// value decodes YAML. Numbers are int64 if possible.
func value(t testing.TB, text string) any {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte("v: " + text))
	require.NoError(t, err, text)
	wrapped, _, err := wire.DecodeUntyped(data, wire.DecodeOptions{})
	require.NoError(t, err, text)
	return wrapped["v"]
}

func props(t testing.TB, text string) map[string]any {
	t.Helper()
	m, ok := value(t, text).(map[string]any)
	require.True(t, ok, "%s is no object", text)
	return m
}

func fromProps(t testing.TB, text string) *schema.Schema {
	t.Helper()
	s, err := schema.FromProps(props(t, text))
	require.NoError(t, err)
	return s
}

func texts(list validation.List) []string {
	var s []string
	for _, e := range list {
		s = append(s, e.Error())
	}
	return s
}

func TestValidate(t *testing.T) {
	for _, tc := range []struct {
		name   string
		schema string // of spec
		value  string
		want   []string
	}{
		{"string", `{type: string}`, `1`, []string{`spec: Invalid value: "integer": spec in body must be of type string: "integer"`}},
		{"null", `{type: string}`, `null`, []string{`spec: Invalid value: "null": spec in body must be of type string: "null"`}},
		{"nullable", `{type: string, nullable: true}`, `null`, nil},
		{"null without type", `{x-kubernetes-preserve-unknown-fields: true}`, `null`, nil},
		{"fraction for an integer", `{type: integer}`, `1.5`, []string{
			`spec: Invalid value: "number": spec in body must be of type integer: "number"`,
			`<nil>: Invalid value: "": Checked value must be of type integer (default format) in spec`,
		}},
		{"integer for a number", `{type: number}`, `1`, nil},
		{"format of another type", `{type: integer, format: int32}`, `true`, []string{`spec: Invalid value: "": spec in body must be of type int32: ""`}},
		{"array for a string with a format", `{type: string, format: date}`, `[1]`, nil},
		{"int-or-string", `{x-kubernetes-int-or-string: true}`, `"a"`, nil},
		{"neither integer nor string", `{x-kubernetes-int-or-string: true}`, `true`, []string{`spec: Invalid value: "boolean": spec in body must be of type integer,string: "boolean"`}},

		{"maxLength", `{type: string, maxLength: 3}`, `éèêë`, []string{`spec: Too long: may not be more than 3 bytes`}},
		{"minLength", `{type: string, minLength: 2}`, `é`, []string{`spec: Invalid value: "é": spec in body should be at least 2 chars long`}},
		{"pattern", `{type: string, pattern: "^a+$"}`, `b`, []string{`spec: Invalid value: "b": spec in body should match '^a+$'`}},
		{"only the first failure of a string", `{type: string, pattern: "^a+$", minLength: 2}`, `b`, []string{`spec: Invalid value: "b": spec in body should be at least 2 chars long`}},
		{"format", `{type: string, format: date-time}`, `x`, []string{`spec: Invalid value: "x": spec in body must be of type date-time: "x"`}},
		{"unknown format", `{type: string, format: quantity}`, `x`, nil},

		{"minimum", `{type: integer, minimum: 1}`, `0`, []string{`spec: Invalid value: 0: spec in body should be greater than or equal to 1`}},
		{"exclusive minimum", `{type: integer, minimum: 0, exclusiveMinimum: true}`, `0`, []string{`spec: Invalid value: 0: spec in body should be greater than 0`}},
		{"fractional minimum", `{type: number, minimum: 0.5}`, `0.4`, []string{`spec: Invalid value: 0.4: spec in body should be greater than or equal to 0.5`}},
		{"maximum", `{type: integer, maximum: 10}`, `11`, []string{`spec: Invalid value: 11: spec in body should be less than or equal to 10`}},
		{"exclusive maximum", `{type: number, maximum: 10, exclusiveMaximum: true}`, `10.5`, []string{`spec: Invalid value: 10.5: spec in body should be less than 10`}},
		{"multipleOf", `{type: integer, multipleOf: 5}`, `7`, []string{`spec: Invalid value: 7: spec in body should be a multiple of 5`}},
		{"fractional multipleOf", `{type: number, multipleOf: 0.5}`, `0.7`, []string{`spec: Invalid value: 0.7: spec in body should be a multiple of 0.5`}},
		{"integer with fractional multipleOf", `{type: number, multipleOf: 0.5}`, `-2`, []string{`spec: Invalid value: 0: factor MultipleOf declared for spec must be positive: 0`}},
		{"int32 overflow", `{type: integer, format: int32}`, `2147483648`, []string{`<nil>: Invalid value: "": Checked value must be of type integer with format int32 in spec`}},
		{"fractional minimum of an integer", `{type: integer, maximum: 1.5}`, `2`, []string{
			`<nil>: Invalid value: "": Maximum boundary value must be of type integer (default format) in spec`,
			`spec: Invalid value: 2: spec in body should be less than or equal to 1.5`,
		}},

		{"minItems", `{type: array, minItems: 1, items: {type: integer}}`, `[]`, []string{`spec: Invalid value: 0: spec in body should have at least 1 items`}},
		{"maxItems", `{type: array, maxItems: 2, items: {type: integer}}`, `[1, 2, 3]`, []string{`spec: Too many: 3: must have at most 2 items`}},
		{"minProperties", `{type: object, minProperties: 1}`, `{}`, []string{`spec: Invalid value: 0: spec in body should have at least 1 properties`}},
		{"maxProperties", `{type: object, maxProperties: 1}`, `{a: 1, b: 2}`, []string{`spec: Too many: 2: must have at most 1 item`}},
		{"element", `{type: array, items: {type: object, properties: {a: {type: integer}}}}`, `[{}, {a: x}]`, []string{`spec[1].a: Invalid value: "string": spec[1].a in body must be of type integer: "string"`}},
		{"map entry", `{type: object, additionalProperties: {type: integer}}`, `{a: 1, b: x}`, []string{`spec.b: Invalid value: "string": spec.b in body must be of type integer: "string"`}},
		{"additionalProperties false", `{type: object, additionalProperties: false, properties: {a: {type: integer}}}`, `{a: 1, b: x}`, []string{`spec: Invalid value: "b": spec.b in body is a forbidden property`}},
		{"required", `{type: object, required: [b, a]}`, `{}`, []string{`spec.b: Required value`, `spec.a: Required value`}},

		{"enum", `{type: string, enum: [a, b]}`, `c`, []string{`spec: Unsupported value: "c": supported values: "a", "b"`}},
		{"enum of numbers", `{type: number, enum: [1, 2.5]}`, `2.5`, nil},
		{"enum and null", `{type: string, nullable: true, enum: [a, null]}`, `null`, []string{`spec: Unsupported value: null: supported values: "a", "null"`}},
		{"enum of objects", `{type: object, enum: [{a: 1}]}`, `{a: 2}`, []string{`spec: Unsupported value: {"a":2}: supported values: "{\"a\":1}"`}},

		{"anyOf", `{type: integer, anyOf: [{maximum: 1}, {minimum: 5}]}`, `3`, []string{
			`<nil>: Invalid value: "": "spec" must validate at least one schema (anyOf)`,
			`spec: Invalid value: 3: spec in body should be less than or equal to 1`,
		}},
		{"oneOf with no valid schema", `{type: integer, oneOf: [{maximum: 1}, {minimum: 5}]}`, `3`, []string{
			`<nil>: Invalid value: "": "spec" must validate one and only one schema (oneOf). Found none valid`,
			`spec: Invalid value: 3: spec in body should be less than or equal to 1`,
		}},
		{"oneOf with two valid schemas", `{type: integer, oneOf: [{maximum: 5}, {maximum: 9}]}`, `3`, []string{
			`<nil>: Invalid value: "": "spec" must validate one and only one schema (oneOf). Found 2 valid alternatives`,
		}},
		{"anyOf reports the best match", `{type: object, properties: {a: {type: string}, b: {type: string}}, anyOf: [{required: [a]}, {properties: {b: {minLength: 2}}, required: [a]}]}`, `{b: xx}`, []string{
			`<nil>: Invalid value: "": "spec" must validate at least one schema (anyOf)`,
			`spec.a: Required value`,
		}},
		{"allOf with one valid schema", `{type: integer, allOf: [{maximum: 1}, {minimum: 0}]}`, `3`, []string{
			`spec: Invalid value: 3: spec in body should be less than or equal to 1`,
			`<nil>: Invalid value: "": "spec" must validate all the schemas (allOf)`,
		}},
		{"allOf with no valid schema", `{type: integer, allOf: [{maximum: 1}]}`, `3`, []string{
			`spec: Invalid value: 3: spec in body should be less than or equal to 1`,
			`<nil>: Invalid value: "": "spec" must validate all the schemas (allOf). None validated`,
		}},
		{"not", `{type: integer, not: {maximum: 5}}`, `3`, []string{`<nil>: Invalid value: "": "spec" must not validate the schema (not)`}},
		{"equal messages reported once", `{type: integer, maximum: 1, allOf: [{maximum: 1}]}`, `3`, []string{
			`spec: Invalid value: 3: spec in body should be less than or equal to 1`,
			`<nil>: Invalid value: "": "spec" must validate all the schemas (allOf). None validated`,
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := fromProps(t, `{type: object, properties: {spec: `+tc.schema+`}}`)
			obj := map[string]any{"apiVersion": "e.x/v1", "spec": value(t, tc.value)}
			assert.Equal(t, tc.want, texts(s.Validate(obj, nil, nil)))
		})
	}
}

func TestWholeFloats(t *testing.T) {
	for _, tc := range []struct {
		name, schema string
		value        float64
		valid        bool
	}{
		{"integer", `{type: integer}`, 1, true},
		{"integer beyond precision", `{type: integer}`, 1 << 53, false},
		{"negative integer", `{type: integer}`, -3, true},
		{"nearly an integer", `{type: integer}`, 3 + 1e-10, false},
		{"nearly a multiple", `{type: number, multipleOf: 1}`, 3 + 1e-10, true},
		{"integer in enum", `{type: number, enum: [1]}`, 1, true},
		{"value not in enum", `{type: number, enum: [1]}`, 2, false},
		{"multipleOf", `{type: number, multipleOf: 0.1}`, 0.5, true},
		{"float overflow", `{type: number, format: float}`, 1e39, false},
		{"double", `{type: number, format: double}`, 1e39, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			list := fromProps(t, tc.schema).Validate(tc.value, nil, validation.NewPath("spec"))
			assert.Equal(t, tc.valid, len(list) == 0, "%v", texts(list))
		})
	}
}

func TestOptions(t *testing.T) {
	strings, noRatcheting := schema.Options{FormatsOfStrings: true}, schema.Options{WithoutRatcheting: true}
	noNames := schema.Options{FormatsOfStrings: true, WithoutNameFormats: true}
	for _, tc := range []struct {
		name               string
		options            schema.Options
		schema, old, value string
		want               []string
	}{
		{"fraction for an integer", strings, `{type: integer}`, `null`, `1.5`, []string{`spec: Invalid value: "number": spec in body must be of type integer: "number"`}},
		{"int32 overflow", strings, `{type: integer, format: int32}`, `null`, `2147483648`, nil},
		{"no number for a format", strings, `{type: integer, format: int32}`, `null`, `true`, []string{`spec: Invalid value: "boolean": spec in body must be of type integer: "boolean"`}},
		{"fractional limit", strings, `{type: integer, maximum: 1.5}`, `null`, `2`, []string{`spec: Invalid value: 2: spec in body should be less than or equal to 1`}},
		{"string of an integer with a format of strings", strings, `{type: integer, format: date}`, `null`, `x`, []string{
			`spec: Invalid value: "string": spec in body must be of type integer: "string"`,
			`spec: Invalid value: "x": spec in body must be of type date: "x"`,
		}},
		{"fraction for an integer with a format of strings", strings, `{type: integer, format: date}`, `null`, `1.5`, []string{`spec: Invalid value: "float64": spec in body must be of type date: "float64"`}},
		{"name format", strings, `{type: string, format: k8s-short-name}`, `null`, `A`, []string{`spec: Invalid value: "A": spec in body must be of type k8s-short-name: "A"`}},
		{"no name format", noNames, `{type: string, format: k8s-short-name}`, `null`, `A`, nil},
		{"ratcheting", strings, `{type: integer, maximum: 1}`, `2`, `2`, nil},
		{"without ratcheting", noRatcheting, `{type: integer, maximum: 1}`, `2`, `2`, []string{`spec: Invalid value: 2: spec in body should be less than or equal to 1`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := fromProps(t, `{type: object, properties: {spec: `+tc.schema+`}}`)
			assert.Equal(t, tc.want, texts(tc.options.Validate(s, value(t, `{spec: `+tc.value+`}`), value(t, `{spec: `+tc.old+`}`), nil)))
		})
	}
}

func TestValidateBelowAPath(t *testing.T) {
	s := fromProps(t, `{type: object, required: [b], properties: {a: {type: integer}}}`)
	assert.Equal(t, []string{
		`status.a: Invalid value: "string": a in body must be of type integer: "string"`,
		`status.b: Required value`,
	}, texts(s.Validate(value(t, `{a: x}`), nil, validation.NewPath("status"))))
	assert.Equal(t, []string{
		`status: Invalid value: "string":  in body must be of type object: "string"`,
	}, texts(s.Validate("x", nil, validation.NewPath("status"))))
	s = fromProps(t, `{type: object, additionalProperties: {type: integer}}`)
	assert.Equal(t, []string{
		`status.a: Invalid value: "string": .a in body must be of type integer: "string"`,
	}, texts(s.Validate(value(t, `{a: x}`), nil, validation.NewPath("status"))))
}

func TestRatcheting(t *testing.T) {
	const small = `{type: integer, maximum: 1}`
	const byName = `{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {type: object, required: [m], properties: {k: {type: string}, v: ` + small + `}}}`
	for _, tc := range []struct {
		name, schema, old, new string
		want                   []string
	}{
		{"unchanged", small, `5`, `5`, nil},
		{"changed", small, `5`, `6`, []string{`spec: Invalid value: 6: spec in body should be less than or equal to 1`}},
		{"unchanged field next to a changed one", `{type: object, properties: {a: ` + small + `, b: ` + small + `}}`, `{a: 5, b: 0}`, `{a: 5, b: 1}`, nil},
		{"new failure next to an old one", `{type: object, properties: {a: ` + small + `, b: ` + small + `}}`, `{a: 5}`, `{a: 5, b: 5}`, []string{`spec.b: Invalid value: 5: spec.b in body should be less than or equal to 1`}},
		{"still required", `{type: object, required: [a], properties: {b: ` + small + `}}`, `{b: 0}`, `{b: 1}`, []string{`spec.a: Required value`}},
		{"entry of a map", `{type: object, additionalProperties: ` + small + `}`, `{a: 5}`, `{a: 5, b: 1}`, nil},
		{"element of a list", `{type: array, items: ` + small + `}`, `[5]`, `[5, 1]`, []string{`spec[0]: Invalid value: 5: spec[0] in body should be less than or equal to 1`}},
		{"whole list", `{type: array, items: ` + small + `}`, `[5, 1]`, `[5, 1]`, nil},
		{"element of a map list", byName, `[{k: a, v: 5}]`, `[{k: b, m: 1}, {k: a, v: 5}]`, nil},
		{"reordered map list", byName, `[{k: a, v: 5}, {k: b, v: 6}]`, `[{k: b, v: 6}, {k: a, v: 5}]`, nil},
		{"renamed element", byName, `[{k: a, v: 5, m: 1}]`, `[{k: b, v: 5, m: 1}]`, []string{`spec[0].v: Invalid value: 5: spec[0].v in body should be less than or equal to 1`}},
		{"keyless element", byName, `[{v: 5, m: 1}]`, `[{v: 5, m: 1}]`, []string{`spec[0].v: Invalid value: 5: spec[0].v in body should be less than or equal to 1`}},
		{"preserved members count as changed", `{type: object, required: [a], x-kubernetes-preserve-unknown-fields: true}`, `{b: 1}`, `{b: 1}`, []string{`spec.a: Required value`}},
		{"within an alternative", `{type: object, properties: {a: {type: integer}, b: {type: integer}}, anyOf: [{properties: {a: {maximum: 1}}}]}`, `{a: 5}`, `{a: 5, b: 1}`, []string{
			`<nil>: Invalid value: "": "spec" must validate at least one schema (anyOf)`,
			`spec.a: Invalid value: 5: spec.a in body should be less than or equal to 1`,
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := fromProps(t, `{type: object, properties: {spec: `+tc.schema+`}}`)
			old := map[string]any{"spec": value(t, tc.old)}
			obj := map[string]any{"spec": value(t, tc.new), "kind": "K"}
			assert.Equal(t, tc.want, texts(s.Validate(obj, old, nil)))
		})
	}
	t.Run("kind and apiVersion", func(t *testing.T) {
		s := fromProps(t, `{type: object, properties: {kind: {type: string, maxLength: 1}}}`)
		assert.Equal(t, []string{"kind: Too long: may not be more than 1 byte"},
			texts(s.Validate(value(t, `{kind: Kind, a: 1}`), value(t, `{kind: Kind, a: 2}`), nil)))
	})
}

func TestFromPropsRefuses(t *testing.T) {
	for _, tc := range []struct{ name, props, want string }{
		{"reference", `{$ref: x}`, "OpenAPIV3Schema '$ref' is not supported"},
		{"within", `{type: object, properties: {a: {not: {id: x}}}}`, "OpenAPIV3Schema 'id' is not supported"},
		{"list of items", `{type: array, items: [{type: string}]}`, "OpenAPIV3Schema 'items' must be a schema, but is an array"},
		{"x-kubernetes-preserve-unknown-fields false", `{x-kubernetes-preserve-unknown-fields: false}`, "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := schema.FromProps(props(t, tc.props))
			assert.EqualError(t, err, tc.want)
		})
	}
}

// TestValidatePruned shows that a field that is the same in memory as before is validated if its
// errors would not be omitted.
func TestValidatePruned(t *testing.T) {
	for _, tc := range []struct {
		name, field, value string
		omitted            bool
	}{
		{"object", `{type: object, maxProperties: 1, properties: {a: {}, b: {}}}`, `{a: x, b: x}`, true},
		{"map", `{type: object, maxProperties: 1, additionalProperties: {type: string}}`, `{a: x, b: x}`, true},
		{"list", `{type: array, maxItems: 1, items: {type: object, properties: {a: {}}}}`, `[{a: x}, {}]`, true},
		{"set", `{type: array, maxItems: 1, x-kubernetes-list-type: set, items: {type: string}}`, `[x, y]`, true},
		{"list of type map", `{type: array, maxItems: 1, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {type: object, properties: {k: {}, a: {}}}}`, `[{k: a, a: x}, {k: a}]`, false},
		{"preserved fields", `{type: object, maxProperties: 1, x-kubernetes-preserve-unknown-fields: true, properties: {a: {}}}`, `{a: x, b: 1}`, false},
		{"embedded resource", `{type: object, maxProperties: 1, x-kubernetes-embedded-resource: true, properties: {a: {}}}`, `{kind: K, a: x}`, false},
		{"alternatives", `{type: object, properties: {a: {}}, anyOf: [{maxProperties: 0}]}`, `{a: x}`, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := fromProps(t, `{type: object, properties: {f: `+tc.field+`, g: {type: string, maxLength: 1}}}`)
			old := map[string]any{"f": value(t, tc.value)}
			obj := map[string]any{"f": old["f"], "g": "xx"}
			want := texts(s.Validate(obj, old, nil))
			assert.Equal(t, tc.omitted, len(want) == 1)
			assert.Equal(t, want, texts(schema.Options{Pruned: true}.Validate(s, obj, old, nil)))
			want = texts(schema.Options{WithoutRatcheting: true}.Validate(s, obj, old, nil))
			assert.Greater(t, len(want), 1)
			assert.Equal(t, want, texts(schema.Options{WithoutRatcheting: true, Pruned: true}.Validate(s, obj, old, nil)))
		})
	}
	t.Run("alternatives of the object", func(t *testing.T) {
		s := fromProps(t, `{type: object, properties: {f: {type: object, properties: {a: {}}}}, anyOf: [{properties: {f: {maxProperties: 0}}}]}`)
		old := map[string]any{"f": value(t, `{a: x}`)}
		obj := map[string]any{"f": old["f"], "g": "x"}
		assert.NotEmpty(t, s.Validate(obj, old, nil))
		assert.Equal(t, texts(s.Validate(obj, old, nil)), texts(schema.Options{Pruned: true}.Validate(s, obj, old, nil)))
	})
}
