package fakeapi

import (
	"fmt"
	"net/http"

	"github.com/kubefake/kubefake/httptest"
)

// newFrontEnd starts another front end of the server; see backdoor.Server.
func (s *Server) newFrontEnd(wrap func(http.Handler) http.Handler) (*Server, error) {
	c := s.config.elsewhere()
	handler := http.Handler(s.api)
	if wrap != nil {
		handler = wrap(handler)
	}
	h, err := httptest.Start(handler, c.http)
	if err != nil {
		return nil, fmt.Errorf("fakeapi: %w", err)
	}
	f := &Server{URL: h.URL, CAData: h.CACertificate(), api: s.api, http: h, config: c, frontEnd: true, set: &clusterSet{}}
	f.set.add(f, false)
	if err := c.reloader.attach(f); err != nil {
		h.Close()
		return nil, fmt.Errorf("fakeapi: %w", err)
	}
	return f, nil
}
