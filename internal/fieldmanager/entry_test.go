package fieldmanager

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/object"
)

// TestLimit writes with more managers than the maximum. Each second another
// manager adds a field:
//
//	second  0   1   2  ...  10                       11
//	        m0  m1  m2 ...  m2..m10, ancient(m0 m1)  m3..m11, ancient(m0 m1 m2)
func TestLimit(t *testing.T) {
	k := builtin(t, "", "v1", "ConfigMap")
	s := &state{kind: k, now: start}
	write := func(i int) {
		obj := mergePatch(s.object(t, "{}"), s.live)
		obj = mergePatch(obj, map[string]any{"data": map[string]any{fmt.Sprint("k", i): "v"}})
		s.store(t, k.Update(object.ViewOf(s.live), k.canonical(t, obj.(map[string]any)), s.options(fmt.Sprint("m", i), "")))
		s.now = s.now.Add(time.Second)
	}
	entries := func() (names []string) {
		list, _ := managedFields(s.live)
		for _, v := range list {
			names = append(names, v.(map[string]any)["manager"].(string))
		}
		return names
	}
	for i := range 10 {
		write(i)
	}
	require.Len(t, entries(), 10)
	write(10)
	assert.Equal(t, []string{"ancient-changes", "m2", "m3", "m4", "m5", "m6", "m7", "m8", "m9", "m10"}, entries())
	write(11)
	s.check(t, []string{
		"ancient-changes Update 2 {f:data:{.:{},f:k0:{},f:k1:{},f:k2:{}}}",
		"m3 Update 3 {f:data:{f:k3:{}}}", "m4 Update 4 {f:data:{f:k4:{}}}", "m5 Update 5 {f:data:{f:k5:{}}}",
		"m6 Update 6 {f:data:{f:k6:{}}}", "m7 Update 7 {f:data:{f:k7:{}}}", "m8 Update 8 {f:data:{f:k8:{}}}",
		"m9 Update 9 {f:data:{f:k9:{}}}", "m10 Update 10 {f:data:{f:k10:{}}}", "m11 Update 11 {f:data:{f:k11:{}}}",
	})
}

func TestValidate(t *testing.T) {
	valid := func(name string, v any) []any {
		e := map[string]any{
			"manager": "m", "operation": "Apply", "apiVersion": "v1", "time": "2026-01-01T00:00:00Z",
			"fieldsType": "FieldsV1", "fieldsV1": map[string]any{"f:a": map[string]any{}},
		}
		e[name] = v
		return []any{e}
	}
	for _, test := range []struct {
		name string
		list []any
		want string
	}{
		{"none", nil, ""},
		{"valid", valid("subresource", "status"), ""},
		{"no manager", valid("manager", ""), ""},
		{"no fields", valid("fieldsV1", nil), ""},
		{"time with a zone", valid("time", "2026-01-01T00:00:00.5+02:00"), ""},
		{"operation", valid("operation", "Read"), "operation must be `Apply` or `Update`"},
		{"version", valid("apiVersion", ""), "apiVersion must not be empty"},
		{"no type", valid("fieldsType", ""), "missing fieldsType in managed fields entry 0"},
		{"type", valid("fieldsType", "V2"), `invalid fieldsType "V2" in managed fields entry 0`},
		{"fields", valid("fieldsV1", "x"), "error decoding set: expect an object, but found string"},
		{"step", valid("fieldsV1", map[string]any{"a": nil}), "error decoding set: key must be 2 characters long:"},
		{"empty entry", []any{map[string]any{}}, "operation must be `Apply` or `Update`"},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := Validate(test.list)
			if test.want == "" {
				assert.NoError(t, err)
			} else {
				assert.EqualError(t, err, test.want)
			}
		})
	}
}

func TestCanonicalTime(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"canonical", "2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"},
		{"zone and fraction", "2026-01-01T00:00:00.5+02:00", "2025-12-31T22:00:00Z"},
		{"of the same length", "2026-01-01T00:00Z+01", ""},
		{"none", "", ""},
		{"not a time", "soon", ""},
	} {
		t.Run(test.name, func(t *testing.T) { assert.Equal(t, test.want, canonicalTime(test.text)) })
	}
}
