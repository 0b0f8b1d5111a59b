//go:build go1.24

package cel

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/kubefake/kubefake/internal/cel/library"
	"github.com/kubefake/kubefake/internal/object"
)

// testAuthorizer allows service accounts named deployer everything, and everybody to get
// Pods and /healthz. It returns an error for the resource "broken".
type testAuthorizer struct{}

func (testAuthorizer) Authorize(a library.AuthorizerAttributes) (bool, string, error) {
	if a.Resource == "broken" {
		return false, "", errors.New("no answer")
	}
	return a.ServiceAccount.Name == "deployer" || a.Verb == "get" && a.Resource == "pods" || a.Path == "/healthz", "because", nil
}

func TestPolicy(t *testing.T) {
	all := OptionalVariables{Params: true, Authorizer: true}
	in := Inputs{
		Object: map[string]any{"spec": map[string]any{"replicas": int64(5)}, "metadata": map[string]any{
			"managedFields": []any{map[string]any{"manager": "m", "fieldsV1": object.FieldsV1(`{"f:spec":{"f:replicas":{}}}`)}},
		}},
		Params:          map[string]any{"max": int64(3)},
		Request:         map[string]any{"operation": "CREATE", "userInfo": map[string]any{"username": "alice"}},
		Namespace:       map[string]any{"metadata": map[string]any{"labels": map[string]any{"env": "prod"}}},
		Authorizer:      testAuthorizer{},
		RequestResource: library.AuthorizerAttributes{Resource: "pods"},
	}
	for _, row := range []struct{ expression, wantErr string }{
		{"object.spec.replicas <= params.max", "false"},
		{"object.metadata.managedFields.exists(m, 'f:replicas' in m.fieldsV1['f:spec'])", ""},
		{"object.metadata.managedFields == [{'manager': dyn('m'), 'fieldsV1': dyn({'f:spec': {'f:replicas': {}}})}]", ""},
		{"variables.over == 2 && variables.over + variables.over == 4", ""},
		{"oldObject == null && request.operation == 'CREATE' && request.userInfo.username == 'alice'", ""},
		{"namespaceObject.metadata.labels['env'] == 'prod'", ""},
		{"authorizer.requestResource.check('get').allowed() && !authorizer.requestResource.check('delete').allowed()", ""},
		{"authorizer.path('/healthz').check('get').allowed() && authorizer.group('apps').resource('deployments').check('get').reason() == 'because'", ""},
		{"authorizer.serviceAccount('default', 'deployer').group('').resource('secrets').namespace('x').name('y').check('get').errored() == false", ""},
		{"authorizer.path('').check('get').allowed()", "expression 'authorizer.path('').check('get').allowed()' resulted in error: path must not be empty"},
		{"object.nothing == 1", "expression 'object.nothing == 1' resulted in error: no such key: nothing"},
		{"request.nothing == 1", "compilation failed: ERROR: <input>:1:8: undefined field 'nothing'\n | request.nothing == 1\n | .......^"},
		{"variables.broken", `expression 'variables.broken' resulted in error: composited variable "broken" fails to evaluate: no such key: none`},
		{"object.spec.replicas", "must evaluate to bool but got dyn"},
	} {
		t.Run(row.expression, func(t *testing.T) {
			p := NewPolicy(0, true)
			require.NoError(t, p.Define("over", "object.spec.replicas - params.max", all))
			require.NoError(t, p.Define("broken", "object.none == 1", all))
			program, err := p.Compile(row.expression, all, Bool)
			if err != nil {
				require.EqualError(t, err, row.wantErr)
				return
			}
			e := p.Evaluate(t.Context(), in, Budget)
			v, err := e.Run(program)
			switch row.wantErr {
			case "":
				require.NoError(t, err)
				require.Equal(t, true, v.Value())
			case "false":
				require.Equal(t, false, v.Value())
			default:
				require.EqualError(t, err, row.wantErr)
			}
			require.Less(t, e.Remaining(), int64(Budget))
		})
	}
}

func TestPolicyBudget(t *testing.T) {
	p := NewPolicy(0, false)
	program, err := p.Compile("authorizer.requestResource.check('get').allowed()", OptionalVariables{Authorizer: true}, Bool)
	require.NoError(t, err)
	e := p.Evaluate(t.Context(), Inputs{Authorizer: testAuthorizer{}}, checkCost+10)
	_, err = e.Run(program)
	require.NoError(t, err)
	_, err = e.Run(program)
	require.ErrorIs(t, err, ErrBudget)
	require.Negative(t, e.Remaining())
}

// kube-apiserver has all fields in the type of a JSON patch, the unknown ones without a type.
func TestUnknownFieldsOfJSONPatches(t *testing.T) {
	for expression, want := range map[string]string{
		`[JSONPatch{foo: "x"}]`: "compilation failed: ERROR: <input>:1:15: expected type of field 'foo' is '' but provided type is 'string'\n | [JSONPatch{foo: \"x\"}]\n | ..............^",
		`[JSONPatch{op: "add", path: "/a", value: JSONPatch{}.foo}]`: "unexpected compilation error: missing type conversion to proto: ",
	} {
		err := NewPolicy(NewExpressions(36), false).Check(expression, OptionalVariables{PatchTypes: true}, JSONPatches)
		require.EqualError(t, err, want)
	}
}

func TestPatches(t *testing.T) {
	vars := OptionalVariables{PatchTypes: true}
	object := map[string]any{"metadata": map[string]any{"name": "a/b", "annotations": map[string]any{"a": nil}}}
	for _, row := range []struct {
		name, expression string
		apply            bool
		want             any
		wantErr          string
	}{
		{"null in an apply configuration", `Object{spec: null}`, true, map[string]any{"spec": structpb.NullValue_NULL_VALUE}, ""},
		{"null of the object", `Object{spec: object.metadata.annotations}`, true, map[string]any{"spec": map[string]any{"a": nil}}, ""},
		{"apply configuration", `Object{spec: Object.spec{replicas: 3, names: [object.metadata.name]}}`, true, map[string]any{"spec": map[string]any{"replicas": int64(3), "names": []any{"a/b"}}}, ""},
		{"type with the name of another field", `Object{spec: Object.status{replicas: 3}}`, true, nil, `type mismatch: unexpected type name "Object.status", expected "Object.spec", which matches field name path from root Object type`},
		{"JSON patch", `[JSONPatch{op: "add", path: "/metadata/labels/" + jsonpatch.escapeKey(object.metadata.name), value: "x"}]`, false, `[{"op":"add","path":"/metadata/labels/a~1b","value":"x"}]`, ""},
		{"null in a JSON patch", `[JSONPatch{op: "add", path: "/a", value: {"a": [null]}}]`, false, `[{"op":"add","path":"/a","value":{"a":[null]}}]`, ""},
		{"null in an Object", `[JSONPatch{op: "add", path: "/a", value: Object{a: null}}]`, false, nil, "proto: invalid type: structpb.NullValue"},
		{"map in a map in an Object", `[JSONPatch{op: "add", path: "/a", value: Object{a: {"b": {"c": "d"}}}}]`, false, nil, "proto: invalid type: map[ref.Val]ref.Val"},
		{"Object in a list", `[JSONPatch{op: "add", path: "/a", value: [Object.a{b: "c"}] + [Object.a{b: ["d"]}]}]`, false, `[{"op":"add","path":"/a","value":[{"b":"c"},{"b":["d"]}]}]`, ""},
		{"Object in a map", `[JSONPatch{op: "add", path: "/a", value: {"x": Object.a{b: "c"}}}]`, false, `[{"op":"add","path":"/a","value":{"x":{"b":"c"}}}]`, ""},
		{"Objects in an Object", `[JSONPatch{op: "add", path: "/a", value: Object{a: [Object.a{b: "c"}]}}]`, false, `[{"op":"add","path":"/a","value":{"a":[{"b":"c"}]}}]`, ""},
		{"bytes", `[JSONPatch{op: "add", path: "/a", value: b"x"}]`, false, `[{"op":"add","path":"/a","value":"eA=="}]`, ""},
		{"no value", `[JSONPatch{op: "add", path: "/a", value: optional.none()}]`, false, nil, "optional.none() dereference"},
		{"JSON patch with an object value", `[JSONPatch{op: "add", path: "/spec", value: Object.spec{a: {"b": 1.5}}}]`, false, `[{"op":"add","path":"/spec","value":{"a":{"b":1.5}}}]`, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			p := NewPolicy(0, true)
			result := JSONPatches
			if row.apply {
				result = Patch
			}
			program, err := p.Compile(row.expression, vars, result)
			require.NoError(t, err)
			v, err := p.Evaluate(t.Context(), Inputs{Object: object}, Budget).Run(program)
			require.NoError(t, err)
			var got any
			if row.apply {
				got, err = ApplyConfiguration(v)
			} else {
				got, err = JSONPatch(v)
			}
			if row.wantErr != "" {
				require.EqualError(t, err, row.wantErr)
				return
			}
			require.NoError(t, err)
			if text, ok := row.want.(string); ok {
				encoded, err := json.Marshal(got)
				require.NoError(t, err)
				require.JSONEq(t, text, string(encoded))
				return
			}
			require.Equal(t, row.want, got)
		})
	}
}
