package registry

import (
	"github.com/kubefake/kubefake/internal/journal"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/mvcc"
)

// Snapshot returns the present state for Restore. It takes constant time.
func (g *Registry) Snapshot() *storage.Snapshot { return g.store.Snapshot() }

// Restore brings back the state of a snapshot. It is one transaction that changes
// the objects that differ: watchers receive the changes, each with a revision of its own.
func (g *Registry) Restore(snapshot *storage.Snapshot) error {
	g.definitionsMu.Lock()
	defer g.definitionsMu.Unlock()
	first, last, err := g.store.Restore(snapshot)
	if err != nil {
		return err
	}
	g.expireSince(first - 1)
	g.journal.RecordNote(journal.Note{Kind: journal.State, Text: "an earlier state was restored", First: first, Revision: last})
	g.reloadAdmission()
	g.changed(nil, nil)
	g.flows.changed()
	g.reconcileDefinitions(g.allDefinitions())
	return nil
}

// Reset brings back the state of a fresh server, as Restore does, and ends every
// lag.
func (g *Registry) Reset() error {
	if err := g.front.Lag(Lagging{Resource: AllResources}, mvcc.Lag{}); err != nil {
		return err
	}
	return g.Restore(g.initial)
}
