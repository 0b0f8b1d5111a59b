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
// It has three texts, so that objects share memory. The managed fields of the first manager are
// equal in the objects that a controller makes of one template. The status and the other
// managers are what changes with a status: the writer of a status is rarely the first manager.
// The remaining text of an object stays the same then.
type Encoded struct {
	// The document is
	//
	//	stable[:version], the member resourceVersion,
	//	stable[version:fields], first, changing[:status],
	//	stable[fields:], changing[status:], a closing brace
	//
	// The members between the metadata and the status are stable[members:], and the status and the
	// members after it are changing[status:]. If members is 0, the document has one text.
	stable, first, changing string

	metadata                         int32 // where `"metadata":` begins in stable
	version, fields, status, members int32

	common bool // another object has first too, and counts it

	untyped *untypedTexts
}

// minSplit is the length of the shortest document that gets more than one text. Another one
// needs about as much memory as sharing saves.
const minSplit = 512

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
	untyped  *untypedTexts
}

// encoded returns the JSON as an Encoded that shares texts with old. It has one text if the end of
// the metadata is unknown or the JSON is short.
func (p *places) encoded(old *Encoded) Encoded {
	e := Encoded{metadata: int32(p.metadata), version: int32(p.version), untyped: p.untyped}
	if p.members == 0 || len(p.json) < minSplit {
		e.stable = join(p.json, nil, old.stable)
		e.fields = int32(len(e.stable))
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
	e.fields, e.status = int32(first.begin), int32(others-first.end)
	e.members = int32(first.begin + p.members - others)
	e.stable = join(p.json[:first.begin], p.json[others:p.status], old.stable)
	e.changing = join(p.json[first.end:others], p.json[p.status:], old.changing)
	if text := p.json[first.begin:first.end]; old.first == string(text) {
		e.first, e.common = old.first, old.common
	} else {
		e.first, e.common = shared(text)
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
	minShared, maxShared = 128, 4 << 10
)

// recentTexts has the texts that shared has returned, at the slots of their hashes.
var recentTexts [sharedTexts]atomic.Pointer[string]

var textSeed = maphash.MakeSeed()

// shared returns a text as a string, and whether another object has the same string.
func shared(text []byte) (s string, common bool) {
	if len(text) == 0 || len(text) > maxShared {
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
func (e *Encoded) Len() int { return len(e.stable) + len(e.first) + len(e.changing) + len("}") }

// Equal reports whether two objects differ in nothing but their resourceVersions.
func (e *Encoded) Equal(other *Encoded) bool {
	if !e.untyped.equal(other.untyped) {
		return false
	}
	if e.fields == other.fields && e.status == other.status && len(e.first) == len(other.first) {
		return e.stable == other.stable && e.first == other.first && e.changing == other.changing
	}
	return e.Len() == other.Len() && bytes.Equal(e.Append(nil, 0), other.Append(nil, 0))
}

// SameMembers reports whether two objects have the same members after their metadata. It may miss
// that for short ones.
func (e *Encoded) SameMembers(other *Encoded) bool {
	return e.members != 0 && other.members != 0 && e.untyped == nil && other.untyped == nil &&
		e.stable[e.members:] == other.stable[other.members:] && e.changing[e.status:] == other.changing[other.status:]
}

// Size returns the length of the texts that the object does not share with other objects, in
// bytes.
func (e *Encoded) Size() int {
	if e.common {
		return len(e.stable) + len(e.changing) + e.untyped.size()
	}
	return len(e.stable) + len(e.first) + len(e.changing) + e.untyped.size()
}

// Shared returns how many bytes of Size are in the same memory as a text of another version.
func (e *Encoded) Shared(other *Encoded) int {
	n := 0
	if unsafe.StringData(e.stable) == unsafe.StringData(other.stable) {
		n = len(e.stable)
	}
	if unsafe.StringData(e.first) == unsafe.StringData(other.first) && !e.common {
		n += len(e.first)
	}
	if unsafe.StringData(e.changing) == unsafe.StringData(other.changing) {
		n += len(e.changing)
	}
	return n
}

// UID returns the object's metadata.uid, "" if it has none.
func (e *Encoded) UID() string {
	_, uid, _ := strings.Cut(e.stable[e.metadata:e.version], `"uid":"`)
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
	out.stable = e.stable[:e.version] + member + e.stable[e.version:]
	out.fields += int32(len(member))
	out.members = 0 // no object has this text
	return out
}

// aroundVersion returns the parts of the member resourceVersion around its value, with the commas
// that separate it from the members before and after it.
func (e *Encoded) aroundVersion() (before, after string) {
	if e.stable[e.version-1] != '{' {
		return `,"resourceVersion":"`, `"`
	}
	if e.stable[e.version] == '}' {
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
	to = e.appendVersion(append(to, e.stable[index:e.version]...), version)
	to = append(append(to, e.stable[e.version:e.fields]...), e.first...)
	to = append(append(to, e.changing[:e.status]...), e.stable[e.fields:]...)
	return append(append(to, e.changing[e.status:]...), '}')
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
	to = e.appendFrom(to, int(e.metadata)+len(`"metadata":`), version)
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
