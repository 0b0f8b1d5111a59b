//go:build go1.24

package cel

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkValidate measures the evaluation of the rules of an object, without their
// compilation.
func BenchmarkValidate(b *testing.B) {
	for _, n := range []int{1, 20} {
		b.Run(fmt.Sprintf("rules=%d", n), func(b *testing.B) {
			rules := strings.TrimSuffix(strings.Repeat(`{rule: "self.low <= self.high && self.name.startsWith('a')"},`, n), ",")
			v := NewValidator(schemaOf(b, `{type: object, properties: {spec: {type: object, x-kubernetes-validations: [`+rules+`], properties: {low: {type: integer}, high: {type: integer}, name: {type: string}}}}}`))
			obj := read(b, `{spec: {low: 1, high: 2, name: abc}}`)
			b.ReportAllocs()
			for b.Loop() {
				v.Validate(b.Context(), nil, obj, nil, Budget)
			}
		})
	}
}
