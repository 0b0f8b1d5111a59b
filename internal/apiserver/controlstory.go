package apiserver

import (
	"bytes"
	"strings"

	"github.com/kubefake/kubefake/internal/story"
)

// Story tells what happened on the server since it was fresh. The title says
// what it is the story of.
func (s *Server) Story(title string) *story.Story {
	return story.Tell(story.Source{
		Title: title, Journal: s.journal, Store: s.store, Now: s.clock.Now(), From: s.Fresh(),
		Hidden: func(path string) bool { return strings.HasPrefix(path, controlPrefix) },
	})
}

// An htmlPage is an answer of the control endpoint for people.
type htmlPage []byte

// controlStory answers the story as data, and to a browser as a page.
func (s *Server) controlStory(r *request) (any, error) {
	told := s.Story(r.http.Host)
	if !strings.Contains(r.http.Header.Get("Accept"), "text/html") {
		return told, nil
	}
	var page bytes.Buffer
	if err := told.WritePage(&page); err != nil {
		return nil, err
	}
	return htmlPage(page.Bytes()), nil
}
