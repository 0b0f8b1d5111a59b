package scenarios

import (
	"context"
	"fmt"
	"net/http"

	"github.com/kubefake/kubefake/internal/control"
	"github.com/kubefake/kubefake/internal/status"
)

func init() { control.PlayScenarios = playText }

// playText plays scenarios for the control endpoint of a server. Scenarios that name files are refused: their
// names would be those of the machine of the server.
func playText(ctx context.Context, url string, transport http.RoundTripper, token, text string) (control.Played, error) {
	f, err := Parse("the text", []byte(text))
	if err != nil {
		return control.Played{}, status.BadRequest(err.Error())
	}
	for _, s := range f.Scenarios {
		if len(s.Files) > 0 {
			return control.Played{}, status.BadRequest(fmt.Sprintf("%s: files: the server reads no files for it; play it with fakeapi play", s))
		}
	}
	if len(f.Scenarios) == 0 {
		return control.Played{}, status.BadRequest("the text has no scenario")
	}
	p := &Player{URL: url, Transport: transport, Token: token}
	played := control.Played{Scenarios: []control.PlayedScenario{}}
	for _, s := range f.Scenarios {
		r := p.Play(ctx, s)
		one := control.PlayedScenario{Name: s.String(), Passed: !r.Failed(), Steps: len(r.Steps), Of: len(s.Steps)}
		if !one.Passed {
			one.Report = r.String()
		}
		played.Scenarios = append(played.Scenarios, one)
	}
	return played, ctx.Err()
}
