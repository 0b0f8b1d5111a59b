package main

import (
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReadmeIsFresh(t *testing.T) {
	root := filepath.Join("..", "..")
	have, err := os.ReadFile(filepath.Join(root, readme))
	require.NoError(t, err)
	want, err := render(have, os.DirFS(root))
	require.NoError(t, err)
	if string(want) != string(have) {
		t.Error("the table of differences is not up to date: run go generate ./internal/differences")
	}
}

func TestRender(t *testing.T) {
	source := fstest.MapFS{
		"b/doc.go": {Data: []byte("// Package b is.\n//\n// Differs from kube-apiserver: no a | b,\n// nor c.\n//\n// More.\npackage b\n")},
		"a/a.go": {Data: []byte(`package a

// F does.
//
// Differs from kube-apiserver: one.
//
// Differs from kube-apiserver: two.
func F() {
	// Differs from kube-apiserver: three.
}

const (
	x = 1
	// Differs from kube-apiserver: four.
	y = 2
)

// Differs from kube-apiserver: five.
type T struct{}

// This is not one. Differs from kube-apiserver: six.
var v int
`)},
		"a/a_test.go":               {Data: []byte("// Differs from kube-apiserver: a test.\npackage a\n")},
		"a/testdata/x.go":           {Data: []byte("// Differs from kube-apiserver: data.\npackage a\n")},
		".git/x.go":                 {Data: []byte("// Differs from kube-apiserver: hidden.\npackage a\n")},
		"internal/differences/x.go": {Data: []byte("// Differs from kube-apiserver: own.\npackage a\n")},
	}
	out, err := render([]byte("before\n"+begin+"old\n"+end+"after\n"), source)
	require.NoError(t, err)
	want := "before\n" + begin + `| Package | Where | Difference |
| --- | --- | --- |
| [` + "`a`](a) | `F`" + ` | one. |
| [` + "`a`](a) | `F`" + ` | two. |
| [` + "`a`](a) | `F`" + ` | three. |
| [` + "`a`](a) | `y`" + ` | four. |
| [` + "`a`](a) | `T`" + ` | five. |
| [` + "`b`](b)" + ` |  | no a \| b, nor c. |
` + end + "after\n"
	assert.Equal(t, want, string(out))
}

func TestRenderErrors(t *testing.T) {
	for _, readme := range []string{"", begin, end + begin} {
		_, err := render([]byte(readme), fstest.MapFS{})
		assert.ErrorContains(t, err, "no markers")
	}
	_, err := render([]byte(begin+end), fstest.MapFS{"x.go": {Data: []byte("// Differs from kube-apiserver: x.\npackage")}})
	assert.ErrorContains(t, err, "x.go:2")
}
