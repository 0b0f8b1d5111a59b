package fakeapi

import (
	"time"

	"github.com/kubefake/kubefake/internal/registry"
	"github.com/kubefake/kubefake/mvcc"
)

// Lag makes the watch cache of a resource lag behind the state by d, on the
// server's clock. The resource "*" is all resources.
//
// Like kube-apiserver, the server serves from a watch cache:
//
//   - gets and lists at resourceVersion=0 or not older than another version. If
//     they need a newer version than the cache has, they wait for it up to 3 s and
//     fail with 504 "Too large resource version";
//   - watches, with their bookmarks and initial events. A watch without a
//     resourceVersion waits in the same way for the cache to reach the present. A
//     watch from a version that the cache has not reached sends nothing before.
//
// Reads without a resourceVersion and writes use the present state, so a client
// that writes what it computed from an old state gets its conflict. Events have no
// watch cache in kube-apiserver and never lag. The server itself always reads the
// present state, for instance of Roles and Namespaces.
//
// A watch cache never goes back. If its lag grows, it keeps its revision until the
// state is that far ahead. It keeps a revision that is compacted meanwhile; its
// watches end with 410 when it then advances.
//
// Lag, LagRevisions, Freeze, FreezeAt and Thaw replace each other. Their errors
// are ErrNotFound for an unknown resource, and ErrInvalidLag.
func (s *Server) Lag(resource string, d time.Duration) error {
	return s.api.Control().Lag(resource, "", mvcc.Lag{By: d})
}

// LagRevisions makes the watch cache of a resource lag behind the state by n
// revisions. Writes to every resource count.
func (s *Server) LagRevisions(resource string, n int64) error {
	return s.api.Control().Lag(resource, "", mvcc.Lag{Revisions: n})
}

// Freeze stops the watch cache of a resource at its revision.
func (s *Server) Freeze(resource string) error {
	return s.api.Control().Lag(resource, "", registry.Frozen)
}

// FreezeAt stops the watch cache of a resource at a revision, when it reaches it.
// It fails with ErrInvalidLag if the cache is past that revision.
func (s *Server) FreezeAt(resource string, revision int64) error {
	return s.api.Control().Lag(resource, "", mvcc.Lag{Until: mvcc.Revision(max(revision, 1))})
}

// Thaw ends the lag of a resource. Its watches get the events that they have
// missed.
func (s *Server) Thaw(resource string) error { return s.api.Control().Lag(resource, "", mvcc.Lag{}) }

// CachedRevision returns the revision of the watch cache of a resource: the
// resourceVersion of a list at resourceVersion=0. It fails with ErrNotFound for an
// unknown resource.
func (s *Server) CachedRevision(resource string) (int64, error) {
	rev, err := s.api.Front().CachedRevision(resource)
	return int64(rev), err
}

// LagFor is Lag for the clients whose User-Agent header matches a pattern, such as
// "manager/*": for their requests and their watches, also those that are open. Lag,
// Freeze and the like are for all clients, and replace it.
func (s *Server) LagFor(userAgent, resource string, d time.Duration) error {
	return s.api.Control().Lag(resource, userAgent, mvcc.Lag{By: d})
}

// FreezeFor is Freeze for the clients whose User-Agent header matches a pattern. See
// LagFor.
func (s *Server) FreezeFor(userAgent, resource string) error {
	return s.api.Control().Lag(resource, userAgent, registry.Frozen)
}

// ThawFor ends what LagFor and FreezeFor have begun.
func (s *Server) ThawFor(userAgent, resource string) error {
	return s.api.Control().Lag(resource, userAgent, mvcc.Lag{})
}
