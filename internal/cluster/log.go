package cluster

import (
	"github.com/kubefake/kubefake/internal/journal"
	"github.com/kubefake/kubefake/mvcc"
)

// Writes returns the transactions from a revision on, oldest first, as far as
// history is kept. Transactions older than the journal have no Writer.
func (c *Cluster) Writes(from mvcc.Revision) []journal.Write {
	writers := map[mvcc.Revision]journal.Writer{}
	for _, e := range c.Journal().Transactions() {
		writers[e.What.Revision] = e.What.Writer
	}
	var out []journal.Write
	for tx := range c.Store().Log(from) {
		w := journal.Write{Revision: int64(tx.Revision), Time: tx.Time, Writer: writers[tx.Revision]}
		for i := range tx.Events {
			w.Changes = append(w.Changes, journal.NewChange(&tx.Events[i]))
		}
		out = append(out, w)
	}
	return out
}
