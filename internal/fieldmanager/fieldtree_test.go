package fieldmanager

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/object"
)

// TestTreeOperations compares the union and the difference of random trees with those of
// structured-merge-diff's sets.
func TestTreeOperations(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 0))
		a, b := randomTree(r, 3).normalize(), randomTree(r, 3).normalize()
		x, y := names(nil).set(a), names(nil).set(b)
		before := fmt.Sprint(a, b)
		union, minus := a.union(b), a.minus(b)
		require.Equal(t, names(nil).tree(x.Union(y)).encode(), union.encode(), "%v + %v", a, b)
		require.Equal(t, names(nil).tree(x.Difference(y)).encode(), minus.encode(), "%v - %v", a, b)
		require.Equal(t, x.Union(y).Equals(x), union.same(a), "%v + %v is the same tree", a, b)
		require.Equal(t, x.Difference(y).Equals(x), minus.same(a), "%v - %v is the same tree", a, b)
		require.Equal(t, before, fmt.Sprint(a, b), "the trees are unchanged")
		require.Equal(t, x.Equals(y), a.equal(b), "%v == %v", a, b)
		require.True(t, a.equal(a.clone()), "%v", a)
		require.True(t, minus.equal(a.clone().subtract(b)), "%v - %v", a, b)
	}
}

// randomTree returns a tree of a few steps, some of them twice.
func randomTree(r *rand.Rand, depth int) fieldTree {
	var tree fieldTree
	for range r.IntN(5) {
		var below fieldTree
		if depth > 0 {
			below = randomTree(r, depth-1)
		}
		step := []string{"f:a", "f:b", "f:c", `k:{"name":"a"}`, `k:{"name":"b"}`, "v:1", "v:10", "v:9"}[r.IntN(8)]
		tree.add(pathStep{text: step}, r.IntN(2) == 0, below)
	}
	return tree
}

// encode encodes a normalized tree.
func (t fieldTree) encode() object.FieldsV1 {
	return object.FieldsV1(t.append(nil))
}
