package inputfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Names returns the files that a name means: a file, a directory, whose files *.yaml, *.yml and
// *.json it means, or a pattern. It fails if there is none.
func Names(name string) ([]string, error) {
	info, err := os.Stat(name)
	switch {
	case err == nil && info.IsDir():
		return filesIn(name)
	case err == nil:
		return []string{name}, nil
	case !errors.Is(err, fs.ErrNotExist) || !strings.ContainsAny(name, "*?["):
		return nil, Wrap(name, err)
	}
	names, err := filepath.Glob(name)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", name, err)
	}
	if len(names) == 0 {
		return nil, NoMatch(name)
	}
	return names, nil
}

// filesIn returns the YAML and JSON files in a directory, but not those in its
// subdirectories. It fails if there are none.
func filesIn(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		if HasObjects(e.Name()) && !e.IsDir() {
			out = append(out, filepath.Join(dir, e.Name()))
		}
	}
	if out == nil {
		return nil, Wrap(dir, errors.New("the directory has no .yaml, .yml or .json file"))
	}
	return out, nil
}

// HasObjects reports whether the name of a file is that of one with objects: *.yaml, *.yml or *.json.
func HasObjects(name string) bool {
	switch filepath.Ext(name) {
	case ".yaml", ".yml", ".json":
		return true
	}
	return false
}
