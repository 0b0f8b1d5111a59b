//go:build go1.24

package cel

import (
	"encoding/json"
	"testing"

	"github.com/google/cel-go/common/types"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/wire"
)

// typedInputs returns a Pod as an input with its Go type.
func typedInputs(t *testing.T) Inputs {
	pod, ok := wire.ForKind("", "v1", "Pod")
	require.True(t, ok)
	return Inputs{
		Object: map[string]any{
			"metadata": map[string]any{
				"labels":        map[string]any{"app": "a"},
				"managedFields": []any{map[string]any{"fieldsV1": object.FieldsV1(`{"f:spec":{}}`)}},
			},
			"spec": map[string]any{
				"containers": []any{
					map[string]any{"name": "c", "args": []any{"x", "y"}, "resources": map[string]any{"limits": map[string]any{"cpu": "1"}}},
					map[string]any{"name": "d", "ports": []any{map[string]any{"containerPort": int64(80)}}},
				},
			},
		},
		Types: InputTypes{Object: pod.GoType()},
	}
}

func TestTypedValues(t *testing.T) {
	const c = "object.spec.containers[0]"
	for _, row := range []struct{ expression, wantErr string }{
		{c + ".name == 'c' && " + c + ".args == ['x', 'y'] && ['x', 'y'] == " + c + ".args", ""},
		{"object.metadata.labels == {'app': 'a'} && {'app': 'a'} == object.metadata.labels", ""},
		{"object.metadata.labels != {'app': 'b'} && object.metadata.labels != {'app': 'a', 'b': 'c'} && " + c + ".args != ['x'] && " + c + ".args != ['y', 'x']", ""},
		{c + ".resources == {'limits': {'cpu': '1'}} && " + c + " == " + c + " && " + c + " != object.spec.containers[1]", ""},
		{c + " != null && has(" + c + ".args) && !has(" + c + ".ports) && 'app' in object.metadata.labels && 'x' in " + c + ".args && !(1 in " + c + ".args)", ""},
		{"object.spec.containers.map(c, c.name) == ['c', 'd'] && object.spec.containers.exists(c, c.?ports[0].containerPort.orValue(0) == 80)", ""},
		{"object.metadata.labels.all(k, v, k == 'app' && v == 'a') && size(object.spec.containers) == 2 && (" + c + ".args + ['z']).join('') == 'xyz'", ""},
		{"'x' != " + c + " && type(" + c + ") == map && type(" + c + ".args) == list", ""},
		{"object.metadata.managedFields[0].fieldsV1 == {'f:spec': {}} && object.metadata.managedFields[0].fieldsV1 != 'x'", ""},
		{c + ".resources == 'x'", "no such overload"},
		{"object.metadata.labels == 'x'", "no such overload"},
		{c + ".args == 'x'", "no such overload"},
		{c + ".nope == 'x'", "no such key: nope"},
		{c + ".args[2] == 'x'", "index out of bounds: 2"},
		{"variables.args[2] == 'x'", "index out of bounds: 2"},
		{"variables.labels['b'] == 'x'", "no such key: b"},
	} {
		t.Run(row.expression, func(t *testing.T) {
			p := NewPolicy(0, true)
			require.NoError(t, p.Define("args", c+".args", OptionalVariables{}))
			require.NoError(t, p.Define("labels", "object.metadata.labels", OptionalVariables{}))
			program, err := p.Compile(row.expression, OptionalVariables{}, Bool)
			require.NoError(t, err)
			v, err := p.Evaluate(t.Context(), typedInputs(t), Budget).Run(program)
			if row.wantErr != "" {
				require.EqualError(t, err, "expression '"+row.expression+"' resulted in error: "+row.wantErr)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, types.True, v)
		})
	}
}

// Maps and lists of typed objects are parts of apply configurations, but not of JSON patches.
func TestTypedPatches(t *testing.T) {
	const c = "object.spec.containers[0]"
	for _, row := range []struct {
		value, want, wantErr string
	}{
		{c + ".name", `"c"`, ""},
		{"object.spec.containers.map(c, c.name)", `["c","d"]`, ""},
		{c + ".args + ['z']", `["x","y","z"]`, ""},
		{"object.metadata.managedFields[0].fieldsV1", `{"f:spec":{}}`, ""},
		{c, "", "type conversion error from struct type v1.Container to *structpb.Value"},
		{"[" + c + "]", "", "type conversion error from struct type v1.Container to *structpb.Value"},
		{c + ".args", "", "type conversion error from 'list(dyn)' to '*structpb.Value'"},
		{"{'a': object.metadata.labels}", "", "type conversion error from 'map(dyn, dyn)' to '*structpb.Value'"},
		{"Object.a{b: object.metadata.labels}", "", "proto: invalid type: map[string]string"},
		{"Object.a{b: [" + c + "]}", "", "proto: invalid type: v1.Container"},
		{"Object.a{b: {'c': " + c + ".args}}", "", "proto: invalid type: []string"},
	} {
		t.Run(row.value, func(t *testing.T) {
			p := NewPolicy(0, false)
			program, err := p.Compile(`[JSONPatch{op: "add", path: "/a", value: `+row.value+`}]`, OptionalVariables{PatchTypes: true}, JSONPatches)
			require.NoError(t, err)
			v, err := p.Evaluate(t.Context(), typedInputs(t), Budget).Run(program)
			require.NoError(t, err)
			operations, err := JSONPatch(v)
			if row.wantErr != "" {
				require.EqualError(t, err, row.wantErr)
				return
			}
			require.NoError(t, err)
			text, err := json.Marshal(operations[0]["value"])
			require.NoError(t, err)
			assert.JSONEq(t, row.want, string(text))
		})
	}

	p := NewPolicy(0, false)
	program, err := p.Compile("Object{spec: Object.spec{labels: object.metadata.labels, all: object.spec.containers}}", OptionalVariables{PatchTypes: true}, Patch)
	require.NoError(t, err)
	in := typedInputs(t)
	v, err := p.Evaluate(t.Context(), in, Budget).Run(program)
	require.NoError(t, err)
	applied, err := ApplyConfiguration(v)
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"spec": map[string]any{
		"labels": map[string]any{"app": "a"}, "all": object.Value(in.Object, "spec", "containers"),
	}}, applied)
}
