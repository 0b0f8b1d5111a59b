// Package validatingadmissionpolicystatus has the
// validatingadmissionpolicy-status-controller: it checks the types in the expressions of
// ValidatingAdmissionPolicies, and writes what it finds to their status.
//
// See https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/#type-checking.
package validatingadmissionpolicystatus

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/cel"
	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
)

const (
	manager = "validatingadmissionpolicy-status"

	// maxTypes is the number of types that one policy is checked with.
	maxTypes = 10
)

type checker struct {
	env      *controller.Env
	client   *controller.Client
	policies *controller.Informer
}

// Start starts the controller.
func Start(e *controller.Env) {
	if !e.Serves(controller.ValidatingAdmissionPolicies) {
		return
	}
	c := &checker{env: e, client: e.Client("validatingadmissionpolicy-status-controller")}
	queue := e.Queue(c.sync)
	c.policies = e.Informer(controller.ValidatingAdmissionPolicies, func(_, policy *controller.Object) {
		if policy != nil {
			queue.Add(policy.Key())
		}
	})
}

// sync checks a generation of a policy once. A later change of a
// CustomResourceDefinition does not matter.
func (c *checker) sync(k controller.Key) error {
	policy := c.policies.Get("", k.Name)
	if policy == nil {
		return nil
	}
	generation := controller.IntOr(policy.View(), 0, "metadata", "generation")
	if generation <= controller.IntOr(policy.View(), 0, "status", "observedGeneration") {
		return nil
	}
	checks := map[string]any{}
	if warnings := c.check(policy.View()); len(warnings) > 0 {
		checks["expressionWarnings"] = warnings
	}
	_, err := c.client.Apply(controller.ValidatingAdmissionPolicies, "status", manager, map[string]any{
		"metadata": map[string]any{"name": policy.Name},
		"status":   map[string]any{"observedGeneration": generation, "typeChecking": checks},
	})
	return err
}

// check returns the warnings about the validations of a policy.
func (c *checker) check(policy object.View) (warnings []any) {
	types := c.typesOf(policy)
	add := func(i int, field, text string) {
		if text == "" {
			return
		}
		var found []string
		for _, t := range types {
			if issues := c.issues(policy, t, text); issues != "" {
				found = append(found, fmt.Sprintf("%s, Kind=%s: %s\n", t.GroupVersion, t.Kind, issues))
			}
		}
		if len(found) > 0 {
			warnings = append(warnings, map[string]any{
				"fieldRef": fmt.Sprintf("spec.validations[%d].%s", i, field), "warning": strings.Join(found, "\n"),
			})
		}
	}
	for i, validation := range policy.At("spec", "validations").Items() {
		add(i, "expression", validation.String("expression"))
		add(i, "messageExpression", validation.String("messageExpression"))
	}
	return warnings
}

// issues type-checks an expression of a policy with the objects of a type.
func (c *checker) issues(policy object.View, t *resource.Type, text string) string {
	vars := cel.OptionalVariables{Authorizer: true}
	var params cel.Declaration
	if kind := policy.At("spec", "paramKind"); !kind.IsNil() {
		if gv, err := resource.ParseGroupVersion(kind.String("apiVersion")); err == nil {
			vars.Params = true
			params.Name = kind.String("kind")
			if t := c.env.Types().ForKind(resource.Kind{GroupVersion: gv, Kind: params.Name}); t != nil {
				params.Schema = c.env.Schema(t)
			}
		}
	}
	expressions := cel.NewTypeChecker(0, cel.Declaration{Name: t.Kind, Schema: c.env.Schema(t)}, params)
	for v := range policy.At("spec", "variables").Objects() {
		_ = expressions.Define(v.String("name"), v.String("expression"), vars) // it is dynamic then
	}
	return expressions.Issues(text, vars)
}

// typesOf returns the types that the resource rules of a policy name without wildcards.
func (c *checker) typesOf(policy object.View) []*resource.Type {
	kinds := map[resource.Kind]*resource.Type{}
	for rule := range policy.At("spec", "matchConstraints", "resourceRules").Objects() {
		c.addTypes(kinds, rule)
	}
	types := make([]*resource.Type, 0, len(kinds))
	for _, t := range kinds {
		types = append(types, t)
	}
	slices.SortFunc(types, func(a, b *resource.Type) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Version, b.Version), cmp.Compare(a.Kind, b.Kind))
	})
	return types
}

// addTypes adds the types that a rule names, at most maxTypes.
func (c *checker) addTypes(kinds map[resource.Kind]*resource.Type, rule object.View) {
	groups, versions, resources := rule.Strings("apiGroups"), rule.Strings("apiVersions"), rule.Strings("resources")
	wildcard := func(s string) bool { return strings.Contains(s, "*") }
	if slices.ContainsFunc(groups, wildcard) || slices.ContainsFunc(versions, wildcard) {
		return
	}
	resources = slices.DeleteFunc(resources, func(s string) bool { return strings.ContainsAny(s, "*/") })
	for _, list := range [][]string{groups, versions, resources} {
		slices.Sort(list)
	}
	count := 0
	for _, group := range groups {
		for _, version := range versions {
			for _, name := range resources {
				for _, t := range c.typesNamed(group, version, name) {
					if count == maxTypes {
						return
					}
					kinds[resource.Kind{GroupVersion: t.GroupVersion, Kind: t.Kind}] = t
					count++
				}
			}
		}
	}
}

// typesNamed returns the types of a resource. As in the RESTMapper of client-go, the
// legacy group stands for every group.
func (c *checker) typesNamed(group, version, name string) (types []*resource.Type) {
	for t := range c.env.Types().All() {
		if (group == "" || t.Group == group) && t.Version == version && (t.Name == name || t.Singular == name) {
			types = append(types, t)
		}
	}
	return types
}
