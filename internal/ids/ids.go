// Package ids generates UIDs, name suffixes and random numbers.
package ids

import (
	crand "crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"sync"
)

// A Source generates UIDs, names and random numbers. Sources with the same seed
// return the same values in the same order. It is safe for concurrent use.
type Source struct {
	seed    uint64
	purpose string

	mu    sync.Mutex    // guards bytes
	bytes *rand.ChaCha8 // nil before the first use: a fork may need none
}

// New returns the Source of a seed. The seed 0 selects a random one.
func New(seed uint64) *Source { return NewFor("", seed) }

// NewFor returns a Source for a purpose of its own, so that it takes nothing from
// other Sources of the seed. At most 24 bytes of the purpose count.
func NewFor(purpose string, seed uint64) *Source { return &Source{seed: seed, purpose: purpose} }

// randomLocked returns the random bytes of the source.
func (g *Source) randomLocked() *rand.ChaCha8 {
	if g.bytes != nil {
		return g.bytes
	}
	var key [32]byte
	if g.seed == 0 {
		crand.Read(key[:])
	} else {
		binary.LittleEndian.PutUint64(key[:], g.seed)
		copy(key[8:], g.purpose)
	}
	g.bytes = rand.NewChaCha8(key)
	return g.bytes
}

// Below returns a random number in [0, n). It panics if n is 0.
func (g *Source) Below(n uint64) uint64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.randomLocked().Uint64() % n
}

// UID returns a random UUID, version 4.
func (g *Source) UID() string {
	var b [16]byte
	g.mu.Lock()
	g.randomLocked().Read(b[:])
	g.mu.Unlock()
	return uuid(b)
}

// uuid formats random bytes as a UUID, version 4.
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

// suffixLetters are the letters of generated names: no vowels, and none that looks
// like another.
const suffixLetters = "bcdfghjklmnpqrstvwxz2456789"

const (
	suffixLength = 5
	// maxNameLength is the longest generated name: a longer generateName is cut.
	maxNameLength = 63
)

// Name returns a generateName with a random suffix.
func (g *Source) Name(prefix string) string {
	if len(prefix) > maxNameLength-suffixLength {
		prefix = prefix[:maxNameLength-suffixLength]
	}
	b := []byte(prefix)
	g.mu.Lock()
	defer g.mu.Unlock()
	for range suffixLength {
		b = append(b, suffixLetters[g.randomLocked().Uint64()%uint64(len(suffixLetters))])
	}
	return string(b)
}

// Fraction returns a random number in [0, 1).
func (g *Source) Fraction() float64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return float64(g.randomLocked().Uint64()>>11) / (1 << 53)
}
