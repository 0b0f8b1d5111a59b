package apiserver

import (
	crand "crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"sync"
)

// ids makes the server's UIDs and random suffixes, the same ones in the same
// order for the same seed.
type ids struct {
	mu  sync.Mutex // guards src
	src *rand.ChaCha8
}

func newIDs(seed uint64) *ids {
	var key [32]byte
	if seed == 0 {
		crand.Read(key[:])
	} else {
		binary.LittleEndian.PutUint64(key[:], seed)
	}
	return &ids{src: rand.NewChaCha8(key)}
}

// below is a random number below n, which is above 0.
func (g *ids) below(n uint64) uint64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.src.Uint64() % n
}

// uid is a random UUID, version 4.
func (g *ids) uid() string {
	var b [16]byte
	g.mu.Lock()
	g.src.Read(b[:])
	g.mu.Unlock()
	return uuid(b)
}

// uuid prints random bytes as a UUID, version 4.
func uuid(b [16]byte) string {
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	var out [36]byte
	hex.Encode(out[:8], b[:4])
	hex.Encode(out[9:13], b[4:6])
	hex.Encode(out[14:18], b[6:8])
	hex.Encode(out[19:23], b[8:10])
	hex.Encode(out[24:], b[10:])
	out[8], out[13], out[18], out[23] = '-', '-', '-', '-'
	return string(out[:])
}

// The letters of generated names: no vowels, and nothing that looks like
// another letter.
const suffixLetters = "bcdfghjklmnpqrstvwxz2456789"

const (
	suffixLength = 5
	// maxNameLength is where a generateName is cut to leave room for a suffix.
	maxNameLength = 63
)

// name completes a generateName.
func (g *ids) name(prefix string) string {
	if len(prefix) > maxNameLength-suffixLength {
		prefix = prefix[:maxNameLength-suffixLength]
	}
	b := []byte(prefix)
	g.mu.Lock()
	defer g.mu.Unlock()
	for range suffixLength {
		b = append(b, suffixLetters[g.src.Uint64()%uint64(len(suffixLetters))])
	}
	return string(b)
}

// fraction is a random number in [0, 1).
func (g *ids) fraction() float64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return float64(g.src.Uint64()>>11) / (1 << 53)
}
