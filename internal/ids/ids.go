// Package ids generates UIDs, name suffixes and random numbers.
package ids

import (
	crand "crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"sync"
)

// A Source generates UIDs, names and random numbers. Sources with the same seed return the
// same values for the same sequence of calls. It is safe for concurrent use.
//
// A Source has a key, which determines its values. The key of a fork is a hash, H, of the key of
// its parent and of the place of the fork among all forks of the parent, and Diverge replaces
// a key by a hash. Sources with other keys return other values, except that names and numbers,
// which are short, may be equal by chance. A server that is reset goes on with its Source:
//
//	s  K            --u1--u2---+----u3--reset--u4---+----Diverge(text)--u5-->   u5 is of H(K, 0, text)
//	                           |Fork(name)          |Fork(name)
//	f  H(K,1,name)             +--v1--v2-->         |
//	g  H(K,2,name)                                  +--w1--w2-->
type Source struct {
	mu    sync.Mutex // guards the fields below
	key   [sha256.Size]byte
	bytes *rand.ChaCha8     // of the key; nil before the first value: a fork may need none
	forks map[string]uint64 // number of forks, by name
}

// New returns the Source of a seed. The seed 0 selects a random one.
func New(seed uint64) *Source {
	g := &Source{}
	if seed == 0 {
		crand.Read(g.key[:])
	} else {
		binary.LittleEndian.PutUint64(g.key[:], seed)
	}
	return g
}

// SeedOf returns a seed for what has a name among all that has the seed. It is 0 if seed is.
func SeedOf(seed uint64, name string) uint64 {
	if seed == 0 {
		return 0
	}
	sum := sha256.Sum256(append(binary.LittleEndian.AppendUint64(nil, seed), name...))
	return max(1, binary.LittleEndian.Uint64(sum[:])>>11) // a JSON number holds 53 bits
}

// Fork returns another Source. It depends on the key of g, on the name, and on how many forks
// of g with this name there were before, but not on the values that g has returned. It takes
// constant time.
func (g *Source) Fork(name string) *Source {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.forks == nil {
		g.forks = map[string]uint64{}
	}
	g.forks[name]++
	return &Source{key: g.derivedLocked(g.forks[name], name)}
}

// Diverge makes the next values of g depend on a text too. Call it with what identifies the
// values of other Sources that come to where g is used: a Source with the same key may have
// generated them.
func (g *Source) Diverge(text string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.key, g.bytes = g.derivedLocked(0, text), nil
}

// derivedLocked returns a key that is derived from that of g, of the nth fork with a name.
func (g *Source) derivedLocked(n uint64, name string) [sha256.Size]byte {
	in := append(make([]byte, 0, 128), g.key[:]...)
	in = binary.LittleEndian.AppendUint64(in, n)
	return sha256.Sum256(append(in, name...))
}

// randomLocked returns the random bytes of the source.
func (g *Source) randomLocked() *rand.ChaCha8 {
	if g.bytes == nil {
		g.bytes = rand.NewChaCha8(g.key)
	}
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
