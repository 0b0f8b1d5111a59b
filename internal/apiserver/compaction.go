package apiserver

import (
	"fmt"
	"time"

	"github.com/kubefake/kubefake/internal/fault"
	"github.com/kubefake/kubefake/internal/journal"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/mvcc"
)

// A Compaction is a schedule by which history is forgotten. The zero value is
// none.
type Compaction struct {
	Every time.Duration
	Keep  time.Duration // what was current that long before can still be read
}

// compactOld forgets what the schedule no longer keeps.
func (s *Server) compactOld() {
	rev := s.store.RevisionAt(s.clock.Now().Add(-s.config.Compaction.Keep))
	if rev > s.store.Compacted() {
		_, _ = s.compact(rev, true) // fails where another has gone further meanwhile
	}
}

func (s *Server) controlCompact(r *request) (any, error) {
	var in struct {
		Revision   mvcc.Revision `json:"revision"`   // 0: the newest
		WatchCache bool          `json:"watchCache"` // forget what kube-apiserver's watch cache would still hold
		Watches    bool          `json:"watches"`    // end every open watch with 410
	}
	if err := r.controlBody(&in); err != nil {
		return nil, err
	}
	rev, err := s.compact(in.Revision, in.WatchCache)
	if err != nil {
		return nil, status.BadRequest(err.Error())
	}
	if in.Watches {
		everyOpen := fault.Fault{Resource: "*", Watch: fault.ExpireWatch, Watches: fault.OpenWatches}
		if _, err := s.faults.Inject(everyOpen); err != nil {
			return nil, err
		}
	}
	return revisionAnswer{rev}, nil
}

// compact forgets what is older than rev, 0 being the newest.
func (s *Server) compact(rev mvcc.Revision, watchCache bool) (mvcc.Revision, error) {
	if rev == 0 {
		rev = s.store.Revision()
	}
	if rev > s.store.Revision() {
		return 0, mvcc.ErrFutureRevision
	}
	s.journal.RecordNote(journal.Note{Kind: journal.Compaction, Text: compactionText(rev, watchCache), Revision: rev})
	s.store.CompactEtcd(rev)
	if watchCache && rev > s.store.Compacted() {
		return rev, s.store.Compact(rev)
	}
	return rev, nil
}

// compactionText says what was forgotten.
func compactionText(rev mvcc.Revision, watchCache bool) string {
	text := fmt.Sprintf("everything older than r%d is forgotten", rev)
	if !watchCache {
		text += " in etcd"
	}
	return text
}

// Compact forgets every version older than the newest, everywhere: whoever
// reads or watches from an older version gets a 410, and so do open watches
// that have not seen everything.
func (s *Server) Compact() error {
	_, err := s.compact(0, true)
	return err
}
