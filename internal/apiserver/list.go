package apiserver

import (
	"bufio"
	"net/http"
	"sync"

	"github.com/kubefake/kubefake/internal/storage"
)

// list answers the objects of a resource, written as they are walked.
func (r *request) list() error {
	o, err := r.listOptions()
	if err != nil {
		return err
	}
	shape, err := r.shape()
	if err != nil {
		return err
	}
	page, err := r.server.store.List(r.ctx(), r.typ, o.Query)
	if err != nil {
		return err
	}
	return r.answerList(shape, page)
}

// answerList answers a page in a shape.
func (r *request) answerList(shape shape, page *storage.Page) error {
	r.w.Header().Set("Content-Type", "application/json")
	r.w.WriteHeader(http.StatusOK)
	return r.stream(func(w *bufio.Writer) error {
		if err := shape.list(w, page); err != nil {
			return err
		}
		return w.WriteByte('\n')
	})
}

// buffers hold what is on its way to a client. Their size is that of a read of
// most clients.
var buffers = sync.Pool{New: func() any { return bufio.NewWriterSize(nil, 64<<10) }}

// stream writes an answer whose header is out through a buffer. An error of
// the connection ends it and is nobody's to hear of.
func (r *request) stream(write func(w *bufio.Writer) error) error {
	w := buffers.Get().(*bufio.Writer)
	w.Reset(r.w)
	if write(w) == nil {
		w.Flush()
	}
	w.Reset(nil)
	buffers.Put(w)
	return nil
}
