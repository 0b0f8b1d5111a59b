package journal

import (
	"fmt"
	"strings"
	"time"

	"github.com/kubefake/kubefake/internal/printable"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/mvcc"
)

// A Write is one transaction: changes that were stored together. Each of them has a revision
// of its own, in their order.
type Write struct {
	// Revision is that of the last change.
	Revision int64     `json:"revision"`
	Time     time.Time `json:"time"`
	// Writer is who made it; the zero value if the server no longer knows.
	Writer  Writer   `json:"writer"`
	Changes []Change `json:"changes"`
}

// A Writer identifies who made a write.
type Writer struct {
	User      string `json:"user,omitempty"`
	UserAgent string `json:"userAgent,omitempty"`
	// Manager is the field manager of the write.
	Manager string `json:"manager,omitempty"`
	Verb    string `json:"verb"`
	// Subresource is the subresource that was written: "status", "scale", "binding"; "" for
	// the object itself.
	Subresource string `json:"subresource,omitempty"`
}

// A Change is what a write did to one object.
type Change struct {
	Type storage.ChangeType `json:"type"`
	// Resource is the resource of the object: "pods", "deployments.apps".
	Resource  string `json:"resource"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// NewChange returns the Change of an event of the store.
func NewChange(e *mvcc.Event[*storage.Object]) Change {
	c := Change{Type: storage.Modified}
	c.Resource, c.Namespace, c.Name = SplitKey(e.Item.Key)
	switch {
	case e.Type == mvcc.Delete:
		c.Type = storage.Deleted
	case e.Prev == nil:
		c.Type = storage.Added
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

// String returns the change as "MODIFIED pods default/a".
func (c Change) String() string {
	name := c.Name
	if c.Namespace != "" {
		name = c.Namespace + "/" + c.Name
	}
	return printable.Line(string(c.Type) + " " + c.Resource + " " + name)
}

// maxPrinted is how many changes Write.String prints.
const maxPrinted = 10

// String returns the write on one line.
func (w Write) String() string {
	var changes []string
	for i, c := range w.Changes {
		if i == maxPrinted {
			changes = append(changes, fmt.Sprintf("and %d more", len(w.Changes)-i))
			break
		}
		changes = append(changes, c.String())
	}
	return printable.Line(fmt.Sprintf("%d %s by %s %s (%s)", w.Revision, strings.Join(changes, ", "), w.Writer.Verb, w.Writer.User, w.Writer.UserAgent))
}
