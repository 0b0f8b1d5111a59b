package descriptions_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/release/descriptions"
)

var documents = []struct{ name, document, bare string }{
	{"none", `{"a":[1,{}],"b":null}`, `{"a":[1,{}],"b":null}`},
	{"first member", `{"description":"x","a":1}`, `{"a":1}`},
	{"only member", `[{"description":"x"},{"a":{"description":""}}]`, `[{},{"a":{}}]`},
	{"later members", `{"a":{"b":1},"description":"x","c":{"d":1,"description":"y"}}`, `{"a":{"b":1},"c":{"d":1}}`},
	{"after an object", `{"a":{"description":"z"},"description":"x"}`, `{"a":{}}`},
	{"property of that name", `{"properties":{"description":{"type":"string","description":"x"}}}`, `{"properties":{"description":{"type":"string"}}}`},
	{"no string", `{"description":["x"]}`, `{"description":["x"]}`},
	{"escapes", `{"description":"\"\\","a":"},\"","b":"\\"}`, `{"a":"},\"","b":"\\"}`},
	{"scalars", `[1.50e3,true,"é"]`, `[1.50e3,true,"é"]`},
	{"scalar", `12`, `12`},
	{"twice", `{"description":"x","a":1,"description":"y"}`, `{"a":1,"description":"y"}`},
	{"many objects without", `[{},{},{},{"description":"x"},{},{"description":"x"}]`, `[{},{},{},{},{},{}]`},
}

func TestCutAndInsert(t *testing.T) {
	var b descriptions.Builder
	for _, row := range documents {
		bare, all, err := descriptions.Cut([]byte(row.document))
		require.NoError(t, err, row.name)
		assert.Equal(t, row.bare, string(bare), row.name)
		b.Add(row.name, all)
	}
	table, err := descriptions.Parse(b.String())
	require.NoError(t, err)
	for _, row := range documents {
		t.Run(row.name, func(t *testing.T) {
			document, err := table.Insert([]byte(row.bare), row.name)
			require.NoError(t, err)
			assert.Equal(t, row.document, string(document))
		})
	}
}

func TestCutErrors(t *testing.T) {
	for document, want := range map[string]string{
		``:         "unexpected end of JSON input",
		`{"a"`:     "unexpected end of JSON input",
		`{"a": 1}`: "document has insignificant space",
		`{} `:      "document has insignificant space",
		`{}{}`:     "invalid character '{' after top-level value",
	} {
		_, _, err := descriptions.Cut([]byte(document))
		assert.EqualError(t, err, want, document)
	}
}

func TestInsertErrors(t *testing.T) {
	_, err := descriptions.Parse("text\n")
	assert.EqualError(t, err, "no empty line after the documents")
	for _, row := range []struct{ name, fields, want string }{
		{"no such text", "3", `descriptions of document k: field "3" has no text`},
		{"number of a text", "x", `descriptions of document k: strconv.Atoi: parsing "x": invalid syntax`},
		{"index", "1/x", `descriptions of document k: strconv.Atoi: parsing "x": invalid syntax`},
		{"number of objects", "x. 1", `descriptions of document k: strconv.Atoi: parsing "x": invalid syntax`},
	} {
		t.Run(row.name, func(t *testing.T) {
			table, err := descriptions.Parse("j: 1\nk: " + row.fields + "\nl: 1\n\na\nb\n")
			require.NoError(t, err)
			_, err = table.Insert([]byte(`[{},{}]`), "k")
			assert.EqualError(t, err, row.want)
			_, err = table.Insert([]byte(`{}`), "m")
			assert.EqualError(t, err, "no descriptions of document m")
			document, err := table.Insert([]byte(`[{},{}]`), "l")
			require.NoError(t, err)
			assert.Equal(t, `[{"description":"a"},{}]`, string(document))
		})
	}
}

func FuzzCut(f *testing.F) {
	for _, row := range documents {
		f.Add(row.document)
	}
	f.Fuzz(func(t *testing.T, document string) {
		bare, all, err := descriptions.Cut([]byte(document))
		if err != nil {
			return
		}
		var b descriptions.Builder
		b.Add("k", all)
		table, err := descriptions.Parse(b.String())
		require.NoError(t, err)
		again, err := table.Insert(bare, "k")
		require.NoError(t, err)
		require.Equal(t, document, string(again))
	})
}

func ExampleCut() {
	bare, all, err := descriptions.Cut([]byte(`{"info":{"title":"T","description":"of all"},"paths":{}}`))
	if err != nil {
		panic(err)
	}
	fmt.Println(string(bare))
	var b descriptions.Builder
	b.Add("key", all)
	fmt.Print(b.String())
	// Output:
	// {"info":{"title":"T"},"paths":{}}
	// key: . 1/1
	//
	// of all
}
