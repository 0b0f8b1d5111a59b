package ttlcache

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestCache(t *testing.T) {
	now := time.Unix(0, 0)
	c := New[int](2)
	get := func(key string) int {
		v, _ := c.Get(key, now)
		return v
	}
	c.Add("a", 1, now, time.Second)
	c.Add("b", 2, now, time.Minute)
	assert.Equal(t, 1, get("a"))
	c.Add("c", 3, now, time.Minute)
	assert.Zero(t, get("b"), "a was used after it")
	assert.Equal(t, 3, get("c"))
	now = now.Add(time.Second)
	assert.Equal(t, 1, get("a"))
	now = now.Add(1)
	assert.Zero(t, get("a"), "it has expired")
	assert.Equal(t, 1, c.values.Len())
	c.Add("c", 4, now, time.Minute)
	assert.Equal(t, 4, get("c"))
	c.Add("d", 5, now, 0)
	assert.Zero(t, get("d"))
}
