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
		ticks   int    // after it
		err     string // "" for none
	}{
		"nothing is due":          {between: func(*stepCounter) {}, ticks: 1},
		"nothing is due for long": {between: func(*stepCounter) {}, ticks: maxIdle, err: "a goroutine never waits"},
		"a step is made":          {between: func(c *stepCounter) { c.asked.Add(1); c.given.Add(1) }, ticks: maxIdle},
		"a step is due":           {between: func(c *stepCounter) { c.asked.Add(1) }, ticks: 1, err: "see System.Unordered"},
	} {
		t.Run(name, func(t *testing.T) {
			var steps stepCounter
			ticks, ended, result := make(chan time.Time), make(chan error), make(chan error, 1)
			go func() { result <- steps.watch(ticks, ended) }()
			ticks <- time.Time{}
			row.between(&steps)
			for range row.ticks {
				ticks <- time.Time{}
			}
			if row.err == "" {
				ended <- nil
				assert.NoError(t, <-result)
				return
			}
			assert.ErrorContains(t, <-result, row.err)
		})
	}
}
