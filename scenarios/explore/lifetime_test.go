package explore_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/scenarios/explore"
)

// A system that does not stop because it asks again and again why its context has ended is
// stopped, and explored.
func TestSystemThatAsksWithoutEnd(t *testing.T) {
	needsBubble(t)
	s := systemOf(t, copier{})
	start := s.Start
	s.Start = func(ctx context.Context, srv *fakeapi.Server) error {
		inner, cancel := context.WithCancel(ctx)
		defer cancel()
		if err := start(inner, srv); err != nil {
			return err
		}
		for errors.Is(inner.Err(), context.Canceled) {
		}
		return inner.Err()
	}
	s.Plans, s.For = 3, 10*time.Minute // with the race detector a run takes two seconds
	r := explore.Find(t, s)
	assert.Empty(t, r.Findings)
	assert.Equal(t, 3, r.Plans)
}
