//go:build go1.25

package explore

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestStandstill(t *testing.T) {
	for name, row := range map[string]struct {
		between func(*stepCounter)
		stands  bool
	}{
		"nothing is due": {between: func(*stepCounter) {}},
		"a step is made": {between: func(c *stepCounter) { c.asked.Add(1); c.given.Add(1) }},
		"a step is due":  {between: func(c *stepCounter) { c.asked.Add(1) }, stands: true},
	} {
		t.Run(name, func(t *testing.T) {
			var steps stepCounter
			ticks, ended, result := make(chan time.Time), make(chan error), make(chan error, 1)
			go func() { result <- steps.watch(ticks, ended) }()
			ticks <- time.Time{}
			row.between(&steps)
			ticks <- time.Time{}
			if !row.stands {
				ended <- nil
				assert.NoError(t, <-result)
				return
			}
			assert.ErrorContains(t, <-result, "see System.Unordered")
		})
	}
}
