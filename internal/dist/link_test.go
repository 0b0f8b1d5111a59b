package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestLink checks the size of the executable of a release, and that the linker leaves out
// methods that nothing calls. The linker keeps the exported methods of all types if it can
// reach a function that calls a method by a name that is not a constant, as text/template
// does: that is a seventh of the executable.
func TestLink(t *testing.T) {
	if testing.Short() {
		t.Skip("links the executable")
	}
	executable := filepath.Join(t.TempDir(), "fakeapi")
	build := exec.Command("go", "build", "-ldflags=-s -w -dumpdep", "-o", executable, "../../cmd/fakeapi")
	var edges bytes.Buffer // FROM -> TO, each with attributes of the symbol
	build.Stderr = &edges
	if err := build.Run(); err != nil {
		t.Fatalf("%v: %s", err, edges.String())
	}
	if path := pathToReflectMethod(edges.String()); path != nil {
		assert.Fail(t, "a function that calls methods by name is linked", strings.Join(path, "\n"))
	}
	info, err := os.Stat(executable)
	require.NoError(t, err)
	t.Logf("%d bytes", info.Size())
	assert.Less(t, info.Size(), int64(40e6))
}

// pathToReflectMethod returns the symbols from the start of a program to the first function
// with the attribute ReflectMethod, or nil.
func pathToReflectMethod(edges string) []string {
	from := map[string]string{}
	for _, line := range strings.Split(edges, "\n") {
		a, b, ok := strings.Cut(strings.TrimSpace(line), " -> ")
		if !ok {
			continue
		}
		a, _, _ = strings.Cut(a, " <")
		b, attributes, _ := strings.Cut(b, " <")
		if from[b] == "" {
			from[b] = a
		}
		if !strings.Contains(attributes, "ReflectMethod") {
			continue
		}
		path := []string{b}
		for from[b] != "" && !slices.Contains(path, from[b]) {
			b = from[b]
			path = append(path, b)
		}
		slices.Reverse(path)
		return path
	}
	return nil
}

func TestPathToReflectMethod(t *testing.T) {
	const edges = `# example.com/cmd
_ -> main.main
main.main -> example.com/a.F
example.com/a.F -> example.com/a.G <ReflectMethod>
example.com/a.G <ReflectMethod> -> reflect.Value.Method
`
	assert.Equal(t, []string{"_", "main.main", "example.com/a.F", "example.com/a.G"}, pathToReflectMethod(edges))
	assert.Nil(t, pathToReflectMethod("_ -> main.main\n"))
}
