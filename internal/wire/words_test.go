package wire

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestWords(t *testing.T) {
	s := "\xff\x00abcdéf"
	assert.Equal(t, binary.LittleEndian.Uint64([]byte(s)), eight(s))
	assert.Equal(t, binary.LittleEndian.Uint32([]byte(s)), four(s))
}

func TestIsPrintableASCII(t *testing.T) {
	for c := range 256 {
		for at := range 10 {
			s := []byte("0123456~89")
			s[at] = byte(c)
			assert.Equal(t, ' ' <= c && c <= '~', IsPrintableASCII(string(s)), "%q", s)
		}
	}
}
