// Package moduleproxy lets the go command use modules of this tree as if they had been
// released: from a directory that is a module proxy.
package moduleproxy

import (
	"archive/zip"
	"bytes"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const modulePath = "github.com/kubefake/kubefake"

// Write writes the module in a folder of the repository at root to the directory of a
// module proxy. As in a release, it requires the released version of other modules.
func Write(t testing.TB, proxy, root, folder, version string) {
	t.Helper()
	module := path.Join(modulePath, folder)
	root = filepath.Join(root, folder)
	dir := filepath.Join(proxy, filepath.FromSlash(module), "@v")
	require.NoError(t, os.MkdirAll(dir, 0o755))
	write := func(name string, text []byte) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), text, 0o644))
	}
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	require.NoError(t, err)
	mod = bytes.ReplaceAll(mod, []byte(modulePath+" v0.0.0\n"), []byte(modulePath+" "+version+"\n"))
	write("list", []byte(version+"\n"))
	write(version+".info", []byte(`{"Version":"`+version+`"}`))
	write(version+".mod", mod)
	f, err := os.Create(filepath.Join(dir, version+".zip"))
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
		w, err := z.Create(module + "@" + version + "/" + name)
		if err != nil {
			return err
		}
		_, err = w.Write(text)
		return err
	})
	require.NoError(t, err)
	require.NoError(t, z.Close())
}
