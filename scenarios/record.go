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
	passed  []passed
	watches int
}

// Record returns a Recorder before a handler. The secrets are left out of the
// recording beside Secrets.
func Record(next http.Handler, secrets ...Secret) *Recorder {
	return &Recorder{next: next, secrets: secrets, begun: time.Now()}
}

// passed is what went by at a moment: an exchange once it was over, the opening
// of a watch, an event of it, or its end.
type passed struct {
	at      time.Duration
	request *recordedRequest
	answer  *http.Response // without its body; nil for what follows on a watch
	body    []byte
	watch   int // its number; 0 where this is of none
	event   bool
	ended   bool
}

// A recordedRequest is what a client asked.
type recordedRequest struct {
	*http.Request // without its body
	route.Route
	body []byte
}

func (r *Recorder) add(p passed) {
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
	out := hr.Clone(hr.Context())
	out.Header.Del("Accept-Encoding")
	if hr.Body != nil {
		var err error
		if req.body, err = io.ReadAll(hr.Body); err != nil {
			panic(http.ErrAbortHandler) // the client has broken off
		}
		out.Body = io.NopCloser(bytes.NewReader(req.body))
	}
	req.Request = out
	rec := &recordingWriter{ResponseWriter: w, recorder: r, request: req}
	defer rec.end()
	r.next.ServeHTTP(rec, out)
	rec.done = true
}

// A recordingWriter keeps what is answered to a request.
type recordingWriter struct {
	http.ResponseWriter
	recorder *Recorder
	request  *recordedRequest
	answer   *http.Response // nil until the header is written
	body     []byte         // of a watch: the part of an event that has come
	watch    int            // its number; 0 if this is none
	format   codec.Format   // of the watch
	done     bool           // the handler has returned
}

// Unwrap lets http.ResponseController find the writer below.
func (w *recordingWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader keeps the header. That of a watch opens it.
func (w *recordingWriter) WriteHeader(code int) {
	if code >= http.StatusOK && w.answer == nil {
		w.answer = &http.Response{StatusCode: code, Header: w.Header().Clone()}
		format, ok := codec.StreamFormat(w.Header().Get("Content-Type"))
		if ok && code == http.StatusOK && w.request.Verb == "watch" {
			w.format = format
			w.watch = w.recorder.open(w.request, w.answer)
		}
	}
	w.ResponseWriter.WriteHeader(code)
}

// open adds a watch and returns its number.
func (r *Recorder) open(req *recordedRequest, answer *http.Response) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.watches++
	r.passed = append(r.passed, passed{at: time.Since(r.begun), request: req, answer: answer, watch: r.watches})
	return r.watches
}

// Write keeps what it writes, once it is written.
func (w *recordingWriter) Write(b []byte) (int, error) {
	if w.answer == nil {
		w.WriteHeader(http.StatusOK)
	}
	n, err := w.ResponseWriter.Write(b)
	w.body = append(w.body, b[:n]...)
	if w.watch == 0 {
		return n, err
	}
	for {
		length := w.format.NextEvent(w.body)
		if length == 0 {
			return n, err
		}
		w.recorder.add(passed{request: w.request, watch: w.watch, event: true, body: slices.Clone(w.body[:length])})
		w.body = w.body[length:]
	}
}

// end adds the exchange, or that the server has ended the watch. Where the client
// has left, or the connection broke amid an answer, there is neither.
func (w *recordingWriter) end() {
	left := w.request.Context().Err() != nil
	switch {
	case w.watch != 0 && !left:
		w.recorder.add(passed{request: w.request, watch: w.watch, ended: true})
	case w.watch == 0 && w.done:
		if w.answer == nil {
			w.answer = &http.Response{StatusCode: http.StatusOK, Header: w.Header()}
		}
		w.recorder.add(passed{request: w.request, answer: w.answer, body: w.body})
	}
}
