// Package coverage counts the results of the expressions of policies, of match conditions of
// webhooks, and of rules of definitions.
package coverage

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// A Rule is an expression, and how often it had which result.
type Rule struct {
	// Kind and Name are those of the object that has the expression, and Version is the version of
	// a definition.
	Kind    string `json:"kind"`
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	// Type is what the expression is for.
	Type Type `json:"type"`
	// Path is the place of the expression in the object, as spec.validations[0].expression. Field is
	// the field of custom resources that a rule of a definition is about; "" is the whole object.
	Path  string `json:"path"`
	Field string `json:"field,omitempty"`
	// Expression is the text.
	Expression string `json:"expression"`
	Counts
}

// Counts are how often an expression had which result.
type Counts struct {
	True  int64 `json:"true,omitempty"`
	False int64 `json:"false,omitempty"`
	// Values counts the results that are neither true nor false.
	Values int64 `json:"values,omitempty"`
	Errors int64 `json:"errors,omitempty"`
	// Tolerated is how many of False were tolerated, because the update did not change the value.
	Tolerated int64 `json:"tolerated,omitempty"`
}

// A Type is what an expression is for.
type Type string

// The types of expressions.
const (
	Validation      Type = "validation"
	Condition       Type = "match condition"
	Variable        Type = "variable"
	Message         Type = "message"
	AuditAnnotation Type = "audit annotation"
	Mutation        Type = "mutation"
	SchemaRule      Type = "rule"
	Transition      Type = "transition rule"
)

// A Profile has the counts of expressions. It is safe for concurrent use.
type Profile struct {
	mu       sync.Mutex // guards the fields below
	counters map[Rule]*Counter
	rules    []Rule // in the order in which they were added
}

// A Counter counts the results of one expression. It is safe for concurrent use. A nil Counter
// counts nothing.
type Counter struct{ isTrue, isFalse, values, errors, tolerated atomic.Int64 }

// Counter returns the counter of an expression, whose Counts must be zero. A nil Profile returns nil.
func (p *Profile) Counter(of Rule) *Counter {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.counters[of]
	if c == nil {
		c = &Counter{}
		if p.counters == nil {
			p.counters = map[Rule]*Counter{}
		}
		p.counters[of] = c
		p.rules = append(p.rules, of)
	}
	return c
}

// Add counts the result of an evaluation.
func (c *Counter) Add(result ref.Val, err error) {
	switch {
	case c == nil:
	case err != nil || types.IsUnknownOrError(result):
		c.errors.Add(1)
	case result == types.True:
		c.isTrue.Add(1)
	case result == types.False:
		c.isFalse.Add(1)
	default:
		c.values.Add(1)
	}
}

// Tolerate counts a false result that is tolerated, which Add has counted too.
func (c *Counter) Tolerate() {
	if c != nil {
		c.tolerated.Add(1)
	}
}

// Rules returns the expressions with their counts, sorted by their objects, and those of an object
// in its order.
func (p *Profile) Rules() []Rule {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := slices.Clone(p.rules)
	for i := range out {
		c := p.counters[out[i]]
		out[i].Counts = Counts{c.isTrue.Load(), c.isFalse.Load(), c.values.Load(), c.errors.Load(), c.tolerated.Load()}
	}
	slices.SortStableFunc(out, func(a, b Rule) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Version, b.Version))
	})
	return out
}

// A Switch says whether expressions are counted, and where. A nil Switch and the zero Switch count
// nothing.
type Switch struct{ profile atomic.Pointer[Profile] }

// Profile returns the profile that counts; nil if nothing is counted.
func (s *Switch) Profile() *Profile {
	if s == nil {
		return nil
	}
	return s.profile.Load()
}

// Set makes a profile count; nil ends counting.
func (s *Switch) Set(p *Profile) { s.profile.Store(p) }
