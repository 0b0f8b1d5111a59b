// Package jsonpath compares internal/jsonpath with k8s.io/client-go/util/jsonpath.
package jsonpath

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"k8s.io/client-go/util/jsonpath"

	ours "github.com/kubefake/kubefake/internal/jsonpath"
)

// objects have at most one member in each object, since client-go visits members in random order.
var objects = func() (out []map[string]any) {
	for _, text := range []string{
		`{"a":{"b":[{"c":1},{"c":2.5},{"c":"x"},{"b":"x"},null]}}`,
		`{"a":{"a":{"a":[[1,2,3],[4],[]]}}}`,
		`{"a":{"b":"héllo"}}`,
		`{"a":[{"c":true},{"c":false},{"c":[1]},{"c":{}},{"c":null}]}`,
		`{"a":["x","y","z",1,2,-1,1.5,true,null,"","1","a.b"]}`,
		`{"a":{"b.c":{"":5}}}`,
		`{"":{"a":null}}`,
		`{"a":{"*":[{"b":[{"c":[5,"x"]}]}]}}`,
	} {
		var v map[string]any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			panic(err)
		}
		out = append(out, integers(v).(map[string]any))
	}
	return out
}()

// integers returns a value with its whole numbers as int64.
func integers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			v[name] = integers(member)
		}
	case []any:
		for i, e := range v {
			v[i] = integers(e)
		}
	case float64:
		if v == float64(int64(v)) {
			return int64(v)
		}
	}
	return v
}

// compare compares the errors and the first values of a path.
func compare(t *testing.T, path string) {
	if !utf8.ValidString(path) || len(path) > 40 {
		return // no JSON has it, or it may take hours: each descent multiplies the values
	}
	theirs := jsonpath.New("").AllowMissingKeys(true)
	wantErr := theirs.Parse("{" + path + "}")
	parsed, err := ours.Parse(path)
	if wantErr != nil || err != nil {
		assert.Equal(t, fmt.Sprint(wantErr), fmt.Sprint(err), "%q", path)
		return
	}
	if strings.Contains(path, "range") || strings.Contains(path, "end") {
		return // they change the state of a parsed path
	}
	for _, obj := range objects {
		var want, got []any
		results, wantErr := theirs.FindResults(obj)
		if wantErr == nil && len(results) > 0 && len(results[0]) > 0 {
			want = []any{results[0][0].Interface()}
		}
		found, err := parsed.Find(obj)
		if len(found) > 0 {
			got = found[:1]
		}
		assert.Equal(t, fmt.Sprint(wantErr), fmt.Sprint(err), "%q of %v", path, obj)
		assert.Equal(t, want, got, "%q of %v", path, obj)
	}
}

func FuzzPath(f *testing.F) {
	for _, path := range []string{".a.b[0].c", `.a[?(@.c=="x")].c`, `.a.b[?(@.c>1)]`, "..c", ".a.*", ".a['b.c']", `.a[0:2:1]`, `.a["b"]`, "} {.b", ".a} x {'y'", "$.a[1,2]", `"a\"b"`, "-1.5"} {
		f.Add(path)
	}
	f.Fuzz(compare)
}

// TestRandomPaths compares paths that are made of pieces of the grammar.
func TestRandomPaths(t *testing.T) {
	pieces := []string{
		".a", ".b", ".c", ".a", ".b", ".c", "..", ".*", "[*]", "[0]", "[-1]", "[1:]", "[:2]", "[0:3:2]", "[::0]", "[5]", "[]", "[-]", "['a']", "['b.c']", `["a"]`, "[a]",
		"[0,1]", "['a','b']", "[?(@.c==1)]", `[?(@.c=="x")]`, "[?(@.c!='x')]", "[?(@.c>=1)]", "[?(@.c<2)]", "[?(@==1)]", "[?(@=1)]", "[?(@.c=~'x')]", "[?(@.c)]", "[?(@[0])]", "[?(@[9])]", "[?(@.c==true)]", "[?(@<true)]",
		"[?(@==@.c)]", "[?(@.c[0]==1)]", "[?('x'==@)]", "[?(@[*]>0)]", "[?(1<@)]", "[?(", ")]", "@", "$", " ", "1", "-2", "1.5", "true", "x", `"q"`, "'q'", `"\x"`, `\.`, ".a\\.b", "}", "{", ".", "é", ",", "\t",
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 30_000 {
		path := ""
		for range 1 + rnd.IntN(5) {
			path += pieces[rnd.IntN(len(pieces))]
		}
		compare(t, path)
	}
}
