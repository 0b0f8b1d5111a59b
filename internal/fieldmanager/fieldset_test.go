package fieldmanager

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/structured-merge-diff/v4/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v4/value"
)

func TestParseFields(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       string // as formatFields encodes it
	}{
		{"empty", `{}`, `{}`},
		{"leaf and branch", `{"f:a":{},"f:b":{"f:c":{}}}`, `{"f:a":{},"f:b":{"f:c":{}}}`},
		{"branch that is in the set", `{"f:a":{".":{},"f:b":{}}}`, `{"f:a":{".":{},"f:b":{}}}`},
		{"branch without members", `{"f:a":{".":{}}}`, `{"f:a":{}}`},
		{"null is empty", `{"f:a":null}`, `{"f:a":{}}`},
		{"keys and values", `{"f:a":{"k:{\"name\":\"x\",\"port\":80}":{}},"f:b":{"v:\"x\"":{},"v:1.5":{},"v:true":{}},"f:c":{"i:3":{}}}`,
			`{"f:a":{"k:{\"name\":\"x\",\"port\":80}":{}},"f:b":{"v:\"x\"":{},"v:1.5":{},"v:true":{}},"f:c":{"i:3":{}}}`},
		{"unknown steps", `{"x:a":{"f:b":{}},"f:c":{"x:d":{}}}`, `{"f:c":{}}`},
		{"a name with a colon", `{"f:a:b":{},"f:":{}}`, `{"f:a:b":{},"f:":{}}`},
		{"the whole object", `{".":{}}`, `{}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			var tree map[string]any
			require.NoError(t, json.Unmarshal([]byte(test.text), &tree))
			set, err := names(nil).parseFields(tree, nil)
			require.NoError(t, err)
			got, err := json.Marshal(names(nil).formatFields(set))
			require.NoError(t, err)
			assert.JSONEq(t, test.want, string(got))
		})
	}
}

func TestParseFieldsErrors(t *testing.T) {
	for _, test := range []struct{ name, text string }{
		{"no step", `{"f":{}}`},
		{"no colon", `{"fa":{}}`},
		{"broken key", `{"k:{":{}}`},
		{"broken value", `{"v:[":{}}`},
		{"broken index", `{"i:x":{}}`},
		{"no object", `{"f:a":1}`},
		{"no object below", `{"f:a":{"f:b":"x"}}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			var tree map[string]any
			require.NoError(t, json.Unmarshal([]byte(test.text), &tree))
			_, err := names(nil).parseFields(tree, nil)
			assert.Error(t, err)
		})
	}
}

// FuzzFields checks that parseFields reads a tree as structured-merge-diff
// reads its JSON, and that formatFields writes a tree of the same set.
func FuzzFields(f *testing.F) {
	f.Add(`{"f:a":{".":{},"k:{\"name\":\"x\"}":{"f:b":{}},"v:1":{}},"i:0":{}}`)
	f.Add(`{"f:a":{"x:unknown":{}}}`)
	f.Add(`{"f:a":null,".":{}}`)
	f.Fuzz(func(t *testing.T, text string) {
		var tree map[string]any
		if json.Unmarshal([]byte(text), &tree) != nil {
			return
		}
		set, err := names(nil).parseFields(tree, nil)
		text2, jsonErr := json.Marshal(tree)
		require.NoError(t, jsonErr)
		var want fieldpath.Set
		if wantErr := want.FromJSON(bytes.NewReader(text2)); wantErr == nil && err == nil {
			assert.True(t, set.Equals(&want), "read %s as\n%s, not\n%s", text2, set, &want)
		}
		if err != nil {
			return
		}
		again, err := names(nil).parseFields(names(nil).formatFields(set), nil)
		require.NoError(t, err)
		assert.True(t, set.Equals(again), "%s\n%s", set, again)
	})
}

// TestSteps compares steps with those that structured-merge-diff writes.
func TestSteps(t *testing.T) {
	for _, keys := range [][]key{
		{{"name", "app"}},
		{{"name", ""}},
		{{"name", `a"b\c`}},
		{{"name", "<a&b>"}},
		{{"name", "é\u2028\x01"}},
		{{"containerPort", int64(80)}, {"protocol", "TCP"}},
		{{"protocol", "TCP"}, {"containerPort", int64(-1)}},
		{{"number", 1.5}, {"large", 1e21}, {"truth", true}, {"none", nil}},
	} {
		var fields value.FieldList
		for _, k := range keys {
			v := value.NewValueInterface(k.value)
			fields = append(fields, value.Field{Name: k.name, Value: v})
			if k.value != nil {
				want, err := fieldpath.SerializePathElement(fieldpath.PathElement{Value: &v})
				require.NoError(t, err)
				assert.Equal(t, want, valueStep(k.value))
			}
		}
		fields.Sort()
		want, err := fieldpath.SerializePathElement(fieldpath.PathElement{Key: &fields})
		require.NoError(t, err)
		assert.Equal(t, want, keyStep(keys))
	}
}

// TestParseManySteps parses a field set with so many steps that inserting them in the
// random order of a map would take minutes.
func TestParseManySteps(t *testing.T) {
	const n = 300_000
	tree := make(map[string]any, n)
	for i := range n {
		tree[fmt.Sprintf("f:%d", i)] = leaf
	}
	set, err := names(nil).parseFields(tree, nil)
	require.NoError(t, err)
	assert.Equal(t, n, set.Members.Size())
}
