package wire

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
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

// FuzzIdentify checks that Identify finds what encoding/json finds.
func FuzzIdentify(f *testing.F) {
	f.Add([]byte(`{"apiVersion":"v1","Kind":"Pod","spec":{"a":["\\u00e9\\n",-1.5e3,true,null]},"kind":null}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		apiVersion, kind, err := Identify(data)
		var want typeMeta
		wantErr := json.Unmarshal(data, &want)
		if wantErr != nil {
			want = typeMeta{}
		}
		assert.Equal(t, wantErr == nil, err == nil, "%v, %v", err, wantErr)
		assert.Equal(t, want, typeMeta{apiVersion, kind})
	})
}
