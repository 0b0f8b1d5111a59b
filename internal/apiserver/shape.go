package apiserver

import (
	"bufio"
	"strconv"
	"time"

	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/internal/table"
	"github.com/kubefake/kubefake/internal/validation"
)

// A shape is how objects are shown: as they are, as their metadata alone, or as
// the rows of a Table. It writes JSON; other media types are made of that.
type shape interface {
	// object writes one object, without a newline.
	object(w *bufio.Writer, o *storage.Object) error
	// list writes a page.
	list(w *bufio.Writer, page *storage.Page) error
}

// The kinds that a client can ask objects to be shown as.
const (
	asTable               = "Table"
	asPartialMetadata     = "PartialObjectMetadata"
	asPartialMetadataList = "PartialObjectMetadataList"
)

// shape is that of the answer, as the client asks for it.
func (r *request) shape() (shape, error) {
	apiVersion := "meta.k8s.io/" + r.asVersion
	switch r.as {
	case asTable:
		return r.tableShape(apiVersion)
	case asPartialMetadata, asPartialMetadataList:
		return &metadataShape{apiVersion: apiVersion, typ: r.typ}, nil
	}
	return wholeShape{r.typ}, nil
}

// writeListMeta writes the members that the metadata of every kind of list has.
func writeListMeta(w *bufio.Writer, t *resource.Type, page *storage.Page) {
	w.WriteString(`{"resourceVersion":"`)
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
	w.WriteByte('}')
}

// writeItems writes the items of a page, each by write, as a JSON list.
func writeItems(w *bufio.Writer, page *storage.Page, write func(*storage.Object) error) error {
	w.WriteByte('[')
	first := true
	for o := range page.Items {
		if !first {
			w.WriteByte(',')
		}
		first = false
		if err := write(o); err != nil {
			return err
		}
	}
	return w.WriteByte(']')
}

// wholeShape shows objects as they are stored.
type wholeShape struct{ typ *resource.Type }

func (wholeShape) object(w *bufio.Writer, o *storage.Object) error { return o.WriteItem(w, true) }

func (s wholeShape) list(w *bufio.Writer, page *storage.Page) error {
	w.WriteString(`{"kind":`)
	w.WriteString(strconv.Quote(s.typ.ListKind))
	w.WriteString(`,"apiVersion":`)
	w.WriteString(strconv.Quote(s.typ.GroupVersion.String()))
	w.WriteString(`,"metadata":`)
	writeListMeta(w, s.typ, page)
	w.WriteString(`,"items":`)
	if err := writeItems(w, page, func(o *storage.Object) error { return o.WriteItem(w, s.typ.TypedItems) }); err != nil {
		return err
	}
	return w.WriteByte('}')
}

// metadataShape shows objects as PartialObjectMetadata.
type metadataShape struct {
	apiVersion string
	typ        *resource.Type
}

func (s *metadataShape) object(w *bufio.Writer, o *storage.Object) error {
	_, err := w.Write(partialMetadata(s.apiVersion, o))
	return err
}

func (s *metadataShape) list(w *bufio.Writer, page *storage.Page) error {
	w.WriteString(`{"kind":"PartialObjectMetadataList","apiVersion":"` + s.apiVersion + `","metadata":`)
	writeListMeta(w, s.typ, page)
	w.WriteString(`,"items":`)
	if err := writeItems(w, page, func(o *storage.Object) error { return s.object(w, o) }); err != nil {
		return err
	}
	return w.WriteByte('}')
}

func partialMetadata(apiVersion string, o *storage.Object) []byte {
	b := append([]byte(`{"kind":"PartialObjectMetadata","apiVersion":"`+apiVersion+`","metadata":`), o.Metadata()...)
	return append(b, '}')
}

// tableShape shows objects as rows. It belongs to one answer.
type tableShape struct {
	apiVersion string
	typ        *resource.Type
	layout     *table.Layout
	include    string // Metadata, None or Object
	now        time.Time
	begun      bool // the columns have been told: a watch tells them once
}

func (r *request) tableShape(apiVersion string) (shape, error) {
	include := r.query().Get("includeObject")
	if errs := validation.IncludeObject(include); len(errs) > 0 {
		return nil, status.BadRequest("Unable to convert to Table as requested: " + errs.Message())
	}
	return &tableShape{
		apiVersion: apiVersion,
		typ:        r.typ,
		layout:     table.Default,
		include:    include,
		now:        r.server.clock.Now(),
	}, nil
}

func (s *tableShape) begin(w *bufio.Writer) {
	w.WriteString(`{"kind":"Table","apiVersion":"` + s.apiVersion + `","metadata":`)
}

func (s *tableShape) columns(w *bufio.Writer) {
	w.WriteString(`,"columnDefinitions":`)
	if s.begun {
		w.WriteString("null")
	} else {
		w.Write(s.layout.AppendColumns(w.AvailableBuffer()))
	}
	s.begun = true
	w.WriteString(`,"rows":`)
}

func (s *tableShape) object(w *bufio.Writer, o *storage.Object) error {
	s.begin(w)
	w.WriteString(`{"resourceVersion":"` + storage.FormatVersion(o.Revision) + `"}`)
	s.columns(w)
	w.WriteByte('[')
	s.row(w, o)
	_, err := w.WriteString("]}")
	return err
}

func (s *tableShape) list(w *bufio.Writer, page *storage.Page) error {
	s.begin(w)
	writeListMeta(w, s.typ, page)
	s.columns(w)
	if err := writeItems(w, page, func(o *storage.Object) error { return s.row(w, o) }); err != nil {
		return err
	}
	return w.WriteByte('}')
}

func (s *tableShape) row(w *bufio.Writer, o *storage.Object) error {
	var shown []byte
	switch s.include {
	case "None":
	case "Object":
		b := o.JSON()
		shown = b[:len(b)-1]
	default:
		shown = partialMetadata(s.apiVersion, o)
	}
	_, err := w.Write(s.layout.AppendRow(w.AvailableBuffer(), o.Decode(s.typ), s.now, shown))
	return err
}
