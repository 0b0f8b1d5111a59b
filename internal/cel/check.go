package cel

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/kubefake/kubefake/internal/schema"
	"github.com/kubefake/kubefake/internal/validation"
)

// A RuleChecker checks the rules of a CustomResourceDefinition.
type RuleChecker struct {
	// Unchanged is whether the old definition has the same schema. The estimated
	// cost of a single rule is then not limited.
	Unchanged bool

	// Context ends the evaluation of rules on defaults, and the compilation of
	// rules, early. The caller checks it.
	Context context.Context

	// Version is the release with which rules must be compatible.
	Version Version

	// Options are those of the Validator of defaults.
	Options Options
}

var _ schema.RuleChecker = RuleChecker{}

// CheckRules implements [schema.RuleChecker]. It reports rules that do not
// compile, exceed a cost limit, or use oldSelf where values cannot be correlated.
func (r RuleChecker) CheckRules(sites []schema.RuleSite, path *validation.Path) validation.List {
	c := rulesCheck{RuleChecker: r, schemaHasher: schemaHasher{}}
	for _, s := range sites {
		if r.Context.Err() != nil {
			return nil
		}
		c.checkSite(s)
	}
	if c.total > maxSchemaCost {
		for _, e := range c.mostExpensive {
			c.add(validation.Forbidden(e.path, "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema"))
		}
		c.add(validation.Forbidden(path, costLimitError("x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema", c.total, maxSchemaCost)))
	}
	return c.list
}

// CheckDefault implements [schema.RuleChecker]. It evaluates the rules on a default,
// first as an unchanged value, then as a created one.
func (r RuleChecker) CheckDefault(s *schema.Schema, isResourceRoot bool, value any, path *validation.Path) validation.List {
	v := newValidator(s, isResourceRoot).With(r.Options)
	list, _ := v.validate(r.Context, path, value, value, Budget, false)
	if len(list) == 0 {
		list, _ = v.validate(r.Context, path, value, nil, Budget, false)
	}
	return list
}

// A rulesCheck collects the errors and the estimated cost of rules.
type rulesCheck struct {
	RuleChecker
	schemaHasher
	list  validation.List
	total uint64
	// mostExpensive has the at most four most expensive expressions whose cost is at
	// least a hundredth of maxSchemaCost, in descending order.
	mostExpensive []expressionCost
}

type expressionCost struct {
	path *validation.Path
	cost uint64
}

func (c *rulesCheck) add(e *validation.Error) { c.list = append(c.list, e) }

func (c *rulesCheck) checkSite(s schema.RuleSite) {
	path := s.Path.Child("x-kubernetes-validations")
	r := c.ruleSet(c.Version, s.Schema, s.IsResourceRoot)
	if !r.visible {
		c.add(validation.Internal(path, fmt.Errorf("internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations")))
		return
	}
	if r.err != nil {
		c.add(validation.Internal(path, r.err))
		return
	}
	times := uint64(maxRequestSize / (r.minSerializedSize + 1)) // as many values as fit in a request
	if s.Cardinality != nil {
		times = *s.Cardinality
	}
	for i := range r.rules {
		c.checkRule(&r.rules[i], path.Index(i), times, s.Uncorrelatable)
	}
}

// checkRule checks a rule that is evaluated at most times times for an object.
func (c *rulesCheck) checkRule(rule *compiledRule, path *validation.Path, times uint64, uncorrelatable *validation.Path) {
	c.addCost(path.Child("rule"), "estimated rule cost", schema.SaturatingMul(rule.cost, times))
	if rule.err != nil {
		c.add(validation.Invalid(path.Child("rule"), rule.Rule, rule.err.Error()))
	}
	switch {
	case rule.messageErr != nil:
		c.add(validation.Invalid(path.Child("messageExpression"), rule.Rule, rule.messageErr.Error()))
	case rule.message != nil:
		c.addCost(path.Child("messageExpression"), "estimated messageExpression cost", rule.messageCost)
	}
	switch {
	case rule.transition && uncorrelatable != nil:
		c.add(validation.Invalid(path.Child("rule"), rule.Rule.Rule, fmt.Sprintf("oldSelf cannot be used on the uncorrelatable portion of the schema within %v", uncorrelatable)))
	case !rule.transition && rule.OptionalOldSelf != nil:
		c.add(validation.Invalid(path.Child("optionalOldSelf"), *rule.OptionalOldSelf, "may not be set if oldSelf is not used in rule"))
	}
}

// addCost adds the estimated cost of an expression to the total, and reports a
// cost above maxRuleCost.
func (c *rulesCheck) addCost(path *validation.Path, what string, cost uint64) {
	if cost > maxRuleCost && !c.Unchanged {
		c.add(validation.Forbidden(path, costLimitError(what, cost, maxRuleCost)))
	}
	sum, carry := bits.Add64(c.total, cost, 0)
	if carry != 0 {
		sum = math.MaxUint64
	}
	c.total = sum
	if cost >= maxSchemaCost/100 {
		c.mostExpensive = append(c.mostExpensive, expressionCost{path, cost})
		slices.SortStableFunc(c.mostExpensive, func(a, b expressionCost) int { return cmp.Compare(b.cost, a.cost) })
		c.mostExpensive = c.mostExpensive[:min(len(c.mostExpensive), 4)]
	}
}

// costLimitError returns the error for a cost that exceeds its limit.
func costLimitError(what string, cost, limit uint64) string {
	times := float64(cost) / float64(limit)
	factor := fmt.Sprintf("%.1fx", times)
	switch {
	case times > 100:
		factor = "more than 100x"
	case times < 1.5:
		factor = fmt.Sprintf("%fx", times) // %.1f would print 1.0x
	}
	return fmt.Sprintf("%s exceeds budget by factor of %s (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)", what, factor)
}
