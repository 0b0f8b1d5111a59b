package generate

import (
	"hash/fnv"
	"math/rand/v2"
)

// Choices are the source of what a Generator decides.
type Choices struct {
	data   []byte // what is left; nil for random choices
	random *rand.Rand
	fuzzed bool
}

// Random returns random choices, which are the same for the same seed.
func Random(seed uint64) *Choices {
	return &Choices{random: rand.New(rand.NewPCG(seed, 0))}
}

// Fuzzed returns the choices that data has, a byte or two each. When it is used up, the first choice is
// made everywhere. What errors are repaired with depends on data as a whole.
func Fuzzed(data []byte) *Choices {
	h := fnv.New64a()
	h.Write(data)
	return &Choices{data: data, fuzzed: true, random: rand.New(rand.NewPCG(h.Sum64(), 1))}
}

// repair makes the choices random, for the values that take the place of wrong ones.
func (c *Choices) repair() { c.fuzzed = false }

// of returns a number from 0 to n-1.
func (c *Choices) of(n int) int {
	switch {
	case n <= 1:
		return 0
	case !c.fuzzed:
		return c.random.IntN(n)
	case len(c.data) == 0:
		return 0
	}
	chosen := int(c.data[0])
	c.data = c.data[1:]
	if n > 256 && len(c.data) > 0 {
		chosen = chosen<<8 | int(c.data[0])
		c.data = c.data[1:]
	}
	return chosen % n
}

// oneIn reports true in one of n cases; it is not the simplest choice.
func (c *Choices) oneIn(n int) bool { return c.of(n) == n-1 }

// pick returns one of values, of which there is at least one.
func pick[T any](c *Choices, values []T) T { return values[c.of(len(values))] }
