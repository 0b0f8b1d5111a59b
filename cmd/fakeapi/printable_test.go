//go:build go1.24

package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// hostile is a text that changes the title of a terminal, erases it, begins a line, and
// reverses what follows.
const hostile = "\x1b]0;title\a\x1b[2J\rbegin\u009b31m\u202e\u2066\u2028\u200b\x7fend"

// quoteASCII returns a text as JSON in ASCII, which is YAML too.
func quoteASCII(text string) string {
	var b strings.Builder
	for _, r := range text {
		fmt.Fprintf(&b, `\u%04x`, r)
	}
	return `"` + b.String() + `"`
}

// assertPrintable checks that a text has no runes but printable ones, newlines and tabs.
func assertPrintable(t *testing.T, text string) {
	t.Helper()
	i := strings.IndexFunc(text, func(r rune) bool { return r != '\n' && r != '\t' && !strconv.IsPrint(r) })
	assert.Equal(t, -1, i, "%q", text)
}

// What the commands print has no byte that a terminal acts on, whatever names, data, messages,
// headers and file names have.
func TestOutputIsPrintable(t *testing.T) {
	quoted := quoteASCII(hostile + "\nline")
	dir := t.TempDir()
	file := func(text string) string {
		f, err := os.CreateTemp(dir, "*.yaml")
		require.NoError(t, err)
		defer f.Close()
		_, err = f.WriteString(text)
		require.NoError(t, err)
		return f.Name()
	}
	s := start(t)
	for _, request := range []struct{ method, path, body string }{
		{"POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"a"},"data":{"k":""}}`},
		{"PUT", "/api/v1/namespaces/default/configmaps/a", `{"metadata":{"name":"a"},"data":{"k":` + quoted + `}}`},
		{"POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":` + quoted + `}}`},
		{"GET", "/api/v1/namespaces/default/configmaps/%1b%5b2J%c2%9b", ""},
		{"POST", "/debug/fakeapi/faults", `{"resource":"secrets","verb":"list","code":409,"message":` + quoted + `,"times":1}`},
		{"GET", "/api/v1/secrets", ""},
	} {
		req, err := http.NewRequestWithContext(t.Context(), request.method, s.url+request.path, strings.NewReader(request.body))
		require.NoError(t, err)
		req.Header.Set("Content-Type", "application/json")
		req.Header["User-Agent"] = []string{"agent\u009b31m\u202e\xff"}
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		resp.Body.Close()
	}
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		w.Write([]byte(hostile + "\xff"))
	}))
	t.Cleanup(other.Close)
	step := `name: a
steps: [{name: ` + quoted + `, do: POST /api/v1/namespaces/default/configmaps, body: {metadata: {name: a}, data: {k: ` + quoted + `}}, want: {status: 201, body: {kind: ` + quoted + `}}}]`
	for _, row := range []struct {
		name string
		args []string
		code int
		want string // a part of the output, "" if the output is not checked
	}{
		{"log", []string{"log", "--server", s.url}, 0, `\x1b[2J\rbegin\u009b31m\u202e`},
		{"log of another server", []string{"log", "--server", other.URL}, 1, `\x1b[2J`},
		{"play", []string{"play", file(step)}, 1, `\x1b`},
		{"play of an invalid file", []string{"play", file("steps: [" + hostile)}, 1, ""},
		{"play of a file that does not exist", []string{"play", "none" + hostile}, 1, `\x1b`},
		{"replay of an invalid file", []string{"replay", file("steps: " + quoted)}, 1, ""},
		{"serve of invalid objects", []string{"serve", "--listen", "127.0.0.1:0", "--objects", file("{kind: Pod, apiVersion: v1, metadata: {name: " + quoted + "}}")}, 1, `\x1b`},
		{"explore", []string{"explore", hostile}, 2, ""},
		{"command", []string{"serv" + hostile}, 2, `\x1b`},
		{"flag", []string{"serve", "--" + hostile}, 2, `\x1b`},
		{"value of a flag", []string{"serve", "--release", hostile}, 2, `\x1b`},
	} {
		t.Run(row.name, func(t *testing.T) {
			var stdout, stderr strings.Builder
			code := run(t.Context(), row.args, nil, &stdout, &stderr)
			out := stdout.String() + stderr.String()
			assert.Equal(t, row.code, code, out)
			assert.Contains(t, out, row.want)
			assertPrintable(t, out)
		})
	}
	t.Run("transcript", func(t *testing.T) {
		name := filepath.Join(dir, "transcript")
		run(t.Context(), []string{"play", file(step), "--transcript", name}, nil, &strings.Builder{}, &strings.Builder{})
		b, err := os.ReadFile(name)
		require.NoError(t, err)
		assert.NotEmpty(t, b)
		assertPrintable(t, string(b))
	})
	t.Run("replay", func(t *testing.T) {
		r := startCommand(t, "replay", "testdata/scenarios/client.yaml")
		r.do(t, "GET", "/%1b%5b2J", "", "")
		r.cancel()
		<-r.code
		assertPrintable(t, r.stderr.String())
	})
	t.Run("kube-apiserver", func(t *testing.T) {
		code, stdout, stderr := runProgram(t, "kube-apiserver", "--"+hostile)
		assert.NotZero(t, code)
		assertPrintable(t, stdout+stderr)
	})
	t.Run("etcd", func(t *testing.T) {
		code, stdout, stderr := runProgram(t, "etcd", "--"+hostile)
		assert.NotZero(t, code)
		assertPrintable(t, stdout+stderr)
	})
}
