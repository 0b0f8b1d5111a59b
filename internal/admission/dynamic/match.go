package dynamic

import (
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/selector"
)

// criteria select the requests that a webhook, a policy or a binding handles.
type criteria struct {
	namespaces, objects selector.Labels
	rules, excluded     []rule
	// equivalent is matchPolicy Equivalent: rules also match requests to other
	// versions of a resource.
	equivalent bool
}

// A rule matches requests by operation and resource. "*" matches everything.
type rule struct {
	operations, groups, versions, resources []string
	scope                                   string
	names                                   []string // empty for all
}

// compileCriteria compiles the criteria of a webhook, whose rules are in the
// field rules, or of matchResources, which has them in resourceRules.
func compileCriteria(m map[string]any, rulesField string) criteria {
	return criteria{
		namespaces: labelSelector(m["namespaceSelector"]),
		objects:    labelSelector(m["objectSelector"]),
		rules:      compileRules(m[rulesField]),
		excluded:   compileRules(m["excludeResourceRules"]),
		equivalent: m["matchPolicy"] != "Exact",
	}
}

// labelSelector compiles a label selector. An absent one selects everything, a
// malformed one, which validation refuses, nothing.
func labelSelector(v any) selector.Labels {
	s, ok := v.(map[string]any)
	if !ok {
		s = map[string]any{}
	}
	compiled, err := selector.FromMap(s).Selector()
	if err != nil {
		return selector.Nothing()
	}
	return compiled
}

func compileRules(list any) (all []rule) {
	for m := range object.Each(list) {
		all = append(all, rule{
			operations: object.Strings(m, "operations"),
			groups:     object.Strings(m, "apiGroups"), versions: object.Strings(m, "apiVersions"), resources: object.Strings(m, "resources"),
			scope: object.String(m, "scope"), names: object.Strings(m, "resourceNames"),
		})
	}
	return all
}

// match reports whether the criteria select a request, and in which version of
// its resource. Criteria without rules select requests to all resources.
func (c *criteria) match(r *request) (target, bool) {
	if !c.matchNamespace(r) || !c.matchObject(r) {
		return target{}, false
	}
	if _, excluded := c.matchRules(c.excluded, r); excluded {
		return target{}, false
	}
	if len(c.rules) == 0 {
		return r.target(), true
	}
	return c.matchRules(c.rules, r)
}

// matchRules returns the version that the first matching rule selects. The
// version of the request itself has precedence.
func (c *criteria) matchRules(rules []rule, r *request) (target, bool) {
	for i := range rules {
		if rules[i].match(r, r.Type) {
			return r.target(), true
		}
	}
	if !c.equivalent {
		return target{}, false
	}
	equivalents := r.equivalents()
	for i := range rules {
		for _, t := range equivalents {
			if rules[i].match(r, t.Type) {
				return t, true
			}
		}
	}
	return target{}, false
}

// matchNamespace reports whether the selector selects the labels of the
// request's namespace. It selects all cluster-scoped objects.
func (c *criteria) matchNamespace(r *request) bool {
	if c.namespaces.Empty() || r.Namespace == "" && !r.isNamespace() {
		return true
	}
	namespace := object.ViewOf(r.Object)
	if !r.isNamespace() || r.Subresource != "" || namespace.IsNil() {
		namespace = r.Reader.Get(namespaceKind, "", r.Namespace)
	}
	return c.namespaces.Matches(labelsOf(namespace))
}

// matchObject reports whether the selector selects the labels of the object or
// of the old object.
func (c *criteria) matchObject(r *request) bool {
	if c.objects.Empty() {
		return true
	}
	selected := func(obj object.View) bool { return !obj.IsNil() && c.objects.Matches(labelsOf(obj)) }
	return selected(object.ViewOf(r.Object)) || selected(r.Old)
}

func labelsOf(obj object.View) selector.Map {
	all := obj.At("metadata", "labels")
	out := make(selector.Map, all.Len())
	for name, v := range all.Fields() {
		out[name] = v.String()
	}
	return out
}

// match reports whether the rule matches a request in a version of its resource.
func (u *rule) match(r *request, t *resource.Type) bool {
	return u.matchScope(r) && contains(u.operations, string(r.Operation)) && contains(u.groups, t.Group) && contains(u.versions, t.Version) &&
		u.matchResource(t.Name, r.Subresource) && (len(u.names) == 0 || slices.Contains(u.names, r.Name))
}

func contains(list []string, s string) bool {
	return slices.Contains(list, "*") || slices.Contains(list, s)
}

func (u *rule) matchScope(r *request) bool {
	namespaced := r.Namespace != "" && !r.isNamespace()
	switch u.scope {
	case "Namespaced":
		return namespaced
	case "Cluster":
		return !namespaced
	}
	return true
}

// matchResource reports whether the rule has a resource, "pods", or a
// subresource, "pods/status". "pods" does not match "pods/status"; "pods/*"
// matches both.
func (u *rule) matchResource(resource, subresource string) bool {
	return slices.ContainsFunc(u.resources, func(entry string) bool {
		res, sub, _ := strings.Cut(entry, "/")
		return (res == "*" || res == resource) && (sub == "*" || sub == subresource)
	})
}
