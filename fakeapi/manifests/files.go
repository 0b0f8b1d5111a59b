package manifests

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/inputfile"
)

// osFiles are the files of the operating system, by any path.
type osFiles struct{}

var (
	_ fs.StatFS     = osFiles{}
	_ fs.ReadDirFS  = osFiles{}
	_ fs.ReadFileFS = osFiles{}
	_ fs.GlobFS     = osFiles{}
)

func (osFiles) Open(name string) (fs.File, error)          { return os.Open(name) }
func (osFiles) Stat(name string) (fs.FileInfo, error)      { return os.Stat(name) }
func (osFiles) ReadDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(name) }
func (osFiles) ReadFile(name string) ([]byte, error)       { return inputfile.Read(name) }
func (osFiles) Glob(pattern string) ([]string, error)      { return filepath.Glob(pattern) }

// A linkFS is a file system with links.
type linkFS interface {
	// realPath returns the path of a folder without links, or the name if there is none.
	realPath(name string) string
}

func (osFiles) realPath(name string) string {
	if p, err := filepath.EvalSymlinks(name); err == nil {
		name = p
	}
	if p, err := filepath.Abs(name); err == nil {
		name = p
	}
	return name
}

// keptBytes is how much text of files a reader keeps between its passes, and how much JSON of
// documents.
const keptBytes = 16 << 20

// A reader reads the files of paths, as often as it is asked. It is not safe for concurrent use.
type reader struct {
	fsys   fs.FS
	stdin  io.Reader
	paths  []string
	ignore []*regexp.Regexp

	kept   map[string][]byte // texts of files, for the next pass
	budget int               // of kept

	bodies       map[place][]byte // JSON of documents, for the next pass
	bodiesBudget int
}

func newReader(c *Config, paths []string) *reader {
	r := &reader{fsys: c.Files, stdin: c.Stdin, paths: paths, ignore: c.IgnoreFiles, kept: map[string][]byte{}, budget: keptBytes, bodies: map[place][]byte{}, bodiesBudget: keptBytes}
	if r.fsys == nil {
		r.fsys = osFiles{}
	}
	if r.stdin == nil {
		r.stdin = bytes.NewReader(nil)
	}
	return r
}

// A file is one of the input, with its text or with the error of reading it.
type file struct {
	name string
	text []byte
	err  error

	found bool // in a folder, not named by a path
}

// problem returns why the file cannot be read, without its name.
func (f *file) problem() string { return strings.TrimPrefix(f.err.Error(), f.name+": ") }

// files returns the files of the paths in their order, each one once.
func (r *reader) files(ctx context.Context) iter.Seq[file] {
	return func(yield func(file) bool) {
		w := walker{reader: r, ctx: ctx, yield: yield, files: map[string]bool{}, dirs: map[string]bool{}}
		for _, p := range r.paths {
			if !w.path(p) {
				return
			}
		}
	}
}

// read returns a file with its text. What cannot be read twice, such as a pipe, is kept.
func (r *reader) read(ctx context.Context, name string, found bool) file {
	if text, ok := r.kept[name]; ok {
		return file{name: name, text: text, found: found}
	}
	var text []byte
	var err error
	once := name == Stdin
	if once {
		text, err = readAll(ctx, r.stdin)
	} else {
		info, statErr := fs.Stat(r.fsys, name)
		once = statErr == nil && !info.Mode().IsRegular()
		text, err = fs.ReadFile(r.fsys, name)
	}
	if err != nil {
		return file{name: name, err: inputfile.Wrap(name, err), found: found}
	}
	if once || r.budget >= len(text) {
		r.budget -= len(text)
		r.kept[name] = text
	}
	return file{name: name, text: text, found: found}
}

// keepBody keeps the JSON of a document, which the next pass needs again.
func (r *reader) keepBody(d *document) {
	if at := d.place(); r.bodies[at] == nil && r.bodiesBudget >= len(d.body) {
		r.bodiesBudget -= len(d.body)
		r.bodies[at] = d.body
	}
}

// readAll reads to the end, or until ctx ends. A read that waits then goes on by itself.
func readAll(ctx context.Context, from io.Reader) ([]byte, error) {
	type result struct {
		text []byte
		err  error
	}
	done := make(chan result, 1)
	go func() {
		text, err := inputfile.ReadAll(from)
		done <- result{text, err}
	}()
	select {
	case r := <-done:
		return r.text, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// A walker yields files.
type walker struct {
	*reader
	ctx   context.Context
	yield func(file) bool

	files, dirs map[string]bool // that it has visited
}

// path yields the files of a path: a file, a folder, a pattern, or "-". It reports whether to go on.
func (w *walker) path(p string) bool {
	if p == "-" {
		return w.file(Stdin, false)
	}
	info, err := fs.Stat(w.fsys, p)
	switch {
	case err == nil && info.IsDir():
		n := len(w.files)
		more := w.dir(path.Clean(filepath.ToSlash(p)))
		if more && n == len(w.files) {
			return w.yield(file{name: p, err: inputfile.Wrap(p, errors.New("the folder has no .yaml, .yml or .json file"))})
		}
		return more
	case err == nil || !errors.Is(err, fs.ErrNotExist) || !strings.ContainsAny(p, "*?["):
		return w.file(p, false)
	}
	names, err := fs.Glob(w.fsys, p)
	if err == nil && len(names) == 0 {
		err = inputfile.NoMatch(p)
	}
	if err != nil {
		return w.yield(file{name: p, err: err})
	}
	for _, name := range names {
		if info, err := fs.Stat(w.fsys, name); err == nil && info.IsDir() {
			if !w.dir(name) {
				return false
			}
		} else if !w.file(name, true) {
			return false
		}
	}
	return true
}

// file yields a file unless it was there before.
func (w *walker) file(name string, found bool) bool {
	if w.files[name] || slices.ContainsFunc(w.ignore, func(p *regexp.Regexp) bool { return p.MatchString(name) }) {
		return true
	}
	w.files[name] = true
	return w.yield(w.read(w.ctx, name, found))
}

// dir yields the files of a folder and of those in it. It leaves out names that begin with a dot,
// and folders that it has visited, so that a loop of links ends.
func (w *walker) dir(name string) bool {
	real := name
	if links, ok := w.fsys.(linkFS); ok {
		real = links.realPath(name)
	}
	if w.dirs[real] {
		return true
	}
	w.dirs[real] = true
	entries, err := fs.ReadDir(w.fsys, name)
	if err != nil {
		return w.yield(file{name: name, err: inputfile.Wrap(name, err)})
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if more := w.entry(path.Join(name, e.Name()), e); !more {
			return false
		}
	}
	return true
}

// entry yields the files of an entry of a folder.
func (w *walker) entry(name string, e fs.DirEntry) bool {
	isDir := e.IsDir()
	if e.Type()&fs.ModeSymlink != 0 {
		info, err := fs.Stat(w.fsys, name)
		isDir = err == nil && info.IsDir()
	}
	switch {
	case isDir:
		return w.dir(name)
	case inputfile.HasObjects(name):
		return w.file(name, true)
	}
	return true
}

// isTemplate reports whether a file is one of the templates of a Helm chart.
func (r *reader) isTemplate(name string) bool {
	for dir := path.Dir(name); dir != "." && dir != "/"; dir = path.Dir(dir) {
		if path.Base(dir) == "templates" {
			if _, err := fs.Stat(r.fsys, path.Join(path.Dir(dir), "Chart.yaml")); err == nil {
				return true
			}
		}
	}
	return false
}
