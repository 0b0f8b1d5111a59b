package dynamic

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/kubefake/kubefake/internal/cel"
	"github.com/kubefake/kubefake/internal/coverage"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
)

// A policy is a ValidatingAdmissionPolicy or a MutatingAdmissionPolicy. Its
// expressions are compiled on first use.
type policy struct {
	name         string
	criteria     criteria
	paramKind    *resource.Kind // nil for none
	ignoreErrors bool           // failurePolicy Ignore
	reinvoke     bool           // reinvocationPolicy IfNeeded
	conditions   func() *conditions
	validations  func() *validations // of a ValidatingAdmissionPolicy
	mutations    func() *mutations   // of a MutatingAdmissionPolicy
}

// A boundPolicy is a policy with its bindings.
type boundPolicy struct {
	*policy
	bindings []*binding
}

// A binding applies a policy to some requests.
type binding struct {
	name, policy string
	criteria     *criteria // nil for all requests that the policy matches
	params       *paramRef // nil for none
	actions      []string  // validationActions
}

// A paramRef selects the parameter objects of a binding.
type paramRef struct {
	name, namespace string
	selector        map[string]any // nil to select by name
	denyIfNone      bool           // parameterNotFoundAction Deny
}

func compilePolicy(obj map[string]any, profile *coverage.Profile) *policy {
	spec := object.Map(obj, "spec")
	p := &policy{
		name:         object.String(obj, "metadata", "name"),
		criteria:     compileCriteria(object.Map(spec, "matchConstraints"), "resourceRules"),
		ignoreErrors: spec["failurePolicy"] == "Ignore",
		reinvoke:     spec["reinvocationPolicy"] == "IfNeeded",
	}
	variables := cel.OptionalVariables{Authorizer: true}
	if kind := object.Map(spec, "paramKind"); kind != nil {
		variables.Params = true
		gv, _ := resource.ParseGroupVersion(object.String(kind, "apiVersion")) // validation refuses other forms
		p.paramKind = &resource.Kind{GroupVersion: gv, Kind: object.String(kind, "kind")}
	}
	count := countersOf(obj, profile)
	p.conditions = sync.OnceValue(func() *conditions { return compileConditions(spec, "spec.", variables, p.ignoreErrors, count) })
	p.validations = sync.OnceValue(func() *validations { return compileValidations(spec, variables, count) })
	p.mutations = sync.OnceValue(func() *mutations { return compileMutations(spec, variables, count) })
	if profile != nil { // it has what is never evaluated, too
		p.conditions()
		if obj["kind"] == "MutatingAdmissionPolicy" {
			p.mutations()
		} else {
			p.validations()
		}
	}
	return p
}

func compileBinding(obj map[string]any, _ *coverage.Profile) *binding {
	spec := object.Map(obj, "spec")
	b := &binding{
		name:    object.String(obj, "metadata", "name"),
		policy:  object.String(spec, "policyName"),
		actions: object.Strings(spec, "validationActions"),
	}
	if match := object.Map(spec, "matchResources"); match != nil {
		c := compileCriteria(match, "resourceRules")
		b.criteria = &c
	}
	if ref := object.Map(spec, "paramRef"); ref != nil {
		b.params = &paramRef{
			name: object.String(ref, "name"), namespace: object.String(ref, "namespace"),
			selector: object.Map(ref, "selector"), denyIfNone: ref["parameterNotFoundAction"] == "Deny",
		}
	}
	return b
}

// match reports whether the binding applies its policy to a request that the
// policy matches.
func (b *binding) match(r *request) bool {
	if b.criteria == nil {
		return true
	}
	_, ok := b.criteria.match(r)
	return ok
}

// compileVariables compiles the variables of a policy. With always, expressions
// know the name variables even if the policy has none.
func compileVariables(spec map[string]any, optional cel.OptionalVariables, always bool, count counters) *cel.Policy {
	variables := object.List(spec, "variables")
	p := cel.NewPolicy(0, always || len(variables) > 0)
	i := 0
	for v := range object.Each(variables) {
		name, text := object.String(v, "name"), strings.TrimSpace(object.String(v, "expression"))
		// The error of a variable is returned where the variable is used.
		_ = p.Define(name, text, optional)
		p.Count(name, count.of(coverage.Variable, fmt.Sprintf("spec.variables[%d].expression", i), text))
		i++
	}
	return p
}

// checkParamKind returns an error if no resource has the paramKind.
func (p *policy) checkParamKind(s Server) error {
	if p.paramKind != nil && s.Type(*p.paramKind) == nil {
		return fmt.Errorf("failed to find resource referenced by paramKind: '%s'", p.paramKind.Long())
	}
	return nil
}

var errNoParams = errors.New("no params found for policy binding with `Deny` parameterNotFoundAction")

// params returns the parameter objects with which the policy is evaluated, once
// with each. The result for a policy without parameters is one nil.
func (p *policy) params(ref *paramRef, r *request) ([]map[string]any, error) {
	if p.paramKind == nil || ref == nil {
		return []map[string]any{nil}, nil
	}
	namespace := r.Namespace
	if r.server.Type(*p.paramKind).Namespaced {
		if ref.namespace != "" {
			namespace = ref.namespace
		}
		if namespace == "" {
			return nil, errors.New("cannot use namespaced paramRef in policy binding that matches cluster-scoped resources")
		}
	} else {
		if ref.namespace != "" {
			return nil, errors.New("paramRef.namespace must not be provided for a cluster-scoped `paramKind`")
		}
		namespace = ""
	}
	var params []map[string]any
	if ref.selector == nil {
		if obj := r.Reader.Get(*p.paramKind, namespace, ref.name); !obj.IsNil() {
			params = append(params, obj.SharedMembers())
		}
	} else {
		selector := labelSelector(ref.selector)
		for _, obj := range r.Reader.List(*p.paramKind, namespace) {
			if selector.Matches(labelsOf(obj)) {
				params = append(params, obj.SharedMembers())
			}
		}
	}
	if len(params) == 0 && ref.denyIfNone {
		return nil, errNoParams
	}
	return params, nil
}
