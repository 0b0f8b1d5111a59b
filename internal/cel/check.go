package cel

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/kubefake/kubefake/internal/schema"
	"github.com/kubefake/kubefake/internal/validation"
)

// Rules checks the rules of a definition.
type Rules struct {
	// Unchanged is whether the schema is that of the old definition. Its rules may
	// then cost more than new ones.
	Unchanged bool
}

var _ schema.RuleChecker = Rules{}

// CheckRules compiles rules and reports those that do not compile, cost too much
// or refer to old values where there are none.
func (r Rules) CheckRules(sites []schema.RuleSite, path *validation.Path) validation.List {
	c := rulesCheck{Rules: r, digests: digests{}}
	for _, s := range sites {
		c.site(s)
	}
	if c.total > schemaLimit {
		for _, e := range c.expensive {
			c.add(validation.Forbidden(e.path, "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema"))
		}
		c.add(validation.Forbidden(path, tooExpensive("x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema", c.total, schemaLimit)))
	}
	return c.list
}

// CheckDefault judges a default as a value that has always been there and as a
// new one.
func (r Rules) CheckDefault(s *schema.Schema, whole bool, value any, path *validation.Path) validation.List {
	v := newValidator(s, whole)
	list, _ := v.run(path, value, value, Budget, false)
	if len(list) == 0 {
		list, _ = v.run(path, value, nil, Budget, false)
	}
	return list
}

// A rulesCheck collects what is wrong with rules, and their cost.
type rulesCheck struct {
	Rules
	digests
	list  validation.List
	total uint64
	// expensive are the four expressions that cost most, of those that cost a
	// hundredth of the limit or more.
	expensive []expensive
}

type expensive struct {
	path *validation.Path
	cost uint64
}

func (c *rulesCheck) add(e *validation.Error) { c.list = append(c.list, e) }

func (c *rulesCheck) site(s schema.RuleSite) {
	path := s.Path.Child("x-kubernetes-validations")
	r := c.ruleSet(s.Schema, s.Whole)
	if !r.visible {
		c.add(validation.Internal(path, fmt.Errorf("internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations")))
		return
	}
	if r.err != nil {
		c.add(validation.Internal(path, r.err))
		return
	}
	times := uint64(maxRequest / (r.minJSON + 1)) // as often as values fit in a request
	if s.Cardinality != nil {
		times = *s.Cardinality
	}
	for i := range r.rules {
		c.rule(&r.rules[i], path.Index(i), times, s.Uncorrelatable)
	}
}

// rule checks a rule that can be evaluated so many times on an object.
func (c *rulesCheck) rule(rule *compiled, path *validation.Path, times uint64, uncorrelatable *validation.Path) {
	c.cost(path.Child("rule"), "estimated rule cost", product(rule.cost, times))
	if rule.err != nil {
		c.add(validation.Invalid(path.Child("rule"), rule.Rule, rule.err.Error()))
	}
	switch {
	case rule.messageErr != nil:
		c.add(validation.Invalid(path.Child("messageExpression"), rule.Rule, rule.messageErr.Error()))
	case rule.message != nil:
		c.cost(path.Child("messageExpression"), "estimated messageExpression cost", rule.messageCost)
	}
	switch {
	case rule.transition && uncorrelatable != nil:
		c.add(validation.Invalid(path.Child("rule"), rule.Rule.Rule, fmt.Sprintf("oldSelf cannot be used on the uncorrelatable portion of the schema within %v", uncorrelatable)))
	case !rule.transition && rule.OptionalOldSelf != nil:
		c.add(validation.Invalid(path.Child("optionalOldSelf"), *rule.OptionalOldSelf, "may not be set if oldSelf is not used in rule"))
	}
}

// cost counts the estimate of an expression, and reports one beyond the limit.
func (c *rulesCheck) cost(path *validation.Path, what string, cost uint64) {
	if cost > ruleLimit && !c.Unchanged {
		c.add(validation.Forbidden(path, tooExpensive(what, cost, ruleLimit)))
	}
	sum, carry := bits.Add64(c.total, cost, 0)
	if carry != 0 {
		sum = math.MaxUint64
	}
	c.total = sum
	if cost >= schemaLimit/100 {
		c.expensive = append(c.expensive, expensive{path, cost})
		slices.SortStableFunc(c.expensive, func(a, b expensive) int { return cmp.Compare(b.cost, a.cost) })
		c.expensive = c.expensive[:min(len(c.expensive), 4)]
	}
}

// product multiplies up to the greatest number.
func product(a, b uint64) uint64 {
	if high, low := bits.Mul64(a, b); high == 0 {
		return low
	}
	return math.MaxUint64
}

// tooExpensive says by how much a cost is beyond its limit.
func tooExpensive(what string, cost, limit uint64) string {
	times := float64(cost) / float64(limit)
	factor := fmt.Sprintf("%.1fx", times)
	switch {
	case times > 100:
		factor = "more than 100x"
	case times < 1.5:
		factor = fmt.Sprintf("%fx", times) // 1.0x would say nothing
	}
	return fmt.Sprintf("%s exceeds budget by factor of %s (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)", what, factor)
}
