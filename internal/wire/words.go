package wire

import "encoding/binary"

// eight returns the first eight bytes of s, the first one lowest.
func eight(s string) uint64 { return binary.LittleEndian.Uint64([]byte(s[:8])) }

// four returns the first four bytes of s, the first one lowest.
func four(s string) uint32 { return binary.LittleEndian.Uint32([]byte(s[:4])) }

// IsPrintableASCII reports whether s has no other bytes than those from a space to a tilde.
func IsPrintableASCII(s string) bool {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for ; len(s) >= 8; s = s[8:] {
		// The difference has the high bit of a control character, the sum that of a delete.
		if w := eight(s); (w|(w-' '*ones)|(w+ones))&highs != 0 {
			return false
		}
	}
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}
