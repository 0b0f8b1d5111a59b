package journal

import (
	"strings"

	"github.com/kubefake/kubefake/fakeapi/journal"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/mvcc"
)

// What tests read is public.
type (
	// A Request is a request that the server has responded to.
	Request = journal.Request
	// A Write is one transaction.
	Write = journal.Write
	// A Writer identifies who made a write.
	Writer = journal.Writer
	// A Change is what a write did to one object.
	Change = journal.Change
	// A ChangeType is the type of a Change.
	ChangeType = journal.ChangeType
)

// The types of changes.
const (
	Added    = journal.Added
	Modified = journal.Modified
	Deleted  = journal.Deleted
)

// NewChange returns the Change of an event of the store.
func NewChange(e *mvcc.Event[*storage.Object]) Change {
	c := Change{Type: Modified}
	c.Resource, c.Namespace, c.Name = SplitKey(e.Item.Key)
	switch {
	case e.Type == mvcc.Delete:
		c.Type = Deleted
	case e.Prev == nil:
		c.Type = Added
	}
	return c
}

// SplitKey splits a key of the store, such as "/pods/default/a" or "/nodes/n1".
func SplitKey(key string) (resource, namespace, name string) {
	parts := strings.SplitN(strings.TrimPrefix(key, "/"), "/", 3)
	switch len(parts) {
	case 3:
		return parts[0], parts[1], parts[2]
	case 2:
		return parts[0], "", parts[1]
	}
	return key, "", ""
}
