package server

import (
	"bufio"
	"fmt"
	"net/http"
	"strings"

	"github.com/kubefake/kubefake/internal/codec"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/mvcc"
)

// change writes the event of a change.
func (st *watchStream) change(c storage.Change) error {
	if st.sharesEvents() {
		key := eventKey{typ: st.typ, change: c, form: st.out}
		rows, isTable := st.shape.(*tableRows)
		if isTable {
			key.rows = rows.form()
		}
		event := st.server.events.get(key, func() []byte { return st.encode(string(c.Type), changed(c)) })
		if isTable {
			rows.begun = true
		}
		_, err := st.w.Write(event)
		return err
	}
	if c.Type != storage.Deleted || st.out.View != codec.Whole {
		return st.event(string(c.Type), changed(c))
	}
	st.w.WriteString(`{"type":"DELETED","object":`)
	if err := c.Object.WriteAt(st.w, c.Revision); err != nil {
		return err
	}
	_, err := st.w.WriteString("}\n")
	return err
}

// sharesEvents reports whether the events of changes are in a form that has to be made. JSON
// is stored.
func (st *watchStream) sharesEvents() bool {
	return st.out.View == codec.PartialMetadata || st.out.View == codec.Table || st.out.View == codec.Whole && st.out.Format != codec.JSON
}

// changed returns the object of an event.
func changed(c storage.Change) *storage.Object {
	if c.Type == storage.Deleted {
		return c.Object.At(c.Revision)
	}
	return c.Object
}

// event writes an event.
func (st *watchStream) event(typ string, o *storage.Object) error {
	if st.out.View == codec.PartialMetadataList {
		return errNoEvent
	}
	if st.out.Format != codec.JSON {
		_, err := st.w.Write(st.encode(typ, o))
		return err
	}
	st.w.WriteString(`{"type":"`)
	st.w.WriteString(typ)
	st.w.WriteString(`","object":`)
	if err := st.shape.object(st.w, o); err != nil {
		return err
	}
	_, err := st.w.WriteString("}\n")
	return err
}

// encode returns an event.
func (st *watchStream) encode(typ string, o *storage.Object) []byte {
	doc := document(func(w *bufio.Writer) error { return st.shape.object(w, o.Verbatim()) })
	return st.out.Format.AppendEvent(nil, typ, st.out.Format.Append(nil, doc, st.shape.wire()))
}

// bookmark writes a bookmark: all events up to rev were sent. initial marks the
// one after the initial events.
func (st *watchStream) bookmark(rev mvcc.Revision, initial bool) error {
	blueprint := ""
	if initial && !st.surface.Release().Has(behavior.NoBookmarkBlueprints) {
		if st.out.View == codec.PartialMetadataList {
			st.writeError(st.noBlueprint())
			return st.flush()
		}
		blueprint = st.blueprint()
	}
	if err := st.event("BOOKMARK", storage.Bookmark(st.typ, rev, initial, blueprint)); err != nil {
		return err
	}
	return st.flush()
}

// noBlueprint is the error of an empty list in the representation of a list of metadata.
func (st *watchStream) noBlueprint() *status.Status {
	list := resource.Kind{GroupVersion: st.typ.GroupVersion, Kind: st.typ.ListKind}
	err := resource.NoTypeRegistered(st.surface.Release().Minor(), list)
	if st.byDefinition {
		err = resource.NotRegistered(st.surface.Release().Minor(), list)
	}
	return status.Failure(http.StatusInternalServerError, status.ReasonInternalError, err.Error(), nil)
}

// blueprint returns the empty list of the representation that the bookmark after the
// initial events has in older releases.
func (st *watchStream) blueprint() string {
	format, t := st.out.Format, st.typ
	doc := emptyList(t.ListKind, t.GroupVersion.String())
	switch {
	case st.out.View == codec.PartialMetadata:
		doc = emptyList("PartialObjectMetadataList", "meta.k8s.io/"+st.out.Version)
	case format == codec.Protobuf || format == codec.CBOR:
		var b strings.Builder
		list := st.listOf(&storage.Page{Items: func(func(*storage.Object) bool) {}})
		format.WriteList(&b, list) // a Builder has no errors
		return b.String()
	case t.TypeMetaInItems:
		doc = fmt.Sprintf(`{"apiVersion":%q,"items":[],"kind":%q}`, t.GroupVersion, t.ListKind)
	}
	return string(format.Append(nil, []byte(doc), st.shape.listWire()))
}

func emptyList(kind, apiVersion string) string {
	return fmt.Sprintf(`{"kind":%q,"apiVersion":%q,"metadata":{},"items":null}`, kind, apiVersion)
}

// fail ends the stream with an ERROR event.
func (st *watchStream) fail(err error) error {
	s := st.asStatus(err)
	st.request.w.failure = s
	st.ended = s.Message
	st.writeError(s)
	return st.flush()
}

// writeError writes an ERROR event.
func (st *watchStream) writeError(s *status.Status) {
	st.w.Write(st.out.Format.AppendError(nil, s.JSON()))
}
