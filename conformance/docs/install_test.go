package docs

import (
	"archive/zip"
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	modulePath    = "github.com/kubefake/kubefake"
	moduleVersion = "v0.0.1"
)

// The blocks named install work as if the module had been released: a module proxy in
// a directory serves this tree.
func TestInstall(t *testing.T) {
	t.Parallel()
	proxy, modules, home := t.TempDir(), t.TempDir(), t.TempDir()
	writeModule(t, proxy, ".")
	writeModule(t, proxy, "fakeapi/restconfig")
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
			cmd.Env = append(os.Environ(), "GOWORK=off", "GOSUMDB=off", "GONOSUMDB=*", "GONOPROXY=none", "GOMODCACHE="+modules, "GOBIN="+home,
				"GOFLAGS=-modcacherw -trimpath", "GOPROXY=file://"+proxy+",file://"+filepath.ToSlash(goenv[0])+"/cache/download,"+goenv[1])
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", out)
			if strings.Contains(script, "go install") {
				require.FileExists(t, filepath.Join(home, "fakeapi"))
			}
		})
	}
}

// writeModule writes the module in a folder of the repository to the directory of a
// module proxy. As in a release, it requires the released version of other modules.
func writeModule(t *testing.T, proxy, folder string) {
	module := path.Join(modulePath, folder)
	root := filepath.Join(root, folder)
	dir := filepath.Join(proxy, filepath.FromSlash(module), "@v")
	require.NoError(t, os.MkdirAll(dir, 0o755))
	write := func(name string, text []byte) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), text, 0o644))
	}
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	require.NoError(t, err)
	mod = bytes.ReplaceAll(mod, []byte(modulePath+" v0.0.0\n"), []byte(modulePath+" "+moduleVersion+"\n"))
	write("list", []byte(moduleVersion+"\n"))
	write(moduleVersion+".info", []byte(`{"Version":"`+moduleVersion+`"}`))
	write(moduleVersion+".mod", mod)
	f, err := os.Create(filepath.Join(dir, moduleVersion+".zip"))
	require.NoError(t, err)
	defer f.Close()
	z := zip.NewWriter(f)
	tree := os.DirFS(root)
	err = fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || name == ".":
			return err
		case d.IsDir():
			_, err := fs.Stat(tree, name+"/go.mod")
			if err == nil || strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" {
				return fs.SkipDir // another module, or no part of the packages
			}
			return nil
		case !d.Type().IsRegular():
			return nil
		}
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		if name == "go.mod" {
			text = mod
		}
		w, err := z.Create(module + "@" + moduleVersion + "/" + name)
		if err != nil {
			return err
		}
		_, err = w.Write(text)
		return err
	})
	require.NoError(t, err)
	require.NoError(t, z.Close())
}
