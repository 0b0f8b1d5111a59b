package fieldmanager

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/object"
)

// An update that leaves a value in a custom resource which does not match the
// schema removes all managedFields, wherever the value is.
func TestUpdateMistyped(t *testing.T) {
	k := custom(t, `{type: object, properties: {apiVersion: {type: string}, kind: {type: string}, metadata: {type: object, properties: {name: {type: string}}}, status: {type: object, properties: {
		i: {type: integer}, s: {type: string}, b: {type: boolean},
		o: {type: object, properties: {x: {type: string}}}, m: {type: object, additionalProperties: {type: string}},
		atomic: {type: object, x-kubernetes-map-type: atomic, properties: {x: {type: string}}},
		l: {type: array, items: {type: string}}, set: {type: array, x-kubernetes-list-type: set, items: {type: string}},
		map: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {type: object, properties: {k: {type: string}, v: {type: integer}}}},
		p: {type: object, x-kubernetes-preserve-unknown-fields: true}}}}}`)
	for _, tt := range []struct {
		status string
		kept   bool
	}{
		{"{i: 2}", true}, {"{i: null}", true}, {"{i: 1.5}", true}, {"{i: x}", false}, {"{i: {}}", false}, {"{i: [1]}", false},
		{"{s: x}", true}, {"{s: 1}", false}, {"{b: true}", true}, {"{b: x}", false},
		{"{o: {x: a}}", true}, {"{o: {x: null}}", true}, {"{o: {x: 1}}", false}, {"{o: x}", false}, {"{o: []}", false},
		{"{m: {a: a}}", true}, {"{m: {a: 1}}", false}, {"{atomic: {x: 1}}", false},
		{"{l: [a, a]}", true}, {"{l: [null]}", true}, {"{l: [1]}", false}, {"{l: a}", false},
		{"{set: [a, a]}", true}, {"{set: [null]}", false}, {"{set: [[a]]}", false},
		{"{map: [{k: a}, {k: a}]}", true}, {"{map: [{v: 1}]}", false}, {"{map: [{k: a, v: x}]}", false}, {"{map: [null]}", false},
		{"{p: {z: [1, {a: b}]}}", true}, {"{p: x}", false},
	} {
		t.Run(tt.status, func(t *testing.T) {
			live := k.Update(object.View{}, parse(t, "{apiVersion: example.com/v1, kind: Widget, metadata: {name: w}, status: {s: old}}"), Options{Manager: "a"})
			assert.NotEmpty(t, managedBy(live))
			obj := parse(t, "{apiVersion: example.com/v1, kind: Widget, metadata: {name: w}, status: "+tt.status+"}")
			assert.Equal(t, tt.kept, len(managedBy(k.Update(object.ViewOf(live), object.Copy(obj), Options{Manager: "b"}))) > 0)
			assert.Equal(t, tt.kept, len(managedBy(k.Update(object.View{}, obj, Options{Manager: "b"}))) > 0, "create")
		})
	}
}
