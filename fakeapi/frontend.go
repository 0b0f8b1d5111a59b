package fakeapi

import (
	"fmt"
	"net/http"

	"github.com/kubefake/kubefake/httptest"
)

// newFrontEnd starts another front end of the server, and of the other clusters; see backdoor.Server.
func (s *Server) newFrontEnd(wrap func(cluster string, next http.Handler) http.Handler) (*Server, error) {
	first, fronts := s.cluster(), &clusterSet{}
	for _, of := range first.set.all() {
		isMain := of == first.set.main
		if of == first {
			of = s
		}
		f, err := of.newFrontEndIn(fronts, wrap)
		if err != nil {
			fronts.close()
			return nil, err
		}
		fronts.add(f, isMain)
	}
	return fronts.main, nil
}

// newFrontEndIn starts a front end of one cluster.
func (s *Server) newFrontEndIn(fronts *clusterSet, wrap func(cluster string, next http.Handler) http.Handler) (*Server, error) {
	c := s.config.elsewhere()
	handler := http.Handler(s.api)
	if wrap != nil {
		handler = wrap(c.server.Name, handler)
	}
	h, err := httptest.Start(handler, c.http)
	if err != nil {
		return nil, fmt.Errorf("fakeapi: %w", err)
	}
	f := &Server{URL: h.URL, CAData: h.CACertificate(), api: s.api, http: h, config: c, frontEnd: true, set: fronts}
	if err := c.reloader.attach(f); err != nil {
		h.Close()
		return nil, fmt.Errorf("fakeapi: %w", err)
	}
	return f, nil
}
