package schema_test

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/schema"
	"github.com/kubefake/kubefake/internal/validation"
)

func TestCoerce(t *testing.T) {
	const embedded = `{type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}`
	for _, tc := range []struct {
		name, schema, obj string
		options           schema.CoerceOptions
		want              string
		unknown           []string
		err               string
	}{
		{name: "unknown fields",
			schema:  `{type: object, properties: {spec: {type: object, properties: {a: {type: string}, l: {type: array, items: {type: object, properties: {b: {type: string}}}}}}}}`,
			obj:     `{kind: K, zz: 1, spec: {a: x, q: 1, l: [{b: x, c: 1}, 5]}, metadata: {name: o}}`,
			want:    `{kind: K, spec: {a: x, l: [{b: x}, 5]}, metadata: {name: o}}`,
			unknown: []string{"spec.l[0].c", "spec.q", "zz"}},
		{name: "preserved fields",
			schema:  `{type: object, properties: {p: {x-kubernetes-preserve-unknown-fields: true, type: object, properties: {a: {type: object, properties: {b: {type: string}}}}}}}`,
			obj:     `{p: {x: {y: 1}, a: {b: x, c: 1}}}`,
			want:    `{p: {x: {y: 1}, a: {b: x}}}`,
			unknown: []string{"p.a.c"}},
		{name: "preserved elements",
			schema:  `{type: object, properties: {p: {type: array, x-kubernetes-preserve-unknown-fields: true, items: {type: object, properties: {a: {type: object, properties: {}}}}}}}`,
			obj:     `{p: [{x: 1, a: {c: 1}}]}`,
			want:    `{p: [{x: 1, a: {}}]}`,
			unknown: []string{"p[0].a.c"}},
		{name: "map entries", schema: `{type: object, properties: {m: {type: object, additionalProperties: {type: object, properties: {a: {type: string}}}}}}`,
			obj: `{m: {x: {a: b, c: 1}}}`, want: `{m: {x: {a: b}}}`, unknown: []string{"m.x.c"}},
		{name: "null entry of any type", schema: `{type: object, properties: {m: {type: object, additionalProperties: true}}}`, obj: `{m: {x: null}}`, want: `{m: {x: null}}`},
		{name: "map entries of any type", schema: `{type: object, properties: {m: {type: object, additionalProperties: true}}}`,
			obj: `{m: {x: {a: b}, y: 1, z: [{a: 1}, 2]}}`, want: `{m: {x: {}, y: 1, z: [{}, 2]}}`, unknown: []string{"m.x.a", "m.z[0].a"}},
		{name: "additionalProperties false", schema: `{type: object, properties: {m: {type: object, additionalProperties: false}}}`,
			obj: `{m: {x: 1}}`, want: `{m: {x: 1}}`},
		{name: "unknown fields kept", schema: `{type: object}`, options: schema.CoerceOptions{KeepUnknown: true},
			obj: `{spec: {a: null}, metadata: {a: 1}}`, want: `{spec: {a: null}, metadata: {}}`},
		{name: "nulls",
			schema: `{type: object, properties: {a: {type: string}, b: {type: string, nullable: true}, c: {type: string, default: x}, l: {type: array, items: {type: object, properties: {a: {type: string}}}}, p: {type: object, x-kubernetes-preserve-unknown-fields: true}}}`,
			obj:    `{a: null, b: null, c: null, l: [null, {a: null}], p: {x: null}}`,
			want:   `{b: null, c: null, l: [null, {}], p: {x: null}}`},
		{name: "nulls kept", options: schema.CoerceOptions{KeepNulls: true}, schema: `{type: object, properties: {a: {type: string}}}`,
			obj: `{a: null, b: null}`, want: `{a: null}`, unknown: []string{"b"}},
		{name: "metadata", schema: `{type: object}`, options: schema.CoerceOptions{Strict: true},
			obj:     `{metadata: {name: o, creationTimestamp: null, labels: {}, foo: 1, ownerReferences: [{name: x, bar: 1, apiVersion: v1, kind: K, uid: u}]}}`,
			want:    `{metadata: {name: o, ownerReferences: [{name: x, apiVersion: v1, kind: K, uid: u}]}}`,
			unknown: []string{"metadata.foo", "metadata.ownerReferences[0].bar"}},
		{name: "metadata of a wrong type", schema: `{type: object}`, obj: `{metadata: {name: 5}}`,
			err: "json: cannot unmarshal number into Go struct field ObjectMeta.name of type string"},
		{name: "metadata is not an object", schema: `{type: object}`, obj: `{metadata: x}`,
			err: "json: cannot unmarshal string into Go value of type v1.ObjectMeta"},
		{name: "invalid metadata dropped", schema: `{type: object}`, options: schema.CoerceOptions{DropInvalid: true},
			obj: `{metadata: {name: o, labels: 5}}`, want: `{metadata: {name: o}}`},
		{name: "metadata is not an object, invalid fields dropped", schema: `{type: object}`, options: schema.CoerceOptions{DropInvalid: true}, obj: `{metadata: x}`,
			err: "invalid metadata: expected object, got string"},
		{name: "kind of a wrong type", schema: `{type: object}`, obj: `{kind: 5}`, err: ".kind accessor error: 5 is of the type int64, expected string"},
		{name: "embedded", schema: `{type: object, properties: {e: ` + embedded + `}}`, options: schema.CoerceOptions{Strict: true},
			obj:     `{e: {kind: K, spec: {a: 1}, metadata: {name: o, foo: 1, creationTimestamp: null}}}`,
			want:    `{e: {kind: K, spec: {a: 1}, metadata: {name: o}}}`,
			unknown: []string{"e.metadata.foo"}},
		{name: "embedded kind", schema: `{type: object, properties: {l: {type: array, items: ` + embedded + `}}}`,
			obj: `{l: [{kind: 5}]}`, err: "l[0].kind: Invalid value: 5: must be a string"},
		{name: "embedded metadata", schema: `{type: object, properties: {m: {type: object, additionalProperties: ` + embedded + `}}}`,
			obj: `{m: {x: {metadata: {name: 5}}}}`,
			err: `m[x].metadata: Invalid value: {"name":5}: json: cannot unmarshal number into Go struct field ObjectMeta.name of type string`},
		{name: "invalid fields of an embedded resource dropped", schema: `{type: object, properties: {e: ` + embedded + `}}`, options: schema.CoerceOptions{DropInvalid: true},
			obj: `{e: {kind: 5, apiVersion: v1, metadata: {name: o, labels: 5}}}`, want: `{e: {apiVersion: v1, metadata: {name: o}}}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			obj := props(t, tc.obj)
			unknown, err := fromProps(t, tc.schema).Coerce(obj, tc.options)
			if tc.err != "" {
				assert.EqualError(t, err, tc.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tc.unknown, unknown)
			assert.Equal(t, props(t, tc.want), obj)
		})
	}
	t.Run("without a schema", func(t *testing.T) {
		obj := props(t, `{kind: K, metadata: {name: o}, spec: {a: 1}}`)
		unknown, err := (*schema.Schema)(nil).Coerce(obj, schema.CoerceOptions{})
		require.NoError(t, err)
		assert.Equal(t, []string{"spec"}, unknown)
		assert.Equal(t, props(t, `{kind: K, metadata: {name: o}}`), obj)
	})
}

func TestSetDefaults(t *testing.T) {
	for _, tc := range []struct{ name, schema, obj, want string }{
		{"absent", `{type: object, properties: {a: {type: string, default: x}, b: {type: string}}}`, `{}`, `{a: x}`},
		{"present", `{type: object, properties: {a: {type: string, default: x}}}`, `{a: ""}`, `{a: ""}`},
		{"null", `{type: object, properties: {a: {type: string, default: x}, b: {type: string, default: x, nullable: true}}}`, `{a: null, b: null}`, `{a: x, b: null}`},
		{"within a default", `{type: object, properties: {a: {type: object, default: {}, properties: {b: {type: integer, default: 1}}}}}`, `{}`, `{a: {b: 1}}`},
		{"within an absent object", `{type: object, properties: {a: {type: object, properties: {b: {type: integer, default: 1}}}}}`, `{}`, `{}`},
		{"map entries", `{type: object, properties: {m: {type: object, additionalProperties: {type: string, default: x}}}}`, `{m: {a: null, b: y}}`, `{m: {a: x, b: y}}`},
		{"list elements", `{type: object, properties: {l: {type: array, items: {type: object, default: {c: 1}, properties: {b: {type: integer, default: 1}}}}}}`, `{l: [null, {}]}`, `{l: [{b: 1, c: 1}, {b: 1}]}`},
		{"wrong types", `{type: object, properties: {a: {type: object, properties: {b: {type: integer, default: 1}}}}}`, `{a: [x]}`, `{a: [x]}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, obj := fromProps(t, tc.schema), props(t, tc.obj)
			sharing := maps.Clone(obj)
			s.SetDefaults(obj)
			assert.Equal(t, props(t, tc.want), obj)
			assert.Equal(t, props(t, tc.obj), sharing, "another object with the same values has not changed")
		})
	}
	t.Run("defaults are copied", func(t *testing.T) {
		s := fromProps(t, `{type: object, properties: {a: {type: object, default: {b: 1}}}}`)
		a, b := map[string]any{}, map[string]any{}
		s.SetDefaults(a)
		a["a"].(map[string]any)["b"] = 2
		s.SetDefaults(b)
		assert.Equal(t, props(t, `{a: {b: 1}}`), b)
	})
}

func TestValidateLists(t *testing.T) {
	for _, tc := range []struct {
		name, schema, list string
		want               []string
	}{
		{"set", `{x-kubernetes-list-type: set}`, `[a, b, a, a, 1]`, []string{`l[2]: Duplicate value: "a"`}},
		{"set of objects", `{x-kubernetes-list-type: set}`, `[{a: 1}, {a: 2}, {a: 1}]`, []string{`l[2]: Duplicate value: {"a":1}`}},
		{"atomic", `{x-kubernetes-list-type: atomic}`, `[a, a]`, nil},
		{"one key", `{x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k]}`, `[{k: a, v: 1}, {k: a, v: 2}]`, []string{`l[1]: Duplicate value: {"k":"a"}`}},
		{"two keys", `{x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k, j]}`, `[{k: a, j: 1}, {k: a, j: 2}, {j: 1, k: a}]`, []string{`l[2]: Duplicate value: {"j":1,"k":"a"}`}},
		{"absent keys", `{x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k]}`, `[{}, null, {v: 1}]`, []string{`l[1]: Duplicate value: {}`}},
		{"elements that are not objects", `{x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k]}`, `[{}, x, 5]`, []string{`l[1]: Invalid value: "x": must be an object for an array of list-type map`}},
		{"nested list", `{items: {type: object, additionalProperties: {type: array, x-kubernetes-list-type: set}}}`, `[{m: [1, 1]}]`, []string{`l[0][m][1]: Duplicate value: 1`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := fromProps(t, `{type: object, properties: {l: `+tc.schema+`}}`)
			assert.Equal(t, tc.want, texts(s.ValidateLists(map[string]any{"l": value(t, tc.list)}, nil)))
		})
	}
}

func TestValidateEmbedded(t *testing.T) {
	s := fromProps(t, `{type: object, properties: {e: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}}}`)
	for _, tc := range []struct {
		name, embedded string
		want           []string
	}{
		{"valid", `{apiVersion: apps/v1, kind: Deployment, metadata: {namespace: x}}`, nil},
		{"empty", `{}`, []string{`e.apiVersion: Required value`, `e.kind: Required value`}},
		{"wrong types", `{apiVersion: 1, kind: {}, metadata: 5}`, []string{
			`e.apiVersion: Invalid value: 1: must be a string`,
			`e.kind: Invalid value: {}: must be a string`,
			`e.metadata: Invalid value: 5: json: cannot unmarshal number into Go value of type v1.ObjectMeta`,
		}},
		{"empty", `{apiVersion: "", kind: ""}`, []string{`e.apiVersion: Invalid value: "": must not be empty`, `e.kind: Invalid value: "": must not be empty`}},
		{"invalid", `{apiVersion: a/b/c, kind: K_, metadata: {name: a/b}}`, []string{
			`e.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c`,
			`e.kind: Invalid value: "K_": may have mixed case, but should otherwise match: a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')`,
			`e.metadata.name: Invalid value: "a/b": may not contain '/'`,
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			assert.Equal(t, tc.want, texts(s.ValidateEmbedded(map[string]any{"e": value(t, tc.embedded)}, nil)))
		})
	}
	assert.Empty(t, (*schema.Schema)(nil).ValidateEmbedded(map[string]any{}, validation.NewPath("x")))

	older, err := release.Open("1.33")
	require.NoError(t, err)
	errs := s.ValidateEmbedded(map[string]any{"e": map[string]any{}}, nil).In(older, "", "")
	assert.Equal(t, []string{`e.apiVersion: Required value: must not be empty`, `e.kind: Required value: must not be empty`}, texts(errs))
}
