package cel

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"

	"github.com/kubefake/kubefake/internal/schema"
	"github.com/kubefake/kubefake/internal/validation"
)

// A Validator evaluates the rules of a schema. It is immutable and safe for concurrent
// use. A nil Validator has no rules.
type Validator struct {
	// root returns the compiled rules. The first call compiles them.
	root func() *node

	options Options
	counted *CountedSchema // nil if results are not counted
}

// Options are how the releases of kube-apiserver evaluate rules differently. The zero
// Options are those of the newest release.
type Options struct {
	// TypesAsValues gives errors the type that the schema declares in place of the value,
	// as in v1.34 and before.
	TypesAsValues bool
	// WithoutRatcheting tolerates no errors about unchanged values, and evaluates no
	// transition rule on a value that has no old one.
	WithoutRatcheting bool
}

// With returns the Validator with other Options.
func (v *Validator) With(o Options) *Validator {
	if v == nil || v.options == o {
		return v
	}
	return &Validator{root: v.root, options: o, counted: v.counted}
}

// NewValidator returns the validator of a custom resource's schema, nil if the schema
// has no rules. The rules are compiled when the first value is validated, once for all
// equal schemas in the process.
func NewValidator(s *schema.Schema) *Validator { return newValidator(s, true) }

func newValidator(s *schema.Schema, isResourceRoot bool) *Validator {
	if !hasRules(s) {
		return nil
	}
	return &Validator{root: sync.OnceValue(func() *node { return compiledSchema(s, isResourceRoot) })}
}

// hasRules reports whether s or a subschema has rules. kube-apiserver ignores rules in
// allOf if there are no others.
func hasRules(s *schema.Schema) bool {
	if s == nil {
		return false
	}
	if len(rulesOf(s)) > 0 || hasRules(s.Items) || hasRules(s.Additional) {
		return true
	}
	for _, property := range s.Properties {
		if hasRules(property) {
			return true
		}
	}
	return false
}

func rulesOf(s *schema.Schema) []schema.Rule {
	if s.Constraints == nil {
		return nil
	}
	return s.Constraints.Rules
}

// A node has the compiled rules of a schema and the nodes of its subschemas.
type node struct {
	typ   *declType
	rules []compiledRule
	// err is the reason why the rules cannot be compiled.
	err error
	// transition is whether one of the rules is a transition rule.
	transition bool

	items, additional *node
	properties        []property
	allOf             []*node
}

// A property is a property whose schema has rules.
type property struct {
	name string
	node *node
}

// node compiles the rules of s and its subschemas for values of type t. It returns nil
// if there are none. The rules of an element of allOf are compiled for the type of the
// schema that has the allOf.
func (h schemaHasher) node(s *schema.Schema, t *declType) *node {
	n := &node{typ: t}
	n.rules, n.err = h.rules(s, t)
	for i := range n.rules {
		n.transition = n.transition || n.rules[i].transition
	}
	if s.Items != nil {
		n.items = h.node(s.Items, t.elementOf(s.Items))
	}
	if s.Additional != nil {
		n.additional = h.node(s.Additional, t.elementOf(s.Additional))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		m := t.fields[name]
		if m == nil || !m.visible {
			continue
		}
		if p := h.node(s.Properties[name], m); p != nil {
			n.properties = append(n.properties, property{name, p})
		}
	}
	if s.Constraints != nil {
		for _, sub := range s.Constraints.AllOf {
			if a := h.node(sub, t); a != nil {
				n.allOf = append(n.allOf, a)
			}
		}
	}
	if len(n.rules) == 0 && n.err == nil && n.items == nil && n.additional == nil && len(n.properties) == 0 && len(n.allOf) == 0 {
		return nil
	}
	return n
}

// Validate evaluates the rules on a value. old is the value before an update, nil for a
// creation. Fields are correlated with old ones by name, elements of lists of type map
// by their keys. Errors about an unchanged value are marked as tolerated. path is the
// path of the value, nil for an object. The remaining budget is negative if it was
// exceeded.
//
// Validate returns soon after ctx ends, with the errors so far. The caller checks ctx.
//
// kube-apiserver evaluates the fields of an object in random order. Here the order is
// that of their names.
func (v *Validator) Validate(ctx context.Context, path *validation.Path, value, old any, budget int64) (errs validation.List, remaining int64) {
	return v.validate(ctx, path, value, old, budget, true)
}

// validate is Validate. Without ratcheting, no error is tolerated.
func (v *Validator) validate(ctx context.Context, path *validation.Path, value, old any, budget int64, ratchets bool) (errs validation.List, remaining int64) {
	if v == nil {
		return nil, budget
	}
	root := v.root()
	if root == nil {
		return nil, budget // no value has a type that the rules are for
	}
	e := evaluator{done: ctx.Done(), remaining: budget, options: v.options, counters: v.counted.of(root)}
	correlated := schema.Correlate(root.typ.schema, value, old)
	var ratchet ratcheting
	if ratchets && !v.options.WithoutRatcheting {
		ratchet.value = correlated
	}
	e.value(root, path, value, correlated, ratchet)
	return e.errs, e.remaining
}

// An evaluator evaluates rules until the budget is exceeded or the context ends.
type evaluator struct {
	done      <-chan struct{} // of the context
	errs      validation.List
	remaining int64
	options   Options
	counters  ruleCounters // nil if results are not counted
}

// stopped reports whether no further rule is evaluated.
func (e *evaluator) stopped() bool { return e.remaining < 0 || e.interrupted() }

// interrupted reports whether the context has ended.
func (e *evaluator) interrupted() bool {
	select {
	case <-e.done:
		return true
	default:
		return false
	}
}

// ratcheting decides whether errors about a value are tolerated: if the value is
// unchanged or, if it has no correlated old value, if the nearest enclosing value that
// has one is unchanged.
type ratcheting struct{ value, enclosing *schema.CorrelatedValue }

func (r ratcheting) tolerates() bool {
	if r.value != nil {
		return r.value.Unchanged()
	}
	return r.enclosing.Unchanged()
}

func (r ratcheting) field(name string) ratcheting {
	switch {
	case r.value == nil:
		return r
	case r.enclosing == nil && (name == "apiVersion" || name == "kind"):
		return ratcheting{} // the old object may have another version
	}
	return ratcheting{r.value.Field(name), r.value}
}

func (r ratcheting) element(i int) ratcheting {
	if r.value == nil {
		return r
	}
	return ratcheting{r.value.Element(i), r.value}
}

// value evaluates the rules on a value and on the values within it. Rules are not
// evaluated on null.
func (e *evaluator) value(n *node, path *validation.Path, value any, correlated *schema.CorrelatedValue, ratchet ratcheting) {
	if n == nil || value == nil {
		return
	}
	e.rules(n, path, value, correlated.Old(), ratchet)
	for _, sub := range n.allOf {
		if e.stopped() {
			return
		}
		e.value(sub, path, value, correlated, ratcheting{enclosing: ratchet.enclosing})
	}
	switch value := value.(type) {
	case []any:
		if n.items == nil {
			return
		}
		for i, elem := range value {
			if e.stopped() {
				return
			}
			e.value(n.items, path.Index(i), elem, correlated.Element(i), ratchet.element(i))
		}
	case map[string]any:
		e.fields(n, path, value, correlated, ratchet)
	}
}

// fields evaluates the rules on the fields of an object or the values of a map.
func (e *evaluator) fields(n *node, path *validation.Path, value map[string]any, correlated *schema.CorrelatedValue, ratchet ratcheting) {
	if n.additional != nil {
		for _, name := range slices.Sorted(maps.Keys(value)) {
			if e.stopped() {
				return
			}
			e.value(n.additional, path.Key(name), value[name], correlated.Field(name), ratchet.field(name))
		}
	}
	for _, p := range n.properties {
		if e.stopped() {
			return
		}
		if member := value[p.name]; member != nil {
			e.value(p.node, path.Child(p.name), member, correlated.Field(p.name), ratchet.field(p.name))
		}
	}
}

// rules evaluates the rules of n on a value.
func (e *evaluator) rules(n *node, path *validation.Path, value, old any, ratchet ratcheting) {
	invalid := func(format string, args ...any) {
		e.errs = append(e.errs, validation.Invalid(path, n.typ.schema.Type, fmt.Sprintf(format, args...)))
	}
	switch {
	case n.err != nil:
		invalid("rule compiler initialization error: %v", n.err)
		return
	case len(n.rules) == 0:
		return
	case e.remaining <= 0:
		invalid("%s", outOfBudget)
		e.remaining = -1
		return
	}
	required, optional := n.variables(value, old)
	for i := range n.rules {
		rule := &n.rules[i]
		hasOptional := rule.OptionalOldSelf != nil && *rule.OptionalOldSelf
		switch {
		case rule.transition && old == nil && e.options.WithoutRatcheting:
			continue
		case rule.err != nil:
			invalid("rule compile error: %v", rule.err)
			continue
		case rule.program == nil, rule.transition && old == nil && !hasOptional:
			continue
		}
		vars := required
		if hasOptional {
			vars = optional
		}
		result, err := e.evaluate(rule.program, vars)
		counter := e.counters.of(n, i)
		counter.Add(result, err)
		switch {
		case e.interrupted():
			return
		case errors.Is(err, errOutOfBudget):
			invalid("%s", outOfBudget)
			return
		case err != nil && strings.HasPrefix(err.Error(), "no such overload"):
			invalid("'%v': call arguments did not match a supported operator, function or macro signature for rule: %v", err, rule.text())
		case exceedsCallLimit(err):
			invalid("'%v': no further validation rules will be run due to call cost exceeds limit for rule: %v", err, rule.text())
			e.remaining = -1
			return
		case err != nil:
			invalid("%v evaluating rule: %v", err, rule.text())
		case result != types.True:
			if e.addFailure(n, rule, path, value, required, ratchet) {
				counter.Tolerate()
			}
			if e.stopped() {
				return
			}
		}
	}
}

const outOfBudget = "validation failed due to running out of cost budget, no further validation rules will be run"

// errOutOfBudget is returned if an evaluation exceeds the remaining budget.
var errOutOfBudget = errors.New("out of budget")

// exceedsCallLimit reports whether an evaluation was cancelled because it exceeded
// perCallLimit.
func exceedsCallLimit(err error) bool {
	return err != nil && strings.HasPrefix(err.Error(), "operation cancelled: actual cost limit exceeded")
}

// evaluate evaluates a program and subtracts the cost from the budget.
func (e *evaluator) evaluate(p *program, vars interpreter.Activation) (ref.Val, error) {
	result, cost, err := p.eval(e.done, vars)
	if cost > uint64(e.remaining) {
		e.remaining = -1
		return nil, errOutOfBudget
	}
	e.remaining -= int64(cost)
	return result, err
}

// addFailure adds the error for a value that fails a rule, and reports whether it is tolerated.
func (e *evaluator) addFailure(n *node, rule *compiledRule, path *validation.Path, value any, vars interpreter.Activation, ratchet ratcheting) (tolerated bool) {
	if rule.path != nil {
		path = path.Child(rule.path.String())
	}
	switch typ := n.typ.schema.Type; {
	case e.options.TypesAsValues:
		value = typ
	case typ == "object" || typ == "array":
		value = validation.NoValue{}
	}
	failure := func() *validation.Error {
		if rule.message == nil {
			return rule.newError(path, value, rule.failure())
		}
		text, err := e.message(rule, vars)
		switch {
		case e.stopped():
			return validation.Invalid(path, n.typ.schema.Type, err.Error())
		case err != nil:
			text = rule.failure()
		}
		return rule.newError(path, value, text)
	}()
	failure.Tolerated = !rule.transition && ratchet.tolerates()
	e.errs = append(e.errs, failure)
	return failure.Tolerated
}

// maxMessage is the maximal number of bytes of the result of a messageExpression.
const maxMessage = 5 << 10

// MessageText returns the result of a messageExpression without the white space around
// it. It reports false if the result is not one line of text of at most 5 KiB: the
// message of the rule is used then.
func MessageText(result string) (text string, ok bool) {
	text = strings.TrimSpace(result)
	return text, text != "" && len(text) <= maxMessage && !strings.Contains(text, "\n")
}

// message evaluates a messageExpression. On an error other than an exceeded budget the
// caller uses the message of the rule.
func (e *evaluator) message(rule *compiledRule, vars interpreter.Activation) (string, error) {
	result, err := e.evaluate(rule.message, vars)
	switch {
	case errors.Is(err, errOutOfBudget):
		return "", errors.New("messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run")
	case exceedsCallLimit(err):
		e.remaining = -1
		return "", fmt.Errorf("no further validation rules will be run due to call cost exceeds limit for messageExpression: %q", rule.MessageExpression)
	case err != nil:
		return "", err
	}
	value, _ := result.Value().(string)
	text, ok := MessageText(value)
	if !ok {
		return "", errors.New("the result of messageExpression is not one line of text")
	}
	return text, nil
}

// variables returns the variables of the rules: required with oldSelf as a value,
// optional with oldSelf as an optional. Without transition rules oldSelf is not set.
func (n *node) variables(value, old any) (required, optional interpreter.Activation) {
	self := n.typ.value(value)
	switch {
	case !n.transition:
		v := &variables{self: self}
		return v, v
	case old == nil:
		return &variables{self: self}, &variables{self, types.OptionalNone}
	}
	oldSelf := n.typ.value(old)
	return &variables{self, oldSelf}, &variables{self, types.OptionalOf(oldSelf)}
}

// variables are the values of self and oldSelf. oldSelf may be nil.
type variables struct{ self, oldSelf ref.Val }

// ResolveName implements [interpreter.Activation].
func (v *variables) ResolveName(name string) (any, bool) {
	switch name {
	case self:
		return v.self, true
	case oldSelf:
		return v.oldSelf, v.oldSelf != nil
	}
	return nil, false
}

// Parent implements [interpreter.Activation].
func (v *variables) Parent() interpreter.Activation { return nil }
