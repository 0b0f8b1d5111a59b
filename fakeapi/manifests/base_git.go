package manifests

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubefake/kubefake/internal/inputfile"
)

// revisionFiles are the files of a revision of the git repository around the working directory, by
// the names that they have from there. Only the files that a reader reads have their text. Git runs
// to read objects; nothing is checked out.
type revisionFiles struct {
	revision string
	root     string // of the repository
	prefix   string // of the working directory, in the repository
	entries  map[string]*treeEntry
	present  []string // the paths that are there
	missing  []string // those that are not
}

// A treeEntry is a file, a folder or a link of a revision. It is an fs.FileInfo.
type treeEntry struct {
	name    string
	mode    fs.FileMode
	id      string // of the blob
	size    int64
	text    []byte // of a file that was read, and the target of a link
	entries []*treeEntry
}

var (
	_ fs.StatFS     = (*revisionFiles)(nil)
	_ fs.ReadDirFS  = (*revisionFiles)(nil)
	_ fs.ReadFileFS = (*revisionFiles)(nil)
	_ linkFS        = (*revisionFiles)(nil)
	_ fs.FileInfo   = (*treeEntry)(nil)
)

func (e *treeEntry) Name() string       { return e.name }
func (e *treeEntry) Size() int64        { return e.size }
func (e *treeEntry) Mode() fs.FileMode  { return e.mode }
func (e *treeEntry) ModTime() time.Time { return time.Time{} }
func (e *treeEntry) IsDir() bool        { return e.mode.IsDir() }
func (e *treeEntry) Sys() any           { return nil }

// git runs git in the working directory. The error has what git says.
func git(ctx context.Context, stdin io.Reader, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Env = append(os.Environ(), "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0")
	cmd.Stdin = stdin
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if text := strings.TrimSpace(stderr.String()); err != nil && text != "" && ctx.Err() == nil {
		return nil, errors.New(strings.TrimPrefix(text, "fatal: "))
	}
	return out, err
}

// openRevision returns the files of the paths at a revision.
func openRevision(ctx context.Context, revision string, paths []string) (*revisionFiles, error) {
	where, err := git(ctx, nil, "rev-parse", "--show-toplevel", "--show-prefix")
	if err != nil {
		return nil, err
	}
	root, prefix, _ := strings.Cut(strings.TrimRight(string(where), "\r\n"), "\n")
	f := &revisionFiles{revision: revision, root: filepath.FromSlash(root), prefix: prefix, entries: map[string]*treeEntry{".": {mode: fs.ModeDir}}}
	tree, err := git(ctx, nil, "rev-parse", "--verify", "--quiet", "--end-of-options", revision+"^{tree}")
	if err != nil {
		return nil, f.unknownRevision(ctx)
	}
	for _, p := range paths {
		if p == "-" {
			return nil, errors.New("the standard input is not in a revision; a file with what it was then can be the base")
		}
		if _, ok := f.inRepository(p); !ok {
			return nil, fmt.Errorf("%s is not in the git repository %s", p, f.root)
		}
	}
	if err := f.list(ctx, strings.TrimSpace(string(tree))); err != nil {
		return nil, err
	}
	for _, p := range paths {
		names, err := fs.Glob(f, p)
		if _, statErr := f.Stat(p); statErr == nil || err == nil && len(names) > 0 {
			f.present = append(f.present, p)
		} else {
			f.missing = append(f.missing, p)
		}
	}
	return f, f.read(ctx, func(e *treeEntry) bool { return e.mode.IsRegular() && (inputfile.HasObjects(e.name) || f.isNamed(e)) })
}

// unknownRevision is the error of a revision that git does not know.
func (f *revisionFiles) unknownRevision(ctx context.Context) error {
	hint := ""
	if shallow, err := git(ctx, nil, "rev-parse", "--is-shallow-repository"); err == nil && strings.HasPrefix(string(shallow), "true") {
		hint = "; the clone is shallow: fetch the revision, in a GitHub workflow with fetch-depth: 0 of actions/checkout"
	}
	return fmt.Errorf("the git repository %s has no revision %q%s", f.root, f.revision, hint)
}

// inRepository returns the path in the repository of a name. It reports false for one that is
// outside.
func (f *revisionFiles) inRepository(name string) (string, bool) {
	if !filepath.IsAbs(name) {
		name = path.Join(f.prefix, filepath.ToSlash(name))
		return name, name != ".." && !strings.HasPrefix(name, "../")
	}
	if real, err := filepath.EvalSymlinks(name); err == nil {
		name = real
	}
	rel, err := filepath.Rel(f.root, name)
	rel = filepath.ToSlash(rel)
	return rel, err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
}

// isNamed reports whether one of the paths is an entry.
func (f *revisionFiles) isNamed(e *treeEntry) bool {
	for _, p := range f.present {
		if found, err := f.lookup(p); err == nil && found == e {
			return true
		}
	}
	return false
}

// list reads the entries of a tree.
func (f *revisionFiles) list(ctx context.Context, tree string) error {
	out, err := git(ctx, nil, "ls-tree", "-r", "-l", "-z", "--full-tree", tree)
	if err != nil {
		return err
	}
	for _, line := range strings.Split(string(out), "\x00") {
		attributes, name, ok := strings.Cut(line, "\t")
		words := strings.Fields(attributes) // mode, type, id, size
		if !ok || len(words) != 4 || words[1] != "blob" {
			continue // the end, or a submodule
		}
		e := &treeEntry{name: path.Base(name), id: words[2]}
		e.size, _ = strconv.ParseInt(words[3], 10, 64)
		if words[0] == "120000" {
			e.mode = fs.ModeSymlink
		}
		f.entries[name] = e
		f.addTo(path.Dir(name), e)
	}
	return f.read(ctx, func(e *treeEntry) bool { return e.mode&fs.ModeSymlink != 0 })
}

// addTo adds an entry to its folder. Git sorts entries, except for folders.
func (f *revisionFiles) addTo(dir string, e *treeEntry) {
	d := f.entries[dir]
	if d == nil {
		d = &treeEntry{name: path.Base(dir), mode: fs.ModeDir}
		f.entries[dir] = d
		f.addTo(path.Dir(dir), d)
	}
	d.entries = append(d.entries, e)
}

// read reads the texts of entries. One that is too large for an input has none.
func (f *revisionFiles) read(ctx context.Context, which func(*treeEntry) bool) error {
	var wanted []*treeEntry
	var ids bytes.Buffer
	for _, e := range f.entries {
		if which(e) && e.size <= inputfile.MaxSize {
			wanted = append(wanted, e)
			fmt.Fprintln(&ids, e.id)
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	out, err := git(ctx, &ids, "cat-file", "--batch")
	if err != nil {
		return err
	}
	r := bufio.NewReader(bytes.NewReader(out))
	for _, e := range wanted {
		head, err := r.ReadString('\n') // id, type, size
		words := strings.Fields(head)
		if err != nil || len(words) != 3 {
			return fmt.Errorf("git cat-file: %s: %s", e.name, strings.TrimSpace(head))
		}
		e.text = make([]byte, e.size)
		if _, err := io.ReadFull(r, e.text); err != nil {
			return fmt.Errorf("git cat-file: %s: %w", e.name, err)
		}
		_, _ = r.Discard(1) // the end of the line
	}
	return nil
}

// maxLinks is how many links a name may have.
const maxLinks = 40

// lookup returns the entry of a name, behind links.
func (f *revisionFiles) lookup(name string) (*treeEntry, error) {
	_, e, err := f.resolve(name)
	return e, err
}

// resolve returns the path without links of a name, and its entry.
func (f *revisionFiles) resolve(name string) (string, *treeEntry, error) {
	missing := &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	rest, ok := f.inRepository(name)
	if !ok {
		return "", nil, missing
	}
	at := "."
	for links := 0; rest != "" && rest != "."; {
		first, more, _ := strings.Cut(rest, "/")
		at, rest = path.Join(at, first), more
		e := f.entries[at]
		if e == nil {
			return "", nil, missing
		}
		if e.mode&fs.ModeSymlink == 0 {
			continue
		}
		if links++; links > maxLinks || path.IsAbs(string(e.text)) {
			return "", nil, missing
		}
		at, rest = ".", path.Join(path.Dir(at), string(e.text), rest)
		if rest == ".." || strings.HasPrefix(rest, "../") {
			return "", nil, missing
		}
	}
	return at, f.entries[at], nil
}

func (f *revisionFiles) realPath(name string) string {
	if at, _, err := f.resolve(name); err == nil {
		return at
	}
	return name
}

// Stat returns what is behind the name.
func (f *revisionFiles) Stat(name string) (fs.FileInfo, error) {
	e, err := f.lookup(name)
	if err != nil {
		return nil, err
	}
	return e, nil
}

// ReadDir returns the entries of a folder, sorted by their names.
func (f *revisionFiles) ReadDir(name string) ([]fs.DirEntry, error) {
	e, err := f.lookup(name)
	if err != nil {
		return nil, err
	}
	out := make([]fs.DirEntry, len(e.entries))
	for i, entry := range e.entries {
		out[i] = fs.FileInfoToDirEntry(entry)
	}
	slices.SortFunc(out, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return out, nil
}

// ReadFile returns the text of a file.
func (f *revisionFiles) ReadFile(name string) ([]byte, error) {
	e, err := f.lookup(name)
	switch {
	case err != nil:
		return nil, err
	case e.size > inputfile.MaxSize:
		return nil, inputfile.ErrTooLarge
	}
	return e.text, nil
}

// Open opens a file. It is there for the interface: readers use ReadFile.
func (f *revisionFiles) Open(name string) (fs.File, error) {
	e, err := f.lookup(name)
	if err != nil {
		return nil, err
	}
	return &openEntry{e, bytes.NewReader(e.text)}, nil
}

// An openEntry is an entry that is read.
type openEntry struct {
	entry *treeEntry
	*bytes.Reader
}

func (o *openEntry) Stat() (fs.FileInfo, error) { return o.entry, nil }
func (o *openEntry) Close() error               { return nil }
