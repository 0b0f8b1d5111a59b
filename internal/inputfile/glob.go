package inputfile

import (
	"fmt"
	"io/fs"
	"slices"
)

// EachMatch calls do with every file of a file system that matches one of several globs, with
// each file once. The error of a glob that matches no file is an [fs.ErrNotExist].
func EachMatch(fsys fs.FS, globs []string, do func(name string, text []byte) error) error {
	var names []string
	for _, glob := range globs {
		matches, err := fs.Glob(fsys, glob)
		if err != nil {
			return fmt.Errorf("%q: %w", glob, err)
		}
		if len(matches) == 0 {
			return NoMatch(glob)
		}
		for _, name := range matches {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	for _, name := range names {
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		if err := do(name, text); err != nil {
			return err
		}
	}
	return nil
}

// NoMatch is the error of a glob that matches no file.
type NoMatch string

func (e NoMatch) Error() string { return fmt.Sprintf("no file matches %q", string(e)) }

func (e NoMatch) Unwrap() error { return fs.ErrNotExist }
