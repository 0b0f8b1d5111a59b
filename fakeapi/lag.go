package fakeapi

import (
	"time"

	"github.com/kubefake/kubefake/internal/apiserver"
	"github.com/kubefake/kubefake/mvcc"
)

// A kube-apiserver answers much from watch caches, each of which can trail the
// state by some time. What is read from a cache that lags is the past:
//
//   - gets and lists at resourceVersion=0, and those that are to be not older
//     than a version, which wait for the cache to come to it, for three seconds,
//     and then fail with 504 "Too large resource version";
//   - watches, with their bookmarks and initial events. One that is to begin
//     with the present waits for it likewise; one from a version that the cache
//     has not come to shows nothing until it is past that.
//
// Reads without a resourceVersion and writes are of the present, so that a
// client which writes what it made of the past gets its conflicts. A read at an
// exact version is of that version.
//
// A cache never goes back. Where it is to lag more it stands still until the
// state is far enough ahead. It goes on showing what is compacted meanwhile; its
// watches get their 410 when it moves on from there.
//
// Each call says anew how a resource lags, or all of them. Events, which
// kube-apiserver reads from etcd, never do. All these methods return ErrNotFound
// for a resource that is not there.

// Lag has the watch cache of a resource trail the state by a time, on the
// server's clock. It fails for one longer than history is kept (see
// WithHistory), and for events.
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
