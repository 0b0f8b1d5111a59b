//go:build go1.24

package dynamic

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/admission"
)

func TestMutatingPolicies(t *testing.T) {
	patches := func(expression string) string {
		return `"mutations":[{"patchType":"JSONPatch","jsonPatch":{"expression":` + fmt.Sprintf("%q", expression) + `}}]`
	}
	appends := func(policy string) string {
		return `"reinvocationPolicy":"` + policy + `","mutations":[{"patchType":"ApplyConfiguration","applyConfiguration":{"expression":"Object{data: {'x': (has(object.data.x) ? object.data.x : '') + 'x'}}"}}]`
	}
	const by = "policy 'p' with binding 'b' denied request: "
	for _, tt := range []struct{ name, spec, want string }{
		{"JSON patch", patches(`[JSONPatch{op: "add", path: "/data/x", value: object.data.k + "1"}]`), "map[k:v x:v1]"},
		{"apply configuration", `"mutations":[{"patchType":"ApplyConfiguration","applyConfiguration":{"expression":"Object{data: Object.data{y: 'z'}}"}}]`, "map[k:v y:z]"},
		{"both", `"mutations":[{"patchType":"JSONPatch","jsonPatch":{"expression":"[JSONPatch{op: 'remove', path: '/data/k'}]"}},{"patchType":"ApplyConfiguration","applyConfiguration":{"expression":"Object{data: Object.data{y: has(object.data) ? 'data' : 'none'}}"}}]`, "map[y:none]"},
		{"reinvoked because of its own change", appends("IfNeeded"), "map[k:v x:xx]"},
		{"never reinvoked", appends("Never"), "map[k:v x:x]"},
		{"failed test operation", patches(`[JSONPatch{op: "test", path: "/data/k", value: "w"}, JSONPatch{op: "remove", path: "/data/k"}]`), "map[k:v]"},
		{"patch that fails", patches(`[JSONPatch{op: "remove", path: "/data/x"}]`), by + "JSON Patch: error in remove for path: '/data/x': Unable to remove nonexistent key: x: missing value"},
		{"unknown field", patches(`[JSONPatch{op: "add", path: "/dada", value: "x"}]`), `Internal error occurred: strict decoding error: unknown field "dada"`},
		{"expression that fails", patches(`[JSONPatch{op: "add", path: "/data/x", value: object.x}]`), by + `expression '[JSONPatch{op: "add", path: "/data/x", value: object.x}]' resulted in error: no such key: x`},
		{"expression that fails, ignored", `"failurePolicy":"Ignore",` + patches(`[JSONPatch{op: "add", path: "/data/x", value: object.x}]`), "map[k:v]"},
		{"wrong type name", `"mutations":[{"patchType":"ApplyConfiguration","applyConfiguration":{"expression":"Object{data: Object.spec{y: 'z'}}"}}]`,
			by + `type mismatch: unexpected type name "Object.spec", expected "Object.data", which matches field name path from root Object type`},
		{"match condition", `"matchConditions":[{"name":"c","expression":"false"}],` + patches(`[JSONPatch{op: "remove", path: "/data/k"}]`), "map[k:v]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &server{Types: newTypes(t), objects: []map[string]any{decode(t, namespace)}}
			a := newAttributes(t, s, admission.Create, configMap, "")
			err := newSnapshot(t, policies("Mutating", tt.spec, "")...).Mutate(t.Context(), a, s, nil)
			if err != nil {
				assert.EqualError(t, err, tt.want)
				return
			}
			assert.Equal(t, tt.want, fmt.Sprint(a.Object["data"]))
		})
	}
}
