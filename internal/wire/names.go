package wire

import "math/bits"

// A NameTable maps names to their positions in the list that it was made of. It is a hash table
// that is at most half full, so that probing ends early. For the names of fields it is faster
// than a map. It is immutable and safe for concurrent use. The zero NameTable has no names.
type NameTable struct {
	names []string
	slots []uint32 // positions in names, counted from 1; 0 is an empty slot
}

// NewNameTable returns the table of a list of names. The table keeps the list. Of equal names, it
// finds the first one.
func NewNameTable(names []string) NameTable {
	if len(names) == 0 {
		return NameTable{}
	}
	t := NameTable{names, make([]uint32, 1<<bits.Len(uint(2*len(names)-1)))}
	for i, name := range names {
		if slot := t.slot(name); *slot == 0 {
			*slot = uint32(i) + 1
		}
	}
	return t
}

// Find returns the position of a name, -1 if the table does not have it.
func (t *NameTable) Find(name string) int {
	if len(t.slots) == 0 {
		return -1
	}
	return int(*t.slot(name)) - 1
}

// slot returns the slot of a name: an empty one if the table does not have the name. The hash
// of the name depends on all of its bytes, because definitions of custom resources have many
// names that differ in few of them.
func (t *NameTable) slot(name string) *uint32 {
	const odd = 0x9e3779b97f4a7c15
	n := len(name)
	h := uint64(n)
	switch {
	case n >= 8:
		for rest := name; len(rest) > 8; rest = rest[8:] {
			h = (h ^ eight(rest)) * odd
		}
		h ^= eight(name[n-8:])
	case n >= 4:
		h ^= uint64(four(name))<<32 | uint64(four(name[n-4:]))
	case n > 0:
		h ^= uint64(name[0])<<24 | uint64(name[n/2])<<16 | uint64(name[n-1])<<8
	}
	h ^= h >> 32                     // high bits of h change no low bits of the product
	last := uint64(len(t.slots) - 1) // of a power of two
	for at := h * odd >> 32; ; at++ {
		slot := &t.slots[at&last]
		if *slot == 0 || t.names[*slot-1] == name {
			return slot
		}
	}
}
