package wire

import "strings"

// repeatedStrings has strings of earlier documents as interface values. Objects repeat most
// strings of each other, and an interface value of another string is an allocation.
//
// It has one string for each first byte of a hash, and only one that came twice without another
// between, so that names and UIDs do not replace it.
type repeatedStrings [256]struct {
	value any    // a string, or nil
	last  uint32 // the hash of the last other string
}

// longestRepeated is the length of the longest string that repeatedStrings has.
const longestRepeated = 64

// get returns s as an interface value. It does not keep the memory of s.
func (r *repeatedStrings) get(s string) any {
	if len(s) > longestRepeated {
		return s
	}
	hash := textHash(s)
	e := &r[hash>>24]
	if known, ok := e.value.(string); ok && known == s {
		return e.value
	}
	if e.last == hash {
		e.value = strings.Clone(s)
		return e.value
	}
	e.last = hash
	return s
}

// textHash hashes the bytes that distinguish short texts. Its first bits are the best.
func textHash(s string) uint32 {
	n := len(s)
	if n == 0 {
		return 0
	}
	h := uint32(s[0]) | uint32(s[n/2])<<8 | uint32(s[n-1])<<16 | uint32(n)<<24
	return h * 0x9e3779b1
}
