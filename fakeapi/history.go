package fakeapi

import (
	"errors"
	"fmt"
	"io"

	"github.com/kubefake/kubefake/fakeapi/faults"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/mvcc"
)

// Revision returns the revision of the newest write. Lists return it as their
// metadata.resourceVersion.
func (s *Server) Revision() int64 { return int64(s.api.Registry().Store().Revision()) }

// Compact removes all history: reads of an older revision, and watches and
// continue tokens from one, fail with 410, as do open watches that have not sent
// everything yet.
func (s *Server) Compact() {
	if _, err := s.api.Registry().Compact(0, true); err != nil && !errors.Is(err, mvcc.ErrCompacted) {
		panic("fakeapi: " + err.Error()) // unreachable: the newest revision can be compacted to
	}
}

// CompactTo removes the history before a revision. That of the revision itself and of later
// ones remains. It does nothing if a compaction went further, and fails with
// ErrFutureRevision for a revision that is newer than Revision.
func (s *Server) CompactTo(revision int64) error {
	if revision <= 0 { // 0 is the newest one for a Registry
		return nil
	}
	if _, err := s.api.Registry().Compact(mvcc.Revision(revision), true); err != nil && !errors.Is(err, mvcc.ErrCompacted) {
		return fmt.Errorf("fakeapi: %w", err)
	}
	return nil
}

// ExpireWatches compacts and ends every open watch with 410, so that every client has to
// list again. It returns the number of watches that it has ended.
func (s *Server) ExpireWatches() int {
	s.Compact()
	i, err := s.Inject(faults.ExpireOpenWatches("*"))
	if err != nil {
		panic(err.Error()) // unreachable: the fault is valid
	}
	i.Remove()
	return i.Hits()
}

// HistoryBytes returns the bytes of memory that only the history occupies: old versions
// of objects, and what the log of writes itself needs. WithHistoryBytes limits it.
func (s *Server) HistoryBytes() int64 { return s.api.Registry().Store().HistoryBytes() }

// A Snapshot is the state of a server at a moment.
type Snapshot struct{ state *storage.Snapshot }

// Snapshot returns the present state, for Restore. It takes constant time and keeps the
// objects of the state in memory.
func (s *Server) Snapshot() Snapshot { return Snapshot{s.api.Registry().Snapshot()} }

// Restore restores the state of a snapshot, which was taken from this server or
// from one that it is a fork of. It is one write of the objects that differ: readers see
// all of it or nothing. Watches send the objects as events, each with a resourceVersion of
// its own, so that a watch that breaks can be continued after each of them.
func (s *Server) Restore(to Snapshot) error { return s.api.Registry().Restore(to.state) }

// Reset restores the state of a fresh server, without the objects of its options,
// and ends all faults and lags. Controllers start again.
func (s *Server) Reset() error { return s.api.Control().Reset() }

// WriteState writes the present state for WithState, of this or another process: the
// objects, the revision, and the key of service account tokens that the process has
// generated. It has the Secrets in clear text, and their history is not written.
func (s *Server) WriteState(w io.Writer) error { return s.api.Registry().WriteState(w) }
