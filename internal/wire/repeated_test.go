package wire

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
)

func TestRepeatedStrings(t *testing.T) {
	t.Run("strings that come again are shared", func(t *testing.T) {
		var r repeatedStrings
		const document = `["Always","Always","Always"]`
		first, second, third := r.get(document[2:8]), r.get(document[11:17]), r.get(document[20:26])
		assert.Equal(t, []any{"Always", "Always", "Always"}, []any{first, second, third})
		assert.Same(t, unsafe.StringData(document[2:8]), unsafe.StringData(first.(string)), "came once, is not copied")
		assert.NotSame(t, unsafe.StringData(document[11:17]), unsafe.StringData(second.(string)), "the document is not kept")
		assert.Same(t, unsafe.StringData(second.(string)), unsafe.StringData(third.(string)))
	})
	t.Run("long strings are not kept", func(t *testing.T) {
		var r repeatedStrings
		long := strings.Repeat("x", longestRepeated+1)
		for range 3 {
			assert.Equal(t, long, r.get(long))
		}
		assert.Equal(t, repeatedStrings{}, r)
	})
	t.Run("every string is returned as it is", func(t *testing.T) {
		var r repeatedStrings
		random := rand.New(rand.NewPCG(1, 2))
		for range 20_000 {
			s := strings.Repeat("ab\x00é", random.IntN(3))
			s += string(rune('a'+random.IntN(26))) + strings.Repeat("-", random.IntN(longestRepeated))
			s = s[:random.IntN(len(s)+1)]
			if got := r.get(s); got != s {
				t.Fatalf("got %q for %q", got, s)
			}
		}
	})
}
