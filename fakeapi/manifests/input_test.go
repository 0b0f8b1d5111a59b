package manifests_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi/manifests"
)

const configMap = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\n"

// A bad document is a finding with a place, and the objects beside it are validated.
func TestBadDocuments(t *testing.T) {
	bomb := "a: &a [x, x, x, x, x, x, x, x, x]\n"
	for c := 'b'; c <= 'i'; c++ {
		bomb += fmt.Sprintf("%c: &%c [*%c, *%c, *%c, *%c, *%c, *%c, *%c, *%c, *%c]\n", c, c, c-1, c-1, c-1, c-1, c-1, c-1, c-1, c-1, c-1)
	}
	for _, row := range []struct{ name, text, line, want string }{
		{"a bomb of anchors", "kind: ConfigMap\n" + bomb, "3:1", "yaml: document contains excessive aliasing"},
		{"a tab", "kind: Pod\nmetadata:\n\tname: a\n", "5:1", "yaml: line 5: found character that cannot start any token"},
		{"no end of a string", "kind: Pod\nmetadata: {name: \"a}\n", "6:1", "yaml: line 6: found unexpected end of stream"},
		{"an unknown anchor", "kind: *pod\n", "3:1", "yaml: unknown anchor 'pod' referenced"},
		{"deep brackets", "kind: Pod\na: " + strings.Repeat("[", 20000), "4:1", "yaml: line 4: exceeded max depth of 10000"},
		{"a null byte", "kind: Pod\na: \"\x00\"\n", "3:1", "yaml: control characters are not allowed"},
		{"Latin-1", "kind: Pod\na: caf\xe9\n", "4:1", "the text is not UTF-8"},
		{"a large document", "kind: ConfigMap\n# " + strings.Repeat("x", 17<<20) + "\n", "3:1", "the document has 17 MiB, more than the limit of 16 MiB"},
		{"a large object", fmt.Sprintf(configMap, "large") + "data: {a: " + strings.Repeat("x", 4<<20) + "}\n", "3:1", "Request entity too large: limit is 3145728"},
		{"an item that is no object", "apiVersion: v1\nkind: List\nitems: [a]\n", "5:9", "items[0]: it is not a mapping with kind and apiVersion"},
		{"an item without a kind", "apiVersion: v1\nkind: List\nitems: [{a: b}]\n", "5:9", "items[0]: it has no kind"},
		{"a kind that is a list", "apiVersion: v1\nkind: [Pod]\n", "3:1", "kind: expected a string, not a list"},
	} {
		t.Run(row.name, func(t *testing.T) {
			// The first object has a line of its own.
			text := "{apiVersion: v1, kind: ConfigMap, metadata: {name: before}}\n---\n" + row.text + "\n---\n" + fmt.Sprintf(configMap, "after")
			got := validate(t, manifests.Config{}, text)
			require.Len(t, got, 3)
			require.Len(t, got[1].Findings, 1)
			f := got[1].Findings[0]
			assert.Contains(t, f.Message, row.want)
			assert.Equal(t, row.line, fmt.Sprintf("%d:%d", f.Line, f.Column))
			assert.Equal(t, manifests.Error, f.Severity)
			assert.Equal(t, manifests.Valid, got[0].Outcome)
			assert.Equal(t, manifests.Valid, got[2].Outcome)
		})
	}
}

func TestBadFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	write("a/ok.yaml", fmt.Sprintf(configMap, "ok"))
	write("a/b/nested.yml", fmt.Sprintf(configMap, "nested"))
	if err := os.Symlink(filepath.Join(dir, "a"), filepath.Join(dir, "a", "b", "loop")); err != nil {
		t.Skip(err)
	}
	require.NoError(t, os.Symlink(filepath.Join(dir, "nowhere"), filepath.Join(dir, "a", "dangling.yaml")))
	require.NoError(t, os.Truncate(write("a/large.yaml", ""), 300<<20))
	write("empty/README.md", "text")
	have := lines(results(t, manifests.Config{}, dir+"/a", dir+"/empty", dir+"/none.yaml", dir+"/*.json"))
	assert.Equal(t, `/a/b/nested.yml:1:1: ConfigMap default/nested valid
/a/dangling.yaml:0:0:  / unreadable
  0:0: error: File: no such file or directory
/a/large.yaml:0:0:  / unreadable
  0:0: error: File: it has more than 256 MiB, the limit for an input
/a/ok.yaml:1:1: ConfigMap default/ok valid
/empty:0:0:  / unreadable
  0:0: error: File: the folder has no .yaml, .yml or .json file
/none.yaml:0:0:  / unreadable
  0:0: error: File: no such file or directory
/*.json:0:0:  / unreadable
  0:0: error: File: no file matches "/*.json"
`, strings.ReplaceAll(have, dir, ""))
}

func TestUnreadableFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.yaml")
	require.NoError(t, os.WriteFile(name, []byte(fmt.Sprintf(configMap, "a")), 0))
	if _, err := os.ReadFile(name); err == nil {
		t.Skip("the user may read every file")
	}
	got := results(t, manifests.Config{}, name)
	require.Len(t, got, 1)
	assert.Equal(t, "permission denied", got[0].Findings[0].Message)
}

// endless is an input that repeats itself without an end.
type endless string

func (e endless) Read(b []byte) (int, error) { return copy(b, e), nil }

func TestEndlessInput(t *testing.T) {
	got := results(t, manifests.Config{Stdin: endless(strings.Repeat("a: b\n", 1<<16))}, "-")
	require.Len(t, got, 1)
	assert.Equal(t, "it has more than 256 MiB, the limit for an input", got[0].Findings[0].Message)
}

// A context that ends ends a validation, also one that waits for input.
func TestCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for r, err := range manifests.Validate(ctx, manifests.Config{Stdin: strings.NewReader(fmt.Sprintf(configMap, "a"))}, "-") {
		assert.Nil(t, r)
		assert.ErrorIs(t, err, context.Canceled)
	}
	ctx, cancel = context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	r, w := io.Pipe()
	defer w.Close()
	for _, err := range manifests.Validate(ctx, manifests.Config{Stdin: r}, "-") {
		assert.True(t, errors.Is(err, context.DeadlineExceeded), err)
	}
}

// A caller may stop at any result.
func TestStopped(t *testing.T) {
	text := strings.Repeat("---\n"+fmt.Sprintf(configMap, "a"), 500)
	before := runtime.NumGoroutine()
	for range manifests.Validate(context.Background(), manifests.Config{Stdin: strings.NewReader(text), Workers: 8}, "-") {
		break
	}
	assert.LessOrEqual(t, runtime.NumGoroutine(), before+2)
}

// The order of the results is that of the input, whatever the number of workers is.
func TestOrder(t *testing.T) {
	var text bytes.Buffer
	for i := range 300 {
		fmt.Fprintf(&text, "---\n"+configMap, fmt.Sprintf("c%d", i))
	}
	for _, workers := range []int{1, 7} {
		got := validate(t, manifests.Config{Workers: workers}, text.String())
		require.Len(t, got, 300)
		for i, r := range got {
			assert.Equal(t, fmt.Sprintf("c%d", i), r.Name)
		}
	}
}
