package storage

import (
	"bytes"
	"fmt"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/wire"
)

// A message is an object in protobuf, as a type encodes it.
type message struct {
	typ  *wire.Type
	data []byte
}

// messageBytes is about what a message occupies apart from its data.
const messageBytes = 160

// Message returns the object as a protobuf message of a type, without an envelope, which is kept
// within the budget of the cache. The caller must not change it.
func (o *Object) Message(t *wire.Type) []byte {
	ofType := func(m *message) bool { return m.typ == t }
	if m, ok := derivedOf(o, ofType); ok {
		return m.data
	}
	buffer := buffers.Get().(*[]byte)
	defer buffers.Put(buffer)
	*buffer = t.AppendProto((*buffer)[:0], o.members(t))
	m := &message{typ: t, data: bytes.Clone(*buffer)}
	return keepDerived(o, ofType, &derived{value: m, bytes: int64(messageBytes + len(m.data))}).data
}

// members returns the object as t decodes it, for answers that are not in JSON. They may be those of
// the decoded form that is kept: the caller must not change them.
func (o *Object) members(t *wire.Type) map[string]any {
	d, kept := derivedOf(o, func(d *Decoded) bool { return d.typ.Codec.Wire() == t })
	if kept && o.encoded.UntypedTexts() == nil {
		obj := d.View().SharedMembers()
		if object.Checked && !object.Equal(o.decodeVerbatim(t), obj) {
			panic(fmt.Sprintf("storage: the decoded form of %s is %v", o.JSON(), obj))
		}
		return obj
	}
	return o.decodeVerbatim(t)
}

// decodeVerbatim returns the object as t decodes it, with untyped data as the client sent it.
func (o *Object) decodeVerbatim(t *wire.Type) (obj map[string]any) {
	err := o.Verbatim().ReadJSON(func(json []byte) (err error) {
		obj, _, err = t.Decode(json, wire.DecodeOptions{})
		return err
	})
	if err != nil {
		panic("storage: stored object does not decode: " + err.Error()) // unreachable: Codec.Append wrote it
	}
	return obj
}
