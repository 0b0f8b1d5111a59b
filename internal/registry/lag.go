package registry

import (
	"errors"
	"fmt"
	"strings"

	"github.com/kubefake/kubefake/internal/journal"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/mvcc"
)

// ErrInvalidLag is returned for a negative lag, for one longer than history is
// kept, for a resource without a watch cache, and for a last revision older than
// what the watch cache has shown.
var ErrInvalidLag = errors.New("invalid lag")

// AllResources stands for all resources where a resource is named.
const AllResources = "*"

// Frozen is the lag of a watch cache that stays where it is.
var Frozen = mvcc.Lag{Until: -1}

// Lag makes the watch cache of a resource, or of AllResources, lag behind the
// store. The zero Lag ends it. Gets and lists at resourceVersion=0 or with
// resourceVersionMatch=NotOlderThan, and watches, read the watch cache. Consistent
// reads and writes do not.
//
// Errors: ErrNotFound, ErrInvalidLag.
func (g *Registry) Lag(name string, lag mvcc.Lag) error {
	if lag.By < 0 || lag.Revisions < 0 {
		return fmt.Errorf("%w: it is negative", ErrInvalidLag)
	}
	t, err := g.cachedType(name)
	if err != nil {
		return err
	}
	if at := g.store.CachedRevision(t); lag.Until > 0 && lag.Until < at {
		return fmt.Errorf("%w: the watch cache is at revision %d, and does not go back to %d", ErrInvalidLag, at, lag.Until)
	}
	note := journal.Note{Kind: journal.Lag, Text: lagText(lag), Revision: g.store.Revision()}
	if t != nil {
		note.Resource = strings.Trim(t.Prefix, "/")
	}
	if lag == (mvcc.Lag{}) {
		if len(g.store.Lags()) == 0 {
			return nil
		}
		note.Kind = journal.Thaw
	}
	if err := g.store.SetLag(t, lag); err != nil {
		return fmt.Errorf("%w: %w", ErrInvalidLag, err)
	}
	g.journal.RecordNote(note)
	return nil
}

// cachedType returns the type of a resource, nil for AllResources.
func (g *Registry) cachedType(name string) (*resource.Type, error) {
	if name == AllResources {
		return nil, nil
	}
	return g.typeByName(name)
}

// CachedRevision returns the revision of the watch cache of a resource, for
// AllResources the highest of them. It fails with ErrNotFound.
func (g *Registry) CachedRevision(name string) (mvcc.Revision, error) {
	t, err := g.cachedType(name)
	if err != nil {
		return 0, err
	}
	return g.store.CachedRevision(t), nil
}

// lagText describes a lag in the journal.
func lagText(lag mvcc.Lag) string {
	if lag == (mvcc.Lag{}) {
		return "no lag"
	}
	var parts []string
	if lag.By > 0 {
		parts = append(parts, lag.By.String()+" behind")
	}
	if lag.Revisions > 0 {
		parts = append(parts, fmt.Sprintf("%d revisions behind", lag.Revisions))
	}
	switch {
	case lag.Until < 0:
		parts = append(parts, "frozen")
	case lag.Until > 0:
		parts = append(parts, fmt.Sprintf("frozen at %d", lag.Until))
	}
	return strings.Join(parts, ", ")
}
