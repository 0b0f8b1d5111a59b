package scenarios

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestVariables(t *testing.T) {
	v := variables{"ns": "s-abc", "run": "abc", "webhook": "https://127.0.0.1:1", "webhook_ca": "Q0E="}
	assert.Equal(t, "/ns/s-abc/${other}/YWJj", v.expand("/ns/${ns}/${other}/${run_base64}"))
	assert.Equal(t,
		map[string]any{"x-${run}": []any{"${ns}", "${webhook}/echo", json.Number("1")}},
		mapStrings(map[string]any{"x-abc": []any{"s-abc", "https://127.0.0.1:1/echo", json.Number("1")}}, v.unexpander().Replace))
	assert.Equal(t, "text", variables{}.unexpander().Replace("text"), "an empty value is not replaced")
}

func TestLookup(t *testing.T) {
	body := decodeJSON([]byte(`{"items":[{"metadata":{"annotations":{"a.b/c":"x"},"n":1}}],"null":null}`))
	for _, row := range []struct {
		path string
		want any
		ok   bool
	}{
		{`items.0.metadata.annotations.a\.b/c`, "x", true},
		{`items.0.metadata.n`, json.Number("1"), true},
		{`null`, nil, true},
		{`items.1`, nil, false},
		{`items.-1`, nil, false},
		{`items.x`, nil, false},
		{`items.0.metadata.n.deeper`, nil, false},
		{`absent`, nil, false},
	} {
		t.Run(row.path, func(t *testing.T) {
			got, ok := lookup(body, row.path)
			assert.Equal(t, row.want, got)
			assert.Equal(t, row.ok, ok)
		})
	}
}

func TestOnly(t *testing.T) {
	body := decodeJSON([]byte(`{"a":{"b":"x","c":"y"}}`))
	assert.Equal(t, map[string]any{"a.b": "x", "d": "<absent>"}, only(body, []string{"a.b", "d"}))
}
