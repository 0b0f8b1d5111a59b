package main

import (
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPageIsFresh(t *testing.T) {
	root := filepath.Join("..", "..")
	for file, render := range pages {
		have, err := os.ReadFile(filepath.Join(root, file))
		require.NoError(t, err)
		want, err := render(have, os.DirFS(root))
		require.NoError(t, err)
		if string(want) != string(have) {
			t.Errorf("the table of %s is not up to date: run go generate ./internal/differences", file)
		}
	}
}

func TestRender(t *testing.T) {
	source := fstest.MapFS{
		"b/doc.go": {Data: []byte("// Package b is.\n//\n// Differs from kube-apiserver: letters: no a | b,\n// nor c. Request:\n// GET /a: b.\n//\n// More.\npackage b\n")},
		"a/a.go": {Data: []byte(`package a

// F does.
//
// Differs from kube-apiserver: one: it. Request: GET /one.
//
// Differs from kube-apiserver: two: it. Request: GET /two.
func F() {
	// Differs from kube-apiserver: three: it. Request: GET /three.
}

const (
	x = 1
	// Differs from kube-apiserver: four: it. Request: GET /four.
	y = 2
)

// Differs from kube-apiserver: five: it. Request: GET /five.
type T struct{}

// This is not one. Differs from kube-apiserver: six: it. Request: GET /six.
var v int
`)},
		"a/a_test.go":               {Data: []byte("// Differs from kube-apiserver: a test.\npackage a\n")},
		"a/testdata/x.go":           {Data: []byte("// Differs from kube-apiserver: data.\npackage a\n")},
		".git/x.go":                 {Data: []byte("// Differs from kube-apiserver: hidden.\npackage a\n")},
		"internal/differences/x.go": {Data: []byte("// Differs from kube-apiserver: own.\npackage a\n")},
	}
	out, err := render([]byte("before\n"+begin+"old\n"+end+"after\n"), source)
	require.NoError(t, err)
	want := "before\n" + begin + `| Subject | Difference | Request that shows it | Code |
| --- | --- | --- | --- |
| Five | it. | GET /five | [` + "`a.T`](../a)" + ` |
| Four | it. | GET /four | [` + "`a.y`](../a)" + ` |
| Letters | no a \| b, nor c. | GET /a: b | [` + "`b`](../b)" + ` |
| One | it. | GET /one | [` + "`a.F`](../a)" + ` |
| Three | it. | GET /three | [` + "`a.F`](../a)" + ` |
| Two | it. | GET /two | [` + "`a.F`](../a)" + ` |
` + end + "after\n"
	assert.Equal(t, want, string(out))
}

func TestRenderErrors(t *testing.T) {
	for _, page := range []string{"", begin, end + begin} {
		_, err := render([]byte(page), fstest.MapFS{})
		assert.ErrorContains(t, err, "no markers")
	}
	_, err := render([]byte(begin+end), fstest.MapFS{"x.go": {Data: []byte("// Differs from kube-apiserver: x.\npackage")}})
	assert.ErrorContains(t, err, "x.go:2")
	for _, text := range []string{"no request", "no: request", "text. Request: GET /"} {
		_, err = render([]byte(begin+end), fstest.MapFS{"x.go": {Data: []byte("// Differs from kube-apiserver: " + text + ".\npackage x")}})
		assert.ErrorContains(t, err, "has no subject or no request")
	}
}
