package wire

import (
	"math/bits"
	"slices"

	"github.com/kubefake/kubefake/internal/object"
)

// Encode returns an object in the form in which it is stored: the JSON of [Type.Append], as an
// Encoded that shares its texts with old, another version of the object or the zero value. obj
// must have metadata, without a resourceVersion. Encode does not change or keep it.
//
// live is old decoded, or nil. The members of obj that are those of live in memory are not encoded:
// they have the text that they have in old.
func (t *Type) Encode(obj, live map[string]any, old *Encoded) Encoded {
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	e, n := newEncoder(t.protobuf), t.root
	head, body, tail := n.sections()
	set := n.always | e.push(n, obj)
	reuses := live != nil && old.cut && old.untyped == nil

	dst := e.fields(append((*buf)[:0], '{'), n, 0, set&head)
	p := e.metadata(dst, n.fields[n.byName.Find("metadata")].node, object.Map(obj, "metadata"))
	dst = p.json
	if p.oldBody = reuses && n.sameFields(obj, live, body); !p.oldBody {
		dst = e.fields(dst, n, 0, set&body)
	}
	p.status = len(dst)
	if reuses && n.sameFields(obj, live, tail) {
		dst = append(dst, old.changing[old.status:]...)
	} else {
		dst = e.fields(dst, n, 0, set&tail)
	}
	p.untyped = e.untyped.collected()
	e.release()
	p.json, *buf = dst, dst
	return p.encoded(old)
}

// EncodeUnstored is Encode for an object that is answered without being stored: with its empty lists
// and maps, which protobuf would turn into null.
func (t *Type) EncodeUnstored(obj map[string]any) Encoded {
	unstored := *t
	unstored.protobuf = false
	return unstored.Encode(obj, nil, new(Encoded))
}

// AppendUnstored is Append for an object as [Type.EncodeUnstored] encodes it.
func (t *Type) AppendUnstored(dst []byte, obj map[string]any) []byte {
	return encode(dst, t.root, obj, false)
}

// Decode returns the object in the canonical form of a type, as [Type.Decode] does, with a
// resourceVersion unless version is 0.
//
// live is old, another version of the object, decoded, or nil. What has the same text in both is
// not decoded: the result shares it with live.
func (e *Encoded) Decode(t *Type, version int64, live map[string]any, old *Encoded) (map[string]any, error) {
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	if live == nil {
		old = &Encoded{}
	}
	c := e.changedFrom(old, (*buf)[:0], version)
	*buf = c.json
	obj, _, err := t.Decode(c.json, DecodeOptions{known: c.known, untyped: e.untyped})
	if err != nil {
		return nil, err
	}
	n := t.root
	shared := uint64(0) // fields
	_, body, tail := n.sections()
	if c.sameBody {
		shared |= body
	}
	if c.sameTail {
		shared |= tail
	}
	for ; shared != 0; shared &= shared - 1 {
		object.Keep(obj, object.ViewOf(live), n.fields[bits.TrailingZeros64(shared)].name)
	}
	return obj, nil
}

// DecodeCustom is Decode for a custom resource, as [DecodeCustom] decodes it. shared are the names
// of the members that are not decoded: they have the same text in both objects.
func (e *Encoded) DecodeCustom(version int64, live map[string]any, old *Encoded) (obj map[string]any, shared []string, ok bool) {
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	if live == nil {
		old = &Encoded{}
	}
	c := e.changedFrom(old, (*buf)[:0], version)
	*buf = c.json
	obj, ok = decodeCustom(c.json, DecodeOptions{known: c.known})
	for name := range live {
		if !isHead(name) && (c.sameBody && name < "status" || c.sameTail && name >= "status") {
			shared = append(shared, name)
		}
	}
	return obj, shared, ok
}

// changes are the JSON of an object without the members that have the same text in another one.
type changes struct {
	json     []byte
	known    fieldSet // of the first manager
	sameBody bool     // the members between the metadata and the status are left out
	sameTail bool     // the status and the members after it are left out
}

// changedFrom returns the document without the members after its metadata that have the same text
// in old, with a resourceVersion unless version is 0. It appends the document to dst.
func (e *Encoded) changedFrom(old *Encoded, dst []byte, version int64) (c changes) {
	body, tail := e.body, e.changing[e.status:]
	if e.cut && old.cut && e.untyped == nil && old.untyped == nil {
		if c.sameBody = body == old.body; c.sameBody {
			body = ""
		}
		if c.sameTail = tail == old.changing[old.status:]; c.sameTail {
			tail = ""
		}
	}
	dst = e.appendVersion(append(dst, e.head[:e.version]...), version)
	dst = append(dst, e.head[e.version:e.fields]...)
	c.known = fieldSet{at: len(dst), text: object.FieldsV1(e.first)}
	dst = append(append(append(dst, e.first...), e.changing[:e.status]...), e.head[e.fields:]...)
	c.json = append(append(append(dst, body...), tail...), '}')
	return c
}

// metadata appends the metadata of an object, which has the type n, to the members before it.
func (e *encoder) metadata(dst []byte, n *node, meta map[string]any) places {
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	p := places{metadata: len(dst)}
	dst = append(dst, `"metadata":{`...)
	first := len(e.values)
	set, before := n.always|e.push(n, meta), uint64(1)<<n.byName.Find("resourceVersion")-1
	dst = e.fields(dst, n, first, set&before)
	p.version = len(dst)
	dst = append(e.fields(dst, n, first, set&^before), '}')
	e.values = e.values[:first]
	p.json, p.fieldSet, p.members = dst, e.fieldSet, len(dst)
	return p
}

// sections returns the fields of an object before its metadata, those before its status, and the
// others.
func (n *node) sections() (head, body, tail uint64) {
	metadata := n.byName.Find("metadata")
	head = 1<<metadata - 1
	body = (1<<len(n.fields) - 1) &^ (2<<metadata - 1)
	if status := n.byName.Find("status"); status >= 0 {
		tail = body >> status << status
	}
	return head, body &^ tail, tail
}

// sameFields reports whether the fields of a set are identical in two objects.
func (n *node) sameFields(a, b map[string]any, set uint64) bool {
	if object.Same(a, b) {
		return true
	}
	for ; set != 0; set &= set - 1 {
		name := n.fields[bits.TrailingZeros64(set)].name
		v, has := a[name]
		if was, had := b[name]; has != had || !object.Identical(v, was) {
			return false
		}
	}
	return true
}

// EncodeCustom is [Type.Encode] for a custom resource, which has the JSON of [AppendCustom].
func EncodeCustom(obj, live map[string]any, old *Encoded) Encoded {
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	e := newEncoder(false)
	body, tail := e.customSections(obj)
	var liveBody, liveTail []string
	reuses := live != nil && old.cut
	if reuses {
		liveBody, liveTail = e.customSections(live)
	}

	p := e.customHead((*buf)[:0], obj)
	dst := p.json
	if p.oldBody = reuses && p.members > 0 && slices.Equal(body, liveBody) && sameMembers(obj, live, body); !p.oldBody {
		dst = e.members(dst, obj, body)
	}
	p.status = len(dst)
	if reuses && slices.Equal(tail, liveTail) && sameMembers(obj, live, tail) {
		dst = append(dst, old.changing[old.status:]...)
	} else {
		dst = e.members(dst, obj, tail)
	}
	e.release()
	p.json, *buf = dst, dst
	return p.encoded(old)
}

// AppendCustom appends the JSON encoding of a custom resource to dst: kind, apiVersion and
// metadata first, then the other members sorted by name, without a newline.
func AppendCustom(dst []byte, obj map[string]any) []byte {
	e := newEncoder(false)
	body, tail := e.customSections(obj)
	p := e.customHead(dst, obj)
	dst = e.members(e.members(p.json, obj, body), obj, tail)
	e.release()
	return append(dst, '}')
}

// customHead appends a custom resource up to its metadata.
func (e *encoder) customHead(dst []byte, obj map[string]any) places {
	dst = e.any(append(dst, `{"kind":`...), obj["kind"])
	dst = e.any(append(dst, `,"apiVersion":`...), obj["apiVersion"])
	meta, ok := obj["metadata"].(map[string]any)
	if !ok {
		return places{json: dst}
	}
	return e.metadata(dst, objectMeta().root, meta)
}

// customSections pushes the sorted names of the members of a custom resource after its metadata
// on the stack of keys. It returns those before its status, and the others.
func (e *encoder) customSections(obj map[string]any) (body, tail []string) {
	first := len(e.keys)
	for name := range obj {
		if name != "kind" && name != "apiVersion" && name != "metadata" {
			e.keys = append(e.keys, name)
		}
	}
	names := e.keys[first:]
	slices.Sort(names)
	status, _ := slices.BinarySearch(names, "status")
	return names[:status], names[status:]
}

// members appends members of a custom resource after its metadata.
func (e *encoder) members(dst []byte, obj map[string]any, names []string) []byte {
	for _, name := range names {
		dst = append(appendString(append(dst, ','), name), ':')
		dst = e.any(dst, obj[name])
	}
	return dst
}

// sameMembers reports whether members are identical in two objects.
func sameMembers(a, b map[string]any, names []string) bool {
	for _, name := range names {
		if !object.Identical(a[name], b[name]) {
			return false
		}
	}
	return true
}
