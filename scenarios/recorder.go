package scenarios

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/kubefake/kubefake/internal/codec"
	"github.com/kubefake/kubefake/internal/route"
)

// A Recorder is a handler that records the requests to another handler, such as a
// server or a proxy, and its answers.
//
// It passes answers on unchanged, except that it turns off their compression.
type Recorder struct {
	next    http.Handler
	secrets []Secret
	started time.Time

	mu      sync.Mutex // guards the fields below
	entries []*entry
	watches int
}

// Record returns a Recorder in front of a handler. The recording omits the given
// secrets and the default ones; see [DefaultSecrets].
func Record(next http.Handler, secrets ...Secret) *Recorder {
	return &Recorder{next: next, secrets: secrets, started: time.Now()}
}

// An entry is one recorded item, in the order of arrival: a request with its
// answer, or an event or the end of a watch that a request has opened.
type entry struct {
	at      time.Duration
	request *recordedRequest
	answer  *http.Response // without its body; nil before the end of the request, and for events
	body    []byte         // of the answer or the event
	watch   int            // the number of the watch, from 1; 0 for an exchange that is not a watch
	event   bool
	ended   bool
}

// A recordedRequest is a request and its body.
type recordedRequest struct {
	*http.Request // without its body
	route.Route
	body []byte
}

func (r *Recorder) add(e *entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e.at = time.Since(r.started)
	r.entries = append(r.entries, e)
}

// ServeHTTP passes a request on and records it. It does not record a request that
// switches protocols, such as exec.
func (r *Recorder) ServeHTTP(w http.ResponseWriter, hr *http.Request) {
	if hr.Header.Get("Upgrade") != "" {
		r.next.ServeHTTP(w, hr)
		return
	}
	req := &recordedRequest{Route: route.Parse(hr.Method, hr.URL)}
	req.Request = hr.Clone(hr.Context())
	req.Header.Del("Accept-Encoding")
	if hr.Body != nil {
		var err error
		if req.body, err = io.ReadAll(hr.Body); err != nil {
			panic(http.ErrAbortHandler) // the client has disconnected
		}
		req.Request.Body = io.NopCloser(bytes.NewReader(req.body))
	}
	rec := &recordingWriter{ResponseWriter: w, recorder: r, entry: &entry{request: req}}
	r.add(rec.entry)
	defer rec.end()
	r.next.ServeHTTP(rec, req.Request)
	rec.done = true
}

// A recordingWriter records the answer to a request.
type recordingWriter struct {
	http.ResponseWriter
	recorder *Recorder
	entry    *entry
	answer   *http.Response // nil until the header is written
	body     []byte         // not recorded yet: the body, or the part of an event
	format   codec.Format   // of a watch
	done     bool           // the handler has returned normally
}

// Unwrap returns the underlying writer for http.ResponseController.
func (w *recordingWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader records the header. The header of a watch opens the watch.
func (w *recordingWriter) WriteHeader(code int) {
	if code >= http.StatusOK && w.answer == nil {
		w.answer = &http.Response{StatusCode: code, Header: w.Header().Clone()}
		format, ok := codec.StreamFormat(w.Header().Get("Content-Type"))
		if ok && code == http.StatusOK && w.entry.request.Verb == "watch" {
			w.format = format
			w.recorder.openWatch(w.entry, w.answer)
		}
	}
	w.ResponseWriter.WriteHeader(code)
}

// openWatch turns the entry of a request into one of a watch.
func (r *Recorder) openWatch(e *entry, answer *http.Response) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.watches++
	e.watch, e.answer = r.watches, answer
}

// setAnswer completes the entry of a request.
func (r *Recorder) setAnswer(e *entry, answer *http.Response, body []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e.answer, e.body = answer, body
}

// Write records what it writes. An event is recorded before the client gets it, so
// that it is before the requests that the client makes because of it.
func (w *recordingWriter) Write(b []byte) (int, error) {
	if w.answer == nil {
		w.WriteHeader(http.StatusOK)
	}
	w.body = append(w.body, b...)
	for w.entry.watch != 0 {
		length := w.format.NextEvent(w.body)
		if length == 0 {
			break
		}
		w.recorder.add(&entry{request: w.entry.request, watch: w.entry.watch, event: true, body: slices.Clone(w.body[:length])})
		w.body = w.body[length:]
	}
	return w.ResponseWriter.Write(b)
}

// end records the complete answer, or the end of the watch by the server. It
// records nothing if the client disconnected or the connection broke during an
// answer.
func (w *recordingWriter) end() {
	disconnected := w.entry.request.Context().Err() != nil
	switch {
	case w.entry.watch != 0 && !disconnected:
		w.recorder.add(&entry{request: w.entry.request, watch: w.entry.watch, ended: true})
	case w.entry.watch == 0 && w.done:
		if w.answer == nil {
			w.answer = &http.Response{StatusCode: http.StatusOK, Header: w.Header()}
		}
		w.recorder.setAnswer(w.entry, w.answer, w.body)
	}
}
