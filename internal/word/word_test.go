package word

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestWords(t *testing.T) {
	s := "\xff\x00abcdéf"
	assert.Equal(t, binary.LittleEndian.Uint64([]byte(s)), Eight(s))
	assert.Equal(t, binary.LittleEndian.Uint32([]byte(s)), Four(s))
}
