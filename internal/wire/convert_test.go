//go:build go1.24

package wire

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/quantity"
)

func TestConvert(t *testing.T) {
	for _, tt := range []struct {
		name, group, kind string
		in, want          string
	}{
		{"zero values without omitempty are added", "", "Pod",
			`{"spec":{"containers":[null]}}`,
			`{"metadata":{},"spec":{"containers":[{"name":"","resources":{}}]},"status":{}}`},
		{"whole numbers are integers", "", "Pod",
			`{"spec":{"priority":3.0,"containers":[],"terminationGracePeriodSeconds":1e3}}`,
			`{"metadata":{},"spec":{"containers":null,"terminationGracePeriodSeconds":1000,"priority":3},"status":{}}`},
		{"integers lose upper bits", "", "Pod",
			`{"spec":{"priority":4294967297,"containers":[]}}`,
			`{"metadata":{},"spec":{"containers":null,"priority":1},"status":{}}`},
		{"bytes as numbers", "", "Secret",
			`{"data":{"a":[97,354],"b":"","c":null,"d":"YQ=="}}`,
			`{"metadata":{},"data":{"a":"YWI=","b":"","c":"","d":"YQ=="}}`},
		{"types with codecs of their own", "", "Service",
			`{"metadata":{"creationTimestamp":"2024-05-06T07:08:09.9+02:00"},"spec":{"ports":[{"port":1,"targetPort":"x"},{"port":2,"targetPort":80}]}}`,
			`{"metadata":{"creationTimestamp":"2024-05-06T05:08:09Z"},"spec":{"ports":[{"port":1,"targetPort":"x"},{"port":2,"targetPort":80}]},"status":{"loadBalancer":{}}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			typ := mustKind(t, tt.group, "v1", tt.kind)
			obj, _, err := DecodeUntyped([]byte(tt.in), DecodeOptions{})
			require.NoError(t, err)
			got, fieldErrors, err := typ.Convert(obj, DecodeOptions{Strict: true})
			require.NoError(t, err)
			assert.Empty(t, fieldErrors)
			assert.Equal(t, tt.want, string(typ.Append(nil, got)))
			same, _, err := DecodeUntyped([]byte(tt.in), DecodeOptions{})
			require.NoError(t, err)
			assert.Equal(t, same, obj, "the argument must not change")
		})
	}
}

func TestConvertError(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"struct", `{"spec":"x"}`, "cannot restore struct from: string"},
		{"list", `{"spec":{"containers":{}}}`, "cannot restore slice from map"},
		{"map", `{"metadata":{"labels":[]}}`, "cannot restore map from slice"},
		{"integer", `{"spec":{"priority":"x"}}`, "unrecognized type: int32"},
		{"broken integer", `{"spec":{"priority":1.5}}`, "cannot convert float64 to int32"},
		{"boolean", `{"spec":{"hostPID":1}}`, "unrecognized type: bool"},
		{"string", `{"spec":{"nodeName":true}}`, "unrecognized type: string"},
		{"number as string", `{"spec":{"nodeName":5}}`, "cannot convert int64 to string"},
		{"number as named string", `{"spec":{"restartPolicy":5}}`, "cannot convert int64 to v1.RestartPolicy"},
		{"time", `{"metadata":{"creationTimestamp":"x"}}`, `parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"`},
		{"quantity", `{"spec":{"overhead":{"cpu":"x"}}}`, quantity.ErrFormat.Error()},
		{"the first field's", `{"status":5,"spec":5,"metadata":{"name":5}}`, "cannot convert int64 to string"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			obj, _, err := DecodeUntyped([]byte(tt.in), DecodeOptions{})
			require.NoError(t, err)
			_, _, err = mustKind(t, "", "v1", "Pod").Convert(obj, DecodeOptions{Strict: true})
			assert.EqualError(t, err, tt.want)
		})
	}
	t.Run("base64", func(t *testing.T) {
		_, _, err := mustKind(t, "", "v1", "Secret").Convert(map[string]any{"data": map[string]any{"a": "x"}}, DecodeOptions{})
		assert.EqualError(t, err, "error decoding from json: illegal base64 data at input byte 0")
	})
}

func TestConvertStrict(t *testing.T) {
	obj, _, err := DecodeUntyped([]byte(`{"spec":{"containers":[{"name":"a"},{"x":1,"image":"i","a\"b":2}],"y":{"z":1}},"b":1}`), DecodeOptions{})
	require.NoError(t, err)
	typ := mustKind(t, "", "v1", "Pod")

	_, fieldErrors, err := typ.Convert(obj, DecodeOptions{Strict: true})
	require.NoError(t, err)
	assert.Equal(t, `[unknown field "b" unknown field "spec.containers[1].a"b" unknown field "spec.containers[1].x" unknown field "spec.y"]`, fmt.Sprint(fieldErrors))

	got, fieldErrors, err := typ.Convert(obj, DecodeOptions{})
	require.NoError(t, err)
	assert.Empty(t, fieldErrors)
	assert.NotContains(t, got, "b")
}

func BenchmarkConvert(b *testing.B) {
	typ := mustKind(b, "", "v1", "Pod")
	obj, _, err := typ.Decode(podJSON, DecodeOptions{})
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := typ.Convert(obj, DecodeOptions{Strict: true}); err != nil {
			b.Fatal(err)
		}
	}
}
