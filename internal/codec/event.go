package codec

import (
	"bytes"
	"encoding/binary"
	"mime"
	"sync"

	"github.com/fxamacker/cbor/v2"

	"github.com/kubefake/kubefake/internal/wire"
)

// errorEvent is the type of the event that ends a failed watch.
const errorEvent = "ERROR"

// AppendError appends the event that ends a failed watch to dst. status is its
// object as JSON.
func (f Format) AppendError(dst, status []byte) []byte {
	return f.AppendEvent(dst, errorEvent, f.Append(nil, status, statusType()))
}

var statusType = sync.OnceValue(func() *wire.Type {
	t, _ := wire.ForKind("meta.k8s.io", "v1", "Status")
	return t
})

// StreamFormat returns the format of a watch by the Content-Type of its
// response. It reports false if the media type is not that of a watch.
func StreamFormat(contentType string) (f Format, ok bool) {
	mediaType, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		return 0, false
	}
	switch mediaType {
	case JSON.MediaType():
		return JSON, true // some servers omit stream=watch
	case Protobuf.MediaType():
		return Protobuf, params["stream"] == "watch"
	case CBOR.StreamMediaType():
		return CBOR, true
	}
	return 0, false
}

// NextEvent returns the length of the first event in b, 0 if b does not contain
// a whole event. b must begin at the start of an event.
func (f Format) NextEvent(b []byte) int {
	switch f {
	case Protobuf:
		if len(b) < 4 {
			return 0
		}
		if size := uint64(binary.BigEndian.Uint32(b)) + 4; size <= uint64(len(b)) {
			return int(size)
		}
		return 0
	case CBOR:
		var event cbor.RawMessage
		rest, err := cborMode().UnmarshalFirst(b, &event)
		if err != nil {
			return 0
		}
		return len(b) - len(rest)
	}
	return bytes.IndexByte(b, '\n') + 1
}

// WholeEvents returns the total length of the whole events at the start of b. b
// must begin at the start of an event.
func (f Format) WholeEvents(b []byte) int {
	if f == JSON {
		return bytes.LastIndexByte(b, '\n') + 1
	}
	whole := 0
	for {
		n := f.NextEvent(b[whole:])
		if n == 0 {
			return whole
		}
		whole += n
	}
}

// EventType returns the type of an event: ADDED, BOOKMARK and so on; "" if it
// cannot be read.
func (f Format) EventType(event []byte) string {
	switch f {
	case Protobuf:
		// The length of the message, then the first field: its number and wire
		// type, its length, and the value.
		if len(event) < 6 || event[4] != 1<<3|2 || len(event) < 6+int(event[5]) {
			return ""
		}
		return string(event[6 : 6+int(event[5])])
	case CBOR:
		var head struct {
			Type string `json:"type"`
		}
		if err := cborMode().Unmarshal(event, &head); err != nil {
			return ""
		}
		return head.Type
	}
	rest, ok := bytes.CutPrefix(event, []byte(`{"type":"`))
	if !ok {
		return ""
	}
	typ, _, _ := bytes.Cut(rest, []byte{'"'})
	return string(typ)
}
