package apiserver

import (
	"bufio"
	"io"
	"net/http"
	"strconv"
	"sync"

	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/storage"
)

// list answers the objects of a resource, written as they are walked.
func (r *request) list() error {
	o, err := r.listOptions()
	if err != nil {
		return err
	}
	page, err := r.server.store.List(r.ctx(), r.typ, o.Query)
	if err != nil {
		return err
	}
	r.w.Header().Set("Content-Type", "application/json")
	r.w.WriteHeader(http.StatusOK)
	return r.stream(func(w *bufio.Writer) error { return writeList(w, r.typ, page) })
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

func writeList(w *bufio.Writer, t *resource.Type, page *storage.Page) error {
	w.WriteString(`{"kind":`)
	w.WriteString(strconv.Quote(t.ListKind))
	w.WriteString(`,"apiVersion":`)
	w.WriteString(strconv.Quote(t.GroupVersion.String()))
	w.WriteString(`,"metadata":{"resourceVersion":"`)
	w.WriteString(storage.FormatVersion(page.Revision))
	w.WriteByte('"')
	if page.Continue != "" || t.TypedItems {
		w.WriteString(`,"continue":"`)
		w.WriteString(page.Continue)
		w.WriteByte('"')
	}
	if page.Remaining >= 0 {
		w.WriteString(`,"remainingItemCount":`)
		w.WriteString(strconv.FormatInt(page.Remaining, 10))
	}
	w.WriteString(`},"items":[`)
	first := true
	for o := range page.Items {
		if !first {
			w.WriteByte(',')
		}
		first = false
		if err := o.WriteItem(w, t.TypedItems); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, "]}\n")
	return err
}
