//go:build go1.26

package cluster

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/mvcc"
)

// A client has watch caches of its own while it needs them.
func TestViewsOfClients(t *testing.T) {
	none := mvcc.Lag{}
	type step struct {
		userAgent string // "" for all clients
		lag       mvcc.Lag
		views     []string // the patterns after it
	}
	for name, steps := range map[string][]step{
		"zero lag":        {{"a", none, nil}},
		"too long":        {{"a", mvcc.Lag{By: 1 << 60}, nil}},
		"ended":           {{"a", Frozen, []string{"a"}}, {"a", none, nil}},
		"two clients":     {{"a", Frozen, []string{"a"}}, {"b", Frozen, []string{"b", "a"}}, {"a", none, []string{"b"}}, {"b", none, nil}},
		"before another":  {{"a", Frozen, []string{"a"}}, {"ab", none, []string{"ab", "a"}}, {"a", none, nil}},
		"all clients lag": {{"", Frozen, nil}, {"a", none, []string{"a"}}, {"", none, nil}},
		"end for all":     {{"a", Frozen, []string{"a"}}, {"", none, nil}},
	} {
		t.Run(name, func(t *testing.T) {
			r := fresh(t, Config{}).FirstReplica()
			for i, s := range steps {
				err := r.Lag(Lagging{Resource: "pods", UserAgent: s.userAgent, Matches: func(a string) bool { return a == s.userAgent }}, s.lag)
				if s.lag.By > 0 {
					require.ErrorIs(t, err, ErrInvalidLag)
				} else {
					require.NoError(t, err)
				}
				var patterns []string
				if set := r.clients.Load(); set != nil {
					for _, v := range set.views {
						patterns = append(patterns, v.pattern)
					}
				}
				assert.Equal(t, s.views, patterns, "step %d", i)
			}
		})
	}
}
