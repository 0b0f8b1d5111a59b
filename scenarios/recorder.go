package scenarios

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kubefake/kubefake/internal/codec"
	"github.com/kubefake/kubefake/internal/route"
)

const (
	// maxBody is the size limit of a recorded body, in bytes, for recordings to
	// files. Longer bodies are passed on, but not recorded.
	maxBody = 16 << 20
	// maxHeld limits the sum of the bodies that are not written to the file yet.
	maxHeld = 64 << 20
	// maxHold is how long an unanswered request delays the writing of what arrives
	// after it. After that the request's step comes when it is answered.
	maxHold = 5 * time.Second
)

// A Recorder is a handler that records the requests to another handler, such as a
// server or a proxy, and its answers.
//
// It passes answers on unchanged, except that it turns off their compression.
type Recorder struct {
	next    http.Handler
	secrets []Secret
	show    bool // secrets are recorded
	started time.Time
	file    *RecordingFile // nil: all entries are kept
	held    atomic.Int64   // bytes of the bodies that are not written to the file

	mu      sync.Mutex // guards the fields below
	entries []*entry   // with a file: those that are not written to it
	watches int
	builder *scenarioBuilder // of the file
	timer   *time.Timer      // of the oldest entry; nil if there is none
	closed  bool
}

// Record returns a Recorder in front of a handler. The recording omits the given
// secrets and the default ones; see [DefaultSecrets]. It is kept in memory, without
// a limit.
func Record(next http.Handler, secrets ...Secret) *Recorder {
	return &Recorder{next: next, secrets: secrets, started: time.Now()}
}

// RecordTo is Record, except that the recorder writes each exchange and each event
// to a file once it is complete. The caller closes the recorder, and then calls
// f.Finish.
//
// Bodies of more than 16 MiB are not recorded, and neither are those with which the
// bodies of unanswered requests would exceed 64 MiB. Of the values that the server
// generates, the recorder remembers the newest 100,000.
func RecordTo(f *RecordingFile, next http.Handler, secrets ...Secret) *Recorder {
	r := Record(next, secrets...)
	r.file, r.builder = f, newScenarioBuilder(newScrubber(secrets, false), f)
	return r
}

// ShowSecrets makes the recording contain secrets. The caller calls it before the first request.
func (r *Recorder) ShowSecrets() {
	r.show = true
	if r.builder != nil {
		r.builder.scrub = nil
	}
}

// Close writes what was recorded to the file, except unanswered requests. It
// returns the error of f.Err. Without a file it does nothing.
func (r *Recorder) Close() error {
	if r.file == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	r.writeEntries(true)
	if r.timer != nil {
		r.timer.Stop()
	}
	return r.file.Err()
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
	omitted bool // the body of the answer is too long
	dropped bool // there will be no answer
	late    bool // the entry has left the queue before its answer
}

// isComplete reports whether nothing will change in the entry.
func (e *entry) isComplete() bool { return e.answer != nil || e.event || e.ended || e.dropped }

// A recordedRequest is a request and its body.
type recordedRequest struct {
	*http.Request // without its body
	route.Route
	body    []byte
	omitted bool // the body is too long
}

func (r *Recorder) add(e *entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e.at = time.Since(r.started)
	r.entries = append(r.entries, e)
	r.writeEntries(false)
}

// writeEntries writes the complete entries at the beginning of the queue to the
// file. An incomplete one leaves the queue after maxHold, or at once if all is set.
// r.mu must be held.
func (r *Recorder) writeEntries(all bool) {
	if r.file == nil {
		return
	}
	for len(r.entries) > 0 {
		e := r.entries[0]
		switch {
		case e.isComplete():
			r.write(e)
		case all || time.Since(r.started)-e.at >= maxHold:
			e.late = true
		default:
			if r.timer == nil && !r.closed {
				r.timer = time.AfterFunc(maxHold-(time.Since(r.started)-e.at), r.retry)
			}
			return
		}
		r.entries = r.entries[1:]
	}
}

// retry is writeEntries after maxHold.
func (r *Recorder) retry() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.timer = nil
	r.writeEntries(r.closed)
}

// write writes an entry and releases its bodies. r.mu must be held.
func (r *Recorder) write(e *entry) {
	r.builder.add(e)
	r.held.Add(-int64(len(e.body)))
	if !e.event && !e.ended {
		r.held.Add(-int64(len(e.request.body)))
		e.request.body = nil
	}
	e.body = nil
}

// complete applies a change, after which the entry of a request is complete.
func (r *Recorder) complete(e *entry, change func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change()
	switch {
	case !e.late:
		r.writeEntries(false)
	case !r.closed:
		r.write(e)
	}
}

// reserve reports whether n more bytes of a body, which has length bytes, can be
// held, and if so counts them.
func (r *Recorder) reserve(length, n int) bool {
	if r.file == nil {
		return true
	}
	if length+n > maxBody || r.held.Add(int64(n)) > maxHeld {
		if length+n <= maxBody {
			r.held.Add(-int64(n))
		}
		return false
	}
	return true
}

// readBody reads the body of a request, which the next handler reads again. It
// fails if the client has disconnected.
func (r *Recorder) readBody(req *recordedRequest, body io.Reader) (io.Reader, error) {
	limited := body
	if r.file != nil {
		limited = io.LimitReader(body, maxBody+1)
	}
	b, err := io.ReadAll(limited)
	if err != nil {
		return nil, err
	}
	if !r.reserve(0, len(b)) {
		req.omitted = true
		return io.MultiReader(bytes.NewReader(b), body), nil
	}
	req.body = b
	return bytes.NewReader(b), nil
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
		body, err := r.readBody(req, hr.Body)
		if err != nil {
			panic(http.ErrAbortHandler) // the client has disconnected
		}
		req.Request.Body = io.NopCloser(body)
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
	omitted  bool           // the body is too long to be recorded
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
	r.complete(e, func() {
		r.watches++
		e.watch, e.answer = r.watches, answer
	})
}

// Write records what it writes. An event is recorded before the client gets it, so
// that it is before the requests that the client makes because of it.
func (w *recordingWriter) Write(b []byte) (int, error) {
	if w.answer == nil {
		w.WriteHeader(http.StatusOK)
	}
	w.record(b)
	return w.ResponseWriter.Write(b)
}

// record adds a part of the body, and the events that it completes.
func (w *recordingWriter) record(b []byte) {
	if w.omitted {
		return
	}
	if !w.recorder.reserve(len(w.body), len(b)) {
		w.recorder.held.Add(-int64(len(w.body)))
		w.omitted, w.body = true, nil
		return
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
}

// end records the complete answer, or the end of the watch by the server. It
// records nothing if the client disconnected or the connection broke during an
// answer.
func (w *recordingWriter) end() {
	r, e := w.recorder, w.entry
	disconnected := e.request.Context().Err() != nil
	switch {
	case e.watch != 0:
		r.held.Add(-int64(len(w.body)))
		if !disconnected && !w.omitted {
			r.add(&entry{request: e.request, watch: e.watch, ended: true})
		}
	case w.done:
		if w.answer == nil {
			w.answer = &http.Response{StatusCode: http.StatusOK, Header: w.Header()}
		}
		r.complete(e, func() { e.answer, e.body, e.omitted = w.answer, w.body, w.omitted })
	default:
		r.held.Add(-int64(len(w.body)))
		r.complete(e, func() { e.dropped = true })
	}
}
