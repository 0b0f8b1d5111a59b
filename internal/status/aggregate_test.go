package status

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestAggregate(t *testing.T) {
	a, b := errors.New("a"), errors.New("b")
	assert.Equal(t, "a", Aggregate([]error{a, a}))
	assert.Equal(t, "[a, b]", Aggregate([]error{a, b, a}))
}
