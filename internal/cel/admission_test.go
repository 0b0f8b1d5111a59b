package cel

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestAdmission(t *testing.T) {
	all := AdmissionScope{Params: true, Authorizer: true, Patches: true}
	for _, row := range []struct {
		name, text string
		scope      AdmissionScope
		result     Outcome
		want       string
	}{
		{"object", "object.spec.replicas > 1 && oldObject == null", AdmissionScope{}, BoolOutcome, ""},
		{"request", "request.userInfo.groups.exists(g, g == 'a') && request.kind.group == ''", AdmissionScope{}, BoolOutcome, ""},
		{"namespace", "namespaceObject.metadata.labels['a'] == 'b'", AdmissionScope{}, BoolOutcome, ""},
		{"no member", "namespaceObject.metadata.managedFields", AdmissionScope{}, AnyOutcome, "compilation failed: ERROR: <input>:1:25: undefined field 'managedFields'\n | namespaceObject.metadata.managedFields\n | ........................^"},
		{"parameters", "params.a", all, AnyOutcome, ""},
		{"no parameters", "params.a", AdmissionScope{}, AnyOutcome, "compilation failed: ERROR: <input>:1:1: undeclared reference to 'params' (in container '')\n | params.a\n | ^"},
		{"authorizer", "authorizer.requestResource.check('get').allowed()", all, BoolOutcome, ""},
		{"no authorizer", "authorizer.path('/')", AdmissionScope{}, AnyOutcome, "compilation failed: ERROR: <input>:1:1: undeclared reference to 'authorizer' (in container '')\n | authorizer.path('/')\n | ^"},
		{"no boolean", "1", AdmissionScope{}, BoolOutcome, "must evaluate to bool but got int"},
		{"neither", "1", AdmissionScope{}, StringOrNullOutcome, "must evaluate to one of [string null_type] but got int"},
		{"null", "null", AdmissionScope{}, StringOrNullOutcome, ""},
		{"apply", "Object{spec: Object.spec{replicas: 1}}", all, ObjectOutcome, ""},
		{"patch", "[JSONPatch{op: 'add', path: '/a/' + jsonpatch.escapeKey('b/c'), value: 1}]", all, PatchOutcome, ""},
		{"patch of another kind", "[JSONPatch{op: 1}]", all, PatchOutcome, "compilation failed: ERROR: <input>:1:14: expected type of field 'op' is 'string' but provided type is 'int'\n | [JSONPatch{op: 1}]\n | .............^"},
		{"no patches", "Object{}", AdmissionScope{}, AnyOutcome, "compilation failed: ERROR: <input>:1:7: undeclared reference to 'Object' (in container '')\n | Object{}\n | ......^"},
	} {
		t.Run(row.name, func(t *testing.T) {
			err := NewAdmission(false).Check(row.text, row.scope, row.result)
			if row.want == "" {
				assert.NoError(t, err)
			} else {
				assert.EqualError(t, err, row.want)
			}
		})
	}
}

func TestAdmissionVariables(t *testing.T) {
	a := NewAdmission(true)
	assert.NoError(t, a.Declare("n", "1", AdmissionScope{}))
	assert.NoError(t, a.Declare("m", "variables.n + 1", AdmissionScope{}))
	assert.Error(t, a.Declare("wrong", "nope", AdmissionScope{}))
	assert.NoError(t, a.Check("variables.m > 1 && variables.wrong", AdmissionScope{}, BoolOutcome))
	assert.ErrorContains(t, a.Check("variables.m == 'a'", AdmissionScope{}, BoolOutcome), "found no matching overload for '_==_'")
	assert.ErrorContains(t, a.Check("variables.later", AdmissionScope{}, AnyOutcome), "undefined field 'later'")
}

func TestCheckDeviceSelector(t *testing.T) {
	for text, want := range map[string]string{
		"device.driver == 'a' && device.attributes['a'].b":                                   "",
		"device.attributes['a'].b":                                                           "",
		"device.capacity['a'].b.compareTo(quantity('1')) > 0":                                "",
		"cel.bind(a, device.attributes['a'], a.b && a.c) || device.allowMultipleAllocations": "",
		"device.driver": "must evaluate to bool or the unknown type, not string",
		"nope":          "compilation failed: ERROR: <input>:1:1: undeclared reference to 'nope' (in container '')\n | nope\n | ^",
	} {
		t.Run(text, func(t *testing.T) {
			err := CheckDeviceSelector(text)
			if want == "" {
				assert.NoError(t, err)
			} else {
				assert.EqualError(t, err, want)
			}
		})
	}
}
