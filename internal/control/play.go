package control

import (
	"context"
	"net/http"
)

// PlayScenarios plays the scenarios of a text against the server at a URL, with a bearer token for steps without a
// user. Its errors are of type *status.Status. Package scenarios, which is built on servers, sets it: in a program
// without that package it is nil.
var PlayScenarios func(ctx context.Context, url string, transport http.RoundTripper, token, text string) (Played, error)

// Scenarios are the scenarios of a file.
type Scenarios struct {
	// Scenarios is the text of the file. It names no other files.
	Scenarios string `json:"scenarios"`
}

// Played are the results of scenarios, in their order.
type Played struct {
	Scenarios []PlayedScenario `json:"scenarios"`
}

// A PlayedScenario is the result of a scenario.
type PlayedScenario struct {
	Name string `json:"name"`
	// Passed reports that all answers were as the scenario has them.
	Passed bool `json:"passed"`
	// Steps is the number of steps that were run, and Of the number of those of the scenario.
	Steps int `json:"steps"`
	Of    int `json:"of"`
	// Report says which answers differ; empty if none does.
	Report string `json:"report,omitempty"`
}

func (c *Control) play(r *Request, in Scenarios) (Played, error) {
	h, err := c.theHost()
	if err != nil {
		return Played{}, err
	}
	return h.Play(r.Context, in.Scenarios)
}
