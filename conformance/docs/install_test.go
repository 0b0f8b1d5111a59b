package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/conformance/moduleproxy"
)

// The blocks named install work as if the module had been released: a module proxy in
// a directory serves this tree.
func TestInstall(t *testing.T) {
	t.Parallel()
	proxy, modules := t.TempDir(), t.TempDir()
	moduleproxy.Write(t, proxy, root, ".", "v0.0.1")
	moduleproxy.Write(t, proxy, root, "fakeapi/restconfig", "v0.0.1")
	cache, err := exec.CommandContext(t.Context(), "go", "env", "GOMODCACHE", "GOPROXY").Output()
	require.NoError(t, err)
	goenv := strings.Fields(string(cache))
	for _, p := range pages(t) {
		script := "set -euo pipefail\n"
		for _, b := range p.blocks {
			if b.args["name"] == "install" {
				script += b.text
			}
		}
		if !strings.Contains(script, "go get") {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			dir := t.TempDir()
			if !strings.Contains(script, "go mod init") { // the reader has a module
				require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.com/shop\n\ngo 1.26\n"), 0o644))
			}
			cmd := exec.CommandContext(t.Context(), "bash", "-c", script)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "GOWORK=off", "GOSUMDB=off", "GONOSUMDB=*", "GONOPROXY=none", "GOMODCACHE="+modules,
				"GOFLAGS=-modcacherw -trimpath", "GOPROXY=file://"+proxy+",file://"+filepath.ToSlash(goenv[0])+"/cache/download,"+goenv[1])
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", out)
		})
	}
}
