package audit

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
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
