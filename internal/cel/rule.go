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

// A compiled rule is one rule of a schema. A rule that is blank has no program
// and no error.
type compiled struct {
	schema.Rule
	program cel.Program
	// err says why the rule does not compile.
	err error
	// transition is whether the rule refers to oldSelf.
	transition bool
	// cost is the greatest that one evaluation can have.
	cost uint64
	// path leads from the value to the field that a failure is about, nil to the
	// value.
	path *validation.Path

	message     cel.Program // nil if there is none
	messageErr  error
	messageCost uint64
}

// errUntyped is for rules on values that expressions cannot see.
var errUntyped = errors.New("failed to convert to declType for CEL validation rules")

// compileRules compiles rules about the values of a type.
func compileRules(t *Type, rules []schema.Rule) ([]compiled, error) {
	if len(rules) == 0 {
		return nil, nil
	}
	if !t.visible {
		return nil, errUntyped
	}
	typ, declare := t.declare(selfName())
	env := func(old *types.Type) func() (*cel.Env, error) {
		return sync.OnceValues(func() (*cel.Env, error) {
			return base().Extend(declare, cel.Variable(self, typ), cel.Variable(oldSelf, old))
		})
	}
	certain, optional := env(typ), env(types.NewOptionalType(typ))
	out := make([]compiled, len(rules))
	for i, rule := range rules {
		of := certain
		if rule.OptionalOldSelf != nil && *rule.OptionalOldSelf {
			of = optional
		}
		env, err := of()
		if err != nil {
			return nil, err
		}
		out[i] = compileRule(t, rule, env)
	}
	return out, nil
}

func compileRule(t *Type, rule schema.Rule, env *cel.Env) compiled {
	c := compiled{Rule: rule}
	if strings.TrimSpace(rule.Rule) == "" {
		return c
	}
	e, err := compile(env, rule.Rule, types.BoolType, costs{t.size})
	if err != nil {
		c.err = err.ofRule()
		return c
	}
	c.program, c.cost, c.transition = e.program, e.cost, e.refersTo(oldSelf)
	if rule.MessageExpression != "" {
		m, err := compile(env, rule.MessageExpression, types.StringType, costs{t.size})
		if err != nil {
			c.messageErr = err.ofMessage()
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

// text is the rule as messages about it say.
func (c *compiled) text() string {
	if c.Message != "" {
		return strings.TrimSpace(c.Message)
	}
	return strings.TrimSpace(c.Rule.Rule)
}

// failure is what a failure of the rule says, unless a message expression does.
func (c *compiled) failure() string {
	if c.Message != "" {
		return strings.TrimSpace(c.Message)
	}
	return "failed rule: " + c.text()
}

// report is the error of a value that breaks the rule.
func (c *compiled) report(path *validation.Path, value any, detail string) *validation.Error {
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
