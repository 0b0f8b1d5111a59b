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

// A Recorder is a handler that writes down what passes between clients and the
// handler behind it: a server, or a proxy of one.
//
// Answers pass as they are, but for one thing: they are not compressed.
type Recorder struct {
	next    http.Handler
	secrets []Secret
	begun   time.Time

	mu      sync.Mutex // guards the fields below
	passed  []*passed
	watches int
}

// Record returns a Recorder before a handler. The secrets are left out of the
// recording beside Secrets.
func Record(next http.Handler, secrets ...Secret) *Recorder {
	return &Recorder{next: next, secrets: secrets, begun: time.Now()}
}

// passed is what went by, at the moment when it began: a request with its answer,
// or on a watch that one has opened, an event or the end.
type passed struct {
	at      time.Duration
	request *recordedRequest
	answer  *http.Response // without its body; nil until it is over, and for what comes on a watch
	body    []byte         // of the answer, or of the event
	watch   int            // its number, from 1; 0 where this is of none
	event   bool
	ended   bool
}

// A recordedRequest is what a client asked.
type recordedRequest struct {
	*http.Request // without its body
	route.Route
	body []byte
}

func (r *Recorder) add(p *passed) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p.at = time.Since(r.begun)
	r.passed = append(r.passed, p)
}

// ServeHTTP passes a request on. What switches protocols, such as exec, passes
// unrecorded.
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
			panic(http.ErrAbortHandler) // the client has broken off
		}
		req.Request.Body = io.NopCloser(bytes.NewReader(req.body))
	}
	rec := &recordingWriter{ResponseWriter: w, recorder: r, passed: &passed{request: req}}
	r.add(rec.passed)
	defer rec.end()
	r.next.ServeHTTP(rec, req.Request)
	rec.done = true
}

// A recordingWriter keeps what is answered to a request.
type recordingWriter struct {
	http.ResponseWriter
	recorder *Recorder
	passed   *passed
	answer   *http.Response // nil until the header is written
	body     []byte         // of a watch: the part of an event that has come
	format   codec.Format   // of a watch
	done     bool           // the handler has returned
}

// Unwrap lets http.ResponseController find the writer below.
func (w *recordingWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader keeps the header. That of a watch opens it.
func (w *recordingWriter) WriteHeader(code int) {
	if code >= http.StatusOK && w.answer == nil {
		w.answer = &http.Response{StatusCode: code, Header: w.Header().Clone()}
		format, ok := codec.StreamFormat(w.Header().Get("Content-Type"))
		if ok && code == http.StatusOK && w.passed.request.Verb == "watch" {
			w.format = format
			w.recorder.open(w.passed, w.answer)
		}
	}
	w.ResponseWriter.WriteHeader(code)
}

// open makes a request a watch.
func (r *Recorder) open(p *passed, answer *http.Response) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.watches++
	p.watch, p.answer = r.watches, answer
}

// close keeps the answer to a request that is over.
func (r *Recorder) close(p *passed, answer *http.Response, body []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p.answer, p.body = answer, body
}

// Write keeps what it writes. An event is added before the client has it, and
// can ask for something because of it.
func (w *recordingWriter) Write(b []byte) (int, error) {
	if w.answer == nil {
		w.WriteHeader(http.StatusOK)
	}
	w.body = append(w.body, b...)
	for w.passed.watch != 0 {
		length := w.format.NextEvent(w.body)
		if length == 0 {
			break
		}
		w.recorder.add(&passed{request: w.passed.request, watch: w.passed.watch, event: true, body: slices.Clone(w.body[:length])})
		w.body = w.body[length:]
	}
	return w.ResponseWriter.Write(b)
}

// end keeps the answer, or that the server has ended the watch. Where the client
// has left, or the connection broke amid an answer, there is neither.
func (w *recordingWriter) end() {
	left := w.passed.request.Context().Err() != nil
	switch {
	case w.passed.watch != 0 && !left:
		w.recorder.add(&passed{request: w.passed.request, watch: w.passed.watch, ended: true})
	case w.passed.watch == 0 && w.done:
		if w.answer == nil {
			w.answer = &http.Response{StatusCode: http.StatusOK, Header: w.Header()}
		}
		w.recorder.close(w.passed, w.answer, w.body)
	}
}
