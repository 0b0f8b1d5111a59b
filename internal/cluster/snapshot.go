package cluster

import (
	"github.com/kubefake/kubefake/internal/journal"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/mvcc"
)

// Snapshot returns the present state for Restore. It takes constant time.
func (c *Cluster) Snapshot() *storage.Snapshot { return c.Store().Snapshot() }

// Restore restores the state of a snapshot. It is one transaction that changes
// the objects that differ: watchers receive the changes, each with a revision of its own.
func (c *Cluster) Restore(snapshot *storage.Snapshot) error {
	c.definitionsMu.Lock()
	defer c.definitionsMu.Unlock()
	first, last, err := c.Store().Restore(snapshot)
	if err != nil {
		return err
	}
	c.ExpireSince(first - 1)
	c.Journal().RecordNote(journal.Note{Kind: journal.State, Text: "an earlier state was restored", First: first, Revision: last})
	c.reloadAdmission()
	c.changed(nil, nil)
	c.flows.changed()
	c.reconcileDefinitions(c.allDefinitions())
	c.electAll()
	return nil
}

// Reset restores the state of a fresh server, as Restore does, and ends every
// lag.
func (c *Cluster) Reset() error {
	if err := c.firstReplica.Lag(Lagging{Resource: AllResources}, mvcc.Lag{}); err != nil {
		return err
	}
	return c.Restore(c.initial)
}
