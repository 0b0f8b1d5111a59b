package registry

import (
	"fmt"
	"io"

	"github.com/kubefake/kubefake/internal/authn/serviceaccount"
	"github.com/kubefake/kubefake/internal/journal"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/mvcc"
)

// WriteState writes the present state for Config.State: the objects with their
// versions, the revision, and the key of service account tokens if the process has
// generated it.
func (g *Registry) WriteState(w io.Writer) error {
	header := storage.StateHeader{
		Release:           g.Surface().Release().Name(),
		Source:            g.ids.Fork("state").UID(),
		ServiceAccountKey: g.config.Auth.ServiceAccounts.GeneratedKey(),
	}
	return g.store.Snapshot().Write(w, header)
}

// continueFrom changes the configuration so that a registry continues a state: with its
// key of service account tokens.
func (c *Config) continueFrom(s *storage.State) error {
	if s.ServiceAccountKey == nil {
		return nil
	}
	key, err := serviceaccount.ParsePKCS8(s.ServiceAccountKey)
	if err != nil {
		return fmt.Errorf("the key of service accounts in the state: %w", err)
	}
	c.Auth.ServiceAccounts = c.Auth.ServiceAccounts.WithGeneratedKey(key)
	return nil
}

// load replaces the objects of a fresh registry by those of a state.
func (g *Registry) load(s *storage.State) error {
	g.definitionsMu.Lock()
	defer g.definitionsMu.Unlock()
	var items []*mvcc.Item[*storage.Object]
	var custom []*storage.StateItem
	for i := range s.Items {
		item := &s.Items[i]
		t := g.api().types.Lookup(item.Group, item.Version, item.Resource)
		if t == nil {
			custom = append(custom, item)
			continue
		}
		if err := appendItem(&items, item, t); err != nil {
			return err
		}
	}
	// The types of custom resources are those of the definitions in the store.
	g.store.Load(s.Revision, items)
	if t := g.definitionsType(); t != nil {
		g.loadDefinitions(t, g.allDefinitions())
	}
	for _, item := range custom {
		if err := appendItem(&items, item, g.customType(item)); err != nil {
			return err
		}
	}
	g.store.Load(s.Revision, items)
	g.journal.RecordNote(journal.Note{Kind: journal.State, Text: "the state of another server was loaded", Revision: g.store.Revision()})
	g.expireSince(0)
	g.reloadAdmission()
	g.changed(nil, nil)
	g.flows.changed()
	g.reconcileDefinitions(g.allDefinitions())
	return nil
}

// customType returns the type of a custom resource of a state, nil if no definition has
// it.
func (g *Registry) customType(item *storage.StateItem) *resource.Type {
	served := g.Surface()
	d := served.definitions.get(item.Resource + "." + item.Group)
	if d == nil || len(d.Types) == 0 {
		return nil
	}
	for _, t := range d.Types[0].Versions {
		if t.Version == item.Version {
			return t
		}
	}
	return d.Types[0].Storage()
}

func appendItem(items *[]*mvcc.Item[*storage.Object], item *storage.StateItem, t *resource.Type) error {
	if t == nil {
		return fmt.Errorf("the state has objects of %s.%s/%s, which the release does not have", item.Resource, item.Group, item.Version)
	}
	loaded, err := item.Item(t)
	if err != nil {
		return fmt.Errorf("an object of %s in the state: %w", item.Resource, err)
	}
	*items = append(*items, loaded)
	return nil
}
