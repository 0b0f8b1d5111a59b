package control

import (
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
