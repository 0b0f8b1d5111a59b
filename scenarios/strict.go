package scenarios

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/kubefake/kubefake/httptest"
	"github.com/kubefake/kubefake/internal/codec"
	"github.com/kubefake/kubefake/internal/wire"
)

// Strict starts a server that answers a client under test from the one scenario
// of a file, in its order, and closes it when the test ends. A request that is
// not the one whose turn it is fails the test, and is told with what differs from
// the nearest of those that are still to come. So does one that was not made when
// the test ends.
func Strict(t TB, file string, options ...StrictOption) *httptest.Server {
	t.Helper()
	f, err := Load(file)
	if err == nil && len(f.Scenarios) != 1 {
		err = fmt.Errorf("%s: %d scenarios instead of one", file, len(f.Scenarios))
	}
	if err != nil {
		t.Fatalf("%v", err)
		return nil
	}
	script, err := NewScript(f.Scenarios[0], func(problem string) { t.Errorf("%s: %s", file, problem) }, options...)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
		return nil
	}
	srv, err := httptest.Start(script, httptest.Options{})
	if err != nil {
		t.Fatalf("%v", err)
		return nil
	}
	t.Cleanup(func() {
		t.Helper()
		srv.Close()
		for _, request := range script.Left() {
			t.Errorf("%s: never asked: %s", file, request)
		}
	})
	return srv
}

// A StrictOption says how strict a Script is.
type StrictOption func(*Script)

// Concurrent is for clients that do several things at once: requests may come
// before others of other paths, but for writes, which keep the order among them.
func Concurrent() StrictOption { return func(s *Script) { s.concurrent = true } }

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

// fill makes of what a step wants an answer without placeholders, and binds what
// the step captures.
func (s *Script) fill(st *Step) *Answer {
	out := &Answer{Status: cmp.Or(st.Want.Status, http.StatusOK), Headers: map[string]string{}, Warning: st.Want.Warning}
	headers := http.Header{}
	for k, v := range st.Want.Headers {
		// What is sent is not encoded, and what is not told is left out.
		if v != "<any>" && v != "<maybe>" && k != "Content-Encoding" {
			out.Headers[k] = v
			headers.Set(k, v)
		}
	}
	captureHeaders(st, headers, s.bind)
	s.makeUp(st)
	out.Body = s.fillValue(st.Want.Body)
	for _, e := range st.Want.Events {
		out.Events = append(out.Events, s.fillValue(e))
	}
	for i, e := range out.Events {
		capture(st, e, strconv.Itoa(i)+".", s.bind)
	}
	if st.Events == "" {
		capture(st, out.Body, "", s.bind)
	}
	return out
}

// makeUp binds the names that a step captures from where its own answer has them:
// names that a server has generated.
func (s *Script) makeUp(st *Step) {
	for name, path := range st.Capture {
		if v, _ := lookup(st.Want.Body, path); v == "${"+name+"}" {
			prefix, _ := lookup(st.Body, "metadata.generateName")
			s.bind(name, fmt.Sprint(cmp.Or(prefix, any("")), word(name)[:5]))
		}
	}
}

func (s *Script) bind(name, value string) { s.names[name] = value }

func (s *Script) fillValue(v any) any {
	switch t := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, e := range t {
			if e != "<maybe>" {
				out[s.names.expand(k)] = s.fillValue(e)
			}
		}
		return out
	case []any:
		out := make([]any, len(t))
		for i, e := range t {
			out[i] = s.fillValue(e)
		}
		return out
	case string:
		return s.stand.in(s.names.expand(t))
	}
	return v
}

// standIns count the values that stand in for placeholders without a number.
type standIns map[string]int

// in returns what stands in for a text, if that is a placeholder or has one.
func (n standIns) in(text string) any {
	number := func(class string) int {
		n[class]++
		return 1000000 + n[class]
	}
	if m := boundPattern.FindStringSubmatch(text); m != nil {
		if m[1] == "uid" {
			return uidOf(m[2])
		}
		return m[2]
	}
	switch text {
	case "<uid>":
		return uidOf(strconv.Itoa(number("uid")))
	case "<rv>", "<num>":
		return strconv.Itoa(number("rv"))
	case "<time>":
		return "2026-01-01T00:00:00Z"
	case "<continue>":
		return "continue"
	case "<any>":
		return nil
	}
	return strings.ReplaceAll(text, "<*>", "")
}

// uidOf is a UID that has a number at its end.
func uidOf(number string) string {
	const blank = "00000000-0000-4000-8000-000000000000"
	return blank[:max(len(blank)-len(number), 0)] + number
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

// encodeBody is a body in a media type, the opposite of decodeBody.
func encodeBody(contentType string, v any) ([]byte, error) {
	if v == nil {
		return nil, nil
	}
	format := formatOf(contentType)
	if text, ok := v.(string); ok && !strings.HasPrefix(contentType, codec.JSON.MediaType()) {
		return []byte(text), nil
	}
	b, err := marshal(v)
	if err != nil || format == codec.JSON || format == codec.YAML {
		return format.Append(nil, b, nil), err
	}
	t := typeOf(v)
	if t == nil || !t.HasProto() {
		return nil, fmt.Errorf("%s has no known form for it", contentType)
	}
	if _, _, err := t.Decode(b, wire.DecodeOptions{}); err != nil {
		return nil, err
	}
	return format.Append(nil, b, t), nil
}

// encodeEvent is an event in a media type.
func encodeEvent(contentType string, e any) ([]byte, error) {
	event, _ := e.(map[string]any)
	if formatOf(contentType) == codec.JSON || event == nil {
		return encodeBody(codec.JSON.MediaType(), e)
	}
	object, err := encodeBody(contentType, event["object"])
	return formatOf(contentType).AppendEvent(nil, fmt.Sprint(event["type"]), object), err
}

func formatOf(contentType string) codec.Format {
	for _, f := range []codec.Format{codec.YAML, codec.Protobuf, codec.CBOR} {
		if strings.HasPrefix(contentType, f.MediaType()) {
			return f
		}
	}
	return codec.JSON
}

// typeOf is the built-in type of a document, nil if it is of none.
func typeOf(v any) *wire.Type {
	o, _ := v.(map[string]any)
	group, version, ok := strings.Cut(text(o, "apiVersion"), "/")
	if !ok {
		group, version = "", group
	}
	if t, ok := wire.ForKind(group, version, text(o, "kind")); ok {
		return t
	}
	t, _ := wire.ForKind("meta.k8s.io", "v1", text(o, "kind"))
	return t
}
