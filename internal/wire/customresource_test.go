package wire

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/object"
)

func TestDecodeCustom(t *testing.T) {
	for _, tt := range []struct {
		name, in               string
		decodes, andIdentified bool
	}{
		{"all", `{"apiVersion":"a/v1","kind":"A","metadata":{"name":"a","labels":{"a":"b"},"finalizers":[]},"spec":{"metadata":{"a":[null,1.5]}},"":1}`, true, true},
		{"no metadata", ` { "kind" : "A" } `, true, true},
		{"kind is not a string", `{"kind":1}`, true, true},
		{"field set in another form", `{"metadata":{"managedFields":[{"manager":"m","fieldsV1":{"f:b":{}, "f:a":{"k:{\"a\":1}":{}}}}]}}`, true, true},
		{"another case", `{"kind":"A","Kind":"B"}`, true, false},
		{"another case below", `{"kind":"A","metadata":{"labels":{"Kind":"a"}},"spec":{"Kind":"a"}}`, true, true},
		{"null", `null`, false, false},
		{"null metadata", `{"metadata":null}`, false, false},
		{"metadata is not an object", `{"metadata":[]}`, false, false},
		{"unknown field of metadata", `{"metadata":{"a":1}}`, false, false},
		{"unknown field of an owner", `{"metadata":{"ownerReferences":[{"a":1}]}}`, false, false},
		{"metadata of another type", `{"metadata":{"name":1}}`, false, false},
		{"duplicate", `{"kind":"A","kind":"A"}`, false, false},
		{"duplicate below", `{"spec":{"a":[{"b":1,"b":1}]}}`, false, false},
		{"duplicate in metadata", `{"metadata":{"labels":{"a":"","a":""}}}`, false, false},
		{"duplicate in a field set", `{"metadata":{"managedFields":[{"fieldsV1":{"f:a":{},"f:a":{}}}]}}`, false, false},
		{"large number", `{"spec":1e999}`, false, false},
		{"cut short", `{"kind":"A"`, false, false},
		{"trailing data", `{"kind":"A"}}`, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, ok := DecodeCustom([]byte(tt.in))
			assert.Equal(t, tt.decodes, ok)
			_, ok = DecodeCustomIdentified([]byte(tt.in), nil)
			assert.Equal(t, tt.andIdentified, ok)
			compareDecodeCustom(t, []byte(tt.in))
		})
	}
}

// FuzzDecodeCustom checks that DecodeCustom returns what DecodeUntyped and Normalize return, and
// finds no document without errors that these report.
func FuzzDecodeCustom(f *testing.F) {
	f.Add([]byte(`{"apiVersion":"a/v1","kind":"A","metadata":{"name":"a","generation":1.0,"creationTimestamp":"2020-01-01T00:00:00+01:00","labels":{"a":null},"finalizers":[]},"spec":{"metadata":{"a":[null,1.5]}},"":1}`))
	f.Add([]byte(`{"metadata":{"managedFields":[{"manager":"m","time":null,"fieldsV1":{"f:b":{},"f:a":{"k:{\"a\":1}":{"a":1,"a":2}}}}],"ownerReferences":[{"uid":"\ud800"}]},"Kind":null}`))
	f.Fuzz(func(t *testing.T, data []byte) { compareDecodeCustom(t, data) })
}

func compareDecodeCustom(t *testing.T, data []byte) {
	obj, ok := DecodeCustom(data)
	if !ok {
		return
	}
	want, fieldErrors, err := DecodeUntyped(data, DecodeOptions{Strict: true})
	assert.NoError(t, err)
	assert.Empty(t, fieldErrors)
	if meta, has := want["metadata"]; has {
		want["metadata"], fieldErrors, err = ObjectMeta().Normalize(meta.(map[string]any), DecodeOptions{Strict: true})
		assert.NoError(t, err)
		assert.Empty(t, fieldErrors)
	}
	assert.Equal(t, want, obj)

	identified, ok := DecodeCustomIdentified(data, &Live{Object: obj, Encoded: &Encoded{}})
	if !ok {
		return
	}
	assert.Equal(t, want, identified)
	if !isStringOrAbsent(want, "apiVersion") || !isStringOrAbsent(want, "kind") {
		return // the caller does not use it
	}
	apiVersion, kind, err := Identify(data)
	assert.NoError(t, err)
	assert.Equal(t, apiVersion, object.String(want, "apiVersion"))
	assert.Equal(t, kind, object.String(want, "kind"))
}

func isStringOrAbsent(obj map[string]any, name string) bool {
	v, has := obj[name]
	_, isString := v.(string)
	return isString || !has
}
