//go:build race

package object

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestSeal checks that a change of what an Object has is found when the Object is read next. The
// test makes no Object: the write would be a data race.
func TestSeal(t *testing.T) {
	m := map[string]any{"spec": map[string]any{"nodeName": "a"}}
	s := seal{Copy(m)}
	assert.NotPanics(t, func() { s.check(m) })
	Set(m, "b", "spec", "nodeName")
	assert.Panics(t, func() { s.check(m) })
}
