package fakeapi

import (
	"time"

	"github.com/kubefake/kubefake/internal/apiserver"
	"github.com/kubefake/kubefake/mvcc"
)

// Lag has the watch cache of a resource trail the state by a time, on the
// server's clock. It fails for one longer than history is kept (see WithHistory),
// for a resource that is not there (ErrNotFound), and for events.
//
// Lag, LagRevisions, Freeze, FreezeAt and Thaw each say anew how a resource
// lags, or all of them. Their other errors are those of Lag.
func (s *Server) Lag(scope Scope, by time.Duration) error {
	return s.api.Lag(scope.resource, mvcc.Lag{By: by})
}

// LagRevisions has the watch cache of a resource trail the state by so many
// writes, to whatever resource.
func (s *Server) LagRevisions(scope Scope, n int64) error {
	return s.api.Lag(scope.resource, mvcc.Lag{Revisions: n})
}

// Freeze stops the watch cache of a resource where it is.
func (s *Server) Freeze(scope Scope) error { return s.api.Lag(scope.resource, apiserver.Frozen) }

// FreezeAt stops the watch cache of a resource at a revision, now or when it
// comes there. It fails if the cache is past it.
func (s *Server) FreezeAt(scope Scope, revision int64) error {
	return s.api.Lag(scope.resource, mvcc.Lag{Until: mvcc.Revision(max(revision, 1))})
}

// Thaw has the watch cache of a resource, whatever it did before, show the
// present again: watches get all that they have missed.
func (s *Server) Thaw(scope Scope) error { return s.api.Lag(scope.resource, mvcc.Lag{}) }

// CachedRevision is the revision that the watch cache of a resource has come
// to: what a list at resourceVersion=0 has for its version.
func (s *Server) CachedRevision(resource string) (int64, error) {
	rev, err := s.api.CachedRevision(resource)
	return int64(rev), err
}
