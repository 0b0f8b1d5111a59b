package scenarios

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/kubefake/kubefake/internal/status"
)

// act runs a step that has no answer.
func (p *play) act(st *Step) error {
	switch {
	case len(st.Store)+len(st.Remove) > 0:
		return p.change(st.Change)
	case st.Compact != nil && p.Compact != nil:
		return p.Compact()
	case st.Compact != nil:
		return p.post("compact", compaction(*st.Compact))
	case st.Pause != 0:
		if err := p.passTime(time.Duration(st.Pause), p.wait); err != nil || p.Paused == nil {
			return err
		}
		return p.Paused(p.ctx)
	case st.Advance != 0:
		return p.passTime(time.Duration(st.Advance), p.advance)
	case st.Lag != nil:
		return p.post("lag", st.Lag)
	case st.Fault != nil:
		return p.post("faults", st.Fault)
	case st.Restart != "":
		return p.post("faults", map[string]string{"resource": st.Restart, "watch": "close", "watches": "open"})
	case st.Upgrade != "":
		return p.post("upgrade", map[string]string{"release": st.Upgrade})
	}
	return errors.New("unreachable: a step without an action") // Scenario.check rejects it
}

// change stores and removes objects.
func (p *play) change(c Change) error {
	return p.post("objects", map[string][]map[string]any{"store": c.Store, "remove": c.Remove})
}

// post posts a request to the server's control endpoint.
func (p *play) post(name string, in any) error {
	status, body, err := p.control(name, in)
	if err != nil {
		return err
	}
	if status != http.StatusOK {
		return fmt.Errorf("%s: %d %s", name, status, message(body))
	}
	return nil
}

// control posts a request to the server's control endpoint and returns the answer.
func (p *play) control(name string, in any) (int, []byte, error) {
	b, err := marshal(in)
	if err != nil {
		return 0, nil, err
	}
	return p.call(http.MethodPost, name, string(b))
}

// call sends a request to the server's control endpoint. It names its audit ID
// itself: the server numbers the requests without one, and how often a play asks
// for the clock differs from play to play.
func (p *play) call(method, name, body string) (int, []byte, error) {
	step := &Step{Raw: body, Headers: map[string]string{"Audit-Id": "scenario"}}
	req, err := p.newRequest(p.ctx, step, method+" /debug/fakeapi/"+name)
	if err != nil {
		return 0, nil, err
	}
	resp, err := p.client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp.StatusCode, b, err
}

// message returns the message of a Status, or the body if it is no Status.
func message(body []byte) string { return status.MessageOf(body) }
