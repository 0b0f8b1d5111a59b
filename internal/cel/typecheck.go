package cel

import (
	"github.com/google/cel-go/common/types"

	"github.com/kubefake/kubefake/internal/schema"
)

// A Declaration declares the type of a variable of a policy by a schema. Name is that of
// the type in messages, a kind. A nil Schema allows everything.
type Declaration struct {
	Name   string
	Schema *schema.Schema
}

// NewTypeChecker returns a Policy whose expressions are type-checked with the schemas of
// object and params, and cannot be evaluated. Their variable authorizer has no
// requestResource, as in the controller of kube-controller-manager.
//
// kube-controller-manager appends a number to the names of the types, the nanoseconds of
// the time. Here they are the kinds.
func NewTypeChecker(v Version, object, params Declaration) *Policy {
	in := &inputTypes{object: types.DynType, params: types.DynType}
	in.object = in.declare(object)
	in.params = in.declare(params)
	p := NewPolicy(v, true)
	p.inputs = in
	return p
}

// declare returns the type of a variable and adds its declaration.
func (in *inputTypes) declare(d Declaration) *types.Type {
	if d.Schema == nil {
		return types.DynType
	}
	typ, option := newDeclType(unnamed(d.Schema, map[string]bool{}), true).declare(d.Name)
	in.declarations = append(in.declarations, option)
	return typ
}

// unnamed returns a copy of a schema without names, which name types by their paths. A
// schema within one of its own name, which outer has, is an object without fields.
func unnamed(s *schema.Schema, outer map[string]bool) *schema.Schema {
	if s == nil {
		return nil
	}
	if s.Name != "" {
		if outer[s.Name] {
			return &schema.Schema{Type: "object"}
		}
		outer[s.Name] = true
		defer delete(outer, s.Name)
	}
	c := *s
	c.Name = ""
	c.Items, c.Additional = unnamed(s.Items, outer), unnamed(s.Additional, outer)
	if s.Properties != nil {
		c.Properties = make(map[string]*schema.Schema, len(s.Properties))
		for name, property := range s.Properties {
			c.Properties[name] = unnamed(property, outer)
		}
	}
	return &c
}

// Issues type-checks an expression of any result type. It returns "" if there is nothing
// wrong.
func (p *Policy) Issues(text string, vars OptionalVariables) string {
	env, err := p.env(vars)
	if err != nil {
		return err.Error()
	}
	_, issues := env.Compile(text)
	if issues.Err() == nil {
		return ""
	}
	return issues.String()
}
