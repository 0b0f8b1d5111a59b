package fakeapi

import (
	"fmt"
	"net/http"

	"github.com/kubefake/kubefake/httptest"
)

// NewFrontEnd starts another front end of the server: a Server with a URL, a transport
// and connections of its own, and with the state, the clock, the faults, the watch caches
// and the story of s. Its clients pass through wrap, unless that is nil.
//
// Closing the front end refuses its clients and ends their connections; s and its other
// front ends continue. It simulates the end of a client in the middle of what it does:
// whatever the client still tries does not reach the server. The caller must close the
// front end before s.
func (s *Server) NewFrontEnd(wrap func(http.Handler) http.Handler) (*Server, error) {
	c := s.config.elsewhere()
	handler := http.Handler(s.api)
	if wrap != nil {
		handler = wrap(handler)
	}
	h, err := httptest.Start(handler, c.http)
	if err != nil {
		return nil, fmt.Errorf("fakeapi: %w", err)
	}
	f := &Server{URL: h.URL, api: s.api, http: h, config: c, frontEnd: true}
	if err := c.reloader.attach(f); err != nil {
		h.Close()
		return nil, fmt.Errorf("fakeapi: %w", err)
	}
	return f, nil
}
