package lru_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/lru"
)

func TestCache(t *testing.T) {
	c := lru.New[int](2)
	keys := func() (all []string) {
		for key := range c.All() {
			all = append(all, key)
		}
		return all
	}
	_, ok := c.Get("a")
	assert.False(t, ok)
	c.Put("a", 1)
	c.Put("b", 2)
	v, ok := c.Get("a")
	assert.True(t, ok)
	assert.Equal(t, 1, v)
	assert.Equal(t, []string{"b", "a"}, keys(), "a was used last")

	c.Put("c", 3)
	assert.Equal(t, []string{"a", "c"}, keys(), "b was not used for the longest time")
	c.Put("a", 4)
	assert.Equal(t, []string{"c", "a"}, keys())
	v, _ = c.Get("a")
	assert.Equal(t, 4, v)

	c.Remove("a")
	c.Remove("none")
	assert.Equal(t, []string{"c"}, keys())
}
