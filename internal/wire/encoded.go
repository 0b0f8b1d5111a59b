package wire

import (
	"bytes"
	"io"
	"strconv"
)

// An Encoded is the JSON encoding of an object with the positions of the parts that
// differ between its representations, so that they can be changed without decoding
// it. It is immutable. An Encoded must begin as [Type.Append] writes objects: with
// kind, apiVersion and metadata, in the order of their Go types.
type Encoded struct {
	json     []byte // ended by a newline
	metadata int    // where `"metadata":` begins

	// json[version:versionEnd] is the member resourceVersion with the comma that
	// separates it from the previous one, or from the next one if it is the first.
	// If there is no resourceVersion, both are the index at which it is inserted.
	version, versionEnd int
}

// NewEncoded returns the JSON of an object, which must end with a newline, as an
// Encoded. It keeps the slice.
func NewEncoded(json []byte) Encoded {
	e := Encoded{json: json, metadata: bytes.Index(json, []byte(`"metadata":`))}
	at := e.metadata + len(`"metadata":{`)
	for json[at] == '"' {
		end := skipString(json, at)
		key := json[at:end]
		if isAfterResourceVersion(key) {
			break
		}
		valueEnd := skipString(json, end+len(":"))
		hasNext := json[valueEnd] == ','
		if string(key) == `"resourceVersion"` {
			e.version, e.versionEnd = at, valueEnd
			if json[at-1] == ',' {
				e.version--
			} else if hasNext {
				e.versionEnd++
			}
			return e
		}
		at = valueEnd
		if hasNext {
			at++
		}
	}
	if json[at-1] == ',' {
		at-- // the next member keeps its comma
	}
	e.version, e.versionEnd = at, at
	return e
}

// isAfterResourceVersion reports whether a quoted key of ObjectMeta is not one of the
// strings that come before resourceVersion.
func isAfterResourceVersion(key []byte) bool {
	switch string(key) {
	case `"name"`, `"generateName"`, `"namespace"`, `"selfLink"`, `"uid"`, `"resourceVersion"`:
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

// JSON returns the encoding, ended by a newline. The caller must not change it.
func (e Encoded) JSON() []byte { return e.json }

// UID returns the object's metadata.uid, "" if it has none.
func (e Encoded) UID() string {
	_, uid, ok := bytes.Cut(e.json[e.metadata:e.version], []byte(`"uid":"`))
	if !ok {
		return ""
	}
	return string(uid[:bytes.IndexByte(uid, '"')])
}

// WithVersion returns the object with a resourceVersion.
func (e Encoded) WithVersion(version int64) Encoded {
	var digits [20]byte
	return e.withVersion(strconv.AppendInt(digits[:0], version, 10))
}

// WithVersionText returns the object with any text as its resourceVersion.
func (e Encoded) WithVersionText(version string) Encoded {
	quoted := appendString(nil, version)
	return e.withVersion(quoted[1 : len(quoted)-1])
}

func (e Encoded) withVersion(value []byte) Encoded {
	before, after := e.aroundValue()
	head, tail := e.json[:e.version], e.json[e.versionEnd:]
	out := Encoded{metadata: e.metadata, version: e.version}
	out.json = make([]byte, 0, len(head)+len(before)+len(value)+len(after)+len(tail))
	out.json = append(append(append(append(out.json, head...), before...), value...), after...)
	out.versionEnd = len(out.json)
	out.json = append(out.json, tail...)
	return out
}

// aroundValue returns the parts of the member resourceVersion around its value.
func (e Encoded) aroundValue() (before, after string) {
	switch isFirst := e.json[e.version-1] == '{'; {
	case !isFirst:
		return `,"resourceVersion":"`, `"`
	case e.json[e.versionEnd] == '}':
		return `"resourceVersion":"`, `"`
	default:
		return `"resourceVersion":"`, `",`
	}
}

// WriteWithVersion writes what WithVersion returns, without the newline and without
// a copy.
func (e Encoded) WriteWithVersion(w io.Writer, version int64) error {
	before, after := e.aroundValue()
	var buffer [64]byte
	member := append(strconv.AppendInt(append(buffer[:0], before...), version, 10), after...)
	for _, part := range [][]byte{e.json[:e.version], member, e.json[e.versionEnd : len(e.json)-1]} {
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	return nil
}

// EqualExceptVersion reports whether two objects differ in nothing but their
// resourceVersions.
func (e Encoded) EqualExceptVersion(other Encoded) bool {
	return bytes.Equal(e.json[:e.version], other.json[:other.version]) &&
		bytes.Equal(e.json[e.versionEnd:], other.json[other.versionEnd:])
}

// Metadata returns the JSON of the object's metadata. The caller must not change it.
func (e Encoded) Metadata() []byte {
	begin := e.metadata + len(`"metadata":`)
	depth := 0
	for i := begin; ; i++ {
		switch e.json[i] {
		case '"':
			i = skipString(e.json, i) - 1
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return e.json[begin : i+1]
			}
		}
	}
}

// Document returns the encoding without the newline. The caller must not change it.
func (e *Encoded) Document() []byte { return e.json[:len(e.json)-1] }

// AfterTypeMeta returns what follows kind and apiVersion in Document, from the
// member metadata on. After an opening brace it is the object without a type. The
// caller must not change it.
func (e *Encoded) AfterTypeMeta() []byte { return e.json[e.metadata : len(e.json)-1] }
