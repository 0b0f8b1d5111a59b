package generate

import (
	"maps"
	"math"
	"slices"

	"github.com/kubefake/kubefake/internal/schema"
)

// A node is a schema with what several schemas together say of the same value: the structural one, those
// of allOf, and the chosen arms of anyOf and oneOf.
type node struct {
	*schema.Schema
	hints hints

	names    []string // of the properties, sorted
	children map[string]*node
	items    *node
	values   *node // of additionalProperties

	rules []schema.Rule
	all   []*schema.Schema // constraints of the schema itself and of allOf
	arms  [][]*schema.Schema
}

// newNode returns the node of a structural schema. Under is what the rules around it name.
func newNode(s *schema.Schema, under hints) *node {
	n := &node{Schema: s, hints: under, children: map[string]*node{}}
	n.collect(s)
	n.hints = under.with(n.rules)
	n.names = slices.Sorted(maps.Keys(s.Properties))
	below := hints{texts: n.hints.texts, numbers: n.hints.numbers}
	for _, name := range n.names {
		n.children[name] = newNode(s.Properties[name], below)
	}
	if s.Items != nil {
		n.items = newNode(s.Items, below)
	}
	if s.Additional != nil {
		n.values = newNode(s.Additional, below)
	}
	return n
}

// collect adds what a schema says of the value.
func (n *node) collect(s *schema.Schema) {
	n.all = append(n.all, s)
	c := s.Constraints
	if c == nil {
		return
	}
	n.rules = append(n.rules, c.Rules...)
	for _, of := range c.AllOf {
		n.collect(of)
	}
	if len(c.AnyOf) > 0 {
		n.arms = append(n.arms, c.AnyOf)
	}
	if len(c.OneOf) > 0 {
		n.arms = append(n.arms, c.OneOf)
	}
}

// choose returns the schemas that a value should be valid by: all of them, and an arm of each union.
// more are what the schemas around the value say of it.
func (n *node) choose(c *Choices, more []*schema.Schema) []*schema.Schema {
	out := append(slices.Clone(n.all), more...)
	for _, arms := range n.arms {
		arm := pick(c, arms)
		out = append(out, arm)
		if arm.Constraints != nil {
			out = append(out, arm.Constraints.AllOf...)
		}
	}
	return out
}

// limits are what schemas together say of a value.
type limits struct {
	enum             []any
	patterns         []string
	formats          []string
	least, most      float64
	multiple         float64
	shortest, length int64
	fewest, items    int64
	required         map[string]bool
	forbidden        map[string]bool
}

// limitsOf returns the limits that all of the schemas set.
func limitsOf(all []*schema.Schema) limits {
	l := limits{
		least: math.Inf(-1), most: math.Inf(1), length: math.MaxInt64, items: math.MaxInt64,
		required: map[string]bool{}, forbidden: map[string]bool{},
	}
	for _, s := range all {
		for _, name := range s.Required {
			l.required[name] = true
		}
		if s.Format != "" {
			l.formats = append(l.formats, s.Format)
		}
		c := s.Constraints
		if c == nil {
			continue
		}
		if c.Enum != nil {
			l.enum = common(l.enum, c.Enum)
		}
		if c.Pattern != "" {
			l.patterns = append(l.patterns, c.Pattern)
		}
		if c.Minimum != nil {
			l.least = max(l.least, *c.Minimum)
			if c.ExclusiveMinimum {
				l.least = max(l.least, *c.Minimum+1)
			}
		}
		if c.Maximum != nil {
			l.most = min(l.most, *c.Maximum)
			if c.ExclusiveMaximum {
				l.most = min(l.most, *c.Maximum-1)
			}
		}
		if c.MultipleOf != nil {
			l.multiple = *c.MultipleOf
		}
		raise(&l.shortest, c.MinLength)
		raise(&l.fewest, c.MinItems)
		raise(&l.fewest, c.MinProperties)
		lower(&l.length, c.MaxLength)
		lower(&l.items, c.MaxItems)
		lower(&l.items, c.MaxProperties)
		if c.Not != nil && c.Not.Constraints == nil && len(c.Not.Required) == 1 {
			l.forbidden[c.Not.Required[0]] = true
		}
	}
	return l
}

func raise(to, by *int64) {
	if by != nil {
		*to = max(*to, *by)
	}
}

func lower(to, by *int64) {
	if by != nil {
		*to = min(*to, *by)
	}
}

// common returns the values of b that are in a, or all if a is nil.
func common(a, b []any) []any {
	if a == nil {
		return b
	}
	return slices.DeleteFunc(slices.Clone(b), func(v any) bool { return !slices.Contains(a, v) })
}
