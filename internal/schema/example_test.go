package schema_test

import (
	"fmt"

	"github.com/kubefake/kubefake/internal/schema"
)

// Custom resources are pruned, defaulted and validated, in this order.
func ExampleFromProps() {
	s, err := schema.FromProps(map[string]any{
		"type": "object",
		"properties": map[string]any{
			"spec": map[string]any{
				"type": "object",
				"properties": map[string]any{
					"replicas": map[string]any{"type": "integer", "minimum": int64(0)},
					"policy":   map[string]any{"type": "string", "enum": []any{"Always", "Never"}, "default": "Always"},
				},
			},
		},
	})
	if err != nil {
		panic(err)
	}
	obj := map[string]any{"kind": "Web", "spec": map[string]any{"replicas": int64(-1), "replics": int64(3)}}
	unknown, err := s.Coerce(obj, schema.CoerceOptions{})
	fmt.Println(unknown, err)
	s.SetDefaults(obj)
	fmt.Println(obj["spec"])
	fmt.Println(s.Validate(obj, nil, nil).Message())
	// Output:
	// [spec.replics] <nil>
	// map[policy:Always replicas:-1]
	// spec.replicas: Invalid value: -1: spec.replicas in body should be greater than or equal to 0
}
