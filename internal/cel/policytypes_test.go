package cel

import (
	"strings"
	"testing"

	"github.com/google/cel-go/common/types"
	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/validation"
)

func TestPolicyTypes(t *testing.T) {
	bools, anything := []*types.Type{Bool}, []*types.Type{anyType}
	all := OptionalVariables{Params: true, Authorizer: true, PatchTypes: true}
	for _, row := range []struct {
		name, text string
		vars       OptionalVariables
		results    []*types.Type
		want       string
	}{
		{"object", "object.spec.replicas > 1 && oldObject == null", OptionalVariables{}, bools, ""},
		{"request", "request.userInfo.groups.exists(g, g == 'a') && request.kind.group == ''", OptionalVariables{}, bools, ""},
		{"namespace", "namespaceObject.metadata.labels['a'] == 'b'", OptionalVariables{}, bools, ""},
		{"unknown field", "namespaceObject.metadata.managedFields", OptionalVariables{}, anything, "compilation failed: ERROR: <input>:1:25: undefined field 'managedFields'\n | namespaceObject.metadata.managedFields\n | ........................^"},
		{"params", "params.a", all, anything, ""},
		{"params not declared", "params.a", OptionalVariables{}, anything, "compilation failed: ERROR: <input>:1:1: undeclared reference to 'params' (in container '')\n | params.a\n | ^"},
		{"authorizer", "authorizer.requestResource.check('get').allowed()", all, bools, ""},
		{"authorizer not declared", "authorizer.path('/')", OptionalVariables{}, anything, "compilation failed: ERROR: <input>:1:1: undeclared reference to 'authorizer' (in container '')\n | authorizer.path('/')\n | ^"},
		{"result is not a boolean", "1", OptionalVariables{}, bools, "must evaluate to bool but got int"},
		{"result has neither type", "1", OptionalVariables{}, []*types.Type{String, Null}, "must evaluate to one of [string null_type] but got int"},
		{"null", "null", OptionalVariables{}, []*types.Type{String, Null}, ""},
		{"apply configuration", "Object{spec: Object.spec{replicas: 1}}", all, []*types.Type{Patch}, ""},
		{"JSON patch", "[JSONPatch{op: 'add', path: '/a/' + jsonpatch.escapeKey('b/c'), value: 1}]", all, []*types.Type{JSONPatches}, ""},
		{"JSON patch with a field of the wrong type", "[JSONPatch{op: 1}]", all, []*types.Type{JSONPatches}, "compilation failed: ERROR: <input>:1:14: expected type of field 'op' is 'string' but provided type is 'int'\n | [JSONPatch{op: 1}]\n | .............^"},
		{"patch types not declared", "Object{}", OptionalVariables{}, anything, "compilation failed: ERROR: <input>:1:7: undeclared reference to 'Object' (in container '')\n | Object{}\n | ......^"},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := NewPolicy(0, false).Compile(row.text, row.vars, row.results...)
			if row.want == "" {
				assert.NoError(t, err)
			} else {
				assert.EqualError(t, err, row.want)
			}
		})
	}
}

func TestPolicyVariables(t *testing.T) {
	a := NewPolicy(0, true)
	assert.NoError(t, a.Define("n", "1", OptionalVariables{}))
	assert.NoError(t, a.Define("m", "variables.n + 1", OptionalVariables{}))
	assert.Error(t, a.Define("wrong", "nope", OptionalVariables{}))
	_, err := a.Compile("variables.m > 1 && variables.wrong", OptionalVariables{}, Bool)
	assert.NoError(t, err)
	_, err = a.Compile("variables.m == 'a'", OptionalVariables{}, Bool)
	assert.ErrorContains(t, err, "found no matching overload for '_==_'")
	_, err = a.Compile("variables.later", OptionalVariables{}, anyType)
	assert.ErrorContains(t, err, "undefined field 'later'")
}

func TestDeviceSelectors(t *testing.T) {
	for text, want := range map[string]string{
		"device.driver == 'a' && device.attributes['a'].b":                                   "",
		"device.attributes['a'].b":                                                           "",
		"device.capacity['a'].b.compareTo(quantity('1')) > 0":                                "",
		"cel.bind(a, device.attributes['a'], a.b && a.c) || device.allowMultipleAllocations": "",
		"device.driver": `e: Invalid value: "device.driver": must evaluate to bool or the unknown type, not string`,
		"nope":          "e: Invalid value: \"nope\": compilation failed: ERROR: <input>:1:1: undeclared reference to 'nope' (in container '')\n | nope\n | ^",
		"timestamp('x' + 'y') == timestamp('2024-01-01T00:00:00Z')":                                                    "",
		"device.attributes.all(k, device.attributes.all(l, device.attributes.all(m, true)))":                           "",
		"type(device.driver) == string":                                                                                "e: Forbidden: too complex, exceeds cost limit",
		"isQuantity('a,b'.split(',')[0])":                                                                              "e: Forbidden: too complex, exceeds cost limit",
		"device.attributes.all(k, device.attributes.all(l, device.attributes.all(m, device.attributes.all(n, true))))": "e: Forbidden: too complex, exceeds cost limit",
		"device.attributes['a'].b.matches('" + strings.Repeat("a", 1000) + "')":                                        "",
		"device.driver.lowerAscii().split(',').join('.') == 'x'":                                                       "e: Forbidden: too complex, exceeds cost limit",
	} {
		t.Run(text, func(t *testing.T) {
			err := DeviceSelectors{ConsumableCapacity: true}.Check(text, validation.NewPath("e"))
			if want == "" {
				assert.Nil(t, err)
			} else {
				assert.EqualError(t, err, want)
			}
		})
	}
}

// TestDeviceSelectorVersions checks the functions and fields of selectors by release.
func TestDeviceSelectorVersions(t *testing.T) {
	consumable, lists := DeviceSelectors{ConsumableCapacity: true}, DeviceSelectors{ListTypeAttributes: true}
	in := func(minor int) DeviceSelectors { return DeviceSelectors{Version: NewExpressions(minor)} }
	for _, tt := range []struct {
		name      string
		text      string
		valid     []DeviceSelectors
		undefined []DeviceSelectors
	}{
		{"field of a gate", "device.allowMultipleAllocations", []DeviceSelectors{consumable}, []DeviceSelectors{in(34), in(36), lists}},
		{"function of a gate", "device.attributes['a'].b.includes(1)", []DeviceSelectors{lists}, []DeviceSelectors{in(36), consumable}},
		{"attribute as a list", "device.attributes['a'].b.exists(x, x == 1)", []DeviceSelectors{lists}, []DeviceSelectors{in(36), consumable}},
		{"semver", "semver('1.2.3').major() == 1", []DeviceSelectors{in(32), in(33), in(34), in(36)}, nil},
		{"semver that is normalized", "isSemver('v1.2', true)", []DeviceSelectors{in(34), in(36)}, []DeviceSelectors{in(32), in(33)}},
		{"list library", "[2, 1].reverse() == [1, 2]", []DeviceSelectors{in(35), in(36)}, []DeviceSelectors{in(32), in(34)}},
		{"two variables", "[1].all(i, v, v == 1)", []DeviceSelectors{in(33), in(36)}, []DeviceSelectors{in(32)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, s := range tt.valid {
				assert.Nil(t, s.Check(tt.text, validation.NewPath("e")), "%+v", s)
			}
			for _, s := range tt.undefined {
				assert.ErrorContains(t, s.Check(tt.text, validation.NewPath("e")), "compilation failed", "%+v", s)
			}
		})
	}
}
