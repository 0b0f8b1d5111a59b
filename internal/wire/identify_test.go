package wire

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/object"
)

func TestIdentify(t *testing.T) {
	for _, tt := range []struct {
		name, in         string
		apiVersion, kind string
		err              string
	}{
		{name: "both", in: `{"apiVersion":"apps/v1","kind":"Deployment","spec":{"kind":"x"}}`, apiVersion: "apps/v1", kind: "Deployment"},
		{name: "neither", in: ` { "spec" : [ 1 , {} ] } `},
		{name: "any case, the last wins", in: `{"Kind":"A","KIND":"B","apiversion":"v1","kind":null}`, apiVersion: "v1", kind: "B"},
		{name: "null", in: `null`},
		{name: "a list", in: `[]`,
			err: "couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }"},
		{name: "not a string", in: `{"apiVersion":5}`,
			err: "couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct field .apiVersion of type string"},
		{name: "nothing", in: ``, err: "couldn't get version/kind; json parse error: unexpected end of JSON input"},
		{name: "cut short", in: `{"kind":"A"`, err: "couldn't get version/kind; json parse error: unexpected end of JSON input"},
		{name: "trailing data", in: `{"kind":"A"}}`, err: "couldn't get version/kind; json parse error: invalid character '}' after top-level value"},
		{name: "too deep", in: strings.Repeat(`{"a":`, 10001),
			err: "couldn't get version/kind; json parse error: invalid character '{' exceeded max depth"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			apiVersion, kind, err := Identify([]byte(tt.in))
			if tt.err != "" {
				assert.EqualError(t, err, tt.err)
			} else {
				assert.NoError(t, err)
			}
			assert.Equal(t, tt.apiVersion, apiVersion)
			assert.Equal(t, tt.kind, kind)
		})
	}
}

func TestDecodeIdentified(t *testing.T) {
	pod := mustKind(t, "", "v1", "Pod")
	for _, tt := range []struct {
		name, in string
		ok       bool
	}{
		{"both", `{"apiVersion":"v1","kind":"Pod"}`, true},
		{"neither, and an unknown field", `{"a":1,"spec":{"Kind":"a"}}`, true},
		{"another kind", `{"kind":"Node"}`, true},
		{"null", `null`, true},
		{"another case", `{"kind":"Pod","Kind":"Node"}`, false},
		{"another case, after an error", `{"spec":1,"APIVersion":1}`, false},
		{"not a string", `{"kind":1}`, false},
		{"trailing data", `{"kind":"Pod"}}`, false},
		{"a field of another type", `{"kind":"Pod","spec":[]}`, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, _, ok := pod.DecodeIdentified([]byte(tt.in), DecodeOptions{})
			assert.Equal(t, tt.ok, ok)
		})
	}
}

// FuzzIdentify checks that Identify finds what encoding/json finds, and DecodeIdentified what
// Identify and Decode find.
func FuzzIdentify(f *testing.F) {
	f.Add([]byte(`{"apiVersion":"v1","Kind":"Pod","spec":{"a":["\\u00e9\\n",-1.5e3,true,null]},"kind":null}`))
	f.Add([]byte(`{"kind":"Pod","kind":null,"apiVersion":"v1","a":1,"spec":{"nodeName":"b"}}`))
	pod, _ := ForKind("", "v1", "Pod")
	f.Fuzz(func(t *testing.T, data []byte) {
		apiVersion, kind, err := Identify(data)
		var want typeMeta
		wantErr := json.Unmarshal(data, &want)
		if wantErr != nil {
			want = typeMeta{}
		}
		assert.Equal(t, wantErr == nil, err == nil, "%v, %v", err, wantErr)
		assert.Equal(t, want, typeMeta{apiVersion, kind})

		obj, fieldErrors, ok := pod.DecodeIdentified(data, DecodeOptions{Strict: true})
		if !ok {
			return
		}
		assert.NoError(t, err)
		assert.Equal(t, apiVersion, object.String(obj, "apiVersion"))
		assert.Equal(t, kind, object.String(obj, "kind"))
		wantObj, wantErrors, wantErr := pod.Decode(data, DecodeOptions{Strict: true})
		assert.NoError(t, wantErr)
		assert.Equal(t, wantObj, obj)
		assert.Equal(t, wantErrors, fieldErrors)
	})
}
