//go:build go1.24

package wire

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/object"
)

func TestIsCanonical(t *testing.T) {
	for _, tt := range []struct {
		name, group, kind, obj string
		want                   bool
	}{
		{"scalars", "", "Service", `{"metadata":{"name":"a"},"spec":{"ports":[{"port":80,"targetPort":"x"},{"port":81,"targetPort":81}],"allocateLoadBalancerNodePorts":false},"status":{"loadBalancer":{}}}`, true},
		{"bytes", "", "Secret", `{"metadata":{},"data":{"a":"YQ==","b":""}}`, true},
		{"quantities", "", "Pod", `{"metadata":{},"spec":{"containers":[{"name":"a","args":["b"],"resources":{"limits":{"cpu":"1500m"}}}]},"status":{}}`, true},
		{"times", "", "Pod", `{"metadata":{"creationTimestamp":"2025-01-02T03:04:05Z"},"spec":{"containers":[{"name":"a","resources":{}}]},"status":{}}`, true},
		{"another time zone", "", "Pod", `{"metadata":{"creationTimestamp":"2025-01-02T03:04:05+01:00"},"spec":{"containers":[{"name":"a","resources":{}}]},"status":{}}`, false},
		{"a fraction of a second", "", "Pod", `{"metadata":{"creationTimestamp":"2025-01-02T03:04:05.6Z"},"spec":{"containers":[{"name":"a","resources":{}}]},"status":{}}`, false},
		{"the zero time", "", "Pod", `{"metadata":{"creationTimestamp":"0001-01-01T00:00:00Z"},"spec":{"containers":[{"name":"a","resources":{}}]},"status":{}}`, false},
		{"microseconds", "coordination.k8s.io", "Lease", `{"metadata":{},"spec":{"renewTime":"2025-01-02T03:04:05.678900Z"}}`, true},
		{"no microseconds", "coordination.k8s.io", "Lease", `{"metadata":{},"spec":{"renewTime":"2025-01-02T03:04:05.6789Z"}}`, false},
		{"an empty list", "", "Pod", `{"metadata":{},"spec":{"containers":[{"name":"a","args":[],"resources":{}}]},"status":{}}`, false},
		{"a field that is never absent", "", "Pod", `{"metadata":{},"spec":{"containers":[{"name":"a"}]},"status":{}}`, false},
		{"unknown field", "", "Secret", `{"metadata":{},"bogus":1}`, false},
		{"zero value", "", "Secret", `{"metadata":{},"type":""}`, false},
		{"null", "", "Secret", `{"metadata":{},"immutable":null}`, false},
		{"empty map", "", "Secret", `{"metadata":{},"data":{}}`, false},
		{"wrong type", "", "Secret", `{"metadata":[]}`, false},
		{"fraction", "", "Service", `{"metadata":{},"spec":{"ports":[{"port":80.5,"targetPort":80}]},"status":{"loadBalancer":{}}}`, false},
		{"large number", "", "Service", `{"metadata":{},"spec":{"ports":[{"port":2147483648,"targetPort":80}]},"status":{"loadBalancer":{}}}`, false},
		{"large port", "", "Service", `{"metadata":{},"spec":{"ports":[{"port":80,"targetPort":2147483648}]},"status":{"loadBalancer":{}}}`, false},
		{"base64 with a line break", "", "Secret", `{"metadata":{},"data":{"a":"YQ\n=="}}`, false},
		{"other form of a quantity", "", "Pod", `{"metadata":{},"spec":{"containers":[{"name":"a","resources":{}}],"overhead":{"cpu":"1.5"}},"status":{}}`, false},
		{"number in place of a quantity", "", "Pod", `{"metadata":{},"spec":{"containers":[{"name":"a","resources":{}}],"overhead":{"cpu":1}},"status":{}}`, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			obj, _, err := DecodeUntyped([]byte(tt.obj), DecodeOptions{})
			require.NoError(t, err)
			assert.Equal(t, tt.want, mustKind(t, tt.group, "v1", tt.kind).IsCanonical(obj, nil))
		})
	}
	managed := func(fields any) map[string]any {
		return map[string]any{"metadata": map[string]any{"managedFields": []any{map[string]any{"fieldsV1": fields}}}}
	}
	assert.True(t, mustKind(t, "", "v1", "Secret").IsCanonical(managed(object.FieldsV1(`{"f:a":{".":{},"f:b":{}}}`)), nil))
	assert.False(t, mustKind(t, "", "v1", "Secret").IsCanonical(managed(object.FieldsV1(`{"f:b":{},"f:a":{}}`)), nil))
	assert.False(t, mustKind(t, "", "v1", "Secret").IsCanonical(managed(map[string]any{"f:a": map[string]any{}}), nil))
	assert.False(t, mustKind(t, "", "v1", "Secret").IsCanonical(map[string]any{"metadata": map[string]any{}, "type": "\xff"}, nil))
}

func TestIsCanonicalCustom(t *testing.T) {
	for _, tt := range []struct {
		name, obj string
		want      bool
	}{
		{"any members", `{"kind":"A","apiVersion":"a/v1","metadata":{"name":"a"},"spec":{"a":[1,true,"b",{}],"b":[]}}`, true},
		{"a fraction", `{"metadata":{},"spec":{"a":0.5}}`, false},
		{"a number with a fraction of 0", `{"metadata":{},"spec":1.0}`, false},
		{"null", `{"metadata":{},"spec":{"a":[null]}}`, false},
		{"metadata of another form", `{"metadata":{"labels":{}}}`, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			obj, _, err := DecodeUntyped([]byte(tt.obj), DecodeOptions{})
			require.NoError(t, err)
			assert.Equal(t, tt.want, IsCanonicalCustom(obj, nil))
			changed := maps.Clone(obj)
			changed["status"] = "changed"
			assert.True(t, IsCanonicalCustom(changed, obj), "what is shared is not looked at")
		})
	}
	for _, v := range []any{"\xff", map[string]any{"\xff": ""}, map[string]any(nil), []any(nil), object.EmptyMap{}, 1} {
		assert.False(t, IsCanonicalCustom(map[string]any{"metadata": map[string]any{}, "spec": v}, nil), "%#v", v)
	}
}

func TestIsCanonicalAfterChange(t *testing.T) {
	typ := mustKind(t, "", "v1", "Pod")
	before, _, err := typ.Decode(podJSON, DecodeOptions{})
	require.NoError(t, err)
	require.True(t, typ.IsCanonical(before, before))

	// changed returns before with another spec.
	changed := func(change func(spec map[string]any)) map[string]any {
		obj := maps.Clone(before)
		spec := maps.Clone(before["spec"].(map[string]any))
		obj["spec"] = spec
		change(spec)
		return obj
	}
	assert.True(t, typ.IsCanonical(changed(func(spec map[string]any) { spec["nodeName"] = "n" }), before))
	assert.True(t, typ.IsCanonical(changed(func(spec map[string]any) { delete(spec, "nodeName") }), before))
	assert.False(t, typ.IsCanonical(changed(func(spec map[string]any) { delete(spec, "containers") }), before))
	assert.False(t, typ.IsCanonical(changed(func(spec map[string]any) { spec["nodeName"] = nil }), before))
}

// FuzzIsCanonical checks that an object in canonical form is not changed by what puts objects in
// that form.
func FuzzIsCanonical(f *testing.F) {
	for _, s := range []string{
		`{"metadata":{"labels":{"a":"b"},"generation":1},"spec":{"containers":[{"name":"a","resources":{},"ports":[{"containerPort":80}]}],"overhead":{"cpu":"1"}},"status":{}}`,
		`{"metadata":{},"data":{"a":"YQ=="},"stringData":{"b":""},"immutable":false}`,
		`{"metadata":{},"spec":{"ports":[{"port":80,"targetPort":"http"}],"clusterIPs":[]},"status":{"loadBalancer":{}}}`,
		`{"metadata":{},"spec":{"group":"a","names":{"plural":"","kind":""},"scope":"","versions":[{"name":"","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object"}}}]},"status":{"conditions":null,"acceptedNames":{"plural":"","kind":""},"storedVersions":null}}`,
	} {
		f.Add([]byte(s))
	}
	types := []*Type{
		mustKind(f, "", "v1", "Pod"), mustKind(f, "", "v1", "Secret"), mustKind(f, "", "v1", "Service"),
		mustKind(f, "apiextensions.k8s.io", "v1", "CustomResourceDefinition"),
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		obj, _, err := DecodeUntyped(data, DecodeOptions{})
		if err != nil {
			return
		}
		for _, typ := range types {
			if !typ.IsCanonical(obj, nil) {
				continue
			}
			normal, fieldErrors, err := typ.Normalize(obj, DecodeOptions{Strict: true})
			require.NoError(t, err)
			assert.Empty(t, fieldErrors)
			assert.Equal(t, obj, normal)
			converted, fieldErrors, err := typ.Convert(obj, DecodeOptions{Strict: true})
			require.NoError(t, err)
			assert.Empty(t, fieldErrors)
			assert.Equal(t, obj, converted)
			if meta, _ := obj["metadata"].(map[string]any); meta != nil && meta["resourceVersion"] == nil {
				stored := typ.Encode(obj, nil, &Encoded{})
				read, err := stored.Decode(typ, 0, nil, nil)
				require.NoError(t, err)
				assert.Equal(t, obj, read)
			}
		}
	})
}
