package storage

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestParse(t *testing.T) {
	var c ParseCache
	calls := 0
	length := func(b []byte) (int, error) {
		calls++
		if len(b) == 0 {
			return 0, errors.New("empty")
		}
		return len(b), nil
	}
	o := &Object{json: []byte("{}")}
	for range 2 {
		n, err := Parse(&c, o, length)
		assert.NoError(t, err)
		assert.Equal(t, 2, n)
	}
	assert.Equal(t, 1, calls, "the second call is answered from the cache")
	for range 2 {
		_, err := Parse(&c, &Object{}, length)
		assert.EqualError(t, err, "empty")
	}
	assert.Equal(t, 3, calls, "an error is not cached")
}
