package scenarios

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// A Script plays the server's part in a scenario: it answers each request as the
// scenario wants a server to answer it. Placeholders become values of their
// class, the same in every play, and ${ns} and ${run} are what Play makes of them
// on a fresh server. The events of a watch are sent as soon as all that stands
// before them has been asked. Steps of other sorts are passed over.
//
// It serves any number of requests at the same time.
type Script struct {
	scenario   *Scenario
	report     func(problem string)
	concurrent bool

	mu      sync.Mutex
	names   names
	stand   standIns
	asked   []bool                   // by step, of exchanges
	next    int                      // the first step that is still to come
	streams []*scriptStream          // by step, of watches
	open    map[string]*scriptStream // by name
}

// A scriptStream is what a watch has sent, or is to send.
type scriptStream struct {
	contentType string
	events      [][]byte
	ended       bool
	change      chan struct{} // closed at the next change
}

func (s *scriptStream) changed() {
	close(s.change)
	s.change = make(chan struct{})
}

// NewScript returns the script of a scenario. Report is told of requests that are
// not in it; one call at a time.
//
// It fails for a scenario that does not tell whole answers: whose requests have
// no want, or compare only a part of the body.
func NewScript(s *Scenario, report func(problem string), options ...StrictOption) (*Script, error) {
	for i := range s.Steps {
		if err := answerable(&s.Steps[i]); err != nil {
			return nil, fmt.Errorf("step %d (%s): %w", i, &s.Steps[i], err)
		}
	}
	run := word(fmt.Sprintf("%s %d", s, 0))
	script := &Script{
		scenario: s, report: report,
		names:   names{"run": run, "ns": "s-" + run},
		stand:   standIns{},
		asked:   make([]bool, len(s.Steps)),
		streams: make([]*scriptStream, len(s.Steps)),
		open:    map[string]*scriptStream{},
	}
	for _, option := range options {
		option(script)
	}
	for i := range s.Steps {
		if st := &s.Steps[i]; st.Watch != "" {
			script.streams[i] = &scriptStream{contentType: st.Want.Headers["Content-Type"], change: make(chan struct{})}
		}
	}
	script.advance()
	return script, nil
}

func answerable(st *Step) error {
	switch {
	case st.Do == "" && st.Watch == "" && st.Events == "":
		return nil
	case st.Want == nil:
		return errors.New("it has no want")
	case len(st.Only) > 0:
		return errors.New("it tells only a part of the answer")
	}
	return nil
}

// Left are the requests that have not been made.
func (s *Script) Left() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var left []string
	for i := range s.scenario.Steps {
		if st := &s.scenario.Steps[i]; !s.asked[i] && isExchange(st) {
			left = append(left, fmt.Sprintf("step %d, %s", i, lineOf(st)))
		}
	}
	return left
}

func isExchange(st *Step) bool { return st.Do != "" || st.Watch != "" }

// lineOf is the method and the path of an exchange.
func lineOf(st *Step) string {
	if st.Watch != "" {
		return "GET " + st.Watch
	}
	return st.Do
}

// ServeHTTP answers a request.
func (s *Script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	want, stream, problem := s.answer(r, body)
	var answer []byte
	if problem == "" && stream == nil {
		if answer, err = encodeBody(want.Headers["Content-Type"], want.Body); err != nil {
			problem = s.cannot(r, err)
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
		s.send(w, r, stream)
		return
	}
	w.Write(answer)
}

// cannot reports an answer that cannot be given.
func (s *Script) cannot(r *http.Request, err error) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	problem := fmt.Sprintf("%s %s: the answer cannot be sent: %v", r.Method, r.URL.RequestURI(), err)
	s.report(problem)
	return problem
}

// answer finds the answer to a request and, for a watch, the stream that follows
// it; or says what is wrong.
func (s *Script) answer(r *http.Request, body []byte) (want *Answer, stream *scriptStream, problem string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	nearest, nearestStep := []string(nil), -1
	turn := true // whether nothing that is still to come has to come before
	var passed []*Step
	for i := s.next; i < len(s.scenario.Steps); i++ {
		st := &s.scenario.Steps[i]
		if s.asked[i] || !isExchange(st) {
			continue
		}
		diffs := s.differs(st, r, body)
		if len(diffs) == 0 && turn && s.mayPass(st, passed) {
			s.asked[i] = true
			want, stream = s.fill(st), s.streams[i]
			s.advance()
			if want.Status != http.StatusOK {
				stream = nil
			}
			return want, stream, ""
		}
		if len(diffs) == 0 {
			diffs = []string{fmt.Sprintf("it is not its turn: step %d, %s, comes before", s.next, s.names.expand(lineOf(&s.scenario.Steps[s.next])))}
		}
		if nearestStep < 0 || weight(diffs) < weight(nearest) {
			nearest, nearestStep = diffs, i
		}
		turn = s.concurrent
		passed = append(passed, st)
	}
	problem = fmt.Sprintf("unexpected request: %s %s", r.Method, r.URL.RequestURI())
	if nearestStep < 0 {
		problem += "\n  nothing more is expected"
	} else {
		problem += fmt.Sprintf("\n  nearest is step %d, %s\n    %s", nearestStep, s.names.expand(lineOf(&s.scenario.Steps[nearestStep])), strings.Join(nearest, "\n    "))
	}
	s.report(problem)
	return nil, nil, problem
}

// mayPass reports whether a request may come before others that are still to
// come.
func (s *Script) mayPass(st *Step, others []*Step) bool {
	method, target, _ := strings.Cut(lineOf(st), " ")
	path, _, _ := strings.Cut(target, "?")
	for _, other := range others {
		m, t, _ := strings.Cut(lineOf(other), " ")
		p, _, _ := strings.Cut(t, "?")
		if p == path || m != http.MethodGet && method != http.MethodGet {
			return false
		}
	}
	return true
}

// advance passes over what has been asked, and sends the events that come then.
func (s *Script) advance() {
	for ; s.next < len(s.scenario.Steps); s.next++ {
		st := &s.scenario.Steps[s.next]
		switch {
		case isExchange(st):
			if !s.asked[s.next] {
				return
			}
			s.open[st.As] = s.streams[s.next]
		case st.Events != "":
			stream := s.open[st.Events]
			for _, e := range s.fill(st).Events {
				b, err := encodeEvent(stream.contentType, e)
				if err != nil {
					s.report(fmt.Sprintf("step %d, %s: an event cannot be sent: %v", s.next, st, err))
					stream.ended = true
					break
				}
				stream.events = append(stream.events, b)
			}
			stream.ended = stream.ended || st.Ends
			stream.changed()
		}
	}
}

// differs tells how a request differs from a step: its method, its path, its
// query and its body count, but not how long a watch may last, nor secrets that
// were taken out of a recording.
func (s *Script) differs(st *Step, r *http.Request, body []byte) []string {
	var d differences
	method, target, _ := strings.Cut(lineOf(st), " ")
	if method != r.Method {
		d.add("method", "want %s, got %s", method, r.Method)
	}
	u, err := url.ParseRequestURI(s.names.expand(target))
	if err != nil {
		return []string{err.Error()}
	}
	if u.Path != r.URL.Path {
		d.add("path", "want %s, got %s", u.Path, r.URL.Path)
	}
	wantQuery, query := u.Query(), r.URL.Query()
	delete(wantQuery, "timeoutSeconds") // clients draw it
	delete(query, "timeoutSeconds")
	for _, k := range slices.Sorted(maps.Keys(wantQuery)) {
		if !slices.Equal(wantQuery[k], query[k]) {
			d.add("query "+k, "want %q, got %q", wantQuery[k], query[k])
		}
	}
	for _, k := range slices.Sorted(maps.Keys(query)) {
		if _, ok := wantQuery[k]; !ok {
			d.add("query "+k, "not wanted, got %q", query[k])
		}
	}
	switch {
	case st.Body != nil:
		want, err := json.Marshal(st.Body)
		if err != nil {
			return []string{err.Error()}
		}
		newMatcher().value("body", unscrub(decodeJSON([]byte(s.names.expand(string(want))))), decodeSent(r.Header.Get("Content-Type"), body), &d)
	default:
		want := []byte(s.names.expand(st.Raw))
		if st.Base64 != "" {
			want, _ = base64.StdEncoding.DecodeString(st.Base64)
		}
		if !bytes.Equal(want, body) {
			d.add("body", "want %s, got %s", short(string(want)), short(string(body)))
		}
	}
	return d
}

// weight says how much differences weigh: the path most, then the method.
func weight(diffs []string) int {
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

// send sends the events of a watch until it ends or the client goes.
func (s *Script) send(w http.ResponseWriter, r *http.Request, stream *scriptStream) {
	flush := http.NewResponseController(w)
	for sent := 0; ; {
		s.mu.Lock()
		events, ended, change := stream.events[sent:], stream.ended, stream.change
		s.mu.Unlock()
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
