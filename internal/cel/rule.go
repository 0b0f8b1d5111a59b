package cel

import (
	"errors"
	"strings"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"

	"github.com/kubefake/kubefake/internal/schema"
	"github.com/kubefake/kubefake/internal/validation"
)

// The variables of rules.
const (
	self    = "self"
	oldSelf = "oldSelf"
)

// A compiledRule is a rule of a schema. A blank rule has no program and no error.
type compiledRule struct {
	schema.Rule
	program *program
	// err is the reason why the rule does not compile.
	err error
	// transition is whether the rule is a transition rule: it refers to oldSelf.
	transition bool
	// cost is the estimated cost of one evaluation.
	cost uint64
	// path is the fieldPath of the rule, nil for the value itself.
	path *validation.Path

	message     *program // nil if there is none
	messageErr  error
	messageCost uint64
}

// errNoDeclType is the error of rules on values that have no declaration type.
var errNoDeclType = errors.New("failed to convert to declType for CEL validation rules")

// compileRules compiles rules for values of type t. It returns an error if no rule can
// be compiled.
func compileRules(v Version, t *declType, rules []schema.Rule) ([]compiledRule, error) {
	if len(rules) == 0 {
		return nil, nil
	}
	if !t.visible {
		return nil, errNoDeclType
	}
	typ, declare := t.declare(newSelfTypeName())
	env := func(old *types.Type) func() (*cel.Env, error) {
		return sync.OnceValues(func() (*cel.Env, error) {
			return base(v).Extend(declare, cel.Variable(self, typ), cel.Variable(oldSelf, old))
		})
	}
	required, optional := env(typ), env(types.NewOptionalType(typ))
	out := make([]compiledRule, len(rules))
	for i, rule := range rules {
		newEnv := required
		if rule.OptionalOldSelf != nil && *rule.OptionalOldSelf {
			newEnv = optional
		}
		env, err := newEnv()
		if err != nil {
			return nil, err
		}
		out[i] = compileRule(v, t, rule, env)
	}
	return out, nil
}

func compileRule(v Version, t *declType, rule schema.Rule, env *cel.Env) compiledRule {
	c := compiledRule{Rule: rule}
	if strings.TrimSpace(rule.Rule) == "" {
		return c
	}
	e, err := compile(env, rule.Rule, types.BoolType, costs{t.sizes(v), v})
	if err != nil {
		c.err = err.ruleError()
		return c
	}
	c.program, c.cost, c.transition = e.program, e.cost, e.refersTo(oldSelf)
	if rule.MessageExpression != "" {
		m, err := compile(env, rule.MessageExpression, types.StringType, costs{t.sizes(v), v})
		if err != nil {
			c.messageErr = err.messageExpressionError()
		} else {
			c.message, c.messageCost = m.program, m.cost
		}
	}
	if rule.FieldPath != "" {
		if path, _, err := t.schema.Descend(rule.FieldPath, true); err == nil {
			c.path = path
		}
	}
	return c
}

// text returns the text of the rule in error messages.
func (c *compiledRule) text() string {
	if c.Message != "" {
		return strings.TrimSpace(c.Message)
	}
	return strings.TrimSpace(c.Rule.Rule)
}

// failure returns the message for a value that fails the rule, unless a message
// expression provides it.
func (c *compiledRule) failure() string {
	if c.Message != "" {
		return strings.TrimSpace(c.Message)
	}
	return "failed rule: " + c.text()
}

// newError returns the error for a value that fails the rule.
func (c *compiledRule) newError(path *validation.Path, value any, detail string) *validation.Error {
	reason := ""
	if c.Reason != nil {
		reason = *c.Reason
	}
	switch validation.Reason(reason) {
	case validation.ReasonForbidden:
		return validation.Forbidden(path, detail)
	case validation.ReasonRequired:
		return validation.Required(path, detail)
	case validation.ReasonDuplicate:
		return validation.Duplicate(path, value)
	}
	return validation.Invalid(path, value, detail)
}
