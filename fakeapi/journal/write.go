package journal

import (
	"fmt"
	"strings"
	"time"

	"github.com/kubefake/kubefake/internal/printable"
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
	// Apply reports that the write is a server-side apply, whose verb is patch.
	Apply bool `json:"apply,omitempty"`
	// Subresource is the subresource that was written: "status", "scale", "binding"; "" for
	// the object itself.
	Subresource string `json:"subresource,omitempty"`
}

// A Change is what a write did to one object.
type Change struct {
	Type ChangeType `json:"type"`
	// Resource is the resource of the object: "pods", "deployments.apps".
	Resource  string `json:"resource"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// A ChangeType is the type of a Change.
type ChangeType string

const (
	Added    ChangeType = "ADDED"
	Modified ChangeType = "MODIFIED"
	Deleted  ChangeType = "DELETED"
)

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
