package packages

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// blocks returns the code blocks of a language in the documentation of the packages.
func blocks(t *testing.T, root, language string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, name := range []string{"docs/python-and-javascript.md", "clients/" + language + "/README.md"} {
		text, err := os.ReadFile(filepath.Join(root, name))
		require.NoError(t, err)
		parts := strings.Split(string(text), "\n```"+language+"\n")
		require.Greater(t, len(parts), 1, name)
		for _, part := range parts[1:] {
			code, _, ok := strings.Cut(part, "\n```")
			require.True(t, ok, name)
			out[name] += code + "\n\n\n" // the blocks of a page are one file
		}
	}
	return out
}

// build builds fakeapi, and returns the root of the repository and an environment in
// which the packages find it.
func build(t *testing.T) (root string, env []string) {
	t.Helper()
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	binary := filepath.Join(t.TempDir(), "fakeapi")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-C", root, "-ldflags=-s -w", "-o", binary, "./cmd/fakeapi").CombinedOutput()
	require.NoError(t, err, "%s", out)
	return root, append(os.Environ(), "FAKEAPI_BINARY="+binary)
}

// run runs a command in a directory. It fails the test if the command fails.
func run(t *testing.T, dir string, env []string, command ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, env, time.Second
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	t.Logf("%s", out)
}

// findPython returns a Python that can run a statement. It skips the test if there is none.
func findPython(t *testing.T, statement string) string {
	t.Helper()
	for _, python := range []string{"/usr/bin/python3", "python3"} {
		if exec.CommandContext(t.Context(), python, "-c", statement).Run() == nil {
			return python
		}
	}
	t.Skipf("python3 cannot %s; apt-get install python3-kubernetes python3-pytest python3-pip installs all packages", statement)
	return ""
}

// needNode skips the test if there is no Node.js that the package supports.
func needNode(t *testing.T) {
	t.Helper()
	if exec.CommandContext(t.Context(), "node", "--eval", "process.exit(parseInt(process.versions.node) < 18 ? 1 : 0)").Run() != nil {
		t.Skip("node 18 or newer is not in PATH; apt-get install nodejs npm installs it")
	}
}

func TestPython(t *testing.T) {
	python := findPython(t, "import kubernetes, pytest")
	root, env := build(t)
	dir := t.TempDir()
	for name, code := range blocks(t, root, "python") {
		file := filepath.Join(dir, strings.ReplaceAll(strings.TrimSuffix(name, ".md"), "/", "_"), "test_blocks.py")
		require.NoError(t, os.Mkdir(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(code), 0o644))
	}
	own := filepath.Join(root, "clients", "python")
	pytest := func(dirs ...string) {
		env := append(env, "PYTHONPATH="+filepath.Join(own, "src"), "PYTHONDONTWRITEBYTECODE=1")
		command := []string{python, "-m", "pytest", "--strict-markers", "--import-mode=importlib", "-p", "no:cacheprovider", "-p", "pytester", "-p", "kubefake.pytest_plugin"}
		run(t, dir, env, append(command, dirs...)...)
	}
	pytest(filepath.Join(own, "tests"))
	pytest(dir)
	env = append(env, "PYTHONPATH="+own+"/src"+string(filepath.ListSeparator)+own+"/example")
	pytestExample := []string{python, "-m", "pytest", "-p", "no:cacheprovider", "-p", "kubefake.pytest_plugin", filepath.Join(own, "example")}
	run(t, dir, append(env, "PYTHONDONTWRITEBYTECODE=1"), pytestExample...)
}

func TestJavaScript(t *testing.T) {
	needNode(t)
	root, env := build(t)
	own := filepath.Join(root, "clients", "javascript")
	run(t, own, env, "node", "--test", "test/")

	dir := t.TempDir()
	install := exec.CommandContext(t.Context(), "npm", "install", "--prefix", dir, "--no-audit", "--no-fund", "--prefer-offline", "@kubernetes/client-node@1", "kubefake@file:"+own)
	install.WaitDelay = time.Second
	if out, err := install.CombinedOutput(); err != nil {
		t.Skipf("npm cannot install @kubernetes/client-node: %s", out)
	}
	for _, name := range []string{"painter.js", "painter.test.js"} {
		code, err := os.ReadFile(filepath.Join(own, "example", name))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), code, 0o644))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"type": "module"}`), 0o644))
	n := 0
	for _, code := range blocks(t, root, "javascript") {
		n++
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("block%d.test.js", n)), []byte(code), 0o644))
	}
	run(t, dir, env, "node", "--test")
}
