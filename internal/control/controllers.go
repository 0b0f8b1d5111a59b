package control

import (
	"context"
	"fmt"
	"time"

	"github.com/kubefake/kubefake/internal/controllers"
	"github.com/kubefake/kubefake/internal/status"
)

// controllersAnswer is the answer to requests for the controllers.
type controllersAnswer struct {
	Selected []string `json:"selected"` // as --controllers has them
	Known    []string `json:"known"`    // the names of all controllers
}

func (c *Control) controllers(*Request) (any, error) {
	selected := c.manager.Selection()
	if selected == nil {
		selected = []string{}
	}
	return controllersAnswer{selected, controllers.Names()}, nil
}

func (c *Control) selectControllers(r *Request) (any, error) {
	var in struct {
		Select []string `json:"select"`
	}
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	if err := c.manager.Select(in.Select); err != nil {
		return nil, status.BadRequest("select: " + err.Error())
	}
	return c.controllers(r)
}

func (c *Control) stopControllers(r *Request) (any, error) {
	if err := c.manager.Select(nil); err != nil {
		return nil, err
	}
	return c.controllers(r)
}

func (c *Control) settle(r *Request) (any, error) {
	var in struct {
		Ahead string `json:"ahead"` // a Go duration: "90s", "10m"
	}
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	var ahead time.Duration
	if in.Ahead != "" {
		var err error
		if ahead, err = time.ParseDuration(in.Ahead); err != nil || ahead < 0 {
			return nil, status.BadRequest(fmt.Sprintf("ahead: %q is not a duration, such as 90s", in.Ahead))
		}
	}
	return c.revision(c.Settle(context.Background(), ahead))
}

// Settle runs the controllers until none has anything left to do now. On a manual
// clock it then moves the clock to the next time at which one has, as long as that is
// at most ahead of the time of the call. It returns the cause of ctx if ctx ends
// before.
func (c *Control) Settle(ctx context.Context, ahead time.Duration) error {
	clock := c.registry.Clock()
	end := clock.Now().Add(ahead)
	for {
		if err := c.manager.RunContext(ctx); err != nil {
			return err
		}
		at, ok := c.manager.Next()
		if !ok || !clock.Manual() || at.After(end) {
			return nil
		}
		if err := clock.Advance(max(0, at.Sub(clock.Now()))); err != nil {
			return err
		}
	}
}
