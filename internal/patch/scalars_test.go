package patch_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/patch"
)

func TestEachScalar(t *testing.T) {
	for _, row := range []struct {
		name, body string
		want       map[string][]any
	}{
		{"members", `{"a":1,"b":{"c":"x"}}`, map[string][]any{"a": {1.0}, "c": {"x"}}},
		{"elements", `{"a":["x",{"b":"y"},["z"]]}`, map[string][]any{"a": {"x", "z"}, "b": {"y"}}},
		{"operations", `[{"op":"add","path":"/a/b","value":"x"},{"op":"add","path":"/c","value":{"d":"y"}}]`,
			map[string][]any{"op": {"add", "add"}, "path": {"/a/b", "/c"}, "b": {"x"}, "d": {"y"}}},
		{"an escaped name", `[{"path":"/a/b~1c~01","value":"x"}]`, map[string][]any{"path": {"/a/b~1c~01"}, "b/c~1": {"x"}}},
		{"an element of an operation", `[{"path":"/a/-","value":"x"},{"path":"/b/0/12","value":"y"}]`,
			map[string][]any{"path": {"/a/-", "/b/0/12"}, "a": {"x"}, "b": {"y"}}},
		{"the root", `[{"path":"","value":"x"},{"path":"/0","value":"y"}]`, map[string][]any{"path": {"", "/0"}, "": {"x"}, "0": {"y"}}},
		{"no operation", `{"value":"x","path":{"value":"y"}}`, map[string][]any{"value": {"x", "y"}}},
	} {
		t.Run(row.name, func(t *testing.T) {
			var body any
			require.NoError(t, json.Unmarshal([]byte(row.body), &body))
			got := map[string][]any{}
			patch.EachScalar(body, func(name string, scalar any) { got[name] = append(got[name], scalar) })
			require.Len(t, got, len(row.want))
			for name, scalars := range row.want {
				assert.ElementsMatch(t, scalars, got[name], name)
			}
		})
	}
}
