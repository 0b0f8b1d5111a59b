package jsonpath_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/jsonpath"
)

var obj = map[string]any{
	"a":   map[string]any{"b.c": "dotted", "n": int64(3), "null": nil},
	"l":   []any{"x", "y", "z"},
	"on":  []any{map[string]any{"type": "Ready", "n": int64(1)}, map[string]any{"type": "Late", "n": int64(2)}, map[string]any{"n": int64(3)}},
	"yes": true,
}

func TestFind(t *testing.T) {
	for _, tt := range []struct{ path, want string }{
		{".a.n", `[3]`},
		{"$.a.n", `[3]`},
		{".a.null", `[null]`},
		{".a.missing.deeper", `null`},
		{`.a.b\.c`, `["dotted"]`},
		{`.a['b\.c']`, `["dotted"]`},
		{".l[0]", `["x"]`},
		{".l[-1]", `["z"]`},
		{".l[1:]", `["y","z"]`},
		{".l[0:3:2]", `["x","z"]`},
		{".l[*]", `["x","y","z"]`},
		{".l[0,2]", `["x","z"]`},
		{".l[9]", `array index out of bounds: index 9, length 3`},
		{".a[0]", `map[string]interface {} is not array or slice`},
		{`.on[?(@.type=="Ready")].n`, `[1]`},
		{`.on[?(@.type == 'Late')].n`, `[2]`},
		{`.on[?(@.type!="Ready")].n`, `[2]`},
		{`.on[?(@.n>=2)].n`, `[2,3]`},
		{`.on[?(@.type)].n`, `[1,2]`},
		{`.on[?(@.n=="1")].n`, `incompatible types for comparison`},
		{`.a[?(@.n==1)]`, `map[b.c:dotted n:3 null:<nil>] is not array or slice and cannot be filtered`},
		{"..type", `["Ready","Late"]`},
		{".a.*", `["dotted",3,null]`},
		{"yes", "unrecognized identifier yes"},
		{".", `null`},
		{`.a[?(@.n=1)]`, `map[b.c:dotted n:3 null:<nil>] is not array or slice and cannot be filtered`},
		{`.on[?(@.n=1)]`, "unrecognized filter operator ="},
		{`.on[?(@.missing=1)]`, `null`},
		{`.on[?(@.n[0])].n`, `[1,2,3]`},
		{`.yes[?(@.n)]`, `true is not array or slice and cannot be filtered`},
		{`.on[?(@.type<true)]`, "incompatible types for comparison"},
		{`.on[?(true<false)]`, "invalid type for comparison"},
		{`.on[?(true!=false)].n`, `[1,2,3]`},
		{`.on[?(@==1)]`, "invalid type for comparison"},
		{`.on[?(@.n==@['n','n'])]`, "can only compare one element at a time"},
		{`.l[*]'q'`, `["q"]`},
		{`.l[*]5`, `[5,5,5]`},
		{`.l[0].*`, `[120]`},
		{`.l[0]} and {.a`, `["x"]`},
		{`.l[0]}{.l[9]`, `array index out of bounds: index 9, length 3`},
	} {
		t.Run(tt.path, func(t *testing.T) {
			p, err := jsonpath.Parse(tt.path)
			require.NoError(t, err)
			found, err := p.Find(obj)
			if err != nil {
				assert.Equal(t, tt.want, err.Error())
				return
			}
			b, err := json.Marshal(found)
			require.NoError(t, err)
			assert.Equal(t, tt.want, string(b))
		})
	}
}

func TestParseError(t *testing.T) {
	for path, want := range map[string]string{
		".l[":          "unterminated array",
		".l[x]":        "invalid array index x",
		".l[?(@.a":     "unterminated filter",
		"}{\n":         "unclosed action",
		"(":            "unrecognized character in action: U+0028 '('",
		"....a":        "invalid multiple recursive descent",
		`.l[?(@.a=="`:  "unterminated filter",
		`"a`:           "unterminated quoted string",
		"1.2.3":        "cannot parse number 1.2.3",
		".l[0,x]":      "invalid array index x",
		".l[?(@[)==1]": "unclosed array expect ]",
	} {
		_, err := jsonpath.Parse(path)
		assert.EqualError(t, err, want, path)
	}
}

func FuzzParse(f *testing.F) {
	for _, path := range []string{".a.b", `.l[?(@.a=="b")].c`, "..x[0:2:1]", `.a['b\.c'][*,1]`, "-1.5"} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		if p, err := jsonpath.Parse(path); err == nil {
			_, _ = p.Find(obj)
		}
	})
}

func ExampleParse() {
	p, err := jsonpath.Parse(`.on[?(@.type=="Ready")].n`)
	if err != nil {
		panic(err)
	}
	found, err := p.Find(obj)
	fmt.Println(found, err)
	// Output: [1] <nil>
}
