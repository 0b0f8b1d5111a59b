package apiserver

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"sync"

	"github.com/kubefake/kubefake/internal/codec"
	"github.com/kubefake/kubefake/internal/storage"
)

// list answers the objects of a resource, written as they are walked.
func (r *request) list() error {
	o, err := r.listOptions()
	if err != nil {
		return err
	}
	shape, err := r.shape(true)
	if err != nil {
		return err
	}
	page, err := r.server.store.List(r.ctx(), r.typ, o.Query)
	if err != nil {
		return err
	}
	r.revision = page.Revision
	return r.answerList(shape, page)
}

// answerList answers a page in a shape. JSON is written as the page is walked.
func (r *request) answerList(shape shape, page *storage.Page) error {
	_, whole := shape.(wholeShape)
	switch {
	case r.out.Format == codec.JSON && !r.out.Pretty:
		return r.streamList(func(w *bufio.Writer) error {
			if err := shape.list(w, page); err != nil {
				return err
			}
			return w.WriteByte('\n')
		})
	case whole && (r.out.Format == codec.Protobuf || r.out.Format == codec.CBOR):
		return r.streamList(func(w *bufio.Writer) error { return r.out.Format.WriteList(w, r.listOf(page)) })
	}
	doc := document(func(w *bufio.Writer) error { return shape.list(w, page) })
	return r.answerJSON(http.StatusOK, doc, shape.listWire())
}

// listOf is a page as package codec writes it.
func (r *request) listOf(page *storage.Page) codec.List {
	var meta bytes.Buffer
	w := bufio.NewWriter(&meta)
	writeListMeta(w, r.typ, page)
	w.Flush()
	return codec.List{
		Kind: r.typ.ListKind, APIVersion: r.typ.GroupVersion.String(), Metadata: meta.Bytes(),
		Item: r.typ.Codec.Wire(), Typed: r.typ.TypedItems,
		Items: func(yield func([]byte) bool) {
			for o := range page.Items {
				if !yield(o.JSON()) {
					return
				}
			}
		},
	}
}

// streamList writes a list through a buffer, compressed if it turns out long
// and the client takes that.
func (r *request) streamList(write func(w *bufio.Writer) error) error {
	r.w.Header().Set("Content-Type", r.out.ContentType())
	if r.http.Header.Get("Accept-Encoding") == "" {
		r.w.WriteHeader(http.StatusOK)
		return r.stream(r.w, write)
	}
	c := codec.Compress(r.w, r.http)
	defer c.Close()
	c.WriteHeader(http.StatusOK)
	return r.stream(c, write)
}

// buffers hold what is on its way to a client. Their size is that of a read of
// most clients.
var buffers = sync.Pool{New: func() any { return bufio.NewWriterSize(nil, 64<<10) }}

func getBuffer(to io.Writer) *bufio.Writer {
	w := buffers.Get().(*bufio.Writer)
	w.Reset(to)
	return w
}

func putBuffer(w *bufio.Writer) {
	w.Reset(nil)
	buffers.Put(w)
}

// stream writes an answer whose header is out through a buffer. An error of
// the connection ends it and is nobody's to hear of.
func (r *request) stream(to io.Writer, write func(w *bufio.Writer) error) error {
	w := getBuffer(to)
	defer putBuffer(w)
	if write(w) == nil {
		w.Flush()
	}
	return nil
}
