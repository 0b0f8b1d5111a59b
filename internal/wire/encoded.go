package wire

import (
	"bufio"
	"bytes"
	"hash/maphash"
	"strconv"
	"strings"
	"sync/atomic"
	"unsafe"
)

// An Encoded is the JSON encoding of an object without its resourceVersion, which is written
// with it. It is immutable.
//
// It has four texts, so that objects share memory. The managed fields of the first manager, and the
// members between the metadata and the status, are equal in the objects that a controller makes of
// one template. The status and the other managers are what changes with a status: the writer of a
// status is rarely the first manager. The rest is the head.
type Encoded struct {
	// The document is
	//
	//	head[:version], the member resourceVersion,
	//	head[version:fields], first, changing[:status],
	//	head[fields:], body, changing[status:], a closing brace
	//
	// The metadata ends with head. Unless the document is cut, all of it is in head.
	head, first, body, changing string

	metadata                int32 // where `"metadata":` begins in head
	version, fields, status int32

	cut                     bool
	commonFirst, commonBody bool // another object has the text too, and counts it

	untyped *untypedTexts
}

// minCut is the length of the shortest document that is cut. Another one needs about as much memory
// as sharing saves.
const minCut = 512

// NewEncoded returns the JSON of an object as an Encoded of one text. The object must be as
// [Type.Append] writes it, with kind, apiVersion and metadata in the order of their Go types, and
// without a resourceVersion. The Encoded does not keep the slice.
func NewEncoded(json []byte) Encoded {
	p := places{json: json[:len(json)-len("}")], metadata: bytes.Index(json, []byte(`"metadata":`))}
	p.version = versionPlace(json, p.metadata+len(`"metadata":{`))
	return p.encoded(&Encoded{})
}

// places are the JSON of an object, without the closing brace, and where it is cut into the texts
// of an Encoded.
type places struct {
	json     []byte
	metadata int  // the begin of the member metadata
	version  int  // where the resourceVersion is inserted
	fieldSet span // the fields of the first manager, the zero value if there are none
	members  int  // the end of the metadata; 0 if it and the places above and below are unknown
	status   int  // the end of the members before the status
	oldBody  bool // the old version has the body, which is not in json
	untyped  *untypedTexts
}

// encoded returns the JSON as an Encoded that shares texts with old. It has one text if the end of
// the metadata is unknown or the JSON is short.
func (p *places) encoded(old *Encoded) Encoded {
	e := Encoded{metadata: int32(p.metadata), version: int32(p.version), untyped: p.untyped}
	if p.members == 0 || len(p.json) < minCut && !p.oldBody {
		e.head = join(p.json, nil, old.head)
		e.fields = int32(len(e.head))
		return e
	}
	// The first manager's fields, the other managers, and the rest of the metadata.
	first, others := span{p.version, p.version}, p.version
	if p.fieldSet.end > 0 {
		first, others = p.fieldSet, p.members-len(`}]}`)
		if first.end-first.begin < minShared {
			first.begin = first.end
		}
	}
	e.cut, e.fields, e.status = true, int32(first.begin), int32(others-first.end)
	e.head = join(p.json[:first.begin], p.json[others:p.members], old.head)
	e.changing = join(p.json[first.end:others], p.json[p.status:], old.changing)
	e.first, e.commonFirst = shared(p.json[first.begin:first.end], old.first, old.commonFirst)
	if p.oldBody {
		e.body, e.commonBody = old.body, old.commonBody
	} else {
		e.body, e.commonBody = shared(p.json[p.members:p.status], old.body, old.commonBody)
	}
	return e
}

// join returns the text a + b, old if it is equal.
func join(a, b []byte, old string) string {
	if len(old) == len(a)+len(b) && old[:len(a)] == string(a) && old[len(a):] == string(b) {
		return old
	}
	var out strings.Builder
	out.Grow(len(a) + len(b))
	out.Write(a)
	out.Write(b)
	return out.String()
}

const (
	// sharedTexts is how many texts are kept for the next objects.
	sharedTexts = 1024
	// minShared and maxShared are the lengths of the shortest and the longest of them.
	minShared, maxShared = 128, 8 << 10
)

// recentTexts has the texts that shared has returned, at the slots of their hashes.
var recentTexts [sharedTexts]atomic.Pointer[string]

var textSeed = maphash.MakeSeed()

// shared returns a text as a string, and whether another object counts it: old, if that is equal,
// of which wasCommon says so, or else a text of another object.
func shared(text []byte, old string, wasCommon bool) (s string, common bool) {
	if old == string(text) {
		return old, wasCommon
	}
	if len(text) < minShared || len(text) > maxShared {
		return string(text), false
	}
	slot := &recentTexts[maphash.Bytes(textSeed, text)%sharedTexts]
	if kept := slot.Load(); kept != nil && *kept == string(text) {
		return *kept, true
	}
	kept := string(text)
	slot.Store(&kept)
	return kept, false
}

// versionPlace returns the index in the JSON of an object at which its resourceVersion is
// inserted. at is the index of the first member of its metadata.
func versionPlace(json []byte, at int) int {
	for json[at] == '"' {
		end := skipString(json, at)
		if isAfterResourceVersion(json[at:end]) {
			break
		}
		if at = skipString(json, end+len(":")); json[at] == ',' {
			at++
		}
	}
	if json[at-1] == ',' {
		at-- // the next member keeps its comma
	}
	return at
}

// isAfterResourceVersion reports whether a quoted key of ObjectMeta is not one of the
// strings that come before resourceVersion.
func isAfterResourceVersion(key []byte) bool {
	switch string(key) {
	case `"name"`, `"generateName"`, `"namespace"`, `"selfLink"`, `"uid"`:
		return false
	}
	return true
}

// skipString returns the position after the string that begins at a position.
func skipString(json []byte, at int) int {
	for at++; json[at] != '"'; at++ {
		if json[at] == '\\' {
			at++
		}
	}
	return at + 1
}

// MaxVersion is more than the length of the member resourceVersion and a newline.
const MaxVersion = 48

// Len returns the length of the document without a resourceVersion, in bytes.
func (e *Encoded) Len() int {
	return len(e.head) + len(e.first) + len(e.body) + len(e.changing) + len("}")
}

// Equal reports whether two objects differ in nothing but their resourceVersions.
func (e *Encoded) Equal(other *Encoded) bool {
	if e.Len() != other.Len() || !e.untyped.equal(other.untyped) {
		return false
	}
	if e.cut == other.cut && e.fields == other.fields && e.status == other.status && len(e.first) == len(other.first) && len(e.body) == len(other.body) {
		return e.head == other.head && e.first == other.first && e.body == other.body && e.changing == other.changing
	}
	return bytes.Equal(e.Append(nil, 0), other.Append(nil, 0))
}

// SameMembers reports whether two objects have the same members after their metadata. It may miss
// that for short ones.
func (e *Encoded) SameMembers(other *Encoded) bool {
	return e.cut && other.cut && e.untyped == nil && other.untyped == nil &&
		e.body == other.body && e.changing[e.status:] == other.changing[other.status:]
}

// MembersLen returns the length of the members that SameMembers compares, in bytes.
func (e *Encoded) MembersLen() int {
	if !e.cut {
		return 0
	}
	return len(e.body) + len(e.changing) - int(e.status)
}

// Size returns the length of the texts that the object does not share with other objects, in
// bytes.
func (e *Encoded) Size() int {
	n := len(e.head) + len(e.changing) + e.untyped.size()
	if !e.commonFirst {
		n += len(e.first)
	}
	if !e.commonBody {
		n += len(e.body)
	}
	return n
}

// Shared returns how many bytes of Size are in the same memory as a text of another version.
func (e *Encoded) Shared(other *Encoded) (n int) {
	if sameMemory(e.head, other.head) {
		n += len(e.head)
	}
	if sameMemory(e.first, other.first) && !e.commonFirst {
		n += len(e.first)
	}
	if sameMemory(e.body, other.body) && !e.commonBody {
		n += len(e.body)
	}
	if sameMemory(e.changing, other.changing) {
		n += len(e.changing)
	}
	return n
}

// LeaveTo leaves the count of the texts that the objects share to other, which is another object.
func (e *Encoded) LeaveTo(other *Encoded) {
	e.commonFirst = e.commonFirst || sameMemory(e.first, other.first)
	e.commonBody = e.commonBody || sameMemory(e.body, other.body)
}

func sameMemory(a, b string) bool { return unsafe.StringData(a) == unsafe.StringData(b) }

// UID returns the object's metadata.uid, "" if it has none.
func (e *Encoded) UID() string {
	_, uid, _ := strings.Cut(e.head[e.metadata:e.version], `"uid":"`)
	uid, _, _ = strings.Cut(uid, `"`)
	return uid
}

// WithVersionText returns the object with any text as its resourceVersion. It must be
// written without another one.
func (e *Encoded) WithVersionText(version string) Encoded {
	before, after := e.aroundVersion()
	quoted := appendString(nil, version)
	member := before + string(quoted[1:len(quoted)-1]) + after
	out := *e
	out.head = e.head[:e.version] + member + e.head[e.version:]
	out.fields += int32(len(member))
	return out
}

// aroundVersion returns the parts of the member resourceVersion around its value, with the commas
// that separate it from the members before and after it.
func (e *Encoded) aroundVersion() (before, after string) {
	if e.head[e.version-1] != '{' {
		return `,"resourceVersion":"`, `"`
	}
	if e.head[e.version] == '}' {
		return `"resourceVersion":"`, `"`
	}
	return `"resourceVersion":"`, `",`
}

// appendVersion appends the member resourceVersion, nothing for version 0.
func (e *Encoded) appendVersion(to []byte, version int64) []byte {
	if version == 0 {
		return to
	}
	before, after := e.aroundVersion()
	return append(strconv.AppendInt(append(to, before...), version, 10), after...)
}

// Append appends the document to a slice, with a resourceVersion unless version is 0.
func (e *Encoded) Append(to []byte, version int64) []byte { return e.appendFrom(to, 0, version) }

// appendFrom appends the document from an index in its head on, which is before the
// resourceVersion.
func (e *Encoded) appendFrom(to []byte, index int, version int64) []byte {
	to = e.appendHead(to, index, version)
	return append(append(append(to, e.body...), e.changing[e.status:]...), '}')
}

// appendHead is appendFrom up to the end of the head.
func (e *Encoded) appendHead(to []byte, index int, version int64) []byte {
	to = e.appendVersion(append(to, e.head[index:e.version]...), version)
	to = append(append(to, e.head[e.version:e.fields]...), e.first...)
	return append(append(to, e.changing[:e.status]...), e.head[e.fields:]...)
}

// Write writes what Append appends or, unless typed, what follows kind and apiVersion in it:
// the document from the member metadata on. After an opening brace that is the object without a
// type.
func (e *Encoded) Write(w *bufio.Writer, version int64, typed bool) error {
	begin := int(e.metadata)
	if typed {
		begin = 0
	}
	_, err := w.Write(e.appendFrom(w.AvailableBuffer(), begin, version))
	return err
}

// AppendMetadata appends the JSON of the object's metadata to a slice, with a resourceVersion
// unless version is 0.
func (e *Encoded) AppendMetadata(to []byte, version int64) []byte {
	begin := len(to)
	to = e.appendHead(to, int(e.metadata)+len(`"metadata":`), version)
	if e.cut {
		return to
	}
	depth := 0
	for i := begin; ; i++ {
		switch to[i] {
		case '"':
			i = skipString(to, i) - 1
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return to[:i+1]
			}
		}
	}
}
