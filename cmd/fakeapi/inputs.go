package main

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"

	"github.com/kubefake/kubefake/internal/inputfile"
	"github.com/kubefake/kubefake/scenarios"
)

// stdinName is the name of the standard input in messages. On the command line it
// is "-".
const stdinName = "<stdin>"

// inputNames returns the files that the values of a flag, or the arguments of a
// command, name. A value is a file, a directory, whose files *.yaml, *.yml and *.json
// it means, a pattern, or "-" for the standard input, whose name is stdinName. The
// order is that of the values. It fails if a value names no file.
func inputNames(values []string) ([]string, error) {
	var out []string
	for _, value := range values {
		names, err := namesOf(value)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out, nil
}

// namesOf is inputNames for one value.
func namesOf(value string) ([]string, error) {
	if value == "-" {
		return []string{stdinName}, nil
	}
	return inputfile.Names(value)
}

// An inputFS reads files by the names that inputNames returns. Each reads the same standard input.
type inputFS struct{ stdin func() ([]byte, error) }

// newInputs returns an inputFS with a standard input, which it reads once.
func newInputs(stdin io.Reader) inputFS {
	return inputFS{sync.OnceValues(func() ([]byte, error) { return inputfile.ReadAll(stdin) })}
}

var (
	_ fs.GlobFS     = inputFS{}
	_ fs.ReadFileFS = inputFS{}
)

// Open implements fs.FS.
func (inputFS) Open(name string) (fs.File, error) { return os.Open(name) }

// Glob returns name, which is not a pattern.
func (inputFS) Glob(name string) ([]string, error) { return []string{name}, nil }

// ReadFile returns the text of a file or of the standard input.
func (f inputFS) ReadFile(name string) ([]byte, error) {
	if name == stdinName {
		text, err := f.stdin()
		return text, inputfile.Wrap(name, err)
	}
	return inputfile.Read(name)
}

// loadScenarios reads a scenario file.
func (f inputFS) loadScenarios(name string) (*scenarios.File, error) {
	text, err := f.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return scenarios.Parse(name, text)
}

// loadOne reads the scenario file that a value names. It fails if the value names
// several.
func (f inputFS) loadOne(value string) (*scenarios.File, error) {
	names, err := namesOf(value)
	if err != nil {
		return nil, err
	}
	if len(names) != 1 {
		return nil, fmt.Errorf("%s: %d files instead of one", value, len(names))
	}
	return f.loadScenarios(names[0])
}
