package fakeapi

import (
	"errors"
	"fmt"
	"io"

	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/mvcc"
)

// Revision returns the revision of the newest write. Lists return it as their
// metadata.resourceVersion.
func (s *Server) Revision() int64 { return int64(s.api.Cluster().Store().Revision()) }

// Compact removes the history before a revision; 0 is the newest revision. Reads of an older
// one, and watches and continue tokens from one, fail with 410, as do open watches that have
// not sent everything yet. It does nothing if a compaction went further, and fails with
// ErrFutureRevision for a revision that is newer than Revision.
//
// Inject with faults.ExpireOpenWatches("*") also ends the other watches with 410, so that every
// client has to list again.
func (s *Server) Compact(revision int64) error {
	if _, err := s.api.Cluster().Compact(mvcc.Revision(revision), true); err != nil && !errors.Is(err, mvcc.ErrCompacted) {
		return fmt.Errorf("fakeapi: %w", err)
	}
	return nil
}

// A Snapshot is the state of a server at a moment.
type Snapshot struct{ state *storage.Snapshot }

// Snapshot returns the present state, for Restore. It takes constant time and keeps the
// objects of the state in memory.
func (s *Server) Snapshot() Snapshot { return Snapshot{s.api.Cluster().Snapshot()} }

// Restore restores the state of a snapshot, which was taken from this server or
// from one that it is a fork of. It is one write of the objects that differ: readers see
// all of it or nothing. Watches send the objects as events, each with a resourceVersion of
// its own, so that a watch that breaks can be continued after each of them.
func (s *Server) Restore(to Snapshot) error { return s.api.Cluster().Restore(to.state) }

// Reset restores the state of a fresh server, without the objects of its options,
// and ends all faults and lags. Controllers start again.
func (s *Server) Reset() error { return s.api.Control().Reset() }

// WriteState writes the present state for WithState, of this or another process: the
// objects, the revision, and the key of service account tokens that the process has
// generated. It has the Secrets in clear text, and their history is not written.
func (s *Server) WriteState(w io.Writer) error { return s.api.Cluster().WriteState(w) }
