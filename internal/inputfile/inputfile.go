// Package inputfile reads the files that flags, arguments and options name.
package inputfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

// MaxSize is the size of the largest input, in bytes.
const MaxSize = 256 << 20

// ErrTooLarge is wrapped in the error for an input of more than MaxSize bytes.
var ErrTooLarge = fmt.Errorf("it has more than %d MiB, the limit for an input", MaxSize>>20)

// An Error is what is wrong with a file. The name of the file is in the text once.
type Error struct {
	Name string
	Err  error
}

func (e *Error) Error() string {
	text := e.Err.Error()
	if strings.Contains(text, e.Name) {
		return text
	}
	return e.Name + ": " + text
}

func (e *Error) Unwrap() error { return e.Err }

// Wrap returns an error about a file as an *Error. It returns nil for nil, and for "" the error
// as it is.
func Wrap(name string, err error) error {
	if err == nil || name == "" || errors.As(err, new(*Error)) {
		return err
	}
	var path *fs.PathError
	if errors.As(err, &path) && path == err { // without the name of the system call
		err = path.Err
	}
	return &Error{name, err}
}

// Read returns the content of a regular file or of a pipe, such as that of a shell's <(command).
// It does not read directories, devices and sockets. Errors are an *Error.
func Read(name string) ([]byte, error) {
	text, err := read(name)
	return text, Wrap(name, err)
}

func read(name string) ([]byte, error) {
	f, err := open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadAll(f)
}

// Open opens what Read reads. The limit applies to what is read. Errors are an *Error.
func Open(name string) (io.ReadCloser, error) {
	f, err := open(name)
	if err != nil {
		return nil, Wrap(name, err)
	}
	return struct {
		io.Reader
		io.Closer
	}{&limited{f, MaxSize}, f}, nil
}

// open opens a file of a kind that can be read. It looks first: to open a device may do something.
func open(name string) (*os.File, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	switch mode := info.Mode(); {
	case mode.IsDir():
		return nil, errors.New("it is a directory, not a file")
	case mode&fs.ModeSocket != 0:
		return nil, errors.New("it is a socket, not a file")
	case mode&fs.ModeDevice != 0 && name != os.DevNull:
		return nil, errors.New("it is a device, not a file")
	case mode.IsRegular() && info.Size() > MaxSize:
		return nil, ErrTooLarge
	}
	return os.Open(name)
}

// ReadAll is io.ReadAll that fails with ErrTooLarge beyond MaxSize bytes.
func ReadAll(r io.Reader) ([]byte, error) { return io.ReadAll(&limited{r, MaxSize}) }

// A limited reader fails when it has read more than left bytes.
type limited struct {
	r    io.Reader
	left int64
}

func (l *limited) Read(b []byte) (int, error) {
	n, err := l.r.Read(b)
	if l.left -= int64(n); l.left < 0 {
		return 0, ErrTooLarge
	}
	return n, err
}
