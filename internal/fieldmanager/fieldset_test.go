package fieldmanager

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/wire"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/structured-merge-diff/v4/fieldpath"
	smd "sigs.k8s.io/structured-merge-diff/v4/schema"
	"sigs.k8s.io/structured-merge-diff/v4/value"
)

func TestParseFields(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       string // as encode writes it
	}{
		{"empty", `{}`, `{}`},
		{"leaf and branch", `{"f:a":{},"f:b":{"f:c":{}}}`, `{"f:a":{},"f:b":{"f:c":{}}}`},
		{"branch that is in the set", `{"f:a":{".":{},"f:b":{}}}`, `{"f:a":{".":{},"f:b":{}}}`},
		{"branch without members", `{"f:a":{".":{}}}`, `{"f:a":{}}`},
		{"null is empty", `{"f:a":null}`, `{"f:a":{}}`},
		{"keys and values", `{"f:a":{"k:{\"name\":\"x\",\"port\":80}":{}},"f:b":{"v:\"x\"":{},"v:1.5":{},"v:true":{}},"f:c":{"i:3":{}}}`,
			`{"f:a":{"k:{\"name\":\"x\",\"port\":80}":{}},"f:b":{"v:\"x\"":{},"v:1.5":{},"v:true":{}},"f:c":{"i:3":{}}}`},
		{"unknown steps", `{"x:a":{"f:b":{}},"f:c":{"x:d":{}}}`, `{"f:c":{}}`},
		{"a name with a colon", `{"f:":{},"f:a:b":{}}`, `{"f:":{},"f:a:b":{}}`},
		{"the whole object", `{".":{}}`, `{}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			set, err := decode(object.FieldsV1(test.text), nil)
			require.NoError(t, err)
			assert.Equal(t, object.FieldsV1(test.want), set.tree.encode())
		})
	}
}

func TestParseFieldsErrors(t *testing.T) {
	for _, test := range []struct{ name, text, err string }{
		{"no step", `{"f":{}}`, "key must be 2 characters long"},
		{"no colon", `{"fa":{}}`, "missing colon"},
		{"broken key", `{"k:{":{}}`, ""},
		{"broken value", `{"v:[":{}}`, ""},
		{"broken index", `{"i:x":{}}`, ""},
		{"two values", `{"f:a":{"v:\"x\" {}":{}}}`, "trailing data"},
		{"two keys", `{"f:a":{"k:{\"uid\":\"x\"}{}":{}}}`, "trailing data"},
		{"no object", `{"f:a":1}`, `expect { or n after "f:a", but found int64`},
		{"no object below", `{"f:a":{"f:b":"x"}}`, `expect { or n after "f:b", but found string`},
		{"a list", `[]`, "expect an object, but found []interface {}"},
		{"nothing", ``, "expect an object, but found <nil>"},
		{"cut off", `{"f:a":{`, "not a field set"},
		{"cut off in a step", `{"f:a`, "not a field set"},
		{"cut off after a step", `{"f:a"`, "not a field set"},
		{"cut off in an escape", `{"f:a\`, "not a field set"},
		{"no separator", `{"f:a":{}"f:b":{}}`, "not a field set"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := decode(object.FieldsV1(test.text), nil)
			assert.ErrorContains(t, err, test.err)
		})
	}
}

// FuzzFields checks that decode reads an encoding as structured-merge-diff does, and
// that encode writes one of the same set, with the members that encoding/json sorts.
func FuzzFields(f *testing.F) {
	f.Add(`{"f:a":{".":{},"k:{\"name\":\"x\"}":{"f:b":{}},"v:1":{}},"i:0":{}}`)
	f.Add(`{"f:a":{"x:unknown":{}}}`)
	f.Add(`{"f:a":null,".":{}}`)
	f.Add(`{}`)
	f.Add(`{"v:\"<é\\\\\u2028\"":{}}`)
	f.Fuzz(func(t *testing.T, text string) {
		var tree map[string]any
		if json.Unmarshal([]byte(text), &tree) != nil || tree == nil {
			_, err := decode(object.FieldsV1(text), nil)
			_ = err // of a text that is not canonical: decode may read it
			return
		}
		canonical := wire.AppendAny(nil, tree)
		fields, err := decode(object.FieldsV1(canonical), nil)
		if err != nil {
			return
		}
		set := fields.asSet(nil)
		var want fieldpath.Set
		if want.FromJSON(bytes.NewReader(canonical)) == nil {
			assert.True(t, set.Equals(&want), "read %s as\n%s, not\n%s", canonical, set, &want)
		}
		assert.Equal(t, fields.tree.encode(), names(nil).tree(set).encode())
		encoded := fields.tree.encode()
		again, err := decode(encoded, nil)
		require.NoError(t, err)
		assert.Equal(t, fields.tree, again.tree)
		assert.Equal(t, string(wire.AppendAny(nil, encoded.Value())), string(encoded))
	})
}

// TestSetCache checks that the cache returns what was put into it, and that its size is
// bounded.
func TestSetCache(t *testing.T) {
	var c setCache
	text := func(i int) object.FieldsV1 { return object.FieldsV1(fmt.Sprintf(`{"f:%060000d":{}}`, i)) }
	kept := func() (n int) {
		for i := range 100 {
			if c.young[text(i)] != nil || c.old[text(i)] != nil {
				n++
			}
		}
		return n
	}
	first := &fieldSet{text: text(0)}
	c.add(first)
	for i := 1; i < 100; i++ {
		c.add(&fieldSet{text: text(i)})
		require.Same(t, first, c.get(text(0)), "sets that are read stay")
	}
	assert.Same(t, first, c.add(&fieldSet{text: text(0)}), "one set for each encoding")
	assert.Greater(t, kept(), 10)
	assert.Less(t, kept(), 2*maxCached/60_000+1)
	long := &fieldSet{text: object.FieldsV1(strings.Repeat("x", maxCachedSet+1))}
	assert.Same(t, long, c.add(long))
	assert.Nil(t, c.get(long.text), "a long encoding")
}

// TestSteps compares steps with those that structured-merge-diff writes.
func TestSteps(t *testing.T) {
	type key struct {
		name  string
		value any
	}
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
		list, element := &smd.List{}, map[string]any{}
		for _, k := range keys {
			v := value.NewValueInterface(k.value)
			fields = append(fields, value.Field{Name: k.name, Value: v})
			list.Keys, element[k.name] = append(list.Keys, k.name), k.value
			if k.value != nil {
				want, err := fieldpath.SerializePathElement(fieldpath.PathElement{Value: &v})
				require.NoError(t, err)
				assert.Equal(t, want, valueStep(k.value).text)
			}
		}
		fields.Sort()
		want, err := fieldpath.SerializePathElement(fieldpath.PathElement{Key: &fields})
		require.NoError(t, err)
		got, err := resolver{schema: &smd.Schema{}}.list(list).step(element)
		require.NoError(t, err)
		assert.Equal(t, want, got.text)
	}
}

// TestParseManySteps parses a field set with so many steps that inserting them in
// random order would take minutes.
func TestParseManySteps(t *testing.T) {
	const n = 300_000
	var tree fieldTree
	for i := range n {
		tree.add(pathStep{text: fmt.Sprintf("f:%d", i)}, true, nil)
	}
	rand.New(rand.NewPCG(1, 2)).Shuffle(n, func(i, j int) { tree[i], tree[j] = tree[j], tree[i] })
	set := names(nil).set(tree)
	assert.Equal(t, n, set.Members.Size())
}
