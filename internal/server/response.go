package server

import (
	"bufio"
	"bytes"
	"errors"
	"net/http"
	"strconv"

	"github.com/kubefake/kubefake/internal/codec"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/wire"
)

// A response records what was answered.
type response struct {
	http.ResponseWriter
	code    int // 0 until the header is written
	bytes   int64
	failure *status.Status
	panic   string

	unaccepted bool // the client accepts no form of failure

	answered *status.Status // that is no failure
	captured *bytes.Buffer  // what was written, up to a little more than maxAudited; nil if that is not needed
	started  func()         // called before the header is written; nil for none
}

func (w *response) WriteHeader(code int) {
	if w.code == 0 {
		w.begin(code)
	}
	w.ResponseWriter.WriteHeader(code)
}

func (w *response) Write(b []byte) (int, error) {
	if w.code == 0 {
		w.begin(http.StatusOK)
	}
	if w.captured != nil && w.captured.Len() <= maxAudited {
		w.captured.Write(b)
	}
	n, err := w.ResponseWriter.Write(b)
	w.bytes += int64(n)
	return n, err
}

// begin notes that the answer begins.
func (w *response) begin(code int) {
	w.code = code
	if w.started != nil {
		w.started()
	}
}

// Unwrap lets http.ResponseController find the writer below.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// flush sends what was written so far.
func (w *response) flush() error {
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// answerStatus writes a Status that is not a failure.
func (r *request) answerStatus(code int, st *status.Status) error {
	r.w.answered = st
	return r.answerJSON(code, st.JSON(), metaType("Status"))
}

// answerJSON writes a document, given as JSON and its type, in the media type that
// the client asks for.
func (r *request) answerJSON(code int, doc []byte, t *wire.Type) error {
	if r.out.Format != codec.JSON || r.out.Pretty {
		doc = encode(r.out, doc, t)
	}
	r.write(code, r.out.ContentType(), doc)
	return nil
}

// encode returns a document, given as JSON and its type, in the form of an answer.
func encode(out codec.Response, doc []byte, t *wire.Type) []byte {
	if out.Format == codec.JSON {
		return codec.AppendPretty(nil, doc)
	}
	return out.Format.Append(nil, doc, t)
}

// document returns what write writes, and a newline.
func document(write func(w *bufio.Writer) error) []byte {
	var b bytes.Buffer
	w := bufio.NewWriter(&b)
	if err := write(w); err != nil {
		panic("server: writing to memory failed: " + err.Error()) // unreachable: a bytes.Buffer takes all
	}
	w.WriteByte('\n')
	w.Flush()
	return b.Bytes()
}

// writeJSON writes JSON whatever media type the client asks for.
func (r *request) writeJSON(code int, body []byte) { r.write(code, "application/json", body) }

// shortAnswer is the length of the longest answer with a Content-Length, which net/http sets: a
// longer one is sent in chunks, as kube-apiserver's are. A fault may send the answer in parts:
// then net/http does not know it.
const shortAnswer = 2 << 10

// write writes an answer, compressed if it is long and the client accepts that.
func (r *request) write(code int, contentType string, body []byte) {
	h := r.w.Header()
	setContentType(h, contentType)
	if codec.Compresses(r.http, len(body)) {
		w := codec.Compress(r.w, r.http)
		w.WriteHeader(code)
		limited := &limitedWriter{Writer: w, request: r}
		_, err := limited.Write(body)
		if closeErr := w.Close(); err == nil {
			err = closeErr
		}
		limited.end(err)
		return
	}
	if len(body) <= shortAnswer && r.w != &r.sent {
		h["Content-Length"] = []string{strconv.Itoa(len(body))}
	}
	r.w.WriteHeader(code)
	if len(body) <= longAnswer {
		r.w.Write(body)
		return
	}
	limited := &limitedWriter{Writer: r.w, request: r}
	_, err := limited.Write(body)
	limited.end(err)
}

// mediaStatus returns the Status of an error of negotiation, nil for another
// error.
func mediaStatus(err error) *status.Status {
	var (
		notAcceptable *codec.NotAcceptableError
		unsupported   *codec.UnsupportedMediaTypeError
	)
	switch {
	case errors.As(err, &notAcceptable) && notAcceptable.NoBody:
		return status.Failure(http.StatusUnsupportedMediaType, status.ReasonUnsupportedMediaType, notAcceptable.Error(), &status.Details{})
	case errors.As(err, &notAcceptable):
		st := status.Failure(http.StatusNotAcceptable, status.ReasonNotAcceptable, notAcceptable.Error(), nil)
		if notAcceptable.Route {
			st.Details = &status.Details{}
		}
		return st
	case errors.As(err, &unsupported):
		return status.UnsupportedMediaType(unsupported.Accepted)
	}
	return nil
}

// metaType returns the wire type of a kind that all groups have.
func metaType(kind string) *wire.Type {
	t, ok := wire.ForKind("meta.k8s.io", "v1", kind)
	if !ok {
		panic("server: no type is known for the kind " + kind) // unreachable: the table has them all
	}
	return t
}
