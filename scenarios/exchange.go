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
	// retryInterval is the time between two tries of a request that is repeated.
	retryInterval = 20 * time.Millisecond
	// heldInterval is the time between two looks at whether a request is held back.
	heldInterval = time.Millisecond
)

// take takes a step, and tells the answer and how it differs.
func (p *play) take(st *Step) (*Answer, []string, error) {
	if err := p.reach(st.At); err != nil {
		return nil, nil, err
	}
	var got *Answer
	var err error
	switch {
	case st.Do != "":
		got, err = p.request(st)
	case st.Watch != "":
		got, err = p.watch(st)
	case st.Events != "":
		got, err = p.events(st)
	case st.Expect != "":
		return p.expect(st)
	default:
		return nil, nil, p.act(st)
	}
	if err != nil {
		return nil, nil, err
	}
	p.normalize(st, got)
	if st.Want == nil {
		return got, nil, nil
	}
	return got, p.matcher.answer(st.Want, got), nil
}

// normalize leaves in got what is compared, in the names of the scenario.
func (p *play) normalize(st *Step, got *Answer) {
	tidy := func(v any) any {
		v = mapStrings(v, p.folder.Replace)
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
		got.Body = tidy(got.Body)
	}
	for i, e := range got.Events {
		if e != noEvent {
			got.Events[i] = tidy(e)
		}
	}
	for i := range got.Warning {
		got.Warning[i] = p.folder.Replace(got.Warning[i])
	}
}

// request sends a request, again until it is answered as it has to be.
func (p *play) request(st *Step) (*Answer, error) {
	over := p.patience()
	for {
		got, err := p.send(st)
		if err != nil {
			return nil, err
		}
		if st.Until != 0 && got.Status != st.Until {
			again, err := p.retry(over)
			if err != nil {
				return nil, err
			}
			if again {
				continue
			}
		}
		capture(st, got.Body, "", p.bind)
		return got, nil
	}
}

// send sends a request once. A step that advances the clock does so while the
// server holds the request back.
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
	} else if err := p.advanceAmid(req, r, time.Duration(st.Advance)); err != nil {
		return nil, err
	}
	if r.err != nil {
		return nil, r.err
	}
	p.noteAnswer(req, r.Response, r.body)
	captureHeaders(st, r.Header, p.bind)
	got := answerOf(r.Response)
	got.Body = decodeBody(r.Header.Get("Content-Type"), r.body)
	return got, nil
}

// A reply is a whole answer, or why there is none.
type reply struct {
	*http.Response
	body []byte
	err  error
	done chan struct{} // closed once the rest is there
}

func (r *reply) fetch(client *http.Client, req *http.Request) {
	defer close(r.done)
	if r.Response, r.err = client.Do(req); r.err != nil {
		return
	}
	defer r.Body.Close()
	r.body, r.err = io.ReadAll(r.Body)
}

// advanceAmid fetches the reply to a request and advances the clock as soon as
// the server waits for a moment of it.
func (p *play) advanceAmid(req *http.Request, r *reply, d time.Duration) error {
	before, err := p.clock()
	if err != nil {
		return err
	}
	go r.fetch(p.client, req)
	defer func() { <-r.done }()
	over := p.patience()
	for held := false; !held; {
		select {
		case <-r.done:
			held = true // or not at all
		case <-over:
			held = true // by something that was there before
		case <-time.After(heldInterval):
			now, err := p.clock()
			if err != nil {
				return err
			}
			held = now.Waiting > before.Waiting
		}
	}
	return p.pass(d, p.advance)
}

// answerOf is the answer without its body.
func answerOf(resp *http.Response) *Answer {
	return &Answer{
		Status:  resp.StatusCode,
		Headers: headersOf(resp.Header),
		Warning: slices.Clone(resp.Header.Values("Warning")),
	}
}

// watch opens a watch.
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
	p.noteAnswer(req, resp, nil)
	got := answerOf(resp)
	if old := p.streams[st.As]; old != nil {
		old.close()
	}
	p.streams[st.As], got.Body, err = openStream(resp, cancel)
	return got, err
}

// events reads from a watch. What does not come is told in the place of an
// event.
func (p *play) events(st *Step) (*Answer, error) {
	s := p.streams[st.Events]
	got := &Answer{}
	for len(got.Events) < st.Count {
		e, ok, err := p.next(s)
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
		p.noteEvent(e)
		capture(st, e, strconv.Itoa(len(got.Events)-1)+".", p.bind)
	}
	if st.Ends {
		switch e, ok, err := p.next(s); {
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

// noEvent stands in the place of an event that did not come.
const noEvent = "<no event in time>"

// next waits for an event; it reports false at the end of the stream.
func (p *play) next(s *stream) (e any, ok bool, err error) {
	over := p.patience()
	for {
		select {
		case e, ok = <-s.events:
			return e, ok, nil
		case <-p.due():
			if err := p.catchUp(); err != nil {
				return nil, false, err
			}
		case <-over:
			return noEvent, true, nil
		case <-p.ctx.Done():
			return nil, false, p.ctx.Err()
		}
	}
}

// expect reads until it is answered what is wanted.
func (p *play) expect(st *Step) (*Answer, []string, error) {
	over := p.patience()
	if st.Within > 0 {
		over = time.After(time.Duration(st.Within))
	}
	get := *st
	get.Do = "GET " + st.Expect
	for {
		got, err := p.send(&get)
		if err != nil {
			return nil, nil, err
		}
		p.normalize(st, got)
		m := p.matcher.try()
		m.partial = true
		diffs := m.expected(st.Want, got)
		again := len(diffs) > 0
		if again {
			if again, err = p.retry(over); err != nil {
				return nil, nil, err
			}
		}
		if !again {
			if len(diffs) == 0 {
				p.matcher.adopt(m)
			}
			capture(st, got.Body, "", p.bind)
			return got, diffs, nil
		}
	}
}

// patience returns a channel that tells when it is over.
func (p *play) patience() <-chan time.Time {
	if p.Patience == 0 {
		return time.After(defaultPatience)
	}
	return time.After(p.Patience)
}

// retry waits before a request is repeated, and reports whether there is
// patience for that.
func (p *play) retry(over <-chan time.Time) (bool, error) {
	select {
	case <-over:
		return false, nil
	case <-time.After(retryInterval):
		return true, p.catchUp()
	case <-p.ctx.Done():
		return false, p.ctx.Err()
	}
}

// bind gives a name that a step captures its value.
func (p *play) bind(name, value string) { p.names[name], p.matcher.captured[name] = value, value }

func (p *play) newRequest(ctx context.Context, st *Step, line string) (*http.Request, error) {
	method, path, _ := strings.Cut(line, " ")
	body, err := p.body(st)
	if err != nil {
		return nil, err
	}
	// A nil reader, not an empty one, keeps a request without a body.
	var reader io.Reader
	if body != nil {
		reader = bytes.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(p.URL, "/")+p.names.expand(path), reader)
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
	for k, v := range st.Headers {
		if v == "" {
			req.Header.Del(k)
		} else {
			req.Header.Set(k, p.names.expand(v))
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

// body returns nil where the step sends none.
func (p *play) body(st *Step) ([]byte, error) {
	switch {
	case st.Body != nil:
		b, err := json.Marshal(st.Body)
		return []byte(p.names.expand(string(b))), err
	case st.Raw != "":
		return []byte(p.names.expand(st.Raw)), nil
	case st.Base64 != "":
		return base64.StdEncoding.DecodeString(st.Base64)
	}
	return nil, nil
}

// noteAnswer adds an exchange to the transcript.
func (p *play) noteAnswer(req *http.Request, resp *http.Response, body []byte) {
	if p.Transcript == nil {
		return
	}
	p.note("> %s %s\n< %d\n", req.Method, p.folder.Replace(req.URL.RequestURI()), resp.StatusCode)
	for _, k := range slices.Sorted(maps.Keys(resp.Header)) {
		for _, v := range resp.Header[k] {
			if k != "Date" {
				p.note("< %s: %s\n", k, p.folder.Replace(v))
			}
		}
	}
	if len(body) > 0 {
		p.note("%s\n", strings.TrimSuffix(p.folder.Replace(string(body)), "\n"))
	}
}

// noteEvent adds an event to the transcript.
func (p *play) noteEvent(e any) {
	if p.Transcript == nil {
		return
	}
	b, err := marshal(e)
	if err != nil {
		b = fmt.Append(nil, e)
	}
	p.note("* %s\n", p.folder.Replace(string(b)))
}
