package fakeapi

import (
	"time"

	"github.com/kubefake/kubefake/internal/cluster"
	"github.com/kubefake/kubefake/mvcc"
)

// A Lag is how far a watch cache is behind the state. The zero value is no lag. If several of By,
// Revisions, Until and Frozen are set, the one that holds the cache back most applies.
type Lag struct {
	// By is how long the cache is behind, on the server's clock.
	By time.Duration

	// Revisions is how many revisions the cache is behind. Writes to every resource count.
	Revisions int64

	// Until stops the cache at this revision, when it reaches it.
	Until int64

	// Frozen stops the cache at its revision.
	Frozen bool

	// UserAgent limits the lag to the clients whose User-Agent header matches a pattern,
	// such as "manager/*": to their requests and their watches, also those that are open.
	// A later lag without it is for all clients, and replaces it.
	UserAgent string
}

// SetLag makes the watch cache of a resource lag behind the state. The resource "*" is all
// resources. It replaces the lag that the resource had for the same clients. The zero Lag ends
// it: watches get the events that they have missed.
//
//	srv.SetLag("pods", fakeapi.Lag{Frozen: true})
//	srv.SetLag("pods", fakeapi.Lag{})
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
// Errors: ErrNotFound for an unknown resource, and ErrInvalidLag, also if the cache is past
// Until.
func (s *Server) SetLag(resource string, lag Lag) error {
	of := mvcc.Lag{By: lag.By, Revisions: lag.Revisions, Until: mvcc.Revision(lag.Until)}
	if lag.Frozen {
		of.Until = cluster.Frozen.Until
	}
	return s.api.Control().Lag(resource, lag.UserAgent, of)
}

// CachedRevision returns the revision of the watch cache of a resource: the
// resourceVersion of a list at resourceVersion=0. It fails with ErrNotFound for an
// unknown resource.
func (s *Server) CachedRevision(resource string) (int64, error) {
	rev, err := s.api.Replica().CachedRevision(resource)
	return int64(rev), err
}
