package scenarios

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	requestTimeout = 40 * time.Second
	// retryInterval is the delay before a request is repeated.
	retryInterval = 20 * time.Millisecond
	// waitingInterval is the delay between two checks whether the server waits
	// for its clock.
	waitingInterval = time.Millisecond
)

// runStep runs a step. A step without an answer has none in its result.
func (p *play) runStep(st *Step) (*StepResult, error) {
	if err := p.waitUntilOffset(st.At); err != nil {
		return nil, err
	}
	if st.In != "" {
		return p.runThere(st)
	}
	if st.isRequest() {
		return p.runRequest(st)
	}
	result := &StepResult{Step: st}
	var err error
	switch {
	case st.Watch != "":
		result.Got, err = p.watch(st)
	case st.Events != "":
		result.Got, err = p.events(st)
	case st.waits():
		result.Got, result.Diffs, err = p.expect(st)
		return result, err
	default:
		return result, p.act(st)
	}
	if err != nil {
		return nil, err
	}
	p.normalize(st, result.Got)
	if st.Want != nil {
		result.Diffs = p.matcher.compare(st.Want, result.Got)
	}
	return result, nil
}

// runThere runs a step in its cluster.
func (p *play) runThere(st *Step) (*StepResult, error) {
	there, err := p.in(st.In)
	if err != nil {
		return nil, err
	}
	own := *st
	own.In, own.At = "", 0
	result, err := there.runStep(&own)
	if result != nil {
		result.Step = st
	}
	return result, err
}

// normalize reduces an answer to what is compared and puts predefined variables
// in place of their values.
func (p *play) normalize(st *Step, got *Answer) {
	normalized := func(v any) any {
		v = mapStrings(v, p.unexpand.Replace)
		if p.scenario.Area == "openapi" {
			dropDescriptions(v)
		}
		if !p.scenario.ManagedFields {
			dropManagedFields(v)
		}
		if len(st.Only) > 0 {
			v = only(v, st.Only)
		}
		return v
	}
	if st.Events == "" {
		got.Body = normalized(got.Body)
	}
	for i, e := range got.Events {
		if e != noEvent {
			got.Events[i] = normalized(e)
		}
	}
	for i := range got.Warning {
		got.Warning[i] = p.unexpand.Replace(got.Warning[i])
	}
}

// request sends the request of a step, repeatedly if the step has until.
func (p *play) request(st *Step) (*Answer, error) {
	if st.Do == "" {
		got, err := p.changeAsUser(st)
		if err == nil {
			capture(st, got.Body, "", p.setVariable)
		}
		return got, err
	}
	timeout := p.timeout()
	for {
		got, err := p.send(st)
		if err != nil {
			return nil, err
		}
		if st.Until != 0 && got.Status != st.Until {
			again, err := p.retry(timeout)
			if err != nil {
				return nil, err
			}
			if again {
				continue
			}
		}
		capture(st, got.Body, "", p.setVariable)
		return got, nil
	}
}

// send sends a request once. If the step has advance, it advances the clock while
// the server waits for it.
func (p *play) send(st *Step) (*Answer, error) {
	ctx, cancel := context.WithTimeout(p.ctx, requestTimeout)
	defer cancel()
	req, err := p.newRequest(ctx, st, st.Do)
	if err != nil {
		return nil, err
	}
	r := &reply{done: make(chan struct{})}
	if st.Advance == 0 {
		r.fetch(p.client, req)
	} else if err := p.advanceDuring(req, r, time.Duration(st.Advance)); err != nil {
		return nil, err
	}
	if r.err != nil {
		return nil, r.err
	}
	p.transcriptAnswer(req, r.Response, r.body)
	p.last = st
	captureHeaders(st, r.Header, p.setVariable)
	got := answerOf(r.Response)
	got.Body = decodeBody(r.Header.Get("Content-Type"), r.body)
	return got, nil
}

// A reply is the result of a request: a complete answer or an error.
type reply struct {
	*http.Response
	body []byte
	err  error
	done chan struct{} // closed when the other fields are set
}

func (r *reply) fetch(client *http.Client, req *http.Request) {
	defer close(r.done)
	if r.Response, r.err = client.Do(req); r.err != nil {
		return
	}
	defer r.Body.Close()
	r.body, r.err = io.ReadAll(r.Body)
}

// advanceDuring sends a request and advances the clock as soon as the server waits
// for its clock.
func (p *play) advanceDuring(req *http.Request, r *reply, d time.Duration) error {
	before, err := p.clock()
	if err != nil {
		return err
	}
	go r.fetch(p.client, req)
	defer func() { <-r.done }()
	timeout := p.timeout()
	for waiting := false; !waiting; {
		select {
		case <-r.done:
			waiting = true // answered without waiting
		case <-timeout:
			waiting = true // for a timer that already existed
		case <-time.After(waitingInterval):
			now, err := p.clock()
			if err != nil {
				return err
			}
			waiting = now.Waiting > before.Waiting
		}
	}
	return p.passTime(d, p.advance)
}

// answerOf returns an answer without its body.
func answerOf(resp *http.Response) *Answer {
	return &Answer{
		Status:  resp.StatusCode,
		Headers: headersOf(resp.Header),
		Warning: slices.Clone(resp.Header.Values("Warning")),
	}
}

// watch opens a watch. A watch of the same name is closed.
func (p *play) watch(st *Step) (*Answer, error) {
	ctx, cancel := context.WithCancel(p.ctx)
	req, err := p.newRequest(ctx, st, "GET "+st.Watch)
	if err != nil {
		cancel()
		return nil, err
	}
	resp, err := p.client.Do(req)
	if err != nil {
		cancel()
		return nil, err
	}
	p.transcriptAnswer(req, resp, nil)
	got := answerOf(resp)
	if old := p.streams[st.As]; old != nil {
		old.close()
	}
	p.streams[st.As], got.Body, err = openStream(resp, cancel)
	return got, err
}

// events reads events of a watch. In place of an event that does not come in time,
// the answer has noEvent.
func (p *play) events(st *Step) (*Answer, error) {
	s := p.streams[st.Events]
	got := &Answer{}
	for len(got.Events) < st.Count {
		e, ok, err := p.nextEvent(s)
		if err != nil {
			return nil, err
		}
		if !ok {
			return got, nil
		}
		got.Events = append(got.Events, e)
		if e == noEvent {
			return got, nil
		}
		p.transcriptEvent(e)
		capture(st, e, strconv.Itoa(len(got.Events)-1)+".", p.setVariable)
	}
	if st.Ends {
		switch e, ok, err := p.nextEvent(s); {
		case err != nil:
			return nil, err
		case e == noEvent:
			got.Events = append(got.Events, "<the stream did not end in time>")
		case ok:
			got.Events = append(got.Events, e)
		}
	}
	return got, nil
}

// noEvent replaces an event that did not come in time.
const noEvent = "<no event in time>"

// nextEvent waits for an event of a watch. It returns noEvent after the timeout,
// and false at the end of the stream.
func (p *play) nextEvent(s *stream) (e any, ok bool, err error) {
	timeout := p.timeout()
	for {
		select {
		case e, ok = <-s.events:
			return e, ok, nil
		case <-p.historyDue():
			if err := p.applyDueHistory(); err != nil {
				return nil, false, err
			}
		case <-timeout:
			return noEvent, true, nil
		case <-p.ctx.Done():
			return nil, false, p.ctx.Err()
		}
	}
}

// expect repeats a GET until the answer has what the step wants.
func (p *play) expect(st *Step) (*Answer, []string, error) {
	timeout := p.timeout()
	if st.Within > 0 {
		timeout = time.After(time.Duration(st.Within))
	}
	get := *st
	get.Do = "GET " + st.Expect.Path
	for {
		got, err := p.send(&get)
		if err != nil {
			return nil, nil, err
		}
		p.normalize(st, got)
		m := p.matcher.clone()
		m.partial = true
		diffs := m.compareSubset(st.Want, got)
		again := len(diffs) > 0
		if again {
			if again, err = p.retry(timeout); err != nil {
				return nil, nil, err
			}
		}
		if !again {
			if len(diffs) == 0 {
				p.matcher.adopt(m)
			}
			capture(st, got.Body, "", p.setVariable)
			return got, diffs, nil
		}
	}
}

// timeout returns a channel that receives at the player's timeout.
func (p *play) timeout() <-chan time.Time {
	if p.Timeout == 0 {
		return time.After(defaultTimeout)
	}
	return time.After(p.Timeout)
}

// retry waits before a request is repeated. It returns false after the timeout.
func (p *play) retry(timeout <-chan time.Time) (bool, error) {
	select {
	case <-timeout:
		return false, nil
	case <-time.After(retryInterval):
		return true, p.applyDueHistory()
	case <-p.ctx.Done():
		return false, p.ctx.Err()
	}
}

// setVariable sets a captured variable.
func (p *play) setVariable(name, value string) { p.vars[name], p.matcher.captured[name] = value, value }

func (p *play) newRequest(ctx context.Context, st *Step, line string) (*http.Request, error) {
	method, path, _ := strings.Cut(line, " ")
	body, err := p.body(st)
	if err != nil {
		return nil, err
	}
	// A nil reader sends no body; an empty reader would send an empty one.
	var reader io.Reader
	if body != nil {
		reader = bytes.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(p.URL, "/")+p.vars.expand(path), reader)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", "scenario/1.0")
	req.Header.Set("Accept", "application/json")
	if st.Accept != "" {
		req.Header.Set("Accept", st.Accept)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if st.Type != "" {
		req.Header.Set("Content-Type", st.Type)
	}
	if token := p.token(st); token != "none" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	if st.As != "" && st.Watch == "" {
		req.Header.Set("Impersonate-User", p.vars.expand(st.As))
		for _, group := range st.Groups {
			req.Header.Add("Impersonate-Group", p.vars.expand(group))
		}
	}
	for k, v := range st.Headers {
		if v == "" {
			req.Header.Del(k)
		} else {
			req.Header.Set(k, p.vars.expand(v))
		}
	}
	return req, nil
}

func (p *play) token(st *Step) string {
	switch {
	case st.User != "":
		return st.User
	case p.Token != "":
		return p.Token
	}
	return DefaultToken
}

// body returns the body of a step's request, nil if it has none.
func (p *play) body(st *Step) ([]byte, error) {
	switch {
	case st.Body != nil:
		b, err := json.Marshal(st.Body)
		return []byte(p.vars.expand(string(b))), err
	case st.Raw != "":
		return []byte(p.vars.expand(st.Raw)), nil
	case st.Base64 != "":
		return base64.StdEncoding.DecodeString(st.Base64)
	}
	return nil, nil
}

// transcriptAnswer writes a request and its answer to the transcript.
func (p *play) transcriptAnswer(req *http.Request, resp *http.Response, body []byte) {
	if p.Transcript == nil {
		return
	}
	p.transcriptf("> %s %s\n< %d\n", req.Method, p.unexpand.Replace(req.URL.RequestURI()), resp.StatusCode)
	for _, k := range slices.Sorted(maps.Keys(resp.Header)) {
		for _, v := range resp.Header[k] {
			if k != "Date" {
				p.transcriptf("< %s: %s\n", k, p.unexpand.Replace(v))
			}
		}
	}
	if len(body) > 0 {
		p.transcriptf("%s\n", strings.TrimSuffix(p.unexpand.Replace(string(body)), "\n"))
	}
}

// transcriptEvent writes an event to the transcript.
func (p *play) transcriptEvent(e any) {
	if p.Transcript == nil {
		return
	}
	b, err := marshal(e)
	if err != nil {
		b = fmt.Append(nil, e)
	}
	p.transcriptf("* %s\n", p.unexpand.Replace(string(b)))
}
