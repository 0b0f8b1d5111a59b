package control

import (
	"context"
	"fmt"
	"time"

	"github.com/kubefake/kubefake/internal/controllers"
	"github.com/kubefake/kubefake/internal/status"
)

// Controllers are the controllers of a server.
type Controllers struct {
	// Selected are those that run, as --controllers has them.
	Selected []string `json:"selected"`
	// Known are the names of all controllers.
	Known []string `json:"known"`
}

func (c *Control) controllers(*Request, none) (Controllers, error) {
	selected := c.manager.Selection()
	if selected == nil {
		selected = []string{}
	}
	return Controllers{selected, controllers.Names()}, nil
}

// A ControllerSelection selects the controllers that run.
type ControllerSelection struct {
	// Select has the syntax of --controllers.
	Select []string `json:"select"`
}

func (c *Control) selectControllers(r *Request, in ControllerSelection) (Controllers, error) {
	if err := c.manager.Select(in.Select); err != nil {
		return Controllers{}, status.BadRequest("select: " + err.Error())
	}
	return c.controllers(r, none{})
}

func (c *Control) stopControllers(r *Request, _ none) (Controllers, error) {
	if err := c.manager.Select(nil); err != nil {
		return Controllers{}, err
	}
	return c.controllers(r, none{})
}

// A Settling says how far to move the clock.
type Settling struct {
	// Ahead is a duration, such as 90s or 10m. A manual clock moves up to that long ahead
	// to each next time at which a controller has something to do. The default is 0s.
	Ahead string `json:"ahead,omitempty"`
}

func (c *Control) settle(_ *Request, in Settling) (Revision, error) {
	var ahead time.Duration
	if in.Ahead != "" {
		var err error
		if ahead, err = time.ParseDuration(in.Ahead); err != nil || ahead < 0 {
			return Revision{}, status.BadRequest(fmt.Sprintf("ahead: %q is not a duration, such as 90s", in.Ahead))
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
