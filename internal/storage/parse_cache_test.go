package storage

import (
	"bytes"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestParse(t *testing.T) {
	var c ParseCache
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
		n, err := Parse(&c, o, length)
		assert.NoError(t, err)
		assert.Equal(t, len(o.JSON()), n)
	}
	assert.Equal(t, 1, calls, "the second call is answered from the cache")
	for range 2 {
		_, err := Parse(&c, New(thing(false), build("ns", "a", "broken", ""), nil), length)
		assert.EqualError(t, err, "broken")
	}
	assert.Equal(t, 3, calls, "an error is not cached")
}
