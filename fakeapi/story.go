package fakeapi

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/kubefake/kubefake/internal/story"
)

// Story returns what happened on the server until now, for people: for each revision who wrote
// it, what it changed and which clients saw it when; refused requests; and faults, lags,
// compactions and clock changes. It returns the last 40 lines, as a failed test logs them.
func (s *Server) Story() string { return s.api.Control().Group().Story(s.URL).Text(maxLogLines) }

// WriteStory writes the whole story as one HTML page, with a chart of writers and readers over
// time and the fields that each revision changed. It has the newest 2,000 revisions and
// everything since the first of them. The page loads nothing else, so it opens from a file.
func (s *Server) WriteStory(w io.Writer) error { return s.api.Control().Story(s.URL).WritePage(w) }

// maxLogLines is how many lines a failed test logs.
const maxLogLines = 40

// logStory logs the options and the end of the story, and writes the page of each cluster to the
// test's artifact directory if go test keeps it.
func (s *Server) logStory(t TB) {
	t.Helper()
	title := s.URL
	if named, ok := t.(interface{ Name() string }); ok {
		title = named.Name()
	}
	if len(s.config.options) > 0 {
		t.Logf("fakeapi: the server has the options %v", s.config.options)
	}
	where := ""
	if a, ok := t.(artifacter); ok && keepsArtifacts() {
		var names []string
		for _, of := range s.set.all() {
			name, err := writeStoryFile(of.api.Control().Story(title), a.ArtifactDir())
			if err != nil {
				t.Logf("fakeapi: %v", err)
				continue
			}
			names = append(names, name)
		}
		if len(names) > 0 {
			where = "; the whole story is in " + strings.Join(names, ", ")
		}
	} else if ok {
		where = "; go test -artifacts writes the whole story as a page"
	}
	t.Logf("fakeapi: the last events, newest last%s\n%s", where, s.api.Control().Group().Story(title).Text(maxLogLines))
}

// keepsArtifacts reports whether go test runs with -artifacts, so that the
// artifact directory outlives the test.
func keepsArtifacts() bool {
	f := flag.Lookup("test.artifacts")
	return f != nil && f.Value.String() == "true"
}

// An artifacter is a test with an artifact directory.
type artifacter interface{ ArtifactDir() string }

// writeStoryFile writes the page of a story to a new file in dir and returns its name.
func writeStoryFile(s *story.Story, dir string) (string, error) {
	for i := 1; ; i++ {
		name := filepath.Join(dir, "story.html")
		if i > 1 {
			name = filepath.Join(dir, fmt.Sprintf("story-%d.html", i))
		}
		f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
		if os.IsExist(err) {
			continue // from another server of the test
		}
		if err != nil {
			return "", err
		}
		if err = errors.Join(s.WritePage(f), f.Close()); err != nil {
			return "", errors.Join(err, os.Remove(name))
		}
		return name, nil
	}
}
