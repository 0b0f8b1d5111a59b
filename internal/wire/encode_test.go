package wire

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAppend(t *testing.T) {
	t.Run("the order of the struct", func(t *testing.T) {
		pod := mustKind(t, "", "v1", "Pod")
		obj, _, err := pod.Decode(podJSON, DecodeOptions{})
		require.NoError(t, err)
		assert.Equal(t, string(bytes.TrimSpace(podJSON)), string(pod.Append(nil, obj)))
	})
	for _, tt := range []struct {
		name, group, kind string
		obj               map[string]any
		want              string
	}{
		{"missing zero values are added", "rbac.authorization.k8s.io", "Role",
			map[string]any{"kind": "Role"},
			`{"kind":"Role","metadata":{},"rules":null}`},
		{"empty values are left out", "", "ConfigMap",
			map[string]any{"kind": "", "data": map[string]any{}, "metadata": map[string]any{"finalizers": []any{}, "creationTimestamp": nil}},
			`{"metadata":{}}`},
		{"empty lists stay where nothing leaves them out", "", "PodList",
			map[string]any{"items": []any{}},
			`{"metadata":{},"items":[]}`},
		{"nulls are zero values", "apps", "Deployment",
			map[string]any{"metadata": nil, "spec": nil, "status": nil},
			`{"metadata":{},"spec":{"selector":null,"template":{"metadata":{},"spec":{"containers":null}},"strategy":{}},"status":{}}`},
		{"unknown members are left out", "", "ConfigMap",
			map[string]any{"foo": "bar"},
			`{"metadata":{}}`},
		{"the keys of maps are sorted", "", "ConfigMap",
			map[string]any{"data": map[string]any{"b": "2", "a": "1", "": "0"}},
			`{"metadata":{},"data":{"":"0","a":"1","b":"2"}}`},
		{"values of the wrong sort", "", "ConfigMap",
			map[string]any{"metadata": "x", "data": []any{true}, "immutable": 1.5},
			`{"metadata":"x","immutable":1.5,"data":[true]}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			typ := mustKind(t, tt.group, "v1", tt.kind)
			assert.Equal(t, "..."+tt.want, string(typ.Append([]byte("..."), tt.obj)))
		})
	}
	t.Run("what no object holds", func(t *testing.T) {
		typ := mustKind(t, "", "v1", "ConfigMap")
		assert.PanicsWithValue(t, "wire: []string in an object", func() {
			typ.Append(nil, map[string]any{"data": []string{"x"}})
		})
		assert.PanicsWithValue(t, "wire: NaN in an object", func() {
			typ.Append(nil, map[string]any{"data": math.NaN()})
		})
	})
}

// TestAppendScalars compares strings and numbers with encoding/json.
func TestAppendScalars(t *testing.T) {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	for _, v := range []any{
		"", "plain", string(all), "<a href='x'>&</a>", "\u2028\u2029\u2030", "日本語", "a\xffb\xc0",
		true, false, nil, int64(math.MinInt64), int64(0),
		0.0, 1.0, 1.5, 1e6, 1e20, 1e21, 1e-6, 1e-7, 1.5e-9, 1e-10, 1e100, math.MaxFloat64, math.SmallestNonzeroFloat64,
		[]any{}, []any{nil, []any{"x"}}, map[string]any{"<": map[string]any{}},
	} {
		want, err := json.Marshal(v)
		require.NoError(t, err)
		assert.Equal(t, string(want), string(appendAny(nil, v)))
	}

	// Without a type, -0 would be read back as an integer.
	negative := math.Copysign(0, -1)
	assert.Equal(t, "0", string(appendAny(nil, negative)))
	definition := mustKind(t, "apiextensions.k8s.io", "v1", "CustomResourceDefinition")
	assert.Contains(t, string(definition.Append(nil, map[string]any{"spec": map[string]any{"versions": []any{
		map[string]any{"schema": map[string]any{"openAPIV3Schema": map[string]any{"maximum": negative}}},
	}}})), `"maximum":-0`)
}

func FuzzAppendString(f *testing.F) {
	f.Add("<\u2028\x00\xff\"\\")
	f.Fuzz(func(t *testing.T, s string) {
		want, err := json.Marshal(s)
		require.NoError(t, err)
		require.Equal(t, string(want), string(appendString(nil, s)))
	})
}

// TestPlainPrefix compares the search by words with one by bytes, for each byte at each place of
// strings of all lengths up to three words.
func TestPlainPrefix(t *testing.T) {
	for length := range 25 {
		assert.Equal(t, length, plainPrefix(strings.Repeat("a", length)))
		for at := range length {
			for c := range 256 {
				s := strings.Repeat("a", at) + string([]byte{byte(c)}) + strings.Repeat("<", length-at-1)
				want := at
				if c < utf8.RuneSelf && plain[c] {
					want++
				}
				if got := plainPrefix(s); got != want {
					t.Fatalf("plainPrefix(%q) = %d, want %d", s, got, want)
				}
			}
		}
	}
}

func TestQuotedElement(t *testing.T) {
	got := QuotedElement("resource.k8s.io", "v1", "ResourceClaim", []string{"spec", "devices", "requests", "firstAvailable"}, map[string]any{"count": int64(1), "name": "a", "other": "b"})
	assert.Equal(t, `{"name":"a","deviceClassName":"","count":1}`, string(got))
}
