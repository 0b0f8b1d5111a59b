package audit

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFile(t *testing.T) {
	start := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		name     string
		rotation Rotation
		want     []string // the files after five events, one a second
	}{
		{"no limit", Rotation{}, []string{"audit.log"}},
		{"size", Rotation{MaxSize: 8}, []string{"audit-2030-01-01T00-00-02.000.log", "audit-2030-01-01T00-00-04.000.log", "audit.log"}},
		{"backups", Rotation{MaxSize: 4, MaxBackups: 2}, []string{"audit-2030-01-01T00-00-03.000.log", "audit-2030-01-01T00-00-04.000.log", "audit.log"}},
		{"age", Rotation{MaxSize: 4, MaxAge: 2 * time.Second}, []string{"audit-2030-01-01T00-00-02.000.log", "audit-2030-01-01T00-00-03.000.log", "audit-2030-01-01T00-00-04.000.log", "audit.log"}},
		{"compressed", Rotation{MaxSize: 8, Compress: true, MaxBackups: 1}, []string{"audit-2030-01-01T00-00-04.000.log.gz", "audit.log"}},
		{"events that are too long", Rotation{MaxSize: 1, MaxBackups: 1}, []string{"audit-2030-01-01T00-00-04.000.log", "audit.log"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "new")
			now := start
			tt.rotation.Now = func() time.Time { return now }
			f, err := OpenFile(filepath.Join(dir, "audit.log"), tt.rotation)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(dir, "audit-other.log"), nil, 0o600))
			for range 5 {
				_, err := f.Write([]byte("abc\n"))
				require.NoError(t, err)
				now = now.Add(time.Second)
			}
			require.NoError(t, f.Close())
			entries, err := os.ReadDir(dir)
			require.NoError(t, err)
			var names []string
			for _, e := range entries {
				if e.Name() != "audit-other.log" {
					names = append(names, e.Name())
				}
			}
			assert.Equal(t, tt.want, names)
			if tt.rotation.Compress {
				in, err := os.Open(filepath.Join(dir, tt.want[0]))
				require.NoError(t, err)
				defer in.Close()
				zip, err := gzip.NewReader(in)
				require.NoError(t, err)
				text, err := io.ReadAll(zip)
				require.NoError(t, err)
				assert.Equal(t, "abc\nabc\n", string(text))
			}
			_, err = f.Write([]byte("abc\n"))
			assert.ErrorIs(t, err, os.ErrClosed)
		})
	}
	// A file that exists is continued.
	path := filepath.Join(t.TempDir(), "audit.log")
	require.NoError(t, os.WriteFile(path, []byte("abc\n"), 0o600))
	f, err := OpenFile(path, Rotation{MaxSize: 8})
	require.NoError(t, err)
	_, err = f.Write([]byte("def\n"))
	require.NoError(t, err)
	require.NoError(t, f.Close())
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "abc\ndef\n", string(text))
}

// A fullDisk is a file that takes a limited number of bytes more.
type fullDisk struct {
	*os.File
	left       int
	noTruncate bool
}

func (d *fullDisk) Write(b []byte) (int, error) {
	n, err := d.File.Write(b[:min(len(b), d.left)])
	if d.left -= n; err == nil && n < len(b) {
		err = syscall.ENOSPC
	}
	return n, err
}

func (d *fullDisk) Truncate(size int64) error {
	if d.noTruncate {
		return syscall.EIO
	}
	return d.File.Truncate(size)
}

// An event that does not fit leaves no part of it, or a line of its own, and the log goes on when
// there is room again.
func TestFileOnFullDisk(t *testing.T) {
	for _, tt := range []struct {
		noTruncate bool
		want       string
	}{{false, "event 1\nevent 3\n"}, {true, "event 1\neven\nevent 3\n"}} {
		path := filepath.Join(t.TempDir(), "audit.log")
		f, err := OpenFile(path, Rotation{Now: time.Now})
		require.NoError(t, err)
		disk := &fullDisk{File: f.file.(*os.File), left: 12, noTruncate: tt.noTruncate}
		f.file = disk
		_, err = f.Write([]byte("event 1\n"))
		require.NoError(t, err)
		_, err = f.Write([]byte("event 2\n"))
		require.ErrorIs(t, err, syscall.ENOSPC)
		_, err = f.Write([]byte("event 2\n"))
		require.ErrorIs(t, err, syscall.ENOSPC)
		disk.left = 100
		_, err = f.Write([]byte("event 3\n"))
		require.NoError(t, err)
		require.NoError(t, f.Close())
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, tt.want, string(text))
	}
}

// A rotation that fails does not end the log.
func TestFileRotationFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.log")
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	require.NoError(t, os.MkdirAll(filepath.Join(filepath.Dir(path), "audit-2030-01-02T03-04-05.000.log", "x"), 0o700))
	f, err := OpenFile(path, Rotation{MaxSize: 10, Now: func() time.Time { return now }})
	require.NoError(t, err)
	for _, event := range []string{"event 1\n", "event 2\n", "event 3\n"} {
		_, err := f.Write([]byte(event))
		require.NoError(t, err)
	}
	require.NoError(t, f.Close())
	_, err = f.Write([]byte("late\n"))
	require.ErrorIs(t, err, os.ErrClosed)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "event 1\nevent 2\nevent 3\n", string(text))
}
