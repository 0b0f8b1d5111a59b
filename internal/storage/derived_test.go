package storage

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestParse(t *testing.T) {
	calls := 0
	length := func(b []byte) (int, error) {
		calls++
		if bytes.Contains(b, []byte("broken")) {
			return 0, errors.New("broken")
		}
		return len(b), nil
	}
	o := New(thing(false), build("ns", "a", "1", ""), nil)
	for range 2 {
		n, err := Parse(o, length)
		assert.NoError(t, err)
		assert.Equal(t, len(o.JSON()), n)
	}
	assert.Equal(t, 1, calls, "the second call is answered from the cache")
	for range 2 {
		_, err := Parse(New(thing(false), build("ns", "a", "broken", ""), nil), length)
		assert.EqualError(t, err, "broken")
	}
	assert.Equal(t, 3, calls, "an error is not cached")
}

// TestDerivedBudget checks that the cache drops what was not used, and nothing else.
func TestDerivedBudget(t *testing.T) {
	typ := thing(false)
	named := func(i int) *Object {
		return New(typ, build("ns", fmt.Sprint("a", i), strings.Repeat("v", maxTexts/2), ""), nil)
	}
	used, unused := named(0), named(1)
	first, other := used.Decoded(typ), unused.Decoded(typ)
	assert.Same(t, other, unused.Decoded(typ))
	n := 3 * maxDerivedBytes / (decodedRatio * maxTexts / 2)
	for i := range n {
		named(i).Decoded(typ)
		assert.Same(t, first, used.Decoded(typ))
		assert.LessOrEqual(t, kept.bytes, int64(maxDerivedBytes))
	}
	assert.NotSame(t, other, unused.Decoded(typ))

	alike := New(typ, build("ns", "alike", strings.Repeat("v", maxTexts/2), ""), nil)
	assert.Less(t, alike.Decoded(typ, first).bytes, first.bytes/10, "first has the members")

	large := New(typ, build("ns", "large", strings.Repeat("v", maxTexts), ""), nil)
	assert.NotSame(t, large.Decoded(typ), large.Decoded(typ), "an object with many texts is not kept")
}

// TestKeepDraft checks that a version which takes the place of another one takes over what is known
// of it.
func TestKeepDraft(t *testing.T) {
	typ := thing(false)
	old := New(typ, build("ns", "a", "1", ""), nil).At(1)
	before := old.Decoded(typ)
	before.SetValid()
	edit := before.Object().Edit()
	edit.Set("x", "metadata", "labels", "l")
	draft := edit.Map()
	next := encode(typ, draft, before.View().SharedMembers(), old).At(2)
	next.KeepDraft(typ, before, draft, false, 10)
	assert.NotSame(t, before, old.Decoded(typ), "nobody needs the old version")
	after := next.Decoded(typ)
	assert.Equal(t, next.Decode(typ), after.View().SharedMembers())
	assert.True(t, after.Valid(), "only the metadata is another")

	for _, test := range []struct {
		name         string
		draft, valid bool
		want         bool
	}{
		{"a valid draft", true, true, true},
		{"a draft of which that is not known", true, false, false},
		{"no draft", false, true, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			edit := after.Object().Edit()
			edit.Set("2", "data")
			draft := edit.Map()
			changed := encode(typ, draft, after.View().SharedMembers(), next).At(3)
			if !test.draft {
				draft = nil
			}
			changed.KeepDraft(typ, after, draft, test.valid, 10)
			assert.Equal(t, test.want, changed.Decoded(typ).Valid())
		})
	}
}
