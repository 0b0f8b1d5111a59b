package wire

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/object"
)

func TestRespelled(t *testing.T) {
	typ, ok := ForKind("", "v1", "Pod")
	require.True(t, ok)
	containers := func(a, b string) string {
		return `{"spec":{"containers":[{"name":"a","env":[{"name":"E","value":"` + a + `"}],"resources":{"limits":{"memory":"` + a + `"}}},{"name":"b","resources":{"limits":{"memory":"` + b + `"}}}]}}`
	}
	for _, tt := range []struct{ name, before, obj, want string }{
		{"same text", containers("1G", "1Gi"), containers("1G", "1Gi"), containers("1G", "1Gi")},
		{"equal quantity", containers("1Gi", "1G"), containers("1Gi", "1e9"), containers("1Gi", "1e9")},
		{"text that is no quantity", containers("1G", "1"), containers("1e9", "1"),
			`{"spec":{"containers":[{"name":"a","env":[{"name":"E","value":"1G"}],"resources":{"limits":{"memory":"1e9"}}},{"name":"b","resources":{"limits":{"memory":"1"}}}]}}`},
		{"other quantity", containers("1Gi", "1G"), containers("1Gi", "2e9"), containers("1Gi", "1G")},
		{"fewer items", containers("1", "1G"), `{"spec":{"containers":[{"name":"a","resources":{"limits":{"memory":"1000m"}}}]}}`,
			`{"spec":{"containers":[{"name":"a","env":[{"name":"E","value":"1"}],"resources":{"limits":{"memory":"1000m"}}},{"name":"b","resources":{"limits":{"memory":"1G"}}}]}}`},
		{"field", `{"spec":{"volumes":[{"name":"v","emptyDir":{"sizeLimit":"2Gi"}}]}}`, `{"spec":{"volumes":[{"name":"v","emptyDir":{"sizeLimit":"2147483648"}}]}}`,
			`{"spec":{"volumes":[{"name":"v","emptyDir":{"sizeLimit":"2147483648"}}]}}`},
		{"other types", `{"spec":{"containers":"1G","overhead":{"cpu":1}},"bogus":"1G"}`, `{"spec":{"containers":[],"overhead":{"cpu":"1"}},"bogus":"1e9"}`, `{"spec":{"containers":"1G","overhead":{"cpu":1}},"bogus":"1G"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			decode := func(text string) (obj map[string]any) {
				require.NoError(t, json.Unmarshal([]byte(text), &obj))
				return obj
			}
			before := decode(tt.before)
			got := typ.Respelled(before, decode(tt.obj))
			assert.Equal(t, decode(tt.want), got)
			assert.Equal(t, decode(tt.before), before)
			assert.Equal(t, tt.want == tt.before, object.Same(before, got))
		})
	}
}
