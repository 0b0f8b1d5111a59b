package fakeapi

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/kubefake/kubefake/internal/story"
)

// A Story is what happened on a server until it was told, made for people: each
// revision with who wrote it, what it changed and who had seen it by when, what
// was refused, and what was done to the server meanwhile. It tells the newest
// 2,000 revisions and what happened since.
type Story struct{ story *story.Story }

// Story tells what happened on the server.
func (s *Server) Story() Story { return Story{s.api.Story(s.URL)} }

// String is the end of the story in a few lines, as a test that fails logs it.
func (s Story) String() string { return s.story.Text(shown) }

// WritePage writes the whole story as one page of HTML: a picture of who wrote
// and who had seen what over time, and the differences that each revision made.
// The page needs nothing beside it, and opens from a file.
func (s Story) WritePage(w io.Writer) error { return s.story.WritePage(w) }

// shown is how many lines a failing test logs.
const shown = 40

// tell logs what led to a failure, and keeps the whole of it among the
// artifacts of the test.
func (s *Server) tell(t TB) {
	t.Helper()
	title := s.URL
	if named, ok := t.(interface{ Name() string }); ok {
		title = named.Name()
	}
	told := Story{s.api.Story(title)}
	where := ""
	if keeper, ok := t.(artifactKeeper); ok && keepsArtifacts() {
		name, err := told.keep(keeper.ArtifactDir())
		if err != nil {
			t.Logf("fakeapi: %v", err)
		} else {
			where = ", the whole story is " + name
		}
	} else if ok {
		where = "; go test -artifacts keeps the whole story as a page"
	}
	t.Logf("fakeapi: what happened, newest last%s\n%s", where, told)
}

// keepsArtifacts reports whether the test's directory outlives it: go test
// -artifacts.
func keepsArtifacts() bool {
	f := flag.Lookup("test.artifacts")
	return f != nil && f.Value.String() == "true"
}

// An artifactKeeper is a test that has a directory for what it leaves behind.
type artifactKeeper interface{ ArtifactDir() string }

// keep writes the page to a new file and returns its name.
func (s Story) keep(dir string) (string, error) {
	for i := 1; ; i++ {
		name := filepath.Join(dir, "story.html")
		if i > 1 {
			name = filepath.Join(dir, fmt.Sprintf("story-%d.html", i))
		}
		f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
		if os.IsExist(err) {
			continue // another server of the test
		}
		if err != nil {
			return "", err
		}
		if err := s.WritePage(f); err != nil {
			f.Close()
			return "", err
		}
		return name, f.Close()
	}
}
