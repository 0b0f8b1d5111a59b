package manifests

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// headerOf has the members of a header, and no others.
func FuzzHeaderOf(f *testing.F) {
	for _, text := range []string{
		`{}`, `{"kind":"Pod"}`, `{"a":1,"kind":"Pod","z":true}`, `{"kind":{"kind":"}"},"apiVersion":["]",{}],"metadata":null}`,
		`{"a":"\"}","b":[[],{"c":"\\"}],"items":[{"kind":"a"},1.5e3],"spec":{"metadata":{}}}`, `{"":-1,"metadata":{"name":"\u00e9"},"kinds":[]}`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var all map[string]any
		if json.Unmarshal([]byte(text), &all) != nil || all == nil {
			return
		}
		body, err := json.Marshal(all)
		require.NoError(t, err)
		want := map[string]any{}
		for _, name := range []string{"apiVersion", "kind", "metadata", "items"} {
			if v, ok := all[name]; ok {
				want[name] = v
			}
		}
		var have map[string]any
		require.NoError(t, json.Unmarshal(headerOf(body), &have))
		assert.Equal(t, want, have)
	})
}
