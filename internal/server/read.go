package server

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"sync"

	"github.com/kubefake/kubefake/internal/codec"
	"github.com/kubefake/kubefake/internal/header"
	"github.com/kubefake/kubefake/internal/registry"
	"github.com/kubefake/kubefake/internal/selector"
	"github.com/kubefake/kubefake/internal/sharding"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/internal/validation"
)

// get serves GET of one object, or of what a subresource shows of it.
func (r *request) get() error {
	version := ""
	if r.http.URL.RawQuery != "" {
		version = r.query().Get("resourceVersion")
		if valueOf(boolOf(r.query(), "export")) {
			return status.BadRequest("the export parameter, deprecated since v1.14, is no longer supported")
		}
	}
	obj, rev, err := r.server.cluster.Get(r.ctx(), r.target(), version)
	r.revision = rev
	if err != nil {
		return err
	}
	return r.answer(http.StatusOK, obj)
}

// list serves GET of a collection. The answer is written while the page is read.
func (r *request) list() error {
	o, err := r.listOptions()
	if err != nil {
		return err
	}
	page, err := r.store().List(r.ctx(), r.typ, o.Query)
	if err != nil {
		return err
	}
	r.revision = page.Revision
	shape, err := r.representation(r.typ, true)
	if err != nil {
		return err
	}
	return r.answerList(shape, page)
}

// listOptions are the parameters of a list, a watch and a deletecollection.
type listOptions struct {
	storage.Query
	selector          registry.Selector
	timeoutSeconds    *int64
	bookmarks         bool
	sendInitialEvents *bool
}

// listOptions reads and validates the query, in kube-apiserver's order.
func (r *request) listOptions() (*listOptions, error) {
	o, err := r.readListOptions()
	if err != nil {
		return nil, err
	}
	target := r.target()
	if o.Selection, err = target.Select(o.selector); err != nil {
		return nil, err
	}
	if shards := r.query().Get("shardSelector"); shards != "" && r.surface.Release().Enabled("ShardedListAndWatch") {
		if o.Shards, err = sharding.Parse(shards); err != nil {
			return nil, status.Unclassified(err.Error())
		}
	}
	return o, nil
}

// readListOptions is listOptions before the selectors are compared with the resource.
func (r *request) readListOptions() (*listOptions, error) {
	q := r.query()
	o := &listOptions{}
	o.bookmarks = valueOf(boolOf(q, "allowWatchBookmarks"))
	o.Version = q.Get("resourceVersion")
	o.Match = storage.VersionMatch(q.Get("resourceVersionMatch"))
	var err error
	if o.timeoutSeconds, err = intOf(q, "timeoutSeconds"); err != nil {
		return nil, err
	}
	limit, err := intOf(q, "limit")
	if err != nil {
		return nil, err
	}
	o.Limit = valueOf(limit)
	o.Continue = q.Get("continue")
	o.EtcdSnapshots = !r.surface.Release().Enabled("ListFromCacheSnapshot")
	o.sendInitialEvents = boolOf(q, "sendInitialEvents")
	labels, err := selector.ParseLabels(q.Get("labelSelector"))
	if err != nil {
		return nil, status.BadRequest(validation.Reword(r.surface.Release(), err.Error()))
	}
	fields, err := selector.ParseFields(q.Get("fieldSelector"))
	if err != nil {
		return nil, status.BadRequest(err.Error())
	}

	// A watch without a version begins with the present state, like a streaming
	// list. The options of a watch by the deprecated path are those of a list.
	watch := valueOf(boolOf(q, "watch"))
	if watch && r.surface.Release().Enabled("WatchList") && o.sendInitialEvents == nil && o.Match == "" && (o.Version == "" || o.Version == "0") {
		yes := true
		o.sendInitialEvents = &yes
		o.Match = storage.MatchNotOlderThan
	}
	errs := r.released(validation.ListOptions{
		Watch:                watch,
		ResourceVersion:      o.Version,
		ResourceVersionMatch: string(o.Match),
		Continue:             o.Continue,
		SendInitialEvents:    o.sendInitialEvents,
	}.Validate())
	if len(errs) > 0 {
		return nil, status.InvalidOptions("ListOptions", errs)
	}
	o.selector = registry.Selector{Labels: labels, Fields: fields}
	return o, nil
}

// answerList writes a page in a representation. JSON is written while the page is
// read.
func (r *request) answerList(shape representation, page *storage.Page) error {
	_, isWhole := shape.(whole)
	switch {
	case r.out.Format == codec.JSON && !r.out.Pretty:
		return r.streamList(func(w *bufio.Writer) error {
			if err := shape.list(w, page); err != nil {
				return err
			}
			return w.WriteByte('\n')
		})
	case isWhole && (r.out.Format == codec.Protobuf || r.out.Format == codec.CBOR):
		return r.streamList(func(w *bufio.Writer) error { return r.out.Format.WriteList(w, r.listOf(page)) })
	}
	doc := document(func(w *bufio.Writer) error { return shape.list(w, page) })
	return r.answerJSON(http.StatusOK, doc, shape.listWire())
}

// listOf returns a page as package codec writes it.
func (r *request) listOf(page *storage.Page) codec.List {
	var meta bytes.Buffer
	w := bufio.NewWriter(&meta)
	writeListMeta(w, r.typ, page, true)
	w.Flush()
	return codec.List{
		Kind: r.typ.ListKind, APIVersion: r.typ.GroupVersion.String(), Metadata: meta.Bytes(),
		Item: r.typ.Codec.Wire(), Typed: r.typ.TypeMetaInItems,
		Items: func(yield func([]byte) bool) {
			var doc []byte
			for o := range page.Items {
				doc = o.Verbatim().AppendJSON(doc[:0])
				if !yield(doc) {
					return
				}
			}
		},
		Messages: func(yield func([]byte) bool) {
			for o := range page.Items {
				if !yield(o.Message(r.typ.Codec.Wire())) {
					return
				}
			}
		},
	}
}

// streamList writes a list through a buffer, compressed if it is long and the
// client accepts that.
func (r *request) streamList(write func(w *bufio.Writer) error) error {
	setContentType(r.w.Header(), r.out.ContentType())
	if header.Get(r.http.Header, "Accept-Encoding") == "" {
		r.w.WriteHeader(http.StatusOK)
		return r.stream(r.w, write, func() error { return nil })
	}
	c := codec.Compress(r.w, r.http)
	c.WriteHeader(http.StatusOK)
	return r.stream(c, write, c.Close)
}

// buffers hold answers before they are sent. Most clients read 64 KiB at a time.
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

// stream writes an answer whose header is sent through a buffer, and then calls closeAnswer.
// An error of the connection ends it and is not reported.
func (r *request) stream(to io.Writer, write func(w *bufio.Writer) error, closeAnswer func() error) error {
	limited := &limitedWriter{Writer: to, request: r}
	w := getBuffer(limited)
	defer putBuffer(w)
	err := write(w)
	if err == nil {
		err = w.Flush()
	}
	if closeErr := closeAnswer(); err == nil {
		err = closeErr
	}
	limited.end(err)
	return nil
}
