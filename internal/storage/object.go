package storage

import (
	"bytes"
	"encoding/base64"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

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
	Fields []string
	// Revision is the revision that wrote the object, 0 before it is stored.
	Revision mvcc.Revision
	// Terminating reports whether metadata.deletionTimestamp is set.
	Terminating bool
	// Completed reports whether the JSON has fields that kube-apiserver adds only
	// when it reads the object: storing the object again changes it.
	Completed bool

	sharesLabels bool           // another object has counted the labels
	typ          *resource.Type // the type that encoded the object; nil in a Bookmark
	encoded      wire.Encoded
	conversions  atomic.Pointer[conversions] // nil while it is not read as another type
}

// FromJSON returns head as an Object that is not stored yet. json is in the form that New
// encodes; head has its names, labels and fields. The Object keeps json.
func FromJSON(t *resource.Type, head *Object, json []byte) *Object {
	head.typ, head.encoded = t, wire.NewEncoded(json)
	head.UID = head.encoded.UID()
	return head
}

// copy returns a copy of the object, without its conversions.
func (o *Object) copy() *Object {
	return &Object{
		Namespace: o.Namespace, Name: o.Name, UID: o.UID, Labels: o.Labels, Fields: o.Fields,
		Revision: o.Revision, Terminating: o.Terminating, Completed: o.Completed,
		sharesLabels: o.sharesLabels, typ: o.typ, encoded: o.encoded,
	}
}

// New encodes obj as an Object that is not stored yet. It removes the
// resourceVersion from obj.
func New(t *resource.Type, obj map[string]any) *Object {
	meta := object.Meta(obj)
	delete(meta, "resourceVersion")
	o := &Object{Terminating: meta["deletionTimestamp"] != nil}
	var room [32]string // avoids an allocation
	texts := append(room[:0], object.String(meta, "namespace"), object.String(meta, "name"), object.String(meta, "uid"))
	for _, f := range t.SelectableFields {
		texts = append(texts, f.Value(obj))
	}
	labels := object.Map(meta, "labels")
	slot, shared := labelSetOf(labels)
	if shared == nil {
		for key, v := range labels {
			if value, ok := v.(string); ok {
				texts = append(texts, key, value)
			}
		}
	}
	cloneAll(texts)
	o.Namespace, o.Name, o.UID, texts = texts[0], texts[1], texts[2], texts[3:]
	if n := len(t.SelectableFields); n > 0 {
		o.Fields, texts = slices.Clone(texts[:n]), texts[n:]
	}
	o.Labels, o.sharesLabels = shared, shared != nil
	if len(texts) > 0 {
		o.Labels = make(map[string]string, len(texts)/2)
		for i := 0; i < len(texts); i += 2 {
			o.Labels[texts[i]] = texts[i+1]
		}
		if slot != nil {
			kept := o.Labels
			slot.Store(&kept)
		}
	}
	o.typ, o.encoded = t, wire.NewEncoded(encode(t, obj))
	return o
}

// buffers are buffers for encoding objects of unknown length.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// encode returns the JSON of an object, ended by a newline.
func encode(t *resource.Type, obj map[string]any) []byte {
	buffer := buffers.Get().(*[]byte)
	defer buffers.Put(buffer)
	*buffer = append(t.Codec.Append((*buffer)[:0], obj), '\n')
	return bytes.Clone(*buffer)
}

// Bookmark returns the object of a BOOKMARK event of t at a revision. initial adds
// the annotation that ends the initial events and, if blueprint is not "", the one with an
// empty list, which it is.
func Bookmark(t *resource.Type, rev mvcc.Revision, initial bool, blueprint string) *Object {
	meta := map[string]any{"resourceVersion": FormatVersion(rev)}
	if initial {
		annotations := map[string]any{initialEventsEnd: "true"}
		if blueprint != "" {
			annotations[initialEventsBlueprint] = base64.StdEncoding.EncodeToString([]byte(blueprint))
		}
		meta["annotations"] = annotations
	}
	obj := map[string]any{"kind": t.Kind, "apiVersion": t.GroupVersion.String(), "metadata": meta}
	if t.CompleteBookmark != nil {
		t.CompleteBookmark(obj)
	}
	return &Object{Revision: rev, encoded: wire.NewEncoded(append(t.Codec.Append(nil, obj), '\n'))}
}

// initialEventsEnd is the annotation of the bookmark that ends the initial events.
const initialEventsEnd = "k8s.io/initial-events-end"

// initialEventsBlueprint is the annotation of the same bookmark with an empty list of the
// type, in base64.
const initialEventsBlueprint = "kubernetes.io/initial-events-list-blueprint"

// EndsInitialEvents reports whether obj has the annotation of the bookmark that ends
// the initial events.
func EndsInitialEvents(obj map[string]any) bool {
	return object.String(obj, "metadata", "annotations", initialEventsEnd) == "true"
}

// cloneAll replaces strings by copies in one piece of memory, so that they do not keep the
// body in memory that they were decoded from.
func cloneAll(texts []string) {
	size := 0
	for _, s := range texts {
		size += len(s)
	}
	var b strings.Builder
	b.Grow(size)
	for _, s := range texts {
		b.WriteString(s)
	}
	all := b.String()
	for i, s := range texts {
		texts[i], all = all[:len(s)], all[len(s):]
	}
}

// At returns the object as stored at rev: with that resourceVersion.
func (o *Object) At(rev mvcc.Revision) *Object {
	out := o.copy()
	out.Revision = rev
	out.encoded = o.encoded.WithVersion(int64(rev))
	return out
}

// Replacing returns the object as stored at rev in place of old, another version of it. It
// shares with old the labels and the values of fields that are equal, so that an old version
// occupies little more than its JSON.
func (o *Object) Replacing(old *Object, rev mvcc.Revision) *Object {
	out := o.At(rev)
	out.Namespace, out.Name = old.Namespace, old.Name
	if out.UID == old.UID {
		out.UID = old.UID
	}
	if maps.Equal(out.Labels, old.Labels) {
		out.Labels, out.sharesLabels = old.Labels, true
	}
	if slices.Equal(out.Fields, old.Fields) {
		out.Fields = old.Fields
	}
	return out
}

// WithVersionText returns an object that is not stored, with any text as its
// resourceVersion.
func (o *Object) WithVersionText(resourceVersion string) *Object {
	out := o.copy()
	out.encoded = o.encoded.WithVersionText(resourceVersion)
	return out
}

const (
	// objectBytes is about what an Object occupies apart from its JSON, labels and
	// fields.
	objectBytes = 256

	// labelsBytes and labelBytes are about what the map of the labels and each label
	// occupy, in the first of the objects that share the map.
	labelsBytes = 320
	labelBytes  = 64
)

// Size implements mvcc.Sizer. It counts the encodings of all versions of the type,
// because the object caches those that are read.
func (o *Object) Size() int64 {
	json := cap(o.encoded.JSON())
	size := objectBytes + json
	if len(o.Labels) > 0 && !o.sharesLabels {
		size += labelsBytes + len(o.Labels)*labelBytes
	}
	for _, f := range o.Fields {
		size += len(f)
	}
	if o.typ != nil && o.typ.Versions != nil {
		size += json * (len(o.typ.Versions) - 1)
	}
	return int64(size)
}

var _ mvcc.Sizer = (*Object)(nil)

// Same reports whether two objects differ in nothing but their resourceVersions.
func (o *Object) Same(other *Object) bool { return o.encoded.EqualExceptVersion(other.encoded) }

// JSON returns the encoded object, ended by a newline. The caller must not change it.
func (o *Object) JSON() []byte { return o.encoded.JSON() }

// Metadata returns the object's metadata as JSON. The caller must not change it.
func (o *Object) Metadata() []byte { return o.encoded.Metadata() }

// WriteItem writes the object as an item of a list: without kind and apiVersion
// unless typed.
func (o *Object) WriteItem(w io.Writer, typed bool) error {
	if typed {
		_, err := w.Write(o.encoded.Document())
		return err
	}
	if _, err := io.WriteString(w, "{"); err != nil {
		return err
	}
	_, err := w.Write(o.encoded.AfterTypeMeta())
	return err
}

// WriteAt writes the object with the resourceVersion rev, without a newline: the
// form of an object deleted at rev in a watch.
func (o *Object) WriteAt(w io.Writer, rev mvcc.Revision) error {
	return o.encoded.WriteWithVersion(w, int64(rev))
}

// Decode returns the object in generic form, with the defaults of its type, unless the
// type has versions: then it has the defaults of the version in which it is stored. A
// Bookmark has none. The caller owns the map.
func (o *Object) Decode(t *resource.Type) map[string]any {
	obj, _, err := t.Codec.Decode(o.JSON(), false)
	if err != nil {
		panic("storage: stored object does not decode: " + err.Error()) // unreachable: Codec.Append wrote it
	}
	if t.Default != nil && t.Versions == nil && o.typ != nil {
		t.Default(obj)
	}
	return obj
}
