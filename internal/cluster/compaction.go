package cluster

import (
	"fmt"
	"time"

	"github.com/kubefake/kubefake/internal/journal"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/mvcc"
)

// A Compaction is a schedule of compactions. The zero value never compacts.
type Compaction struct {
	Every time.Duration
	Keep  time.Duration // states this old can still be read after a compaction
}

// compactOnSchedule compacts what the schedule does not keep.
func (c *Cluster) compactOnSchedule() {
	rev := c.Store().RevisionAt(c.Clock().Now().Add(-c.config.Compaction.Keep))
	if rev > c.Store().Compacted() {
		_, _ = c.Compact(rev, true) // fails only if another compaction went further in between
	}
}

// Compact drops every version older than rev, 0 being the newest, and returns
// rev. Reads and watches that need an older version fail with 410. With
// watchCache it drops also what kube-apiserver's watch cache still serves after a
// compaction of etcd. It fails with mvcc.ErrFutureRevision.
func (c *Cluster) Compact(rev mvcc.Revision, watchCache bool) (mvcc.Revision, error) {
	if rev == 0 {
		rev = c.Store().Revision()
	}
	if rev > c.Store().Revision() {
		return 0, mvcc.ErrFutureRevision
	}
	c.Journal().RecordNote(journal.Note{Kind: journal.Compaction, Text: compactionText(rev, watchCache), Revision: rev})
	c.Store().CompactEtcd(rev)
	if watchCache && rev > c.Store().Compacted() {
		return rev, c.Store().Compact(rev)
	}
	return rev, nil
}

// minJournalBytes is the size of the journal of a server with a small history.
const minJournalBytes = 4 << 20

func (c *Config) historyLimits() storage.Limits {
	return storage.Limits{Age: c.KeepHistory, Bytes: c.HistoryBytes}
}

// HistoryLimit returns Config.HistoryBytes.
func (c *Cluster) HistoryLimit() int64 { return c.config.HistoryBytes }

// A budget notes in the journal when the history of a Registry exceeds its size.
type budget Cluster

// Compacted implements [storage.CompactionObserver].
func (b *budget) Compacted(rev mvcc.Revision) {
	text := fmt.Sprintf("%s, because the history exceeded %s", compactionText(rev, true), formatBytes(b.config.HistoryBytes))
	b.Journal().RecordNote(journal.Note{Kind: journal.Compaction, Text: text, Revision: rev})
}

// formatBytes returns a number of bytes as text: in mebibytes if there are some.
func formatBytes(n int64) string {
	if n < 1<<20 {
		return fmt.Sprintf("%d bytes", n)
	}
	return fmt.Sprintf("%d MiB", n>>20)
}

// compactionText describes a compaction in the journal.
func compactionText(rev mvcc.Revision, watchCache bool) string {
	text := fmt.Sprintf("history before r%d was removed", rev)
	if !watchCache {
		text += " from etcd"
	}
	return text
}
