package scenarios

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// runRequest runs a step with a request, or those of its rows.
func (p *play) runRequest(st *Step) (*StepResult, error) {
	if st.Rows == nil {
		return p.runOne(st)
	}
	result := &StepResult{Step: st}
	for i := range st.Rows {
		row, err := st.row(&st.Rows[i])
		if err != nil {
			return result, err // unreachable: check has tried it
		}
		got, err := p.runOne(row)
		if err != nil {
			return result, fmt.Errorf("rows[%d] (%s): %w", i, row, err)
		}
		if err := p.undo(got); err != nil {
			return result, fmt.Errorf("rows[%d] (%s): %w", i, row, err)
		}
		result.Rows = append(result.Rows, *got)
		for _, d := range got.Diffs {
			result.Diffs = append(result.Diffs, fmt.Sprintf("rows[%d] (%s): %s", i, row, d))
		}
	}
	return result, nil
}

// runOne sends the request of a step and compares the answer.
func (p *play) runOne(st *Step) (*StepResult, error) {
	if err := p.give(st.Given); err != nil {
		return nil, fmt.Errorf("given: %w", err)
	}
	result := &StepResult{Step: st}
	auditID := ""
	if st.Audit != nil {
		p.audited++
		auditID = fmt.Sprintf("scenario-%s-%d", p.vars["run"], p.audited)
		st = st.withHeader("Audit-Id", auditID)
	}
	got, err := p.request(st)
	if err != nil {
		return nil, err
	}
	sent := p.last
	result.Got = got
	if st.Expect != nil {
		result.Diffs = st.Expect.expand(p.vars).differences(p.matcher, got)
	}
	if st.Warnings != nil {
		result.Diffs = append(result.Diffs, warningDifferences(st.Warnings, got.Warning)...)
	}
	if st.Audit != nil {
		diffs, err := p.auditDifferences(st.Audit, auditID)
		if err != nil {
			return nil, fmt.Errorf("audit: %w", err)
		}
		result.Diffs = append(result.Diffs, diffs...)
	}
	p.normalize(st, got)
	if st.Want != nil {
		result.Diffs = p.matcher.compare(st.Want, got)
	}
	if len(result.Diffs) > 0 {
		result.Sent = sent.sent()
	}
	return result, nil
}

// give stores objects, or applies them if the server has no control endpoint.
func (p *play) give(objects Objects) error {
	if len(objects) == 0 {
		return nil
	}
	switch status, body, err := p.control("objects", map[string][]map[string]any{"store": objects}); {
	case err != nil || status == http.StatusOK:
		return err
	case status != http.StatusNotFound:
		return fmt.Errorf("%d %s", status, message(body))
	}
	_, err := p.changeAsUser(&Step{Apply: objects})
	return err
}

// withHeader returns a copy of the step with another header.
func (s *Step) withHeader(name, value string) *Step {
	out := *s
	out.Headers = maps.Clone(s.Headers)
	if out.Headers == nil {
		out.Headers = map[string]string{}
	}
	out.Headers[name] = value
	return &out
}

// expand returns the expectation with the values of variables.
func (e *Expectation) expand(vars variables) *Expectation {
	out := *e
	out.Message, out.By = vars.expand(e.Message), vars.expand(e.By)
	if e.Mutated != nil {
		out.Mutated = mapStrings(e.Mutated, vars.expand).(map[string]any)
	}
	return &out
}

// undo removes what the request of a row has created.
func (p *play) undo(r *StepResult) error {
	if r.Got == nil || r.Got.Status != http.StatusCreated || len(r.Step.Create)+len(r.Step.Apply) == 0 {
		return nil
	}
	o := r.Step.objects()[0]
	if created, ok := r.Got.Body.(map[string]any); ok && created["kind"] == o["kind"] {
		o = mapStrings(created, p.vars.expand).(map[string]any)
	}
	status, body, err := p.control("objects", map[string][]map[string]any{"remove": {o}})
	switch {
	case err != nil || status == http.StatusOK:
		return err
	case status != http.StatusNotFound:
		return fmt.Errorf("remove: %d %s", status, message(body))
	}
	path, err := p.pathOf(r.Step, o, true)
	if err != nil {
		return err
	}
	_, err = p.send(&Step{Do: "DELETE " + path + "?gracePeriodSeconds=0"}) // the server has no control endpoint
	return err
}

// auditDifferences returns the wanted annotations of the audit log that a request does not have.
func (p *play) auditDifferences(want map[string]string, auditID string) ([]string, error) {
	got, err := p.annotations(auditID)
	if err != nil {
		return nil, err
	}
	var d differences
	for _, key := range slices.Sorted(maps.Keys(want)) {
		value, ok := got[key]
		switch w := p.vars.expand(want[key]); {
		case !ok:
			d.add("audit", "want %s: %q, got only %s", key, w, short(append([]string{}, slices.Sorted(maps.Keys(got))...)))
		case !matches(w, value):
			d.add("audit", "want %s: %q, got %q", key, w, value)
		}
	}
	return d, nil
}

// annotations returns the annotations that the audit log would have of a request. The server
// records a request soon after its answer.
func (p *play) annotations(auditID string) (map[string]string, error) {
	for timeout := p.timeout(); ; {
		status, body, err := p.call(http.MethodGet, "requests", "")
		if err != nil {
			return nil, err
		}
		if status != http.StatusOK {
			return nil, fmt.Errorf("requests: %d %s", status, message(body))
		}
		var requests []struct {
			AuditID     string            `json:"auditID"`
			Annotations map[string]string `json:"annotations"`
		}
		if err := json.Unmarshal(body, &requests); err != nil {
			return nil, err
		}
		for _, r := range slices.Backward(requests) {
			if r.AuditID == auditID {
				return r.Annotations, nil
			}
		}
		if again, err := p.retry(timeout); err != nil || !again {
			return nil, err
		}
	}
}

// sent describes the request of a step with do for a report: what was sent by whom.
func (s *Step) sent() string {
	line := s.Do
	switch {
	case s.As != "" && s.Groups != nil:
		line += " as " + s.As + " of " + strings.Join(s.Groups, ", ")
	case s.As != "":
		line += " as " + s.As
	case s.User != "":
		line += " with the token " + s.User
	}
	switch {
	case s.Body != nil:
		line += "\n" + short(s.Body)
	case s.Raw != "":
		if v := decodeJSON([]byte(s.Raw)); v != nil {
			return line + "\n" + short(v)
		}
		line += "\n" + short(s.Raw)
	}
	return line
}
