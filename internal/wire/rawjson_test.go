package wire

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/object"
)

// TestRawJSON checks that untyped data keeps its text in decoded and in stored objects.
func TestRawJSON(t *testing.T) {
	typ := mustKind(t, "apps", "v1", "ControllerRevision")
	for _, tt := range []struct{ name, data, compact string }{
		{"compact", `{"b":1.0,"a":-0}`, `{"b":1.0,"a":-0}`},
		{"spaces", "{ \"b\" : [ 1.50,\n\t2 ] }", `{"b":[1.50,2]}`},
		{"spaces in strings", `{"a b": " \" : "}`, `{"a b":" \" : "}`},
		{"HTML and JavaScript", "{\"a\":\"<>&\u2028\u2029\u2027\"}", `{"a":"\u003c\u003e\u0026\u2028\u2029` + "\u2027" + `"}`},
		{"escapes", `{"\u0061":"\/"}`, `{"\u0061":"\/"}`},
		{"invalid UTF-8", "{\"a\": \"\xff\"}", "{\"a\":\"\xff\"}"},
		{"members twice", `{"a":1,"a":2}`, `{"a":1,"a":2}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			obj, _, err := typ.Decode([]byte(`{"metadata":{"name":"x"},"data": `+tt.data+` ,"revision":1}`), DecodeOptions{})
			require.NoError(t, err)
			assert.Equal(t, object.RawJSON(tt.data), obj["data"])
			assert.True(t, typ.IsCanonical(obj, nil))
			normal, _, err := typ.Normalize(obj, DecodeOptions{})
			require.NoError(t, err)
			assert.Equal(t, obj, normal)

			stored := typ.Encode(obj, nil, &Encoded{})
			assert.Equal(t, `{"metadata":{"name":"x"},"data":`+tt.compact+`,"revision":1}`, string(stored.Append(nil, 0)))
			again, err := stored.Decode(typ, 0, nil, nil)
			require.NoError(t, err)
			assert.Equal(t, obj, again)
			verbatim, err := stored.Verbatim(typ)
			require.NoError(t, err)
			assert.Equal(t, `{"metadata":{"name":"x"},"data":`+tt.data+`,"revision":1}`, string(verbatim.Append(nil, 0)))

			message, err := typ.DecodeProto(typ.AppendProto(nil, obj))
			require.NoError(t, err)
			assert.Equal(t, obj, message)
		})
	}
}

// TestRawJSONOfVersions checks that objects that differ only in the text of untyped data share
// nothing of it.
func TestRawJSONOfVersions(t *testing.T) {
	typ := mustKind(t, "resource.k8s.io", "v1", "DeviceClass")
	decode := func(first, second string) map[string]any {
		element := func(data string) string { return `{"opaque":{"driver":"d","parameters":` + data + `}}` }
		obj, _, err := typ.Decode([]byte(`{"metadata":{"name":"x","annotations":{"a":"`+strings.Repeat("a", minCut)+`"}},"spec":{"config":[`+element(first)+`,`+element(second)+`]}}`), DecodeOptions{})
		require.NoError(t, err)
		return obj
	}
	for _, tt := range []struct{ name, before, after string }{
		{"spaces are lost", `{ "a" : 1 }`, `{"a":1}`},
		{"spaces are added", `{"a":1}`, `{ "a" : 1 }`},
		{"other spaces", `{"a": 1}`, `{"a":1 }`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before, after := decode(`{"x":1}`, tt.before), decode(`{"x":1}`, tt.after)
			old := typ.Encode(before, nil, &Encoded{})
			stored := typ.Encode(after, before, &old)
			assert.False(t, stored.Equal(&old))
			assert.False(t, stored.SameMembers(&old))
			again, err := stored.Decode(typ, 0, before, &old)
			require.NoError(t, err)
			assert.Equal(t, after, again)
			again, _, err = typ.Decode(stored.Append(nil, 0), DecodeOptions{Live: &Live{Object: before, Encoded: &old}})
			require.NoError(t, err)
			assert.Equal(t, decode(`{"x":1}`, `{"a":1}`), again)
		})
	}
}

// FuzzCompact checks that untyped data is written as encoding/json writes a json.RawMessage.
func FuzzCompact(f *testing.F) {
	f.Add([]byte(`{ "a" : [ 1.0, "\\", "\"<>&" ] }`))
	f.Add([]byte("\"\u2028\xe2\x80\""))
	f.Fuzz(func(t *testing.T, data []byte) {
		want, err := json.Marshal(json.RawMessage(data))
		if err == nil {
			assert.Equal(t, string(want), string(appendCompact(nil, string(data))))
		}
	})
}
