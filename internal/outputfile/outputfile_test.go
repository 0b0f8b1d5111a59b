package outputfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A file is whole or stays as it was, and nothing is left beside it.
func TestWrite(t *testing.T) {
	full := func(w io.Writer) error {
		_, err := io.WriteString(w, "ne")
		return errors.Join(err, &fs.PathError{Op: "write", Path: "x.1.tmp", Err: syscall.ENOSPC})
	}
	whole := func(w io.Writer) error {
		_, err := io.WriteString(w, "new")
		return err
	}
	for _, tt := range []struct {
		name   string
		before string // "" is no file
		link   bool   // the name is a symbolic link
		write  func(io.Writer) error
		want   string
	}{
		{"new file", "", false, whole, "new"},
		{"new file on a full disk", "", false, full, ""},
		{"replaced", "old", false, whole, "new"},
		{"on a full disk", "old", false, full, "old"},
		{"symbolic link", "old", true, whole, "new"},
		{"symbolic link on a full disk", "old", true, full, "old"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "file")
			if tt.before != "" {
				require.NoError(t, os.WriteFile(file, []byte(tt.before), 0o640))
			}
			name := file
			if tt.link {
				name = filepath.Join(dir, "link")
				require.NoError(t, os.Symlink("file", name))
			}
			err := Write(name, 0o666, tt.write)
			text, readErr := os.ReadFile(file)
			assert.Equal(t, tt.want, string(text))
			if tt.want == "new" {
				require.NoError(t, err)
			} else {
				real, _ := filepath.EvalSymlinks(dir)
				assert.EqualError(t, err, "write "+filepath.Join(real, "file")+": no space left on device")
				assert.Equal(t, tt.before == "", errors.Is(readErr, fs.ErrNotExist))
			}
			entries, err := os.ReadDir(dir)
			require.NoError(t, err)
			for _, e := range entries {
				assert.Contains(t, []string{"file", "link"}, e.Name())
			}
			if info, err := os.Stat(file); err == nil && tt.before != "" && runtime.GOOS != "windows" {
				assert.Equal(t, fs.FileMode(0o640), info.Mode().Perm())
			}
			if tt.link {
				info, err := os.Lstat(name)
				require.NoError(t, err)
				assert.NotZero(t, info.Mode()&fs.ModeSymlink)
			}
		})
	}
}

// A file with secrets is for its owner alone, also if it existed.
func TestWriteSecrets(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("has no such modes")
	}
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o644))
	require.NoError(t, WriteText(file, []byte("x"), 0o600))
	info, err := os.Stat(file)
	require.NoError(t, err)
	assert.Equal(t, fs.FileMode(0o600), info.Mode().Perm())
}

// What is not a regular file is written to.
func TestWriteToDevice(t *testing.T) {
	require.NoError(t, WriteText(os.DevNull, []byte("x"), 0o600))
	if _, err := os.Stat("/dev/full"); err == nil {
		assert.EqualError(t, WriteText("/dev/full", []byte("x"), 0o600), "write /dev/full: no space left on device")
	}
	err := WriteText(filepath.Join(t.TempDir(), "none", "file"), nil, 0o600)
	assert.ErrorIs(t, err, fs.ErrNotExist)
	dir := t.TempDir()
	assert.Error(t, WriteText(dir, nil, 0o600), "a folder")
}
