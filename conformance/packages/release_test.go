package packages

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// setupEnvtest is the command that suites download their binaries with.
const setupEnvtest = "sigs.k8s.io/controller-runtime/tools/setup-envtest@v0.25.1"

// serveRelease builds the release of a version for this machine, and serves it as GitHub
// does. The URL is that of the releases.
func serveRelease(t *testing.T, version string) (root, dir, url string) {
	t.Helper()
	root, env := build(t)
	dir = t.TempDir()
	s := httptest.NewServer(http.StripPrefix("/download/"+version, http.FileServer(http.Dir(dir))))
	t.Cleanup(s.Close)
	binary, _ := strings.CutPrefix(env[len(env)-1], "FAKEAPI_BINARY=")
	env = append(os.Environ(), "SOURCE_DATE_EPOCH=1000000000")
	run(t, root, env, "go", "run", "./internal/dist", "-out", dir, "-version", version, "-url", s.URL+"/download/"+version,
		"-platforms", runtime.GOOS+"/"+runtime.GOARCH, "-executable", binary)
	return root, dir, s.URL
}

// output returns what a command prints.
func output(t *testing.T, command ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, "%s", stderr.String())
	return strings.TrimSpace(string(out))
}

func TestRelease(t *testing.T) {
	root, dir, url := serveRelease(t, "v1.2.3")
	t.Run("wheel", func(t *testing.T) { testWheel(t, root, dir) })
	t.Run("npm", func(t *testing.T) { testNodePackages(t, dir) })
	t.Run("setup-envtest", func(t *testing.T) { testSetupEnvtest(t, url) })
	t.Run("action", func(t *testing.T) { testAction(t, root, url) })
}

// withoutBinary returns the environment without the variable that names fakeapi.
func withoutBinary(more ...string) []string {
	return append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "FAKEAPI_BINARY=") }), more...)
}

// pip installs the wheel without a network, and pytest finds the plugin, which finds the
// executable.
func testWheel(t *testing.T, root, dir string) {
	wheels, err := filepath.Glob(filepath.Join(dir, "*.whl"))
	require.NoError(t, err)
	require.Len(t, wheels, 1)
	python := findPython(t, "import kubernetes, pytest")
	pip := findPython(t, "import pip")
	installed := t.TempDir()
	run(t, installed, os.Environ(), pip, "-m", "pip", "install", "--disable-pip-version-check", "--no-index", "--target", installed, wheels[0])

	example := filepath.Join(root, "clients", "python", "example")
	env := withoutBinary("PYTHONDONTWRITEBYTECODE=1", "PYTHONPATH="+installed+string(filepath.ListSeparator)+example)
	check := "import kubefake, os, sys; sys.exit(os.path.commonpath([kubefake.find_binary(), sys.argv[1]]) != sys.argv[1])"
	run(t, installed, env, python, "-c", check, installed)
	run(t, installed, env, python, "-m", "pytest", "-p", "no:cacheprovider", example)
}

// npm installs the packages without a network, and a test finds the executable.
func testNodePackages(t *testing.T, dir string) {
	needNode(t)
	packages, err := filepath.Glob(filepath.Join(dir, "*.tgz"))
	require.NoError(t, err)
	require.Len(t, packages, 2)
	installed := t.TempDir()
	install := []string{"npm", "install", "--prefix", installed, "--offline", "--no-audit", "--no-fund"}
	run(t, installed, os.Environ(), append(install, packages...)...)
	const test = `
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findBinary, withKube } from 'kubefake';

test('executable', withKube(async (kube) => {
  assert.match(findBinary(), /node_modules.@kubefake./);
  await kube.store({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'a' } });
  assert.equal((await fetch(kube.url + '/api/v1/namespaces/a')).status, 200);
}));
`
	require.NoError(t, os.WriteFile(filepath.Join(installed, "executable.test.mjs"), []byte(test), 0o644))
	run(t, installed, withoutBinary(), "node", "--test", "executable.test.mjs")
}

// setup-envtest finds the versions in the index of a release, and installs one that
// serves this version.
func testSetupEnvtest(t *testing.T, url string) {
	if out, err := exec.CommandContext(t.Context(), "go", "run", setupEnvtest, "version").CombinedOutput(); err != nil {
		t.Skipf("go cannot build %s: %s", setupEnvtest, out)
	}
	for _, version := range []string{"1.36", "1.33"} {
		dir := output(t, "go", "run", setupEnvtest, "use", version+".x", "--index", url+"/download/v1.2.3/envtest-releases.yaml", "--bin-dir", t.TempDir(), "-p", "path")
		t.Cleanup(func() { os.Chmod(dir, 0o755) }) // setup-envtest makes it read-only
		assert.Contains(t, output(t, filepath.Join(dir, "kube-apiserver"), "--version"), "Kubernetes v"+version+".")
		assert.Contains(t, output(t, filepath.Join(dir, "etcd"), "--version"), "etcd Version:")
	}
}

// The action installs a release and sets the variables of later steps.
func testAction(t *testing.T, root, url string) {
	if runtime.GOOS == "windows" {
		t.Skip("the script needs bash")
	}
	text, err := os.ReadFile(filepath.Join(root, "action.yml"))
	require.NoError(t, err)
	var action struct {
		Inputs map[string]struct{ Default string }
		Runs   struct {
			Steps []struct {
				Run string
				Env map[string]string
			}
		}
	}
	require.NoError(t, yaml.Unmarshal(text, &action))
	require.Len(t, action.Runs.Steps, 1)
	step := action.Runs.Steps[0]
	for _, value := range step.Env {
		name := strings.TrimSuffix(strings.TrimPrefix(value, "${{ inputs."), " }}")
		assert.Contains(t, action.Inputs, name)
	}

	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	env := append(os.Environ(), "RUNNER_TEMP="+dir, "RUNNER_OS="+map[string]string{"linux": "Linux", "darwin": "macOS"}[runtime.GOOS],
		"RUNNER_ARCH="+map[string]string{"amd64": "X64", "arm64": "ARM64"}[runtime.GOARCH],
		"GITHUB_PATH="+file("path"), "GITHUB_ENV="+file("env"), "GITHUB_OUTPUT="+file("output"),
		"FAKEAPI_VERSION=v1.2.3", "FAKEAPI_KUBERNETES_VERSION=1.35.0", "FAKEAPI_URL="+url)
	run(t, dir, env, "bash", "-c", step.Run)
	variables, err := os.ReadFile(file("env"))
	require.NoError(t, err)
	assets, ok := strings.CutPrefix(strings.TrimSpace(string(variables)), "KUBEBUILDER_ASSETS=")
	require.True(t, ok)
	assert.Contains(t, output(t, filepath.Join(assets, "kube-apiserver"), "--version"), "Kubernetes v1.35.")
	path, err := os.ReadFile(file("path"))
	require.NoError(t, err)
	assert.FileExists(t, filepath.Join(strings.TrimSpace(string(path)), "fakeapi"))
	out, err := os.ReadFile(file("output"))
	require.NoError(t, err)
	assert.Equal(t, "kubebuilder-assets="+assets+"\n", string(out))
}
