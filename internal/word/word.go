// Package word reads strings several bytes at a time.
package word

// Eight returns the first eight bytes of s, the first one lowest.
func Eight(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// Four returns the first four bytes of s, the first one lowest.
func Four(s string) uint32 {
	_ = s[3]
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

// IsPrintableASCII reports whether s has no other bytes than those from a space to a tilde.
func IsPrintableASCII(s string) bool {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for ; len(s) >= 8; s = s[8:] {
		// The difference has the high bit of a control character, the sum that of a delete.
		if w := Eight(s); (w|(w-' '*ones)|(w+ones))&highs != 0 {
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
