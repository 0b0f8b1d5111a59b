package control

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/kubefake/kubefake/internal/registry"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/mvcc"
)

// A lagRequest lets the watch cache of a resource lag. If several fields are set
// the one that holds the cache back most counts.
type lagRequest struct {
	Resource  string        `json:"resource"`            // "pods", "deployments.apps"; "*", the default, is all
	By        string        `json:"by,omitempty"`        // a Go duration: "3s"
	Revisions int64         `json:"revisions,omitempty"` // a number of revisions
	Until     mvcc.Revision `json:"until,omitempty"`     // frozen at a revision
	Frozen    bool          `json:"frozen,omitempty"`    // frozen where it is
}

// A lagAnswer is a lag and the revision of the cache.
type lagAnswer struct {
	lagRequest
	Revision mvcc.Revision `json:"revision"`
}

func (c *Control) lags(*Request) (any, error) {
	store := c.registry.Store()
	out := struct {
		Revision mvcc.Revision `json:"revision"`
		Lags     []lagAnswer   `json:"lags"`
	}{store.Revision(), []lagAnswer{}}
	for _, l := range store.Lags() {
		a := lagAnswer{lagRequest{
			Resource: cmp.Or(strings.Trim(l.Prefix, "/"), registry.AllResources), Revisions: l.Lag.Revisions, Until: l.Lag.Until,
			Frozen: l.Lag.Until > 0 && l.Revision >= l.Lag.Until,
		}, l.Revision}
		if l.Lag.By > 0 {
			a.By = l.Lag.By.String()
		}
		out.Lags = append(out.Lags, a)
	}
	return out, nil
}

func (c *Control) lag(r *Request) (any, error) {
	var in lagRequest
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	lag := mvcc.Lag{Revisions: in.Revisions, Until: in.Until}
	if in.By != "" {
		var err error
		if lag.By, err = time.ParseDuration(in.By); err != nil {
			return nil, status.BadRequest(fmt.Sprintf("by: %q is not a duration, such as 3s", in.By))
		}
	}
	if in.Frozen {
		lag.Until = registry.Frozen.Until
	}
	if err := c.registry.Lag(cmp.Or(in.Resource, registry.AllResources), lag); err != nil {
		return nil, lookupError(err)
	}
	return c.lags(r)
}

func (c *Control) thaw(r *Request) (any, error) {
	if err := c.registry.Lag(cmp.Or(r.Query.Get("resource"), registry.AllResources), mvcc.Lag{}); err != nil {
		return nil, lookupError(err)
	}
	return c.lags(r)
}

// lookupError returns the answer to an error of the registry: 404 for an unknown
// resource or object, 400 for any other.
func lookupError(err error) error {
	if errors.Is(err, registry.ErrNotFound) {
		return notFound(err.Error())
	}
	return status.BadRequest(err.Error())
}
