package storage

import (
	"bufio"
	"encoding/base64"
	"reflect"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/wire"
	"github.com/kubefake/kubefake/mvcc"
)

// An Object is a stored object: its JSON as clients read it, and decoded copies of
// what selectors and checks need, so that reading an object does not decode it. It
// is immutable and shared.
type Object struct {
	Namespace, Name, UID string
	Labels               map[string]string
	// Fields are the values of the type's selectable fields, in their order.
	Fields FieldValues
	// Revision is the revision that wrote the object, 0 before it is stored.
	Revision mvcc.Revision
	// Terminating reports whether metadata.deletionTimestamp is set.
	Terminating bool
	// Completed reports whether the JSON is not what kube-apiserver stores: it adds defaults, and
	// drops metadata that it cannot decode, when it reads the object. Storing the object again
	// changes it.
	Completed bool

	// asStored is what kube-apiserver stores of a completed custom resource: another definition may add
	// other defaults to it. It is nil if that is the encoded object.
	asStored *wire.Encoded

	sharesLabels bool           // another object has the labels too, and counts them
	typ          *resource.Type // the type that encoded the object; nil in a Bookmark
	encoded      wire.Encoded
	derived      atomic.Pointer[derived]
}

// FromJSON returns head as an Object that is not stored yet. json is what New encodes, ended by
// a newline; head has its names, labels and fields. The Object does not keep json.
func FromJSON(t *resource.Type, head *Object, json []byte) *Object {
	head.typ, head.encoded = t, wire.NewEncoded(json[:len(json)-1])
	head.UID = head.encoded.UID()
	return head
}

// copy returns a copy of the object, without what was derived of it.
func (o *Object) copy() *Object {
	return &Object{
		Namespace: o.Namespace, Name: o.Name, UID: o.UID, Labels: o.Labels, Fields: o.Fields,
		Revision: o.Revision, Terminating: o.Terminating, Completed: o.Completed,
		asStored: o.asStored, sharesLabels: o.sharesLabels, typ: o.typ, encoded: o.encoded,
	}
}

// New encodes obj as an Object that is not stored yet. It removes resourceVersion and selfLink from
// obj.
//
// The Object shares with old, which is another version of it or nil, what is equal in both, so
// that an old version occupies little more than what was changed.
func New(t *resource.Type, obj map[string]any, old *Object) *Object { return encode(t, obj, nil, old) }

// NewUnstored is New for an object that is answered and never stored. An empty list of obj is one in
// the answer, where a stored one may be null.
func NewUnstored(t *resource.Type, obj map[string]any) *Object {
	o := New(t, obj, nil)
	if typ := t.Codec.Wire(); typ != nil {
		o.encoded = typ.EncodeUnstored(obj)
	}
	return o
}

// encode is New for an object that shares values with live. That is nil or old, an object of t,
// decoded.
func encode(t *resource.Type, obj, live map[string]any, old *Object) *Object {
	if old == nil {
		old = &noObject
	}
	meta := object.Meta(obj)
	delete(meta, "resourceVersion")
	delete(meta, "selfLink")
	o := &Object{Terminating: meta["deletionTimestamp"] != nil, typ: t}
	labels := object.Map(meta, "labels")
	if o.Labels, o.sharesLabels = old.Labels, old.sharesLabels; !equalLabels(old.Labels, labels) {
		o.Labels, o.sharesLabels = labelsOf(labels)
	}
	sharesFields := live != nil && object.ViewOf(obj).SharesMembers(object.ViewOf(live), "metadata")
	o.setTexts(object.String(meta, "namespace"), object.String(meta, "name"), object.String(meta, "uid"), obj, old, sharesFields)
	o.encoded = t.Codec.EncodeStored(obj, live, &old.encoded)
	if o.UID != old.UID { // old is another object
		o.encoded.LeaveTo(&old.encoded)
		o.sharesLabels = o.sharesLabels || o.hasLabelsOf(old)
	}
	return o
}

// noObject shares nothing.
var noObject Object

// setTexts sets the names and the values of the fields of obj, in one piece of memory that does
// not keep the body that they were decoded from, or shares those of old if all are equal.
// sharesFields says that the values are those of old.
func (o *Object) setTexts(namespace, name, uid string, obj map[string]any, old *Object, sharesFields bool) {
	var room [256]byte // avoids an allocation
	texts := append(append(append(room[:0], namespace...), name...), uid...)
	names := len(texts)
	if !sharesFields {
		for _, f := range o.typ.SelectableFields {
			texts = appendField(texts, f.Value(obj))
		}
		sharesFields = FieldValues(texts[names:]) == old.Fields
	}
	if namespace == old.Namespace && name == old.Name && uid == old.UID && sharesFields {
		o.Namespace, o.Name, o.UID, o.Fields = old.Namespace, old.Name, old.UID, old.Fields
		return
	}
	all := string(texts)
	if all, o.Fields = all[:names], FieldValues(all[names:]); sharesFields {
		o.Fields = old.Fields
	}
	o.Namespace, all = all[:len(namespace)], all[len(namespace):]
	o.Name, o.UID = all[:len(name)], all[len(name):]
}

// buffers are buffers for JSON of unknown length.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// Bookmark returns the object of a BOOKMARK event of t at a revision. initial adds
// the annotation that ends the initial events and, if blueprint is not "", the one with an
// empty list, which it is.
func Bookmark(t *resource.Type, rev mvcc.Revision, initial bool, blueprint string) *Object {
	meta := map[string]any{}
	if initial {
		annotations := map[string]any{InitialEventsEnd: "true"}
		if blueprint != "" {
			annotations[initialEventsBlueprint] = base64.StdEncoding.EncodeToString([]byte(blueprint))
		}
		meta["annotations"] = annotations
	}
	obj := map[string]any{"kind": t.Kind, "apiVersion": t.GroupVersion.String(), "metadata": meta}
	if t.CompleteBookmark != nil {
		t.CompleteBookmark(obj)
	}
	return &Object{Revision: rev, encoded: wire.NewEncoded(t.Codec.Append(nil, obj))}
}

// InitialEventsEnd is the annotation of the bookmark that ends the initial events.
const InitialEventsEnd = "k8s.io/initial-events-end"

// initialEventsBlueprint is the annotation of the same bookmark with an empty list of the
// type, in base64.
const initialEventsBlueprint = "kubernetes.io/initial-events-list-blueprint"

// EndsInitialEvents reports whether obj has the annotation of the bookmark that ends
// the initial events.
func EndsInitialEvents(obj map[string]any) bool {
	return object.String(obj, "metadata", "annotations", InitialEventsEnd) == "true"
}

// At returns the object as stored at rev: with that resourceVersion.
func (o *Object) At(rev mvcc.Revision) *Object {
	out := o.copy()
	out.Revision = rev
	return out
}

// WithVersionText returns an object that is not stored, with any text as its
// resourceVersion.
func (o *Object) WithVersionText(resourceVersion string) *Object {
	out := o.copy()
	out.Revision = 0
	out.encoded = o.encoded.WithVersionText(resourceVersion)
	return out
}

const (
	// objectBytes is about what an Object occupies apart from its texts and labels.
	objectBytes = 208

	// labelsBytes and labelBytes are about what the map of the labels and each label
	// occupy, in the first of the objects that share the map.
	labelsBytes = 320
	labelBytes  = 64
)

// Size implements mvcc.Sizer. It counts the encodings of all versions of the type,
// because the object caches those that are read.
func (o *Object) Size() int64 {
	size := objectBytes + o.textBytes() + o.labelBytes() + o.encodings()*o.encoded.Size()
	if o.asStored != nil {
		size += o.asStored.Size()
	}
	return int64(size)
}

// SharedWith implements mvcc.Sharer.
func (o *Object) SharedWith(next *Object) int64 {
	shared := o.encoded.Shared(&next.encoded)
	if unsafe.StringData(o.Name) == unsafe.StringData(next.Name) {
		shared += o.textBytes()
	}
	if o.hasLabelsOf(next) {
		shared += o.labelBytes()
	}
	return int64(shared)
}

// hasLabelsOf reports whether two objects have their labels in the same memory.
func (o *Object) hasLabelsOf(other *Object) bool {
	return reflect.ValueOf(o.Labels).Pointer() == reflect.ValueOf(other.Labels).Pointer()
}

// textBytes returns what setTexts has set occupies.
func (o *Object) textBytes() int {
	return len(o.Namespace) + len(o.Name) + len(o.UID) + len(o.Fields)
}

// labelBytes returns what the labels occupy, 0 if another object counts them.
func (o *Object) labelBytes() int {
	if len(o.Labels) == 0 || o.sharesLabels {
		return 0
	}
	return labelsBytes + len(o.Labels)*labelBytes
}

// encodings returns in how many versions the object may be encoded.
func (o *Object) encodings() int {
	if o.typ == nil || o.typ.Versions == nil {
		return 1
	}
	return len(o.typ.Versions)
}

var _ mvcc.Sharer[*Object] = (*Object)(nil)

// Same reports whether two objects differ in nothing but their resourceVersions.
func (o *Object) Same(other *Object) bool { return o.encoded.Equal(&other.encoded) }

// StoredAs reports whether kube-apiserver stores the same of two objects of one type. It reports false
// where that is not known.
func (o *Object) StoredAs(other *Object) bool {
	if o.Completed && o.asStored == nil || other.Completed && other.asStored == nil {
		return false
	}
	return o.storedForm().Equal(other.storedForm())
}

// storedForm returns what kube-apiserver stores of an object that is stored in its version.
func (o *Object) storedForm() *wire.Encoded {
	if o.asStored != nil {
		return o.asStored
	}
	return &o.encoded
}

// SameMembers reports whether two objects have the same members after their metadata. It may miss
// that for short ones.
func (o *Object) SameMembers(other *Object) bool { return o.encoded.SameMembers(&other.encoded) }

// Len returns the length of the JSON without the resourceVersion, in bytes.
func (o *Object) Len() int { return o.encoded.Len() }

// JSON returns the encoded object, ended by a newline. The caller owns the slice.
func (o *Object) JSON() []byte { return o.AppendJSON(make([]byte, 0, o.Len()+wire.MaxVersion)) }

// ReadJSON calls read with what JSON returns, which is valid until read returns, and returns its
// error.
func (o *Object) ReadJSON(read func(json []byte) error) error {
	buffer := buffers.Get().(*[]byte)
	defer buffers.Put(buffer)
	*buffer = o.AppendJSON((*buffer)[:0])
	return read(*buffer)
}

// AppendJSON appends the encoded object and a newline to a slice.
func (o *Object) AppendJSON(to []byte) []byte {
	return append(o.encoded.Append(to, int64(o.Revision)), '\n')
}

// Verbatim returns the object for answers that are not in JSON, which have its untyped data as the
// client sent it.
func (o *Object) Verbatim() *Object {
	if o.encoded.UntypedTexts() == nil {
		return o
	}
	verbatim, err := o.encoded.Verbatim(o.typ.Codec.Wire())
	if err != nil {
		panic("storage: stored object does not decode: " + err.Error()) // unreachable: encode wrote it
	}
	out := o.copy()
	out.encoded = verbatim
	return out
}

// Metadata returns the object's metadata as JSON. The caller owns the slice.
func (o *Object) Metadata() []byte {
	return o.encoded.AppendMetadata(make([]byte, 0, o.Len()+wire.MaxVersion), int64(o.Revision))
}

// WriteItem writes the object as an item of a list: without kind and apiVersion
// unless typed.
func (o *Object) WriteItem(w *bufio.Writer, typed bool) error {
	if !typed {
		w.WriteByte('{')
	}
	return o.encoded.Write(w, int64(o.Revision), typed)
}

// WriteAt writes the object with the resourceVersion rev, without a newline: the
// form of an object deleted at rev in a watch.
func (o *Object) WriteAt(w *bufio.Writer, rev mvcc.Revision) error {
	return o.encoded.Write(w, int64(rev), true)
}

// Decode returns the object in generic form, with the defaults of its type, unless the
// type has versions: then it has the defaults of the version in which it is stored. A
// Bookmark has none. The caller owns the map.
func (o *Object) Decode(t *resource.Type) map[string]any { return o.decodeNext(t, nil, nil) }

// complete makes obj, from which Draft with the same live encoded the object, what decodeNext
// returns, which saves decoding it. It reports false if it cannot, which does not change obj.
func (o *Object) complete(t *resource.Type, obj, live map[string]any) bool {
	if !o.IsOf(t) || !t.Codec.IsStored(obj, live) {
		return false
	}
	object.Meta(obj)["resourceVersion"] = FormatVersion(o.Revision)
	o.setDefaults(t, obj, live)
	return true
}

// setDefaults sets the defaults of what has been decoded as t.
func (o *Object) setDefaults(t *resource.Type, obj, live map[string]any) {
	if t.Versions == nil && o.typ != nil {
		t.SetDefaults(obj, object.ViewOf(live))
	}
}

// decodeNext is Decode for an object of which the caller has another version, or for one that is
// like another: live is old decoded as t, or nil. The result may share values with live.
func (o *Object) decodeNext(t *resource.Type, live map[string]any, old *Object) map[string]any {
	if live == nil || !o.IsOf(t) || !old.IsOf(t) {
		live, old = nil, &noObject
	}
	obj, err := t.Codec.DecodeStored(&o.encoded, int64(o.Revision), live, &old.encoded)
	if err != nil {
		panic("storage: stored object does not decode: " + err.Error()) // unreachable: Codec.Append wrote it
	}
	o.setDefaults(t, obj, live)
	return obj
}
