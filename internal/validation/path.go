package validation

import "strconv"

// A Path is the path from the root of an object to one of its fields. Paths are
// immutable: Child, Index and Key return a longer path that shares the
// receiver. Extending a path formats no text, so that checks that pass are
// cheap.
//
// The nil path is the root of an object. Its children are formatted as root
// fields.
type Path struct {
	parent *Path
	name   string // of a child, a key, or the list of an item
	index  int32
	step   step
}

type step uint8

const (
	stepChild step = iota
	stepKey
	stepIndex
	stepItem // a child and an index
)

// NewPath returns the path of nested fields, at least one.
func NewPath(name string, more ...string) *Path {
	p := &Path{name: name}
	for _, name := range more {
		p = p.Child(name)
	}
	return p
}

// Child returns the path of a field of the object at p.
func (p *Path) Child(name string) *Path {
	return &Path{parent: p, step: stepChild, name: name}
}

// Index returns the path of an item of the list at p, counting from 0.
func (p *Path) Index(i int) *Path {
	return &Path{parent: p, step: stepIndex, index: int32(i)}
}

// Item returns the path of an item of the list that is a field of the object at
// p: Child(name).Index(i).
func (p *Path) Item(name string, i int) *Path {
	return &Path{parent: p, step: stepItem, name: name, index: int32(i)}
}

// Key returns the path of an entry of the map at p.
func (p *Path) Key(key string) *Path {
	return &Path{parent: p, step: stepKey, name: key}
}

// String formats the path: "spec.containers[0].name", "data[key]". The nil path
// is "<nil>".
func (p *Path) String() string {
	if p == nil {
		return "<nil>"
	}
	return string(p.appendTo(make([]byte, 0, 64)))
}

func (p *Path) appendTo(b []byte) []byte {
	if p.parent != nil {
		b = p.parent.appendTo(b)
	}
	switch p.step {
	case stepIndex:
		return appendIndex(b, p.index)
	case stepKey:
		b = append(b, '[')
		b = append(b, p.name...)
		return append(b, ']')
	}
	if p.parent != nil {
		b = append(b, '.')
	}
	b = append(b, p.name...)
	if p.step == stepItem {
		b = appendIndex(b, p.index)
	}
	return b
}

func appendIndex(b []byte, i int32) []byte {
	b = append(b, '[')
	b = strconv.AppendInt(b, int64(i), 10)
	return append(b, ']')
}
