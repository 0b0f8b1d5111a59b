package cluster

import (
	"errors"
	"fmt"
	"strings"

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

// cachedType returns the type of a resource, nil for AllResources.
func (c *Cluster) cachedType(name string) (*resource.Type, error) {
	if name == AllResources {
		return nil, nil
	}
	return c.TypeByName(name)
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
