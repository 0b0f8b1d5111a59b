package server

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/codec"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/internal/table"
	"github.com/kubefake/kubefake/internal/validation"
	"github.com/kubefake/kubefake/internal/wire"
)

// A representation is the form of objects in an answer: whole, their metadata
// only, or the rows of a Table. It writes JSON, which is converted to other media
// types.
type representation interface {
	// object writes one object, without a newline.
	object(w *bufio.Writer, o *storage.Object) error
	// list writes a page.
	list(w *bufio.Writer, page *storage.Page) error
	// wire and listWire return the types of what object and list write, nil if
	// that has no protobuf encoding.
	wire() *wire.Type
	listWire() *wire.Type
}

// representation returns the representation that the client asks for, of objects
// of type t. list is set if the answer is a list.
func (r *request) representation(t *resource.Type, list bool) (representation, error) {
	apiVersion := "meta.k8s.io/" + r.out.Version
	refused := ""
	switch r.out.View {
	case codec.Table:
		return r.tableRows(t, apiVersion)
	case codec.PartialMetadata:
		if list {
			refused = "a list (*%sList)"
		}
	case codec.PartialMetadataList:
		switch {
		case list || r.Verb == "watch":
		case t.Codec.Wire() == nil: // an Unstructured has the methods of a list
			return nil, status.Failure(http.StatusInternalServerError, "", "content is not a list", nil)
		default:
			refused = "not a list (*%s)"
		}
	default:
		return whole{t}, nil
	}
	if refused != "" {
		return nil, r.viewRefused(fmt.Sprintf(refused, t.InternalType()))
	}
	return &metadataOnly{apiVersion: apiVersion, typ: t}, nil
}

// viewRefused is the error of a view that what the client asks for does not have.
func (r *request) viewRefused(what string) error {
	return status.Failure(http.StatusNotAcceptable, status.ReasonNotAcceptable, fmt.Sprintf("you requested %s, but the requested object is %s", r.out.View, what), nil)
}

// writeListMeta writes the metadata of a list, whole or in another representation.
func writeListMeta(w *bufio.Writer, t *resource.Type, page *storage.Page, whole bool) {
	if page.Revision == 0 { // the objects are not stored
		w.WriteString(`{}`)
		return
	}
	w.WriteString(`{"resourceVersion":"`)
	w.WriteString(storage.FormatVersion(page.Revision))
	w.WriteByte('"')
	if page.Continue != "" || whole && t.TypeMetaInItems {
		w.WriteString(`,"continue":"`)
		w.WriteString(page.Continue)
		w.WriteByte('"')
	}
	if page.Remaining >= 0 {
		w.WriteString(`,"remainingItemCount":`)
		w.WriteString(strconv.FormatInt(page.Remaining, 10))
	}
	if whole && !t.TypeMetaInItems && !page.Shards.Empty() { // lists of custom resources have none
		w.WriteString(`,"shardInfo":{"selector":"`)
		w.WriteString(page.Shards.String())
		w.WriteString(`"}`)
	}
	w.WriteByte('}')
}

// writeItems writes the items of a page as a JSON list. write writes one item.
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

// whole represents objects as they are stored.
type whole struct{ typ *resource.Type }

func (whole) object(w *bufio.Writer, o *storage.Object) error { return o.WriteItem(w, true) }

func (s whole) wire() *wire.Type { return s.typ.Codec.Wire() }

// listWire is not called: lists in protobuf are written item by item.
func (s whole) listWire() *wire.Type { return nil }

func (s whole) list(w *bufio.Writer, page *storage.Page) error {
	w.WriteString(`{"kind":`)
	w.WriteString(strconv.Quote(s.typ.ListKind))
	w.WriteString(`,"apiVersion":`)
	w.WriteString(strconv.Quote(s.typ.GroupVersion.String()))
	w.WriteString(`,"metadata":`)
	writeListMeta(w, s.typ, page, true)
	w.WriteString(`,"items":`)
	if err := writeItems(w, page, func(o *storage.Object) error { return o.WriteItem(w, s.typ.TypeMetaInItems) }); err != nil {
		return err
	}
	return w.WriteByte('}')
}

// metadataOnly represents objects as PartialObjectMetadata.
type metadataOnly struct {
	apiVersion string
	typ        *resource.Type
}

func (s *metadataOnly) object(w *bufio.Writer, o *storage.Object) error {
	_, err := w.Write(partialMetadata(s.apiVersion, shownMetadata(s.typ, o)))
	return err
}

func (s *metadataOnly) wire() *wire.Type { return metaType("PartialObjectMetadata") }

func (s *metadataOnly) listWire() *wire.Type { return metaType("PartialObjectMetadataList") }

func (s *metadataOnly) list(w *bufio.Writer, page *storage.Page) error {
	w.WriteString(`{"kind":"PartialObjectMetadataList","apiVersion":"` + s.apiVersion + `","metadata":`)
	writeListMeta(w, s.typ, page, false)
	w.WriteString(`,"items":`)
	if page.Empty() {
		w.WriteString("null")
	} else if err := writeItems(w, page, func(o *storage.Object) error { return s.object(w, o) }); err != nil {
		return err
	}
	return w.WriteByte('}')
}

// shownMetadata returns the metadata of an object of type t as clients see it.
func shownMetadata(t *resource.Type, o *storage.Object) []byte {
	if len(t.ConversionAnnotations) > 0 {
		return underived(t, o.Metadata())
	}
	return o.Metadata()
}

// partialMetadata returns the PartialObjectMetadata of an object.
func partialMetadata(apiVersion string, meta []byte) []byte {
	b := append([]byte(`{"kind":"PartialObjectMetadata","apiVersion":"`+apiVersion+`","metadata":`), meta...)
	return append(b, '}')
}

// underived returns metadata without the annotations that its type derives from
// other fields.
func underived(t *resource.Type, metadata []byte) []byte {
	as := metaType("ObjectMeta")
	meta, _, err := as.Decode(metadata, wire.DecodeOptions{})
	if err != nil {
		panic("server: stored metadata does not decode: " + err.Error()) // unreachable: Codec.Append wrote it
	}
	annotations := object.Map(meta, "annotations")
	for _, name := range t.ConversionAnnotations {
		delete(annotations, name)
	}
	return as.Append(nil, meta)
}

// tableRows represents objects as the rows of a Table. It belongs to one answer.
type tableRows struct {
	ctx        context.Context
	apiVersion string
	typ        *resource.Type
	layout     *table.Layout
	include    string // Metadata, None or Object
	clock      *clock.Clock
	begun      bool // the columns were written; a watch writes them once
}

// includeObject returns the parameter of that name, which every answer to a client that
// accepts Tables depends on. It fails for an invalid one.
func (r *request) includeObject() (string, error) {
	include := r.query().Get("includeObject")
	if errs := validation.IncludeObject(include); len(errs) > 0 {
		return "", status.BadRequest("Unable to convert to Table as requested: " + errs.Message())
	}
	return include, nil
}

func (r *request) tableRows(t *resource.Type, apiVersion string) (representation, error) {
	include, err := r.includeObject()
	if err != nil {
		return nil, err
	}
	return &tableRows{
		ctx:        r.ctx(),
		apiVersion: apiVersion,
		typ:        t,
		layout:     cmp.Or(t.Layout, table.Default),
		include:    include,
		clock:      r.server.config.Clock,
	}, nil
}

// A rowForm is what the bytes of an event depend on if it is a Table.
type rowForm struct {
	include string
	columns bool  // the event has the columns
	second  int64 // of the time that ages are relative to
}

// form returns the form of the next event.
func (s *tableRows) form() rowForm {
	return rowForm{include: s.include, columns: !s.begun, second: s.clock.Now().Unix()}
}

// wire returns nil: Tables have no protobuf encoding.
func (s *tableRows) wire() *wire.Type { return nil }

func (s *tableRows) listWire() *wire.Type { return nil }

func (s *tableRows) begin(w *bufio.Writer) {
	w.WriteString(`{"kind":"Table","apiVersion":"` + s.apiVersion + `","metadata":`)
}

func (s *tableRows) columns(w *bufio.Writer) {
	w.WriteString(`,"columnDefinitions":`)
	if s.begun {
		w.WriteString("null")
	} else {
		w.Write(s.layout.AppendColumns(w.AvailableBuffer()))
	}
	s.begun = true
	w.WriteString(`,"rows":`)
}

func (s *tableRows) object(w *bufio.Writer, o *storage.Object) error {
	s.begin(w)
	if o.Revision == 0 { // it is not stored
		w.WriteString(`{}`)
	} else {
		w.WriteString(`{"resourceVersion":"` + storage.FormatVersion(o.Revision) + `"}`)
	}
	s.columns(w)
	w.WriteByte('[')
	s.row(w, o, false)
	_, err := w.WriteString("]}")
	return err
}

func (s *tableRows) list(w *bufio.Writer, page *storage.Page) error {
	s.begin(w)
	writeListMeta(w, s.typ, page, false)
	s.columns(w)
	if s.layout.NullRows && page.Empty() {
		_, err := w.WriteString("null}")
		return err
	}
	marked := s.arrange(page)
	if err := writeItems(w, page, func(o *storage.Object) error { return s.row(w, o, o == marked) }); err != nil {
		return err
	}
	return w.WriteByte('}')
}

// arrange puts the items of a page in the order of the layout, and returns the one that it marks.
func (s *tableRows) arrange(page *storage.Page) (marked *storage.Object) {
	if s.layout.Compare == nil && s.layout.Marked == nil {
		return nil
	}
	type item struct {
		stored *storage.Object
		obj    map[string]any
	}
	var all []item
	for o := range page.Items {
		all = append(all, item{o, o.Decode(s.typ)})
	}
	if s.layout.Compare != nil {
		slices.SortFunc(all, func(a, b item) int { return s.layout.Compare(a.obj, b.obj) })
	}
	if s.layout.Marked != nil {
		objs := make([]object.View, len(all))
		for i, it := range all {
			objs[i] = object.ViewOf(it.obj)
		}
		if i := s.layout.Marked(objs); i >= 0 {
			marked = all[i].stored
		}
	}
	page.Items = func(yield func(*storage.Object) bool) {
		for _, it := range all {
			if !yield(it.stored) {
				return
			}
		}
	}
	return marked
}

// printed returns what the row of an object shows.
func (s *tableRows) printed(o *storage.Object) (map[string]any, error) {
	from := o.Unconverted()
	if !s.layout.Stored || from == o {
		return o.Decode(s.typ), nil
	}
	stored := s.typ.Storage()
	from, err := from.In(s.ctx, stored)
	if err != nil {
		return nil, err
	}
	return from.Decode(stored), nil
}

func (s *tableRows) row(w *bufio.Writer, o *storage.Object, marked bool) error {
	obj, err := s.printed(o)
	if err != nil {
		return err
	}
	var shown []byte
	switch {
	case s.include == "None" && !storage.EndsInitialEvents(obj):
	case s.include == "Object":
		b := o.JSON()
		shown = b[:len(b)-1]
	default:
		shown = partialMetadata(s.apiVersion, shownMetadata(s.typ, o))
	}
	_, err = w.Write(s.layout.AppendRow(w.AvailableBuffer(), table.Row{Obj: obj, Now: s.clock.Now(), Marked: marked}, shown))
	return err
}
