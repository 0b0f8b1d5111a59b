package conformance

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/kubefake/kubefake/conformance/clientsuite/target"
)

const (
	// untilInterval is the time between two tries of a request that is
	// repeated until it gets the status it waits for.
	untilInterval  = 20 * time.Millisecond
	requestTimeout = 40 * time.Second
)

// patience is how long to wait for what should come: an event, or the status
// that a request waits for. A right server in process needs next to nothing of
// it, a real server some seconds for what it does in the background.
type patience time.Duration

const (
	realPatience      = patience(10 * time.Second)
	inProcessPatience = patience(2 * time.Second)
	// littlePatience is for what no longer decides anything, after a step has
	// failed, and for scenarios that are expected to fail.
	littlePatience = patience(100 * time.Millisecond)
)

// A player plays one scenario against one server.
type player struct {
	server  *target.Server
	client  *http.Client
	vars    variables
	streams map[string]*stream
	patience
}

// newHTTPClient returns a client that leaves encodings and redirects to the
// scenarios, and trusts any server.
func newHTTPClient() *http.Client {
	return &http.Client{Transport: &http.Transport{
		TLSClientConfig:     &tls.Config{InsecureSkipVerify: true},
		DisableCompression:  true,
		MaxIdleConnsPerHost: 16,
	}}
}

// play runs the scenario in a namespace of its own and reports the steps that
// the server answered otherwise than recorded.
func play(s *scenario, server *target.Server, client *http.Client, hooks webhooks, wait patience) ([]string, error) {
	run := randomName()
	p := &player{
		server:  server,
		client:  client,
		vars:    variables{"ns": "s-" + run, "run": run, "webhook": hooks.url, "webhook_ca": hooks.ca},
		streams: map[string]*stream{},

		patience: wait,
	}
	defer func() {
		for _, st := range p.streams {
			st.close()
		}
	}()
	namespace := step{Do: "POST /api/v1/namespaces", Body: map[string]any{
		"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "s-" + run},
	}}
	if got, err := p.request(&namespace); err != nil {
		return nil, err
	} else if got.Status != http.StatusCreated {
		return nil, fmt.Errorf("creating the namespace: %d %s", got.Status, short(got.Body))
	}
	m := newMatcher()
	var failures []string
	for i := range s.Steps {
		st := &s.Steps[i]
		var diffs []string
		got, err := p.step(st)
		switch {
		case err != nil:
			diffs = []string{err.Error()}
		case st.Want != nil:
			p.normalize(s, st, got)
			diffs = m.answer(st.Want, got)
		}
		if len(diffs) > 0 {
			p.patience = littlePatience
			failures = append(failures, fmt.Sprintf("step %d (%s)\n\t%s", i, st, strings.Join(diffs, "\n\t")))
		}
	}
	return failures, nil
}

func randomName() string {
	const letters = "bcdfghjklmnpqrstvwxz" // none that make words
	b := make([]byte, 10)
	for i := range b {
		b[i] = letters[rand.IntN(len(letters))]
	}
	return string(b)
}

// normalize leaves in got what is compared, in the names that recordings use.
func (p *player) normalize(s *scenario, st *step, got *answer) {
	tidy := func(body any) any {
		body = p.vars.fold(body)
		if s.Area == "openapi" {
			dropDescriptions(body)
		}
		if !s.ManagedFields {
			dropManagedFields(body)
		}
		if len(st.Only) > 0 {
			body = only(body, st.Only)
		}
		return body
	}
	if st.Events == "" {
		got.Body = tidy(got.Body)
	}
	for i := range got.Events {
		got.Events[i] = tidy(got.Events[i])
	}
	for i := range got.Warning {
		got.Warning[i] = p.vars.fold(got.Warning[i]).(string)
	}
}

// over returns a channel that tells when patience ends.
func (p patience) over() <-chan time.Time { return time.After(time.Duration(p)) }

// step takes one step; a control gives no answer.
func (p *player) step(st *step) (*answer, error) {
	switch {
	case st.Pause != "":
		// Some answers are about time passed: expired watches, creation order.
		d, err := time.ParseDuration(st.Pause)
		if err == nil {
			<-time.After(d)
		}
		return nil, err
	case st.Compact:
		return nil, p.server.Compact()
	case st.Watch != "":
		return p.watch(st)
	case st.Events != "":
		return p.events(st)
	}
	return p.request(st)
}

func (p *player) request(st *step) (*answer, error) {
	deadline := p.over()
	for {
		got, err := p.send(st)
		if err != nil {
			return nil, err
		}
		if st.Until != 0 && got.Status != st.Until {
			select {
			case <-deadline:
			case <-time.After(untilInterval):
				continue
			}
		}
		p.capture(st, got.Body, "")
		return got, nil
	}
}

func (p *player) send(st *step) (*answer, error) {
	ctx, cancel := context.WithTimeout(context.Background(), requestTimeout)
	defer cancel()
	req, err := p.newRequest(ctx, st, st.Do)
	if err != nil {
		return nil, err
	}
	resp, err := p.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	for name, path := range st.Capture {
		if h, ok := strings.CutPrefix(path, "header."); ok {
			p.vars[name] = resp.Header.Get(h)
		}
	}
	got := answerTo(resp)
	got.Body = decodeBody(resp.Header.Get("Content-Type"), body)
	return got, nil
}

func answerTo(resp *http.Response) *answer {
	return &answer{
		Status:  resp.StatusCode,
		Headers: headersOf(resp.Header),
		Warning: resp.Header.Values("Warning"),
	}
}

func (p *player) watch(st *step) (*answer, error) {
	ctx, cancel := context.WithCancel(context.Background())
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
	got := answerTo(resp)
	if old := p.streams[st.As]; old != nil {
		old.close()
	}
	p.streams[st.As], got.Body, err = openStream(resp, cancel)
	return got, err
}

// events reads from a stream. What does not come is told in the place of an
// event.
func (p *player) events(st *step) (*answer, error) {
	s := p.streams[st.Events]
	if s == nil {
		return nil, fmt.Errorf("no stream %q", st.Events)
	}
	got := &answer{}
	for len(got.Events) < st.Count {
		select {
		case e, ok := <-s.events:
			if !ok {
				return got, nil
			}
			got.Events = append(got.Events, e)
			p.capture(st, e, strconv.Itoa(len(got.Events)-1)+".")
		case <-p.over():
			got.Events = append(got.Events, "<no event in time>")
			return got, nil
		}
	}
	if st.Ends {
		select {
		case e, ok := <-s.events:
			if ok {
				got.Events = append(got.Events, e)
			}
		case <-p.over():
			got.Events = append(got.Events, "<the stream did not end in time>")
		}
	}
	return got, nil
}

// capture binds variables to values in body: those whose path starts with
// prefix, which for events is their index.
func (p *player) capture(st *step, body any, prefix string) {
	for name, path := range st.Capture {
		path, ok := strings.CutPrefix(path, prefix)
		if !ok || strings.HasPrefix(path, "header.") {
			continue
		}
		p.vars[name] = ""
		if v, ok := lookup(body, path); ok {
			p.vars[name] = fmt.Sprint(v)
		}
	}
}

func (p *player) newRequest(ctx context.Context, st *step, line string) (*http.Request, error) {
	method, path, ok := strings.Cut(line, " ")
	if !ok {
		return nil, fmt.Errorf("%q is not METHOD /path", line)
	}
	body, err := p.body(st)
	if err != nil {
		return nil, err
	}
	// A nil reader, not an empty one, keeps a request without a body.
	var reader io.Reader
	if body != nil {
		reader = bytes.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, method, p.server.URL+p.vars.expand(path), reader)
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
	token := st.User
	if token == "" {
		token = target.AdminToken
	}
	if token != "none" {
		req.Header.Set("Authorization", "Bearer "+token)
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

// body returns nil where the step sends none.
func (p *player) body(st *step) ([]byte, error) {
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
