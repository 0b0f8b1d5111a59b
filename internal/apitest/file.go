//go:build go1.24

package apitest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// WatchedFiles writes files, and waits until the server has read them again.
type WatchedFiles struct {
	t       *testing.T
	Dir     string
	Reloads chan error // has the result of each reload; nil if it succeeded
}

// NewWatchedFiles returns WatchedFiles in an empty folder.
func NewWatchedFiles(t *testing.T) *WatchedFiles {
	return &WatchedFiles{t, t.TempDir(), make(chan error, 10)}
}

// OnReload is a callback for [apiserver.Files].
func (f *WatchedFiles) OnReload(_ string, err error) { f.Reloads <- err }

// Write writes a file and returns its path.
func (f *WatchedFiles) Write(name string, text []byte) string {
	f.t.Helper()
	path := filepath.Join(f.Dir, name)
	require.NoError(f.t, os.WriteFile(path, text, 0o600))
	return path
}

// Rewrite replaces a file, and returns the error of its reload. The server never reads half
// of the new text.
func (f *WatchedFiles) Rewrite(name string, text []byte) error {
	f.t.Helper()
	replaceFile(f.t, filepath.Join(f.Dir, name), text)
	return <-f.Reloads
}

// replaceFile replaces the file of a name at once: a reader gets the old text or all of the
// new one.
func replaceFile(t *testing.T, path string, text []byte) {
	t.Helper()
	next := path + ".new"
	require.NoError(t, os.WriteFile(next, text, 0o600))
	require.NoError(t, os.Rename(next, path))
}
