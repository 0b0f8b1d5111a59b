package scenarios

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// act takes a step that nobody answers.
func (p *play) act(st *Step) error {
	switch {
	case len(st.Put)+len(st.Delete) > 0:
		return p.change(st.Change)
	case st.Compact != nil && p.Compact != nil:
		return p.Compact()
	case st.Compact != nil:
		return p.control("compact", compaction(*st.Compact))
	case st.Pause != 0:
		return p.pass(time.Duration(st.Pause), p.wait)
	case st.Advance != 0:
		return p.pass(time.Duration(st.Advance), p.advance)
	case st.Lag != nil:
		return p.control("lag", st.Lag)
	case st.Fault != nil:
		return p.control("faults", st.Fault)
	case st.Restart != "":
		return p.control("faults", map[string]string{"resource": st.Restart, "watch": "close", "watches": "open"})
	}
	return fmt.Errorf("unreachable: a step of no sort") // Parse refuses it
}

// change puts and deletes objects.
func (p *play) change(c Change) error {
	return p.control("objects", map[string][]map[string]any{"put": c.Put, "delete": c.Delete})
}

// control asks something of the server's control endpoint.
func (p *play) control(name string, in any) error {
	b, err := marshal(in)
	if err != nil {
		return err
	}
	status, body, err := p.call(http.MethodPost, name, string(b))
	if err != nil {
		return err
	}
	if status != http.StatusOK {
		return fmt.Errorf("%s: %d %s", name, status, message(body))
	}
	return nil
}

// call calls the control endpoint.
func (p *play) call(method, name, body string) (int, []byte, error) {
	req, err := p.newRequest(p.ctx, &Step{Raw: body}, method+" /debug/fakeapi/"+name)
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

// message is what a Status says, or the body if it is none.
func message(body []byte) string {
	var status struct{ Message string }
	if json.Unmarshal(body, &status) == nil && status.Message != "" {
		return status.Message
	}
	return strings.TrimSpace(string(body))
}
