package coverage

import (
	"errors"
	"testing"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/stretchr/testify/assert"
)

func TestCounter(t *testing.T) {
	rule := Rule{Kind: "ValidatingAdmissionPolicy", Name: "a", Type: Validation, Path: "spec.validations[0].expression", Expression: "true"}
	var p Profile
	c := p.Counter(rule)
	assert.Same(t, c, p.Counter(rule), "one counter of an expression")
	for _, result := range []ref.Val{types.True, types.False, types.False, types.String("x"), types.NewErr("e")} {
		c.Add(result, nil)
	}
	c.Add(nil, errors.New("e"))
	c.Tolerate()
	rule.Counts = Counts{True: 1, False: 2, Values: 1, Errors: 2, Tolerated: 1}
	assert.Equal(t, []Rule{rule}, p.Rules())
}

// Nothing is counted, and nothing is allocated, without a profile.
func TestCountNothing(t *testing.T) {
	var s *Switch
	assert.Nil(t, s.Profile())
	s = &Switch{}
	assert.Nil(t, s.Profile())
	c := s.Profile().Counter(Rule{})
	assert.Nil(t, c)
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		c.Add(types.True, nil)
		c.Tolerate()
	}))
}

// An expression is evaluated in microseconds. To count its result takes some nanoseconds, and not to
// count it the comparison of a pointer.
func BenchmarkAdd(b *testing.B) {
	for _, row := range []struct {
		name    string
		counter *Counter
	}{{"off", nil}, {"on", &Counter{}}} {
		b.Run(row.name, func(b *testing.B) {
			for range b.N {
				row.counter.Add(types.True, nil)
			}
		})
	}
}
