package codec

import (
	"bytes"
	"encoding/binary"
	"io"
	"iter"
	"sync"

	"github.com/kubefake/kubefake/internal/wire"
)

// selfDescribed is the tag around every CBOR document.
const selfDescribed = "\xd9\xd9\xf7"

// scratch holds encoded objects whose length must be known before they are
// written.
var scratch = sync.Pool{New: func() any { return new([]byte) }}

func appendEnvelope(dst []byte, t *wire.Type, obj map[string]any) []byte {
	buf := scratch.Get().(*[]byte)
	defer scratch.Put(buf)
	*buf = t.AppendProto((*buf)[:0], obj)
	e := wire.Envelope{Raw: *buf}
	e.APIVersion, _ = obj["apiVersion"].(string)
	e.Kind, _ = obj["kind"].(string)
	return e.Append(dst)
}

func appendCBOR(dst []byte, t *wire.Type, obj map[string]any) []byte {
	dst = append(dst, selfDescribed...)
	if t == nil {
		return wire.AppendCBOR(dst, obj)
	}
	return t.AppendCBOR(dst, obj)
}

// AppendEvent appends a watch event to dst. object is the object in the same
// format, as [Format.Append] encodes it. It can be used for any number of
// watches.
func (f Format) AppendEvent(dst []byte, eventType string, object []byte) []byte {
	switch f {
	case Protobuf:
		// The message has a type and an object, which is a message with one
		// field of bytes.
		inner := 1 + uvarintLen(len(object)) + len(object)
		size := 1 + uvarintLen(len(eventType)) + len(eventType) + 1 + uvarintLen(inner) + inner
		dst = binary.BigEndian.AppendUint32(dst, uint32(size))
		dst = append(dst, 1<<3|2)
		dst = binary.AppendUvarint(dst, uint64(len(eventType)))
		dst = append(dst, eventType...)
		dst = append(dst, 2<<3|2)
		dst = binary.AppendUvarint(dst, uint64(inner))
		dst = append(dst, 1<<3|2)
		dst = binary.AppendUvarint(dst, uint64(len(object)))
		return append(dst, object...)
	case CBOR:
		dst = append(dst, selfDescribed...)
		dst = append(dst, 0xa2) // map of length 2
		dst = wire.AppendCBOR(dst, "type")
		dst = wire.AppendCBOR(dst, eventType)
		dst = wire.AppendCBOR(dst, "object")
		return append(dst, object...)
	}
	dst = append(dst, `{"type":"`...)
	dst = append(dst, eventType...)
	dst = append(dst, `","object":`...)
	dst = append(dst, bytes.TrimSuffix(object, newline)...)
	return append(dst, "}\n"...)
}

// uvarintLen returns the length of a number encoded by binary.AppendUvarint.
func uvarintLen(n int) int {
	size := 1
	for ; n >= 0x80; n >>= 7 {
		size++
	}
	return size
}

// A List is the input of [Format.WriteList].
type List struct {
	Kind, APIVersion string
	Metadata         []byte // JSON

	// Items are the objects as JSON. Each is valid until the next is requested.
	Items iter.Seq[[]byte]
	// Messages are the objects as protobuf messages. If it is not nil, protobuf does not read Items.
	Messages iter.Seq[[]byte]
	// Item is the type of the items, nil for a custom resource.
	Item *wire.Type
	// Typed is set if items have their kind and apiVersion.
	Typed bool
}

// WriteList writes a list in protobuf or CBOR. It decodes one item at a time.
// Both formats begin with lengths that are known at the end, so that WriteList
// buffers the encoded items.
//
// The error is that of w. WriteList panics for other formats: a JSON list is
// written directly, and [Format.Append] converts it to YAML.
func (f Format) WriteList(w io.Writer, l List) error {
	var head, tail []byte
	var items blocks
	defer items.release()
	switch f {
	case Protobuf:
		head, tail = l.protobuf(&items)
	case CBOR:
		head, tail = l.cbor(&items)
	default:
		panic("codec: a list in " + f.MediaType())
	}
	if _, err := w.Write(head); err != nil {
		return err
	}
	if err := items.writeTo(w); err != nil {
		return err
	}
	_, err := w.Write(tail)
	return err
}

// protobuf encodes the items of a list and returns the bytes before and after
// them. All list messages have the same fields: metadata is 1, items is 2.
func (l *List) protobuf(items *blocks) (head, tail []byte) {
	messages := l.Messages
	if messages == nil {
		messages = l.encodeItems
	}
	for m := range messages {
		items.grow(len(m) + 1 + binary.MaxVarintLen64)
		items.last = append(items.last, 2<<3|2)
		items.last = binary.AppendUvarint(items.last, uint64(len(m)))
		items.last = append(items.last, m...)
	}
	listMeta, ok := wire.ForKind("meta.k8s.io", "v1", "ListMeta")
	if !ok {
		panic("codec: the type of ListMeta is not known") // unreachable: the table has it
	}
	meta := listMeta.AppendProto(nil, decode(l.Metadata, listMeta))
	raw := append([]byte{1<<3 | 2}, binary.AppendUvarint(nil, uint64(len(meta)))...)
	raw = append(raw, meta...)

	// Split the envelope of an empty message at the position of the message.
	empty := wire.Envelope{APIVersion: l.APIVersion, Kind: l.Kind}.Append(nil)
	const tailSize = 4
	at := len(empty) - tailSize
	head = binary.AppendUvarint(empty[:at-1:at-1], uint64(len(raw)+items.size()))
	return append(head, raw...), empty[at:]
}

// encodeItems yields the items as messages. Each is valid until the next is requested.
func (l *List) encodeItems(yield func([]byte) bool) {
	buf := scratch.Get().(*[]byte)
	defer scratch.Put(buf)
	for doc := range l.Items {
		if *buf = l.Item.AppendProto((*buf)[:0], decode(doc, l.Item)); !yield(*buf) {
			return
		}
	}
}

// cbor encodes the items of a list and returns the bytes before and after them.
func (l *List) cbor(items *blocks) (head, tail []byte) {
	n := 0
	for doc := range l.Items {
		obj := decode(doc, l.Item)
		if !l.Typed {
			delete(obj, "kind")
			delete(obj, "apiVersion")
		}
		items.grow(len(doc))
		if l.Item == nil {
			items.last = wire.AppendCBOR(items.last, obj)
		} else {
			items.last = l.Item.AppendCBOR(items.last, obj)
		}
		n++
	}
	head = append([]byte(selfDescribed), 0xa4) // map of length 4
	head = wire.AppendCBOR(head, "kind")
	head = wire.AppendCBOR(head, l.Kind)
	head = wire.AppendCBOR(head, "items")
	head = wire.AppendCBORArray(head, n)
	tail = wire.AppendCBOR(nil, "metadata")
	tail = wire.AppendCBOR(tail, decode(l.Metadata, nil))
	tail = wire.AppendCBOR(tail, "apiVersion")
	return head, wire.AppendCBOR(tail, l.APIVersion)
}

// blocks buffer a long encoding in pieces, so that it grows without copying.
type blocks struct {
	full [][]byte
	last []byte
}

const blockSize = 64 << 10

var blockPool = sync.Pool{New: func() any { return new([blockSize]byte) }}

// grow ensures that last has room for n bytes.
func (b *blocks) grow(n int) {
	if cap(b.last)-len(b.last) >= n {
		return
	}
	if b.last != nil {
		b.full = append(b.full, b.last)
	}
	if n > blockSize {
		b.last = make([]byte, 0, n)
		return
	}
	b.last = blockPool.Get().(*[blockSize]byte)[:0]
}

func (b *blocks) size() int {
	size := len(b.last)
	for _, block := range b.full {
		size += len(block)
	}
	return size
}

func (b *blocks) writeTo(w io.Writer) error {
	for _, block := range b.full {
		if _, err := w.Write(block); err != nil {
			return err
		}
	}
	_, err := w.Write(b.last)
	return err
}

// release returns the blocks to the pool. Larger blocks are not from the pool.
func (b *blocks) release() {
	for _, block := range append(b.full, b.last) {
		if cap(block) == blockSize {
			blockPool.Put((*[blockSize]byte)(block[:blockSize]))
		}
	}
}
