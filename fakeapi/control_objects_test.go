package fakeapi_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/apitest"
)

func TestControlObjects(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory())
	before := srv.Revision()
	code, body := apitest.Do(t, srv, "POST", "/debug/fakeapi/objects", `{"store":[
		{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"a"}},
		{"kind":"Pod","apiVersion":"v1","metadata":{"name":"b","namespace":"a","finalizers":["example.com/a"]},"status":{"phase":"Running"}},
		{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"c"}}]}`)
	require.Equal(t, 200, code)
	assert.EqualValues(t, before+3, body["revision"], "one write for each object")
	pod, err := srv.Get("pods", "a", "b")
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"phase": "Running"}, pod["status"])

	code, body = apitest.Do(t, srv, "POST", "/debug/fakeapi/objects", `{"remove":[
		{"kind":"Pod","apiVersion":"v1","metadata":{"name":"b","namespace":"a"}},
		{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"c"}}]}`)
	require.Equal(t, 200, code)
	assert.EqualValues(t, before+5, body["revision"])
	_, err = srv.Get("pods", "a", "b")
	assert.ErrorIs(t, err, fakeapi.ErrNotFound, "finalizers have no effect")

	for _, row := range []struct {
		name, body string
		code       int
		message    string
	}{
		{"store, unknown kind", `{"store":[{}]}`, 404, `store[0]: not found: no resource is stored as kind "" of ""`},
		{"store, unknown namespace", `{"store":[{"kind":"Pod","apiVersion":"v1","metadata":{"name":"b","namespace":"none"}}]}`, 400, `store[0]: namespaces "none" not found`},
		{"store, invalid", `{"store":[{"kind":"Node","apiVersion":"v1","metadata":{"name":"a"}},{"kind":"Node","apiVersion":"v1","metadata":{"name":"B"}}]}`, 400, `store[1]: Node "B" is invalid: metadata.name: `},
		{"store, not an object", `{"store":[1]}`, 400, `store[0]: json: cannot unmarshal`},
		{"remove, unknown kind", `{"remove":[{"kind":"X","apiVersion":"v1"}]}`, 404, `remove[0]: not found: kind "X" of "v1"`},
		{"remove, unknown object", `{"remove":[{"kind":"Node","apiVersion":"v1","metadata":{"name":"x"}}]}`, 404, `remove[0]: not found: nodes x`},
		{"remove, invalid metadata", `{"remove":[{"kind":"Node","apiVersion":"v1","metadata":[]}]}`, 404, `remove[0]: not found: nodes `},
		{"invalid JSON", `nonsense`, 400, `invalid character`},
	} {
		t.Run(row.name, func(t *testing.T) {
			code, body := apitest.Do(t, srv, "POST", "/debug/fakeapi/objects", row.body)
			assert.Equal(t, row.code, code)
			assert.Contains(t, body["message"], row.message)
		})
	}
}
