package inputfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRead(t *testing.T) {
	dir := t.TempDir()
	file, large := filepath.Join(dir, "a"), filepath.Join(dir, "large")
	require.NoError(t, os.WriteFile(file, []byte("text"), 0o600))
	require.NoError(t, os.WriteFile(large, nil, 0o600))
	require.NoError(t, os.Truncate(large, MaxSize+1))
	text, err := Read(file)
	require.NoError(t, err)
	assert.Equal(t, "text", string(text))
	text, err = Read(os.DevNull)
	require.NoError(t, err)
	assert.Empty(t, text)

	for name, want := range map[string]string{
		filepath.Join(dir, "none"): "no such file or directory",
		dir:                        "it is a directory, not a file",
		large:                      "it has more than 256 MiB, the limit for an input",
	} {
		_, err := Read(name)
		assert.EqualError(t, err, name+": "+want)
		assert.ErrorAs(t, err, new(*Error))
		_, err = Open(name)
		assert.EqualError(t, err, name+": "+want)
	}
	_, err = Read(filepath.Join(dir, "none"))
	assert.ErrorIs(t, err, fs.ErrNotExist)
	if _, err := os.Stat("/dev/zero"); err == nil {
		_, err := Read("/dev/zero")
		assert.EqualError(t, err, "/dev/zero: it is a device, not a file")
	}
}

// endless is an input without an end.
type endless struct{}

func (endless) Read(b []byte) (int, error) { return len(b), nil }

func TestLimit(t *testing.T) {
	all := func(size int) error {
		_, err := io.Copy(io.Discard, &limited{io.LimitReader(endless{}, int64(size)), 100})
		return err
	}
	assert.NoError(t, all(100))
	assert.ErrorIs(t, all(101), ErrTooLarge)
	text, err := ReadAll(strings.NewReader("abc"))
	require.NoError(t, err)
	assert.Equal(t, "abc", string(text))
}

func TestWrap(t *testing.T) {
	cause := errors.New("line 3")
	assert.EqualError(t, Wrap("a.yaml", cause), "a.yaml: line 3")
	assert.Equal(t, Wrap("a.yaml", cause), Wrap("b.yaml", Wrap("a.yaml", cause)))
	assert.EqualError(t, Wrap("a.yaml", errors.New(`reading "a.yaml" failed`)), `reading "a.yaml" failed`)
	assert.NoError(t, Wrap("a.yaml", nil))
	assert.Equal(t, cause, Wrap("", cause))
}
