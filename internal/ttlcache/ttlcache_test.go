package ttlcache

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestCache(t *testing.T) {
	now := time.Unix(0, 0)
	c := New[int](func() time.Time { return now }, 2)
	get := func(key string) int {
		v, _ := c.Get(key)
		return v
	}
	c.Add("a", 1, time.Second)
	c.Add("b", 2, time.Minute)
	assert.Equal(t, 1, get("a"))
	c.Add("c", 3, time.Minute)
	assert.Zero(t, get("b"), "a was used after it")
	assert.Equal(t, 3, get("c"))
	now = now.Add(time.Second)
	assert.Equal(t, 1, get("a"))
	now = now.Add(1)
	assert.Zero(t, get("a"), "it has expired")
	assert.Len(t, c.entries, 1)
	c.Add("c", 4, time.Minute)
	assert.Equal(t, 4, get("c"))
	c.Add("d", 5, 0)
	assert.Zero(t, get("d"))
}
