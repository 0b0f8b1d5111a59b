package control

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/kubefake/kubefake/internal/cluster"
	"github.com/kubefake/kubefake/internal/glob"
	"github.com/kubefake/kubefake/internal/registry"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/mvcc"
)

// A Lag says how far the watch caches of a resource are behind. If several of by,
// revisions, until and frozen are set, the one that holds the caches back most counts. A
// request needs one of them; by 0s ends the lag. A request without any field ends all lags.
type Lag struct {
	// Resource is the resource, such as pods or deployments.apps. The default, *, is
	// every resource.
	Resource string `json:"resource,omitempty"`
	// UserAgent selects the clients, such as manager/*. The default is all clients.
	UserAgent string `json:"userAgent,omitempty"`
	// By is a duration, such as 3s.
	By string `json:"by,omitempty"`
	// Revisions is a number of revisions.
	Revisions int64 `json:"revisions,omitempty"`
	// Until is the revision at which the caches stand still.
	Until mvcc.Revision `json:"until,omitempty"`
	// Frozen reports that the caches stand still. In a request it freezes them where
	// they are.
	Frozen bool `json:"frozen,omitempty"`
}

// A ResourceLag is a lag and the revision of the watch cache.
type ResourceLag struct {
	Lag
	// Revision is the revision that the cache shows.
	Revision mvcc.Revision `json:"revision"`
}

// Lags are the lags of the watch caches.
type Lags struct {
	// Revision is the revision of the newest write.
	Revision mvcc.Revision `json:"revision"`
	Lags     []ResourceLag `json:"lags"`
}

// A LagQuery selects lags.
type LagQuery struct {
	// Resource is a resource. The default, *, is every resource.
	Resource string `query:"resource"`
	// UserAgent selects the clients. The default is all clients.
	UserAgent string `query:"userAgent"`
}

func (c *Control) lags(*Request, none) (Lags, error) {
	store := c.cluster.Store()
	out := Lags{store.Revision(), []ResourceLag{}}
	for _, l := range c.replica.Lags() {
		a := ResourceLag{Lag{
			Resource: cmp.Or(strings.Trim(l.Prefix, "/"), cluster.AllResources), UserAgent: l.UserAgent, Revisions: l.CacheLag.Lag.Revisions, Until: l.CacheLag.Lag.Until,
			Frozen: l.CacheLag.Lag.Until > 0 && l.Revision >= l.CacheLag.Lag.Until,
		}, l.Revision}
		if l.CacheLag.Lag.By > 0 {
			a.By = l.CacheLag.Lag.By.String()
		}
		out.Lags = append(out.Lags, a)
	}
	return out, nil
}

// Lag makes the watch cache of a resource lag, for the clients whose user agent matches a
// pattern. "" is every resource, and every client. See [cluster.Replica.Lag].
func (c *Control) Lag(resource, userAgent string, lag mvcc.Lag) error {
	of := cluster.Lagging{Resource: cmp.Or(resource, cluster.AllResources), UserAgent: userAgent}
	of.Matches = func(agent string) bool { return glob.Match(userAgent, agent) }
	return c.replica.Lag(of, lag)
}

func (c *Control) lag(r *Request, in Lag) (Lags, error) {
	if in != (Lag{}) && in.By == "" && in.Revisions == 0 && in.Until == 0 && !in.Frozen {
		return Lags{}, status.BadRequest("by, revisions, until or frozen: the lag is missing; DELETE " + Prefix + "lag ends one")
	}
	lag := mvcc.Lag{Revisions: in.Revisions, Until: in.Until}
	if in.By != "" {
		var err error
		if lag.By, err = time.ParseDuration(in.By); err != nil {
			return Lags{}, status.BadRequest(fmt.Sprintf("by: %q is not a duration, such as 3s", in.By))
		}
	}
	if in.Frozen {
		lag.Until = cluster.Frozen.Until
	}
	if err := c.Lag(in.Resource, in.UserAgent, lag); err != nil {
		return Lags{}, lookupError(err)
	}
	return c.lags(r, none{})
}

func (c *Control) thaw(r *Request, in LagQuery) (Lags, error) {
	if err := c.Lag(in.Resource, in.UserAgent, mvcc.Lag{}); err != nil {
		return Lags{}, lookupError(err)
	}
	return c.lags(r, none{})
}

// lookupError returns the answer to an error of the registry: 404 for an unknown
// resource or object, 400 for any other.
func lookupError(err error) error {
	if errors.Is(err, registry.ErrNotFound) {
		return notFound(err.Error())
	}
	return status.BadRequest(err.Error())
}
