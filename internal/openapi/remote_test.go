package openapi

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// specOf returns a v2 document with an operation on a path whose answers are of a definition.
func specOf(path, definition, definitions string) string {
	return fmt.Sprintf(`{"swagger":"2.0","paths":{%q:{"get":{"responses":{"200":{"description":"OK","schema":{"$ref":"#/definitions/%s"}}}}}},"definitions":{%s}}`, path, definition, definitions)
}

func TestMergeOfOtherServers(t *testing.T) {
	const local = `"a":{"type":"object","x-kubernetes-group-version-kind":[{"group":"","kind":"A","version":"v1"}]},"b":{"type":"string"}`
	const path = "/apis/g/v1/x"
	for _, row := range []struct {
		name, spec  string
		path, want  string // the definition to which the path refers; "" if it is absent
		definitions string // those that are there afterwards
	}{
		{"new", specOf(path, "c", `"c":{"type":"integer"}`), path, "c", local + `,"c":{"type":"integer"}`},
		{"the same", specOf(path, "b", `"b":{"type":"string"}`), path, "b", local},
		{"another one of the same name", specOf(path, "b", `"b":{"type":"integer"}`), path, "b_v2", local + `,"b_v2":{"type":"integer"}`},
		{"several of the same name", specOf(path, "b", `"b":{"type":"integer","items":{"$ref":"#/definitions/b_v2"}},"b_v2":{"type":"number"}`), path, "b_v3",
			local + `,"b_v2":{"type":"number"},"b_v3":{"type":"integer","items":{"$ref":"#/definitions/b_v2"}}`},
		{"of further kinds", specOf(path, "a", `"a":{"type":"object","x-kubernetes-group-version-kind":[{"group":"","kind":"A","version":"v0"}]}`), path, "a",
			`"a":{"type":"object","x-kubernetes-group-version-kind":[{"group":"","kind":"A","version":"v0"},{"group":"","kind":"A","version":"v1"}]},"b":{"type":"string"}`},
		{"used by another path only", `{"paths":{"/apis/g/v1/x":{},"/apis/g/v2/x":{"get":{"parameters":[{"schema":{"$ref":"#/definitions/c"}}]}}},"definitions":{"c":{"items":{"$ref":"#/definitions/d"}},"d":{},"e":{}}}`,
			path, "", local + `,"e":{}`},
		{"known path", specOf("/api/v1/y", "c", `"c":{"type":"integer"}`), "/api/v1/y", "b", local},
	} {
		t.Run(row.name, func(t *testing.T) {
			prefix := "/apis/g/v1/"
			if row.path != path {
				prefix = "/"
			}
			remote, err := ParseRemote(nil, []byte(row.spec), prefix)
			require.NoError(t, err)
			var base fragment
			require.NoError(t, json.Unmarshal([]byte(specOf("/api/v1/y", "b", local)), &struct {
				Paths, Definitions *map[string]json.RawMessage
			}{&base.paths, &base.definitions}))
			out, err := merge([]*fragment{&base}, []*Remote{remote})
			require.NoError(t, err)
			var got struct {
				Paths map[string]struct {
					Get struct {
						Responses map[string]struct {
							Schema reference
						}
					}
				}
				Definitions json.RawMessage
			}
			require.NoError(t, json.Unmarshal(out, &got))
			assert.Contains(t, got.Paths, row.path)
			want := ""
			if row.want != "" {
				want = "#/definitions/" + row.want
			}
			assert.Equal(t, want, got.Paths[row.path].Get.Responses["200"].Schema.Ref)
			assert.JSONEq(t, `{`+row.definitions+`}`, string(got.Definitions))
		})
	}
}

func TestParseRemote(t *testing.T) {
	r, err := ParseRemote([]byte(`{"paths":{"apis/g/v1":{"serverRelativeURL":"/openapi/v3/apis/g/v1?hash=1"}}}`), nil, "/apis/g/v1/")
	require.NoError(t, err)
	assert.True(t, r.Has("/openapi/v3/apis/g/v1"))
	assert.False(t, r.Has("apis/g/v1"))
	assert.False(t, r.Has("/openapi/v3/apis/g/v2"))
	same, err := ParseRemote([]byte(`{"paths":{"apis/g/v1":{"serverRelativeURL":"/openapi/v3/apis/g/v1?hash=1"}}}`), nil, "/apis/g/v1/")
	require.NoError(t, err)
	assert.True(t, r.Equal(same))
	assert.False(t, r.Equal(nil))
	for name, documents := range map[string][2]string{"index": {`[]`, `{}`}, "v2": {`{}`, `{"paths":[]}`}} {
		_, err := ParseRemote([]byte(documents[0]), []byte(documents[1]), "/")
		assert.Error(t, err, name)
	}
}
