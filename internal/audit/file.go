package audit

import (
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Rotation says when a File begins a new file, and which old ones it keeps.
type Rotation struct {
	// MaxSize is the size in bytes that a file does not exceed; 0 is no limit. An event
	// is in one file.
	MaxSize int64
	// MaxBackups is the number of old files that are kept; 0 is no limit.
	MaxBackups int
	// MaxAge is how long old files are kept; 0 is no limit.
	MaxAge time.Duration
	// Compress compresses old files with gzip.
	Compress bool
	// Now returns the time in the names of old files.
	Now func() time.Time
}

// A File is a log file that is rotated. The name of an old file is that of the log with
// the time of its end: "audit-2006-01-02T15-04-05.000.log", as kube-apiserver names it.
// Everything happens within Write: a File has no goroutine. It is safe for concurrent
// use.
type File struct {
	path     string
	rotation Rotation

	mu     sync.Mutex // guards what follows
	file   logFile    // nil if it could not be opened after a rotation, and when the log is closed
	size   int64
	cut    bool // the file ends within a line
	closed bool
}

// A logFile is what a File needs of an *os.File.
type logFile interface {
	io.WriteCloser
	Truncate(size int64) error
}

// OpenFile opens a log file for appending, and creates it and its folder if they do not
// exist.
func OpenFile(path string, r Rotation) (*File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	f := &File{path: path, rotation: r}
	return f, f.open()
}

func (f *File) open() error {
	file, err := os.OpenFile(f.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err != nil {
		return errors.Join(err, file.Close())
	}
	f.file, f.size = file, info.Size()
	return nil
}

// Write implements [io.Writer]. It begins a new file before the size would exceed the
// limit. If that fails, the log goes on in the present one. An event that cannot be written
// whole, as on a full disk, leaves nothing in the file, or if that cannot be, a line of its own.
func (f *File) Write(b []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.closed:
		return 0, os.ErrClosed
	case f.file == nil:
		if err := f.open(); err != nil {
			return 0, err
		}
	}
	if limit := f.rotation.MaxSize; limit > 0 && f.size > 0 && f.size+int64(len(b)) > limit {
		if err := f.rotate(); err != nil {
			return 0, err
		}
	}
	if f.cut {
		if _, err := f.file.Write([]byte("\n")); err != nil {
			return 0, err
		}
		f.size++
		f.cut = false
	}
	n, err := f.file.Write(b)
	if err != nil && n > 0 && f.file.Truncate(f.size) == nil {
		return 0, err
	}
	f.size += int64(n)
	f.cut = err != nil && n > 0
	return n, err
}

// Close closes the file. Later writes fail.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	if f.file == nil {
		return nil
	}
	err := f.file.Close()
	f.file = nil
	return err
}

const (
	// backupTime is the form of the time in the name of an old file.
	backupTime = "2006-01-02T15-04-05.000"
	compressed = ".gz"
)

// rotate renames the file and opens a new one, or the same one if it cannot be renamed. Errors
// with old files do not fail a write.
func (f *File) rotate() error {
	err := f.file.Close()
	f.file = nil
	if err != nil {
		return err
	}
	prefix, suffix := f.parts()
	old := prefix + f.rotation.Now().UTC().Format(backupTime) + suffix
	renameErr := os.Rename(f.path, old)
	if err := f.open(); err != nil {
		return err
	}
	if renameErr != nil {
		return nil // the log goes on in the same file
	}
	f.cut = false
	if f.rotation.Compress {
		_ = compress(old)
	}
	f.removeOld()
	return nil
}

// parts returns what precedes and what follows the time in the names of old files.
func (f *File) parts() (prefix, suffix string) {
	suffix = filepath.Ext(f.path)
	return strings.TrimSuffix(f.path, suffix) + "-", suffix
}

// removeOld removes the old files beyond the limits.
func (f *File) removeOld() {
	prefix, suffix := f.parts()
	entries, err := os.ReadDir(filepath.Dir(f.path))
	if err != nil {
		return
	}
	type backup struct {
		path string
		end  time.Time
	}
	var all []backup
	for _, e := range entries {
		path := filepath.Join(filepath.Dir(f.path), e.Name())
		rest, ok := strings.CutPrefix(path, filepath.Clean(prefix))
		if !ok {
			continue
		}
		if end, err := time.Parse(backupTime, strings.TrimSuffix(strings.TrimSuffix(rest, compressed), suffix)); err == nil {
			all = append(all, backup{path, end})
		}
	}
	slices.SortFunc(all, func(a, b backup) int { return b.end.Compare(a.end) })
	now := f.rotation.Now()
	for i, b := range all {
		tooMany := f.rotation.MaxBackups > 0 && i >= f.rotation.MaxBackups
		tooOld := f.rotation.MaxAge > 0 && now.Sub(b.end) > f.rotation.MaxAge
		if tooMany || tooOld {
			_ = os.Remove(b.path)
		}
	}
}

// compress replaces a file by one that is compressed.
func compress(path string) error {
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(path+compressed, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	zip := gzip.NewWriter(out)
	_, err = io.Copy(zip, in)
	if err = errors.Join(err, zip.Close(), out.Close()); err != nil {
		return errors.Join(err, os.Remove(path+compressed))
	}
	in.Close() // Windows does not remove an open file
	return os.Remove(path)
}
