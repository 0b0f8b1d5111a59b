package storage

import (
	"sync"
	"time"

	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/mvcc"
)

// Limits bound the history of a store. The zero value does not.
type Limits struct {
	// Age, if positive, is how long a version is kept after it was replaced.
	Age time.Duration
	// Bytes, if positive, is how much memory the history occupies at most, as
	// mvcc.Options.KeepBytes counts it.
	Bytes int64
}

// A limiter is what a store does when its history grows. kube-apiserver bounds its
// history by the number of events of each resource, and sends bookmarks so often that a
// client can continue a watch from the last one. Here a store bounds the bytes of all
// resources together. A watch gets a bookmark whenever a third of them was written, so that
// a compaction by bytes, which leaves three quarters, does not overtake it.
type limiter struct {
	compactions CompactionObserver // nil without one

	mu     sync.Mutex // guards the fields below
	next   chan struct{}
	timer  *clock.Timer // frees expired history; nil if none is scheduled
	closed bool
}

// A CompactionObserver is notified of compactions.
type CompactionObserver interface {
	// Compacted is called after each compaction by Limits.Bytes, before the next
	// transaction. It must not write to the store.
	Compacted(rev mvcc.Revision)
}

// OnCompaction sets the observer of the store. It must be called before the store is
// used.
func (s *Store) OnCompaction(o CompactionObserver) { s.limiter.compactions = o }

// Grown returns a channel that is closed when a third of Limits.Bytes was added to the
// history since the last time, or the history was compacted by bytes. Then it is time for
// a bookmark.
func (s *Store) Grown() <-chan struct{} {
	l := &s.limiter
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.next == nil {
		l.next = make(chan struct{})
	}
	return l.next
}

// grown is the store's mvcc.Options.Grown.
func (s *Store) grown(compacted mvcc.Revision) {
	if compacted != 0 {
		s.CompactEtcd(compacted)
		if o := s.limiter.compactions; o != nil {
			o.Compacted(compacted)
		}
	}
	l := &s.limiter
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.next != nil {
		close(l.next)
		l.next = nil
	}
	s.scheduleTrimLocked()
}

// scheduleTrimLocked sets a timer that frees history when it has expired, so that the
// memory does not depend on further writes. It does nothing for a small history.
func (s *Store) scheduleTrimLocked() {
	l := &s.limiter
	if l.timer != nil || l.closed || s.keep.Age <= 0 {
		return
	}
	l.timer = s.clock.AfterFunc(s.keep.Age, func() {
		s.Trim()
		l.mu.Lock()
		defer l.mu.Unlock()
		l.timer = nil
		if s.HistoryBytes() > s.keep.Bytes/4 {
			s.scheduleTrimLocked()
		}
	})
}

func (l *limiter) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	if l.timer != nil {
		l.timer.Stop()
	}
}
