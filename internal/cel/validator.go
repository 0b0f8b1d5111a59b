package cel

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"

	"github.com/kubefake/kubefake/internal/schema"
	"github.com/kubefake/kubefake/internal/validation"
)

// A Validator evaluates the rules of a schema. It is immutable and safe for
// concurrent use. The nil Validator has no rules.
type Validator struct {
	// root compiles the rules, when it is first called.
	root func() *node
}

// NewValidator returns the validator of a custom resource's schema, nil if that
// has no rules. Nothing is compiled before the first value comes, and a schema's
// rules once in a process, however many servers have it.
func NewValidator(s *schema.Schema) *Validator { return newValidator(s, true) }

func newValidator(s *schema.Schema, whole bool) *Validator {
	if !hasRules(s) {
		return nil
	}
	return &Validator{sync.OnceValue(func() *node { return compiledSchema(s, whole) })}
}

// hasRules reports whether there are rules in a schema. Those in junctors count
// only beside others.
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

// A node has the rules of a schema, and the nodes within it.
type node struct {
	typ   *Type
	rules []compiled
	// err says why none of the rules can be used.
	err error
	// transition is whether there is a rule that refers to oldSelf.
	transition bool

	items, additional *node
	properties        []property
	allOf             []*node
}

// A property is a member with rules, by the member's own name.
type property struct {
	name string
	node *node
}

// node compiles the rules of a schema that are about values of a type, nil if
// there are none. A schema in allOf has its rules about the type of what it
// stands in.
func (d digests) node(s *schema.Schema, t *Type) *node {
	n := &node{typ: t}
	n.rules, n.err = d.rules(s, t)
	for i := range n.rules {
		n.transition = n.transition || n.rules[i].transition
	}
	if t.element != nil {
		if s.Items != nil && t.sort == list {
			n.items = d.node(s.Items, t.element)
		}
		if s.Additional != nil && t.sort == dictionary {
			n.additional = d.node(s.Additional, t.element)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		m := t.members[name]
		if m == nil || !m.visible {
			continue
		}
		if within := d.node(s.Properties[name], m); within != nil {
			n.properties = append(n.properties, property{name, within})
		}
	}
	if s.Constraints != nil {
		for _, junctor := range s.Constraints.AllOf {
			if within := d.node(junctor, t); within != nil {
				n.allOf = append(n.allOf, within)
			}
		}
	}
	if len(n.rules) == 0 && n.err == nil && n.items == nil && n.additional == nil && len(n.properties) == 0 && len(n.allOf) == 0 {
		return nil
	}
	return n
}

// Validate evaluates the rules on a value. old is what it was before an update,
// nil in a creation. Values correspond to old ones by name, and in lists of the
// type map by their keys. Errors about a value that has not changed are
// tolerated. The path is that of the value, nil for an object. What is left of
// the budget is negative if it ran out.
//
// kube-apiserver evaluates the members of an object in no particular order; here
// it is that of their names.
func (v *Validator) Validate(path *validation.Path, value, old any, budget int64) (errs validation.List, remaining int64) {
	return v.run(path, value, old, budget, true)
}

// run evaluates the rules. Without ratcheting, nothing is tolerated.
func (v *Validator) run(path *validation.Path, value, old any, budget int64, ratcheting bool) (errs validation.List, remaining int64) {
	if v == nil {
		return nil, budget
	}
	root := v.root()
	r := runner{remaining: budget}
	was := schema.Correlate(root.typ.schema, value, old)
	var sight ratchet
	if ratcheting {
		sight.value = was
	}
	r.value(root, path, value, was, sight)
	return r.errs, r.remaining
}

// A runner evaluates rules until the budget is spent.
type runner struct {
	errs      validation.List
	remaining int64
}

func (r *runner) spent() bool { return r.remaining < 0 }

// A ratchet tells whether what is wrong with a value is tolerated: if the value
// is what it was or, where nothing corresponds to it, if the nearest value around
// it that something corresponds to is.
type ratchet struct{ value, around *schema.Pair }

func (r ratchet) tolerates() bool {
	if r.value != nil {
		return r.value.Unchanged()
	}
	return r.around.Unchanged()
}

func (r ratchet) member(name string) ratchet {
	switch {
	case r.value == nil:
		return r
	case r.around == nil && (name == "apiVersion" || name == "kind"):
		return ratchet{} // their old values are those of another version
	}
	return ratchet{r.value.Member(name), r.value}
}

func (r ratchet) element(i int) ratchet {
	if r.value == nil {
		return r
	}
	return ratchet{r.value.Element(i), r.value}
}

// value evaluates the rules about a value and those about what is in it. Nulls
// are for the rules around them to judge.
func (r *runner) value(n *node, path *validation.Path, value any, was *schema.Pair, sight ratchet) {
	if n == nil || value == nil {
		return
	}
	r.rules(n, path, value, was.Was(), sight)
	for _, junctor := range n.allOf {
		if r.spent() {
			return
		}
		r.value(junctor, path, value, was, ratchet{around: sight.around})
	}
	switch value := value.(type) {
	case []any:
		if n.items == nil {
			return
		}
		for i, elem := range value {
			if r.spent() {
				return
			}
			r.value(n.items, path.Index(i), elem, was.Element(i), sight.element(i))
		}
	case map[string]any:
		r.members(n, path, value, was, sight)
	}
}

func (r *runner) members(n *node, path *validation.Path, value map[string]any, was *schema.Pair, sight ratchet) {
	if n.additional != nil {
		for _, name := range slices.Sorted(maps.Keys(value)) {
			if r.spent() {
				return
			}
			r.value(n.additional, path.Key(name), value[name], was.Member(name), sight.member(name))
		}
	}
	for _, p := range n.properties {
		if r.spent() {
			return
		}
		if member := value[p.name]; member != nil {
			r.value(p.node, path.Child(p.name), member, was.Member(p.name), sight.member(p.name))
		}
	}
}

// rules evaluates the rules about a value itself.
func (r *runner) rules(n *node, path *validation.Path, value, old any, sight ratchet) {
	invalid := func(format string, args ...any) {
		r.errs = append(r.errs, validation.Invalid(path, n.typ.schema.Type, fmt.Sprintf(format, args...)))
	}
	switch {
	case n.err != nil:
		invalid("rule compiler initialization error: %v", n.err)
		return
	case len(n.rules) == 0:
		return
	case r.remaining <= 0:
		invalid("%s", outOfBudget)
		r.remaining = -1
		return
	}
	certain, optional := n.variables(value, old)
	for i := range n.rules {
		rule := &n.rules[i]
		hasOptional := rule.OptionalOldSelf != nil && *rule.OptionalOldSelf
		switch {
		case rule.err != nil:
			invalid("rule compile error: %v", rule.err)
			continue
		case rule.program == nil, rule.transition && old == nil && !hasOptional:
			continue
		}
		vars := certain
		if hasOptional {
			vars = optional
		}
		result, err := r.evaluate(rule.program, vars)
		switch {
		case errors.Is(err, errOutOfBudget):
			invalid("%s", outOfBudget)
			return
		case err != nil && strings.HasPrefix(err.Error(), "no such overload"):
			invalid("'%v': call arguments did not match a supported operator, function or macro signature for rule: %v", err, rule.text())
		case exceeds(err):
			invalid("'%v': no further validation rules will be run due to call cost exceeds limit for rule: %v", err, rule.text())
			r.remaining = -1
			return
		case err != nil:
			invalid("%v evaluating rule: %v", err, rule.text())
		case result != types.True:
			if r.failed(n, rule, path, value, certain, sight); r.spent() {
				return
			}
		}
	}
}

const outOfBudget = "validation failed due to running out of cost budget, no further validation rules will be run"

// errOutOfBudget is for an evaluation that cost more than was left.
var errOutOfBudget = errors.New("out of budget")

// exceeds reports whether an evaluation was stopped because it cost more than any
// may.
func exceeds(err error) bool {
	return err != nil && strings.HasPrefix(err.Error(), "operation cancelled: actual cost limit exceeded")
}

// evaluate runs a program on the budget.
func (r *runner) evaluate(program cel.Program, vars any) (ref.Val, error) {
	result, details, err := program.Eval(vars)
	if details == nil || details.ActualCost() == nil {
		r.remaining = -1
		return nil, err
	}
	if cost := *details.ActualCost(); cost > uint64(r.remaining) {
		r.remaining = -1
		return nil, errOutOfBudget
	}
	r.remaining -= int64(*details.ActualCost())
	return result, err
}

// failed reports a value that breaks a rule.
func (r *runner) failed(n *node, rule *compiled, path *validation.Path, value any, vars interpreter.Activation, sight ratchet) {
	if rule.path != nil {
		path = path.Child(rule.path.String())
	}
	if typ := n.typ.schema.Type; typ == "object" || typ == "array" {
		value = validation.NoValue{}
	}
	e := func() *validation.Error {
		if rule.message == nil {
			return rule.report(path, value, rule.failure())
		}
		text, err := r.message(rule, vars)
		switch {
		case r.spent():
			return validation.Invalid(path, n.typ.schema.Type, err.Error())
		case err != nil:
			text = rule.failure()
		}
		return rule.report(path, value, text)
	}()
	e.Tolerated = !rule.transition && sight.tolerates()
	r.errs = append(r.errs, e)
}

// maxMessage is the most bytes that a message expression may give.
const maxMessage = 5 << 10

// message evaluates a message expression. If it fails the rule's message stands
// in for it, unless the budget is spent.
func (r *runner) message(rule *compiled, vars interpreter.Activation) (string, error) {
	result, err := r.evaluate(rule.message, vars)
	switch {
	case errors.Is(err, errOutOfBudget):
		return "", errors.New("messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run")
	case exceeds(err):
		r.remaining = -1
		return "", fmt.Errorf("no further validation rules will be run due to call cost exceeds limit for messageExpression: %q", rule.MessageExpression)
	case err != nil:
		return "", err
	}
	text, _ := result.Value().(string)
	text = strings.TrimSpace(text)
	if text == "" || len(text) > maxMessage || strings.Contains(text, "\n") {
		return "", errors.New("messageExpression gives no line of text")
	}
	return text, nil
}

// variables are those of rules, with oldSelf as it is and as an optional. Where
// no rule refers to oldSelf there is none.
func (n *node) variables(value, old any) (certain, optional interpreter.Activation) {
	now := n.typ.value(value)
	switch {
	case !n.transition:
		v := &variables{now: now}
		return v, v
	case old == nil:
		return &variables{now: now}, &variables{now, types.OptionalNone}
	}
	was := n.typ.value(old)
	return &variables{now, was}, &variables{now, types.OptionalOf(was)}
}

// variables are self and oldSelf, which may be nil.
type variables struct{ now, was ref.Val }

// ResolveName finds a variable.
func (v *variables) ResolveName(name string) (any, bool) {
	switch name {
	case self:
		return v.now, true
	case oldSelf:
		return v.was, v.was != nil
	}
	return nil, false
}

// Parent is for variables around these, of which there are none.
func (v *variables) Parent() interpreter.Activation { return nil }
