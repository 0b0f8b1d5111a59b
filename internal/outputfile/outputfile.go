// Package outputfile writes the files that flags, arguments and options name.
package outputfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// Write writes a file with the text that write produces. The file is whole, or it stays as it
// was: on a full disk nothing of it is lost. The text goes to a temporary file beside it, which
// gets its name at the end. mode is that of a new file, before the umask. A file that exists
// keeps its own, unless mode is for the owner alone, as that of secrets is.
//
// A file that is not a regular one, such as /dev/stdout or a pipe, is written to. So is a regular
// one in a folder in which the process may create no file. Errors have the name of the file.
func Write(name string, mode fs.FileMode, write func(w io.Writer) error) error {
	if real, err := filepath.EvalSymlinks(name); err == nil {
		name = real
	}
	info, err := os.Stat(name)
	exists := err == nil
	switch {
	case exists && !info.Mode().IsRegular():
		return writeInto(name, mode, write)
	case exists && mode&0o077 != 0:
		mode = info.Mode().Perm()
	}
	temporary, err := create(name, mode)
	switch {
	case exists && errors.Is(err, fs.ErrPermission):
		return writeInto(name, mode, write)
	case err != nil:
		return pathError(name, err)
	}
	if exists {
		err = temporary.Chmod(mode) // without the umask
	}
	err = errors.Join(err, write(temporary), temporary.Sync(), temporary.Close())
	if err == nil {
		err = os.Rename(temporary.Name(), name)
	}
	if err != nil {
		_ = os.Remove(temporary.Name())
		return pathError(name, err)
	}
	return nil
}

// WriteText writes a file as Write does.
func WriteText(name string, text []byte, mode fs.FileMode) error {
	return Write(name, mode, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// create creates a temporary file beside a file.
func create(name string, mode fs.FileMode) (*os.File, error) {
	for {
		f, err := os.OpenFile(fmt.Sprintf("%s.%08x.tmp", name, rand.Uint32()), os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}

// writeInto writes to a file itself. A regular file is replaced when the text is complete.
func writeInto(name string, mode fs.FileMode, write func(w io.Writer) error) error {
	var text bytes.Buffer
	err := write(&text)
	if err == nil {
		err = os.WriteFile(name, text.Bytes(), mode)
	}
	return pathError(name, err)
}

// pathError returns an error of a system call as one about the file, whatever the name of the
// temporary file is. It returns other errors as they are.
func pathError(name string, err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return &fs.PathError{Op: "write", Path: name, Err: path.Err}
	case errors.As(err, &link):
		return &fs.PathError{Op: "write", Path: name, Err: link.Err}
	}
	return err
}
