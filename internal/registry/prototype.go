package registry

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/internal/wire"
)

const (
	// maxPrototypes is how many prototypes a type has at most.
	maxPrototypes = 4
	// maxPrototypeBytes is the length of the longest body that gets one.
	maxPrototypeBytes = 16 << 10
)

// A prototype is a new object to which the next ones are often equal but for their metadata, as the
// Pods of a ReplicaSet are. What the others share with it is neither decoded nor validated nor
// encoded again. It is immutable.
type prototype struct {
	body *wire.Prototype // with defaults if it is complete: if two bodies had it
	// made is the object after its creation, and decoded is what is stored of it, which has no empty
	// lists and maps. They are nil if the body is not complete.
	made     *object.Object
	decoded  *storage.Decoded
	admitted map[string]any // object before its Prepare; nil if that may depend on the metadata
	warned   bool           // the creation had warnings about the object
}

// prototypes are those of one type, the oldest first.
type prototypes struct {
	all     []*prototype
	bodies  []*wire.Prototype  // of all
	decoded []*storage.Decoded // of the complete ones
}

// prototypesByType has the prototypes of types that have a DefaultMetadata. It is safe for
// concurrent use.
type prototypesByType struct {
	types sync.Map // of *resource.Type to *atomic.Pointer[prototypes]
}

var noPrototypes prototypes

// of returns the prototypes of a type.
func (p *prototypesByType) of(t *resource.Type) *prototypes {
	if kept, ok := p.types.Load(t); ok {
		return kept.(*atomic.Pointer[prototypes]).Load()
	}
	return &noPrototypes
}

// add adds a prototype of a type. It takes the place of the one with the body replaced or, without
// such a one, of the oldest.
func (p *prototypesByType) add(t *resource.Type, added *prototype, replaced *wire.Prototype) {
	kept, ok := p.types.Load(t)
	if !ok {
		empty := new(atomic.Pointer[prototypes])
		empty.Store(&noPrototypes)
		kept, _ = p.types.LoadOrStore(t, empty)
	}
	for now := kept.(*atomic.Pointer[prototypes]); ; {
		old := now.Load()
		next := &prototypes{
			all: make([]*prototype, 0, maxPrototypes+1), bodies: make([]*wire.Prototype, 0, maxPrototypes), decoded: make([]*storage.Decoded, 0, maxPrototypes),
		}
		for _, kept := range old.all {
			if kept.body != replaced {
				next.all = append(next.all, kept)
			}
		}
		next.all = append(next.all[max(0, len(next.all)-maxPrototypes+1):], added)
		for _, p := range next.all {
			next.bodies = append(next.bodies, p.body)
			if p.decoded != nil {
				next.decoded = append(next.decoded, p.decoded)
			}
		}
		if now.CompareAndSwap(old, next) {
			return
		}
	}
}

// with returns the prototype with a body, nil if there is none.
func (p *prototypes) with(body *wire.Prototype) *prototype {
	if i := slices.Index(p.bodies, body); i >= 0 {
		return p.all[i]
	}
	return nil
}

// A prototypeMatch is what is known of the prototypes that a new object is compared with.
type prototypeMatch struct {
	prototypes *prototypes
	bodies     wire.Prototypes
	body       *wire.Prototype // of the request, nil if it has none
	like       *prototype      // the one with the body, if that is complete
	equal      bool            // the new object is equal to that of like but for its metadata
	admitted   map[string]any  // that of the prototype that the new object may become
	warned     bool            // there were warnings about the object
}

// bodies returns the prototypes that the body is compared with, nil if there can be none.
func (op *operation) bodies(m *prototypeMatch) *wire.Prototypes {
	t := op.Type
	if op.verb != "create" || op.sub != nil || t.Virtual() || t.DefaultMetadata == nil || t.Storage() != t || len(op.body.Data) > maxPrototypeBytes {
		return nil
	}
	m.prototypes = op.prototypes.of(t)
	m.bodies.Known = m.prototypes.bodies
	return &m.bodies
}

// setDefaultsOfNew is setDefaults for a body that was compared with prototypes.
func (op *operation) setDefaultsOfNew(c *candidate) {
	m := &c.match
	m.body = m.bodies.Found
	if m.body == nil {
		op.setDefaults(c, object.View{})
		return
	}
	if m.body.IsComplete() { // and has defaults
		m.like = m.prototypes.with(m.body)
		op.setKind(c.object)
		if object.Checked {
			all := &candidate{object: object.Copy(c.object)}
			op.setDefaults(all, object.View{})
			defer mustBeSkipped("Default", all.object, c.object)
		}
		op.Type.DefaultMetadata(c.object)
		return
	}
	op.setDefaults(c, object.View{})
	if object.Checked || m.prototypes.with(m.body) != nil {
		m.body = m.body.Complete(c.object)
	}
}

// prepareNew calls the Prepare of the type for a new object, or gives the object what Prepare has
// made of a prototype that was equal to it. It sets equal.
func (op *operation) prepareNew(c *candidate) {
	t, obj, m := op.Type, c.object, &c.match
	complete := m.body != nil && m.body.IsComplete()
	if complete && t.PrepareIgnoresMetadata != nil && t.PrepareIgnoresMetadata(obj) {
		if m.equal = m.like != nil && m.like.admitted != nil && object.ViewOf(obj).EqualExcept(object.ViewOf(m.like.admitted), "metadata"); m.equal {
			meta := obj["metadata"]
			if object.Checked {
				prepared := &candidate{object: object.Copy(obj)}
				op.prepareAll(prepared)
				defer mustBeSkipped("Prepare", prepared.object, obj)
			}
			clear(obj)
			maps.Copy(obj, m.like.made.View().SharedMembers())
			obj["metadata"] = meta
			return
		}
		m.admitted = make(map[string]any, len(obj))
		object.CopyMembers(m.admitted, obj)
	}
	op.prepareAll(c)
	m.equal = m.like != nil && object.ViewOf(obj).EqualExcept(m.like.made.View(), "metadata")
}

// prepareAll calls the Prepare of the type for a new object.
func (op *operation) prepareAll(c *candidate) {
	op.prepare(c, object.View{}, nil, func(t *resource.Type) func(obj map[string]any, old object.View) { return t.Prepare })
}

// addPrototype makes a stored object a prototype. The candidate must not be changed any more.
func (op *operation) addPrototype(stored *storage.Object, c *candidate) {
	m := &c.match
	if m.body == nil || m.equal {
		return
	}
	added := &prototype{body: m.body, warned: m.warned}
	if m.body.IsComplete() {
		added.made, added.decoded = object.FromMap(c.object), stored.Decoded(op.Type)
		added.decoded.SetValid()
		if !stored.Completed {
			added.admitted = m.admitted
		}
	}
	op.prototypes.add(op.Type, added, m.bodies.Found)
}
