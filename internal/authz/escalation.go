package authz

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/validation"
)

// A RoleWrite is a write of an object of type Type, which CheckEscalation
// checks.
type RoleWrite struct {
	Type            *resource.Type
	Namespace, Name string         // those of the request
	Object          map[string]any // what is written
	Old             object.View    // nothing on a creation
}

// CheckEscalation fails with 403 if the user writes a role, or a binding to a
// role, that permits what the user may not do. A role with an aggregationRule may
// permit everything. Users with the verb "escalate" on
// the role, or "bind" on the bound role, may do so. Objects of other API groups
// pass.
//
// See https://kubernetes.io/docs/reference/access-authn-authz/rbac/#privilege-escalation-prevention-and-bootstrapping.
func (a Authorizer) CheckEscalation(ctx context.Context, u *authn.User, w RoleWrite) error {
	if w.Type.Group != rbacGroup || a.AllowsAll(u) || ChangesOwnersOnly(w.Object, w.Old) {
		return nil
	}
	c := escalationCheck{ctx, a, u, w}
	switch w.Type.Name {
	case "roles", "clusterroles":
		return c.role()
	case "rolebindings", "clusterrolebindings":
		return c.binding()
	}
	return nil
}

// An escalationCheck checks one write of a role or binding.
type escalationCheck struct {
	ctx context.Context
	Authorizer
	user *authn.User
	RoleWrite
}

func (c escalationCheck) groupResource() status.GroupResource {
	return status.GroupResource{Group: c.Type.Group, Resource: c.Type.Name}
}

func (c escalationCheck) role() error {
	if c.may(c.instead()) {
		return nil
	}
	rules, err := c.roleRules()
	if err != nil {
		return status.BadRequest(err.Error())
	}
	if err := c.held(rules); err != nil {
		return err
	}
	if c.aggregates() && c.checkHeld(everything) != nil {
		return c.forbidden("must have cluster-admin privileges to use the aggregationRule")
	}
	return nil
}

func (c escalationCheck) binding() error {
	binding, err := c.parseBinding()
	if err != nil {
		return status.BadRequest(err.Error())
	}
	ref := binding.RoleRef
	if c.may(c.bindInstead(ref)) {
		return nil
	}
	if err := ref.checkKey(c.Namespace); err != nil {
		return err
	}
	rules, err := c.Policy.Rules(ref, c.Namespace)
	if err != nil {
		return c.roleError(err)
	}
	return c.held(rules)
}

// may reports whether the user may do at, which is nil for nothing.
func (c escalationCheck) may(at *Attributes) bool {
	return at != nil && c.Authorize(c.ctx, c.user, at).Allowed
}

// instead returns what permits the write of any role.
func (w RoleWrite) instead() *Attributes {
	return &Attributes{IsResource: true, Verb: "escalate", Group: w.Type.Group, Version: AnyVersion, Resource: w.Type.Name, Namespace: w.Namespace, Name: w.Name}
}

// bindInstead returns what permits the write of a binding to a role, whatever it permits; nil for
// a reference to something else.
func (w RoleWrite) bindInstead(ref RoleRef) *Attributes {
	at := &Attributes{IsResource: true, Verb: "bind", Group: ref.APIGroup, Version: AnyVersion, Namespace: w.Namespace, Name: ref.Name}
	switch ref.Kind {
	case "ClusterRole":
		at.Resource = "clusterroles"
	case "Role":
		at.Resource = "roles"
	default:
		return nil
	}
	return at
}

// aggregates reports whether the rules of the role, or those that it had before, are those of roles
// that selectors match. These may be any rules at any time.
func (w RoleWrite) aggregates() bool {
	path := []string{"aggregationRule", "clusterRoleSelectors"}
	return object.ViewOf(w.Object).Len(path...) > 0 || w.Old.Len(path...) > 0
}

func (w RoleWrite) roleRules() ([]Rule, error) { return ParseRules(w.Type.Codec.Append(nil, w.Object)) }

func (w RoleWrite) parseBinding() (*Binding, error) {
	return parseBinding(w.Type.Codec.Append(nil, w.Object))
}

// Granted returns the rules that a write of a role or of a binding grants to others. The user needs
// to hold them, or to be allowed to do instead. It returns nil if that is not known, and for other
// writes.
func (a Authorizer) Granted(w RoleWrite) (rules []Rule, instead *Attributes) {
	if w.Type.Group != rbacGroup || ChangesOwnersOnly(w.Object, w.Old) {
		return nil, nil
	}
	switch w.Type.Name {
	case "roles", "clusterroles":
		if rules, err := w.roleRules(); err == nil {
			if w.aggregates() {
				rules = slices.Concat(rules, everything)
			}
			return rules, w.instead()
		}
	case "rolebindings", "clusterrolebindings":
		if binding, err := w.parseBinding(); err == nil && a.Policy != nil {
			if rules, err := a.Policy.Rules(binding.RoleRef, w.Namespace); err == nil {
				return rules, w.bindInstead(binding.RoleRef)
			}
		}
	}
	return nil, nil
}

// held fails with 403 if the user does not hold the rules.
func (c escalationCheck) held(rules []Rule) error {
	if err := c.checkHeld(rules); err != nil {
		return c.forbidden(err.Error())
	}
	return nil
}

func (c escalationCheck) checkHeld(rules []Rule) error {
	return (RBAC{c.Policy}).checkHeld(c.user, c.Namespace, rules, c.roleError)
}

func (c escalationCheck) forbidden(reason string) error {
	return status.Forbidden(c.groupResource(), object.String(c.Object, "metadata", "name"), reason)
}

// roleError returns the error of a role that a binding refers to. kube-apiserver
// reports a missing role here as a missing object of the resource that is
// written.
func (c escalationCheck) roleError(err error) error {
	var missing *MissingRoleError
	if errors.As(err, &missing) {
		return status.NotFound(c.groupResource(), missing.Name)
	}
	return status.Unclassified(err.Error())
}

// checkHeld fails if the user does not hold all of rules in the namespace. The
// message also has the errors of bindings to missing roles, as returned by
// roleError.
func (a RBAC) checkHeld(u *authn.User, namespace string, rules []Rule, roleError func(error) error) error {
	held, errs := a.Rules(u, namespace)
	missing := mergeVerbs(uncovered(held, rules))
	if len(missing) == 0 {
		return nil
	}
	texts := make([]string, len(missing))
	for i, rule := range missing {
		texts[i] = rule.String()
	}
	slices.Sort(texts)
	message := fmt.Sprintf("user %q (groups=%q) is attempting to grant RBAC permissions not currently held:\n%s",
		u.Name, u.Groups, strings.Join(slices.Compact(texts), "\n"))
	if len(errs) > 0 {
		for i := range errs {
			errs[i] = roleError(errs[i])
		}
		message += fmt.Sprintf("; resolution errors: [%s]", status.Aggregate(errs))
	}
	return errors.New(message)
}

// ChangesOwnersOnly reports whether obj and old differ at most in metadata that
// the garbage collector writes. It is false on a creation.
func ChangesOwnersOnly(obj map[string]any, old object.View) bool {
	if old.IsNil() {
		return false
	}
	same := object.Copy(obj)
	meta, oldMeta := object.Meta(same), old.At("metadata")
	for _, name := range []string{"ownerReferences", "finalizers", "managedFields", "selfLink"} {
		object.Keep(meta, oldMeta, name)
	}
	return validation.Equal(same, old)
}

// uncovered returns the single permissions in rules that no rule of held covers.
func uncovered(held, rules []Rule) []Rule {
	var out []Rule
	for _, rule := range rules {
		for _, single := range rule.Split() {
			if !slices.ContainsFunc(held, func(h Rule) bool { return h.Covers(&single) }) {
				out = append(out, single)
			}
		}
	}
	return out
}

// MissingRules returns rules for what the expected rules of a role permit and its own do not,
// one for each permission.
func MissingRules(rules, expected []any) []any {
	var out []any
	for _, r := range uncovered(ruleObjects(rules), ruleObjects(expected)) {
		rule := map[string]any{}
		for name, values := range map[string][]string{
			"verbs": r.Verbs, "apiGroups": r.APIGroups, "resources": r.Resources, "resourceNames": r.ResourceNames, "nonResourceURLs": r.NonResourceURLs,
		} {
			if len(values) > 0 {
				rule[name] = object.FromStrings(values)
			}
		}
		out = append(out, rule)
	}
	return out
}

// ruleObjects returns rules that are given in generic form.
func ruleObjects(rules []any) []Rule {
	var out []Rule
	for r := range object.Each(rules) {
		out = append(out, Rule{
			Verbs: object.Strings(r, "verbs"), APIGroups: object.Strings(r, "apiGroups"), Resources: object.Strings(r, "resources"),
			ResourceNames: object.Strings(r, "resourceNames"), NonResourceURLs: object.Strings(r, "nonResourceURLs"),
		})
	}
	return out
}

// Split returns the single permissions of a rule: rules with one verb, and
// either one resource and at most one name, or one path.
func (r *Rule) Split() []Rule {
	var out []Rule
	for _, group := range r.APIGroups {
		for _, resource := range r.Resources {
			for _, verb := range r.Verbs {
				single := Rule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: []string{verb}}
				if len(r.ResourceNames) == 0 {
					out = append(out, single)
				}
				for _, name := range r.ResourceNames {
					single.ResourceNames = []string{name}
					out = append(out, single)
				}
			}
		}
	}
	for _, url := range r.NonResourceURLs {
		for _, verb := range r.Verbs {
			out = append(out, Rule{NonResourceURLs: []string{url}, Verbs: []string{verb}})
		}
	}
	return out
}

// Covers reports whether the rule permits everything that a single permission, as Split returns
// it, does.
func (r *Rule) Covers(single *Rule) bool {
	if !matches(r.Verbs, single.Verbs[0]) {
		return false
	}
	if len(single.NonResourceURLs) > 0 {
		return slices.ContainsFunc(r.NonResourceURLs, func(url string) bool { return matchesPath(url, single.NonResourceURLs[0]) })
	}
	return matches(r.APIGroups, single.APIGroups[0]) && r.coversResource(single.Resources[0]) && r.coversNames(single.ResourceNames)
}

func (r *Rule) coversResource(resource string) bool {
	if matches(r.Resources, resource) {
		return true
	}
	_, sub, ok := strings.Cut(resource, "/")
	return ok && slices.Contains(r.Resources, all+"/"+sub)
}

func (r *Rule) coversNames(names []string) bool {
	return len(r.ResourceNames) == 0 || len(names) > 0 && slices.Contains(r.ResourceNames, names[0])
}

// mergeVerbs merges single permissions that differ only in their verbs.
func mergeVerbs(permissions []Rule) []Rule {
	var out []Rule
	index := map[string]int{} // of rules in out, by resource
	for _, p := range permissions {
		if len(p.NonResourceURLs) > 0 {
			out = append(out, p)
			continue
		}
		key := fmt.Sprintf("%q", [][]string{p.APIGroups, p.Resources, p.ResourceNames})
		if i, ok := index[key]; ok {
			out[i].Verbs = append(slices.Clip(out[i].Verbs), p.Verbs...)
			continue
		}
		index[key] = len(out)
		out = append(out, p)
	}
	return out
}

// String returns the rule as error messages print it, without empty members.
func (r Rule) String() string {
	var texts []string
	for _, member := range []struct {
		name   string
		values []string
	}{
		{"APIGroups", r.APIGroups},
		{"Resources", r.Resources},
		{"NonResourceURLs", r.NonResourceURLs},
		{"ResourceNames", r.ResourceNames},
		{"Verbs", r.Verbs},
	} {
		if len(member.values) > 0 {
			texts = append(texts, fmt.Sprintf("%s:%q", member.name, member.values))
		}
	}
	return "{" + strings.Join(texts, ", ") + "}"
}
