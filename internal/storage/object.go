package storage

import (
	"bytes"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/wire"
	"github.com/kubefake/kubefake/mvcc"
)

// An Object is an object at rest: its JSON as clients read it, and beside it
// the few things that selecting and guarding need, so that reading an object
// decodes nothing. It is immutable and shared.
type Object struct {
	Namespace, Name, UID string
	Labels               map[string]string
	// Fields are the values of the type's selectable fields, in their order.
	Fields []string
	// Revision is the one that wrote the object, 0 if none has.
	Revision mvcc.Revision
	// Terminating tells that metadata.deletionTimestamp is set.
	Terminating bool
	// Completed tells that kube-apiserver would have stored less than the object
	// shows.
	Completed bool

	// form is how the JSON was written; see In.
	form  resource.Codec
	views *views // nil for types that have no versions

	json []byte // ended by a newline
	meta int    // where `"metadata":` begins, after kind and apiVersion
	// json[version:versionEnd] are the digits of the resourceVersion; both are
	// 0 in an object that was never stored.
	version, versionEnd int
}

// Encoded returns an Object that is not stored yet, of JSON as New makes it. Of
// head the names, labels and fields count.
func Encoded(t *resource.Type, head Object, json []byte) *Object {
	head.form, head.json = t.Codec, json
	head.meta = bytes.Index(json, []byte(`"metadata":`))
	_, uid, _ := bytes.Cut(json[head.meta:], []byte(`"uid":"`))
	head.UID = string(uid[:bytes.IndexByte(uid, '"')])
	if t.Versions != nil {
		head.views = &views{}
	}
	return &head
}

// New encodes obj as an Object that is not stored yet: its JSON is without a
// resourceVersion.
func New(t *resource.Type, obj map[string]any) *Object {
	meta := object.Meta(obj)
	delete(meta, "resourceVersion")
	o := &Object{
		form:        t.Codec,
		Namespace:   strings.Clone(object.String(meta, "namespace")),
		Name:        strings.Clone(object.String(meta, "name")),
		UID:         strings.Clone(object.String(meta, "uid")),
		Labels:      cloneLabels(object.Map(meta, "labels")),
		Terminating: meta["deletionTimestamp"] != nil,
	}
	if len(t.Fields) > 0 {
		o.Fields = make([]string, len(t.Fields))
		for i, f := range t.Fields {
			o.Fields[i] = strings.Clone(f.Value(obj))
		}
	}
	o.json = encode(t, obj)
	o.meta = bytes.Index(o.json, []byte(`"metadata":`))
	if t.Versions != nil {
		o.views = &views{}
	}
	return o
}

// buffers are what objects are encoded in, before it is known how long they are.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// encode returns an object's JSON, ended by a newline.
func encode(t *resource.Type, obj map[string]any) []byte {
	buffer := buffers.Get().(*[]byte)
	defer buffers.Put(buffer)
	*buffer = append(t.Codec.Append((*buffer)[:0], obj), '\n')
	return bytes.Clone(*buffer)
}

// Bookmark returns what a watch of t shows to tell that it has come to rev: an
// object with a resourceVersion and, after the initial events, an annotation.
func Bookmark(t *resource.Type, rev mvcc.Revision, initial bool) *Object {
	meta := map[string]any{"resourceVersion": FormatVersion(rev)}
	if initial {
		meta["annotations"] = map[string]any{"k8s.io/initial-events-end": "true"}
	}
	obj := map[string]any{"kind": t.Kind, "apiVersion": t.GroupVersion.String(), "metadata": meta}
	o := &Object{Revision: rev, json: append(t.Codec.Append(nil, obj), '\n')}
	o.meta = bytes.Index(o.json, []byte(`"metadata":`))
	return o
}

// cloneLabels copies labels out of the body they were decoded from, which
// would stay in memory with them.
func cloneLabels(labels map[string]any) map[string]string {
	if len(labels) == 0 {
		return nil
	}
	out := make(map[string]string, len(labels))
	for k, v := range labels {
		if s, ok := v.(string); ok {
			out[strings.Clone(k)] = strings.Clone(s)
		}
	}
	return out
}

// The resourceVersion stands after the uid, as in the order of Kubernetes' types.
var versionMember = []byte(`,"resourceVersion":"`)

// At returns the object as stored at rev: its JSON with that resourceVersion.
func (o *Object) At(rev mvcc.Revision) *Object {
	head, tail := o.around()
	out := *o
	out.Revision = rev
	if o.views != nil {
		out.views = &views{}
	}
	b := make([]byte, 0, len(head)+len(versionMember)+20+len(tail))
	b = append(b, head...)
	b = append(b, versionMember...)
	out.version = len(b)
	b = strconv.AppendInt(b, int64(rev), 10)
	out.versionEnd = len(b)
	b = append(b, '"')
	out.json = append(b, tail...)
	return &out
}

// Claiming returns a draft that shows a text for its resourceVersion, which need
// be none.
func (o *Object) Claiming(resourceVersion string) *Object {
	head, tail := o.around()
	out := *o
	out.json = slices.Concat(head, versionMember[:len(versionMember)-1], wire.AppendAny(nil, resourceVersion), tail)
	return &out
}

// around is the JSON before and after the resourceVersion, or where it is to
// stand: behind the uid. What stands before the uid (name, generateName and
// namespace) cannot hold a bare `"uid":`.
func (o *Object) around() (head, tail []byte) {
	if o.version > 0 {
		return o.json[:o.version-len(versionMember)], o.json[o.versionEnd+len(`"`):]
	}
	member := `"uid":"` + o.UID + `"`
	at := o.meta + bytes.Index(o.json[o.meta:], []byte(member)) + len(member)
	return o.json[:at], o.json[at:]
}

// Same reports whether two objects differ in nothing but their version.
func (o *Object) Same(other *Object) bool {
	head, tail := o.around()
	otherHead, otherTail := other.around()
	return bytes.Equal(head, otherHead) && bytes.Equal(tail, otherTail)
}

// JSON is the encoded object, ended by a newline. It is shared: do not change
// it.
func (o *Object) JSON() []byte { return o.json }

// Metadata is the object's metadata as JSON. It is shared: do not change it.
func (o *Object) Metadata() []byte {
	b := o.json[o.meta+len(`"metadata":`):]
	depth, quoted := 0, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth == 0 {
				return b[:i+1]
			}
		}
	}
	panic("storage: metadata has no end") // unreachable: the JSON is our own
}

// WriteItem writes the object as an item of a list: without kind and
// apiVersion unless typed.
func (o *Object) WriteItem(w io.Writer, typed bool) error {
	b := o.json[:len(o.json)-1]
	if typed {
		_, err := w.Write(b)
		return err
	}
	if _, err := io.WriteString(w, "{"); err != nil {
		return err
	}
	_, err := w.Write(b[o.meta:])
	return err
}

// WriteAt writes the object with rev for its resourceVersion, without a
// newline: what a watch shows of an object deleted at rev.
func (o *Object) WriteAt(w io.Writer, rev mvcc.Revision) error {
	if _, err := w.Write(o.json[:o.version]); err != nil {
		return err
	}
	if _, err := io.WriteString(w, strconv.FormatInt(int64(rev), 10)); err != nil {
		return err
	}
	_, err := w.Write(o.json[o.versionEnd : len(o.json)-1])
	return err
}

// Decode returns the object in generic form, with the defaults of its type; the
// map is the caller's.
func (o *Object) Decode(t *resource.Type) map[string]any {
	obj, _, err := t.Codec.Decode(o.json, false)
	if err != nil {
		panic("storage: stored object does not decode: " + err.Error()) // unreachable: Codec.Append wrote it
	}
	if t.Default != nil {
		t.Default(obj)
	}
	return obj
}
