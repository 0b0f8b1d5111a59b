package cluster

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
func (c *Cluster) WriteState(w io.Writer) error {
	header := storage.StateHeader{
		Release:           c.Surface().Release().Name(),
		Source:            c.IDs().Fork("state").UID(),
		ServiceAccountKey: c.config.Auth.ServiceAccounts.GeneratedKey(),
	}
	return c.Store().Snapshot().Write(w, header)
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
func (c *Cluster) load(s *storage.State) error {
	c.definitionsMu.Lock()
	defer c.definitionsMu.Unlock()
	var items []*mvcc.Item[*storage.Object]
	var custom []*storage.StateItem
	for i := range s.Items {
		item := &s.Items[i]
		t := c.api().Builtin.Lookup(item.Group, item.Version, item.Resource)
		if t == nil {
			custom = append(custom, item)
			continue
		}
		if err := appendItem(&items, item, t); err != nil {
			return err
		}
	}
	// The types of custom resources are those of the definitions in the store.
	c.Store().Load(s.Revision, items)
	if t := c.definitionsType(); t != nil {
		c.loadDefinitions(t, c.allDefinitions())
	}
	for _, item := range custom {
		if err := appendItem(&items, item, c.customType(item)); err != nil {
			return err
		}
	}
	c.Store().Load(s.Revision, items)
	c.Journal().RecordNote(journal.Note{Kind: journal.State, Text: "the state of another server was loaded", Revision: c.Store().Revision()})
	c.ExpireSince(0)
	c.reloadAdmission()
	c.changed(nil, nil)
	c.flows.changed()
	c.reconcileDefinitions(c.allDefinitions())
	c.electAll()
	return nil
}

// customType returns the type of a custom resource of a state, nil if no definition has
// it.
func (c *Cluster) customType(item *storage.StateItem) *resource.Type {
	served := c.Surface()
	d := served.Definitions.Get(item.Resource + "." + item.Group)
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
