package cel

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/schema"
)

func TestTypeChecker(t *testing.T) {
	text := &schema.Schema{Type: "string"}
	node := &schema.Schema{Name: "Node", Type: "object", Properties: map[string]*schema.Schema{"value": text}}
	node.Properties["next"] = node
	object := &schema.Schema{Type: "object", Properties: map[string]*schema.Schema{
		"spec": {Type: "object", Properties: map[string]*schema.Schema{"replicas": {Type: "integer"}, "list": node}},
	}}
	vars := OptionalVariables{Params: true, Authorizer: true}
	tests := []struct{ name, text, issues string }{
		{"a field", "object.spec.replicas > 1", ""},
		{"no field", "object.spec.size > 1", "ERROR: <input>:1:12: undefined field 'size'\n | object.spec.size > 1\n | ...........^"},
		{"another type", "object.spec.replicas > 'a'", "ERROR: <input>:1:22: found no matching overload for '_>_' applied to '(int, string)'\n | object.spec.replicas > 'a'\n | .....................^"},
		{"metadata", "object.metadata.name == oldObject.metadata.name", ""},
		{"a type that has itself", "object.spec.list.next", ""},
		{"beyond it", "object.spec.list.next.next", "ERROR: <input>:1:22: undefined field 'next'\n | object.spec.list.next.next\n | .....................^"},
		{"params without a schema", "params.anything == object.spec.replicas", ""},
		{"a variable", "variables.half < 3", ""},
		{"no result type is required", "object.spec", ""},
		{"the authorizer has no requestResource", "authorizer.requestResource.check('get').allowed()",
			"ERROR: <input>:1:11: unexpected failed resolution of 'kubernetes.authorization.Authorizer'\n | authorizer.requestResource.check('get').allowed()\n | ..........^"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := NewTypeChecker(0, Declaration{"Thing", object}, Declaration{})
			assert.NoError(t, p.Define("half", "object.spec.replicas / 2", vars))
			assert.Equal(t, tt.issues, p.Issues(tt.text, vars))
		})
	}
}
