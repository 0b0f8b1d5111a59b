package scenarios

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/kubefake/kubefake/internal/printable"
)

// A Replayer is a handler that answers the requests of a scenario as its steps
// want a server to. Each placeholder becomes a value of its class, the same in
// every replay; ${ns} and ${run} have the values that they have when Play plays
// the scenario on a fresh server. The events of a watch are sent once all requests
// before them in the scenario were made. Other steps are skipped.
//
// It may serve concurrent requests.
type Replayer struct {
	scenario   *Scenario
	report     func(problem string)
	concurrent bool

	mu       sync.Mutex // guards the fields below
	vars     variables
	values   valueSource
	answered []bool                   // by step: the request was made
	next     int                      // the first remaining step
	streams  []*replayStream          // by step: the stream of a watch
	open     map[string]*replayStream // the open watches, by name
}

// A replayStream holds the events of a watch that were sent or may be sent.
type replayStream struct {
	contentType string
	events      [][]byte
	ended       bool
	change      chan struct{} // closed and replaced at each change
}

func (s *replayStream) notify() {
	close(s.change)
	s.change = make(chan struct{})
}

// NewReplayer returns a replayer of a scenario. It calls report, one call at a
// time, for each unexpected request and each answer that it cannot send.
//
// It fails with [ErrNotReplayable] for a scenario without complete answers.
func NewReplayer(s *Scenario, report func(problem string), options ...ReplayOption) (*Replayer, error) {
	for i := range s.Steps {
		if problem := unanswerable(&s.Steps[i]); problem != "" {
			return nil, fmt.Errorf("%w: step %d (%s): %s", ErrNotReplayable, i, &s.Steps[i], problem)
		}
	}
	run := hashName(fmt.Sprintf("%s %d", s, 0))
	replayer := &Replayer{
		scenario: s, report: func(problem string) { report(printable.Text(problem)) },
		vars:     variables{"run": run, "ns": "s-" + run},
		values:   valueSource{},
		answered: make([]bool, len(s.Steps)),
		streams:  make([]*replayStream, len(s.Steps)),
		open:     map[string]*replayStream{},
	}
	for _, option := range options {
		option(replayer)
	}
	for i := range s.Steps {
		if st := &s.Steps[i]; st.Watch != "" {
			replayer.streams[i] = &replayStream{contentType: st.Want.Headers["Content-Type"], change: make(chan struct{})}
		}
	}
	replayer.advance()
	return replayer, nil
}

// unanswerable returns why a step has no complete answer, or "".
func unanswerable(st *Step) string {
	switch {
	case st.Do == "" && st.Watch == "" && st.Events == "":
		return ""
	case st.Want == nil:
		return "it has no want"
	case len(st.Only) > 0:
		return "its want has only a part of the answer"
	}
	return ""
}

// Remaining returns the requests of the scenario that were not made.
func (rp *Replayer) Remaining() []string {
	rp.mu.Lock()
	defer rp.mu.Unlock()
	var remaining []string
	for i := range rp.scenario.Steps {
		if st := &rp.scenario.Steps[i]; !rp.answered[i] && isExchange(st) {
			remaining = append(remaining, fmt.Sprintf("step %d, %s", i, requestLine(st)))
		}
	}
	return remaining
}

func isExchange(st *Step) bool { return st.Do != "" || st.Watch != "" }

// requestLine returns the method and the path of an exchange.
func requestLine(st *Step) string {
	if st.Watch != "" {
		return "GET " + st.Watch
	}
	return st.Do
}

// ServeHTTP answers a request. It answers an unexpected request with 500.
func (rp *Replayer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has disconnected
	}
	want, stream, problem := rp.match(r, body)
	var answer []byte
	if problem == "" && stream == nil {
		if answer, err = encodeBody(want.Headers["Content-Type"], want.Body); err != nil {
			problem = rp.reportAnswerError(r, err)
		}
	}
	if problem != "" {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusInternalServerError)
		b, _ := marshal(map[string]any{"apiVersion": "v1", "kind": "Status", "status": "Failure", "code": 500, "message": problem})
		w.Write(b)
		return
	}
	for k, v := range want.Headers {
		w.Header().Set(k, v)
	}
	for _, warning := range want.Warning {
		w.Header().Add("Warning", warning)
	}
	w.WriteHeader(want.Status)
	if stream != nil {
		rp.send(w, r, stream)
		return
	}
	w.Write(answer)
}

// reportAnswerError reports an answer that cannot be encoded.
func (rp *Replayer) reportAnswerError(r *http.Request, err error) string {
	rp.mu.Lock()
	defer rp.mu.Unlock()
	problem := fmt.Sprintf("%s %s: the answer cannot be sent: %v", r.Method, r.URL.RequestURI(), err)
	rp.report(problem)
	return problem
}

// match returns the answer to a request and, for a watch, the stream of its
// events. If the request is not expected, it returns the problem instead.
func (rp *Replayer) match(r *http.Request, body []byte) (want *Answer, stream *replayStream, problem string) {
	rp.mu.Lock()
	defer rp.mu.Unlock()
	nearest, nearestStep := []string(nil), -1
	next := true // no remaining request must come before st
	var earlier []*Step
	for i := rp.next; i < len(rp.scenario.Steps); i++ {
		st := &rp.scenario.Steps[i]
		if rp.answered[i] || !isExchange(st) {
			continue
		}
		diffs := rp.compare(st, r, body)
		if len(diffs) == 0 && next && rp.mayOvertake(st, earlier) {
			rp.answered[i] = true
			want, stream = rp.answer(st), rp.streams[i]
			rp.advance()
			if want.Status != http.StatusOK {
				stream = nil
			}
			return want, stream, ""
		}
		if len(diffs) == 0 {
			diffs = []string{fmt.Sprintf("step %d, %s, must come before it", rp.next, rp.vars.expand(requestLine(&rp.scenario.Steps[rp.next])))}
		}
		if nearestStep < 0 || distance(diffs) < distance(nearest) {
			nearest, nearestStep = diffs, i
		}
		next = rp.concurrent
		earlier = append(earlier, st)
	}
	problem = fmt.Sprintf("unexpected request: %s %s", r.Method, r.URL.RequestURI())
	if nearestStep < 0 {
		problem += "\n  no more requests are expected"
	} else {
		problem += fmt.Sprintf("\n  the most similar step is %d, %s\n    %s", nearestStep, rp.vars.expand(requestLine(&rp.scenario.Steps[nearestStep])), strings.Join(nearest, "\n    "))
	}
	rp.report(problem)
	return nil, nil, problem
}

// mayOvertake reports whether a request may come before the given remaining
// requests.
func (rp *Replayer) mayOvertake(st *Step, others []*Step) bool {
	method, target, _ := strings.Cut(requestLine(st), " ")
	path, _, _ := strings.Cut(target, "?")
	for _, other := range others {
		m, t, _ := strings.Cut(requestLine(other), " ")
		p, _, _ := strings.Cut(t, "?")
		if p == path || m != http.MethodGet && method != http.MethodGet {
			return false
		}
	}
	return true
}

// advance moves next past the requests that were made and sends the events after
// them.
func (rp *Replayer) advance() {
	for ; rp.next < len(rp.scenario.Steps); rp.next++ {
		st := &rp.scenario.Steps[rp.next]
		switch {
		case isExchange(st):
			if !rp.answered[rp.next] {
				return
			}
			rp.open[st.As] = rp.streams[rp.next]
		case st.Events != "":
			stream := rp.open[st.Events]
			for _, e := range rp.answer(st).Events {
				b, err := encodeEvent(stream.contentType, e)
				if err != nil {
					rp.report(fmt.Sprintf("step %d, %s: an event cannot be sent: %v", rp.next, st, err))
					stream.ended = true
					break
				}
				stream.events = append(stream.events, b)
			}
			stream.ended = stream.ended || st.Ends
			stream.notify()
		}
	}
}

// compare returns how a request differs from a step: in its method, path, query
// and body. It ignores the query timeoutSeconds, which clients choose at random,
// and secrets, which the recording does not have.
func (rp *Replayer) compare(st *Step, r *http.Request, body []byte) []string {
	var d differences
	method, target, _ := strings.Cut(requestLine(st), " ")
	if method != r.Method {
		d.add("method", "want %s, got %s", method, r.Method)
	}
	u, err := url.ParseRequestURI(rp.vars.expand(target))
	if err != nil {
		return []string{err.Error()}
	}
	if u.Path != r.URL.Path {
		d.add("path", "want %s, got %s", u.Path, r.URL.Path)
	}
	wantQuery, query := u.Query(), r.URL.Query()
	delete(wantQuery, "timeoutSeconds")
	delete(query, "timeoutSeconds")
	for _, k := range slices.Sorted(maps.Keys(wantQuery)) {
		if !slices.Equal(wantQuery[k], query[k]) {
			d.add("query "+k, "want %q, got %q", wantQuery[k], query[k])
		}
	}
	for _, k := range slices.Sorted(maps.Keys(query)) {
		if _, ok := wantQuery[k]; !ok {
			d.add("query "+k, "unexpected, got %q", query[k])
		}
	}
	switch {
	case st.Body != nil:
		want, err := json.Marshal(st.Body)
		if err != nil {
			return []string{err.Error()}
		}
		newMatcher().value("body", unscrub(decodeJSON([]byte(rp.vars.expand(string(want))))), decodeRequest(r.Header.Get("Content-Type"), body), &d)
	default:
		want := []byte(rp.vars.expand(st.Raw))
		if st.Base64 != "" {
			want, _ = base64.StdEncoding.DecodeString(st.Base64)
		}
		if !bytes.Equal(want, body) {
			d.add("body", "want %s, got %s", short(string(want)), short(string(body)))
		}
	}
	return d
}

// distance returns how different a request is. A different path counts most, then
// a different method.
func distance(diffs []string) int {
	sum := 0
	for _, d := range diffs {
		switch {
		case strings.HasPrefix(d, "path:"):
			sum += 1000
		case strings.HasPrefix(d, "method:"):
			sum += 100
		default:
			sum++
		}
	}
	return sum
}

// send sends the events of a watch until the stream ends or the client
// disconnects.
func (rp *Replayer) send(w http.ResponseWriter, r *http.Request, stream *replayStream) {
	flush := http.NewResponseController(w)
	for sent := 0; ; {
		rp.mu.Lock()
		events, ended, change := stream.events[sent:], stream.ended, stream.change
		rp.mu.Unlock()
		for _, e := range events {
			w.Write(e)
		}
		sent += len(events)
		if flush.Flush() != nil || ended {
			return
		}
		select {
		case <-change:
		case <-r.Context().Done():
			return
		}
	}
}
