package storage

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/wire"
)

// A Decoded is a stored object in generic form, as a type decodes it. It is shared and safe for
// concurrent use. The decoded form of what is read or changed often is kept, within the budget of
// the cache.
type Decoded struct {
	derived
	Stored *Object
	typ    *resource.Type
	texts  int // the length of the documents that have the strings of the object

	once   sync.Once
	object *object.Object
	before *Decoded       // another version or one that is like it, until decode
	draft  map[string]any // what Draft has encoded, until decode; nil if that is not known
	valid  atomic.Bool
}

const (
	// maxTexts is the length of the documents that a Decoded may keep in memory.
	maxTexts = 128 << 10
	// decodedRatio is about how much more memory an object takes than its JSON.
	decodedRatio = 10
)

// Decoded returns the object as t decodes it; see Decode. Each of like is a new object of t of
// which this one may have the members.
func (o *Object) Decoded(t *resource.Type, like ...*Decoded) *Decoded {
	if d, ok := derivedOf(o, func(d *Decoded) bool { return d.typ == t }); ok {
		return d
	}
	d := &Decoded{Stored: o, typ: t, texts: o.Len()}
	for _, other := range like {
		if o.SameMembers(other.Stored) {
			d.before = other
			d.texts -= o.encoded.MembersLen() // other has them
			break
		}
	}
	return d.keep()
}

// keep keeps d with its object, unless that has another one of the type. It returns the one that is
// kept, or d if it has too many texts.
func (d *Decoded) keep() *Decoded {
	if d.texts > maxTexts {
		return d
	}
	d.value, d.bytes = d, int64(decodedRatio*d.texts)
	return keepDerived(d.Stored, func(other *Decoded) bool { return other.typ == d.typ }, &d.derived)
}

// KeepDraft keeps what a write knows of the object, which it has stored in place of before, or as a
// new one if that is nil. draft, unless it is nil, is what Draft has encoded, with before as live: it
// belongs to the Decoded of the object, which need not be decoded then. valid is what Valid returns of
// it. body is the length of the document that draft was made of.
func (o *Object) KeepDraft(t *resource.Type, before *Decoded, draft map[string]any, valid bool, body int) {
	if !o.IsOf(t) {
		return
	}
	d := &Decoded{Stored: o, typ: t, before: before, draft: draft}
	d.valid.Store(valid && draft != nil)
	switch {
	case before == nil:
		d.texts = max(o.Len(), body)
	case draft == nil:
		d.texts = before.texts + o.Len()
	default:
		d.texts = before.texts + body
	}
	if before != nil {
		before.Stored.dropReplaced()
	}
	d.keep()
}

// Object returns the object. It decodes it when it is first called.
func (d *Decoded) Object() *object.Object {
	d.once.Do(d.decode)
	return d.object
}

// View returns a view of the object.
func (d *Decoded) View() object.View { return d.Object().View() }

// Valid reports whether the strategy of the type has found nothing wrong with the object, or with
// another one that differed only in its metadata and status.
func (d *Decoded) Valid() bool {
	d.Object()
	return d.valid.Load()
}

// SetValid makes Valid return true.
func (d *Decoded) SetValid() { d.valid.Store(true) }

func (d *Decoded) decode() {
	obj, before := d.draft, d.before
	d.draft, d.before = nil, nil
	var live map[string]any
	var old *Object
	if before != nil {
		live, old = before.View().SharedMembers(), before.Stored
	}
	if obj != nil && !d.Stored.complete(d.typ, obj, live) {
		obj = nil
		d.valid.Store(false)
		d.texts += d.Stored.Len()
	}
	if obj == nil {
		obj = d.Stored.decodeNext(d.typ, live, old)
	}
	if object.Checked && !object.Equal(d.Stored.Decode(d.typ), obj) {
		panic(fmt.Sprintf("storage: the decoded form of %s is %v", d.Stored.JSON(), obj))
	}
	d.object = object.FromMap(obj)
	if before != nil && before.Valid() && d.object.View().SharesMembers(object.ViewOf(live), "metadata", "status") {
		d.valid.Store(true)
	}
}

// Live returns the object for [wire.DecodeOptions].
func (d *Decoded) Live() *wire.Live {
	return &wire.Live{Object: d.View().SharedMembers(), Encoded: &d.Stored.encoded}
}
