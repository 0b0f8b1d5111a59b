package apiserver

import (
	"bufio"
	"bytes"
	"fmt"
	"net/http"
	"runtime/debug"
	"strconv"

	"github.com/kubefake/kubefake/internal/codec"
	"github.com/kubefake/kubefake/internal/fault"
	"github.com/kubefake/kubefake/internal/route"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/internal/wire"
)

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, hr *http.Request) {
	if s.ctx.Err() != nil {
		http.Error(w, "server closed", http.StatusServiceUnavailable)
		return
	}
	now := s.served.Load()
	r := &request{Route: route.Parse(hr.Method, hr.URL), server: s, http: hr, w: &response{ResponseWriter: w}, surface: now, registry: now.registry, start: s.clock.Now(), came: s.journal.Order()}
	defer func() {
		r.answered()
		s.metrics.count(r)
	}()
	defer func() {
		switch p := recover(); p {
		case nil:
		case http.ErrAbortHandler:
			panic(p)
		default:
			r.panicked(p)
		}
	}()
	r.w.Header().Set("Cache-Control", "no-cache, private")
	if r.isFaulty() {
		s.faults.Serve(r.w, &fault.Request{HTTP: hr, Route: r.Route}, faultless{r})
		return
	}
	r.respond()
}

// respond answers the request as if there were no faults.
func (r *request) respond() {
	if err := r.server.serve(r); err != nil {
		r.fail(err)
	}
}

func (s *Server) serve(r *request) error {
	user, err := r.authenticate()
	if err != nil {
		return err
	}
	r.user = user
	if err := r.impersonate(); err != nil {
		return err
	}
	if r.isControl() {
		return s.control(r)
	}
	if err := r.authorize(); err != nil {
		return err
	}
	if !r.IsResource {
		return s.serveNonResource(r)
	}
	if err := r.resolve(); err != nil {
		return err
	}
	return r.serveResource()
}

// serveResource dispatches by verb.
func (r *request) serveResource() error {
	r.warnOfKind()
	if err := r.negotiate(); err != nil {
		return err
	}
	switch {
	case r.Group == "" && r.Resource == "bindings":
		return r.bind()
	case r.Group == "" && r.Resource == "componentstatuses":
		return r.componentStatuses()
	case r.typ.Virtual():
		return r.review()
	case r.typ.Stored != r.typ.GroupVersion && r.typ.Versions == nil:
		return status.NotImplemented(fmt.Sprintf("conversion of %s between %s and %s", r.Resource, r.typ.Stored, r.typ.GroupVersion))
	case r.sub != nil:
		return r.serveSubresource()
	}
	switch r.Verb {
	case "get":
		return r.get()
	case "list":
		return r.list()
	case "watch":
		return r.watch()
	case "create":
		return r.create()
	case "update":
		return r.update(writeObject)
	case "patch":
		return r.patch(writeObject)
	case "delete":
		return r.delete()
	case "deletecollection":
		return r.deleteCollection()
	}
	return status.MethodNotAllowed()
}

// warnOfKind tells a client that the kind it asks for is deprecated.
// Definitions have warned already.
func (r *request) warnOfKind() {
	if !r.byDefinition && (r.sub == nil || r.sub.Kind.Kind == r.typ.Kind) {
		r.warn(r.typ.Warnings...)
	}
}

// serveSubresource dispatches the subresources that are parts of an object.
func (r *request) serveSubresource() error {
	if connect, ok := connections[[2]string{r.Resource, r.Subresource}]; ok && r.Group == "" {
		if err := r.admitConnection(); err != nil {
			return err
		}
		return connect(r)
	}
	mode := writeStatus
	_, isPart := r.typ.Parts[r.Subresource]
	switch {
	case r.Subresource == "status":
	case isPart:
		mode = writePart
	case r.Subresource == "scale" && r.typ.Scale != nil:
		mode = writeScale
	case r.Subresource == "finalize" && r.Resource == "namespaces":
		mode = writeFinalizers
	case r.Group == "" && r.Resource == "pods" && r.Subresource == "binding":
		return r.bind()
	case r.Group == "" && r.Resource == "pods" && r.Subresource == "eviction":
		return r.evict()
	case r.Group == "" && r.Resource == "serviceaccounts" && r.Subresource == "token":
		return r.createToken()
	default:
		return status.NotImplemented(fmt.Sprintf("%s %s/%s", r.Verb, r.groupResource(), r.Subresource))
	}
	switch r.Verb {
	case "get":
		return r.get()
	case "update":
		return r.update(mode)
	case "patch":
		return r.patch(mode)
	}
	return status.MethodNotAllowed()
}

// panicked reports a bug of the server to the client as a 500, if it still can.
func (r *request) panicked(p any) {
	r.w.panic = fmt.Sprintf("%v\n%s", p, debug.Stack())
	if r.w.code != 0 {
		panic(http.ErrAbortHandler) // half an answer is out: cut it off
	}
	r.fail(status.Internal(fmt.Sprintf("this request caused apiserver to panic: %v", p)))
}

// A response remembers what was answered.
type response struct {
	http.ResponseWriter
	code    int // 0 until the header is written
	bytes   int64
	failure *status.Status
	panic   string
}

func (w *response) WriteHeader(code int) {
	if w.code == 0 {
		w.code = code
	}
	w.ResponseWriter.WriteHeader(code)
}

func (w *response) Write(b []byte) (int, error) {
	if w.code == 0 {
		w.code = http.StatusOK
	}
	n, err := w.ResponseWriter.Write(b)
	w.bytes += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController find the writer below.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// flush sends what was written so far.
func (w *response) flush() error {
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// answer answers with a stored object, in the shape and media type that the
// client asks for, or with what the subresource shows of it.
func (r *request) answer(code int, o *storage.Object) error {
	o, err := o.In(r.ctx(), r.typ)
	if err != nil {
		return err
	}
	if r.isScale() {
		obj := o.Decode(r.typ)
		if err := r.checkScale(obj); err != nil {
			return err
		}
		return r.answerJSON(code, append(r.scaleJSON(obj), '\n'), r.typ.Scale.Codec.Wire())
	}
	shape, err := r.shape(false)
	if err != nil {
		return err
	}
	if _, whole := shape.(wholeShape); whole {
		return r.answerJSON(code, o.JSON(), r.typ.Codec.Wire())
	}
	return r.answerJSON(code, document(func(w *bufio.Writer) error { return shape.object(w, o) }), shape.wire())
}

// answerStatus answers with a Status that is no failure.
func (r *request) answerStatus(code int, st *status.Status) error {
	return r.answerJSON(code, st.JSON(), metaType("Status"))
}

// answerJSON answers with a document, given as JSON and its type, in the media
// type that the client asks for.
func (r *request) answerJSON(code int, doc []byte, t *wire.Type) error {
	if r.out.Format != codec.JSON || r.out.Pretty {
		doc = encode(r.out, doc, t)
	}
	r.write(code, r.out.ContentType(), doc)
	return nil
}

// encode puts a document, given as JSON and its type, into the form of an
// answer.
func encode(out codec.Response, doc []byte, t *wire.Type) []byte {
	if out.Format == codec.JSON {
		return codec.AppendPretty(nil, doc)
	}
	return out.Format.Append(nil, doc, t)
}

// document is what write writes, and a newline.
func document(write func(w *bufio.Writer) error) []byte {
	var b bytes.Buffer
	w := bufio.NewWriter(&b)
	if err := write(w); err != nil {
		panic("apiserver: writing to memory failed: " + err.Error()) // unreachable: a bytes.Buffer takes all
	}
	w.WriteByte('\n')
	w.Flush()
	return b.Bytes()
}

// writeJSON answers with JSON whatever the client asks for.
func (r *request) writeJSON(code int, body []byte) { r.write(code, "application/json", body) }

// write answers with a body, compressed if it is long and the client takes
// that.
func (r *request) write(code int, contentType string, body []byte) {
	h := r.w.Header()
	h.Set("Content-Type", contentType)
	if r.http.Header.Get("Accept-Encoding") != "" {
		w := codec.Compress(r.w, r.http)
		w.WriteHeader(code)
		w.Write(body)
		w.Close()
		return
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	r.w.WriteHeader(code)
	r.w.Write(body)
}
