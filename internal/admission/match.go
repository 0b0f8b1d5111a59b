package admission

import (
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/selector"
)

var namespaceKind = resource.Kind{GroupVersion: resource.GroupVersion{Version: "v1"}, Kind: "Namespace"}

// criteria say which requests a webhook, a policy or a binding is for.
type criteria struct {
	namespaces, objects selector.Labels
	rules, excluded     []rule
	// equivalent lets a rule match a request to another version, too.
	equivalent bool
}

// A rule is one of the kinds of requests. Any of a list will do; "*" is any.
type rule struct {
	operations, groups, versions, resources []string
	scope                                   string
	names                                   []string // empty for all
}

// criteriaOf reads the criteria of a webhook, whose rules are called rules, or
// of match resources, where they are called resourceRules.
func criteriaOf(m map[string]any, rules string) criteria {
	return criteria{
		namespaces: labels(m, "namespaceSelector"),
		objects:    labels(m, "objectSelector"),
		rules:      rulesOf(m[rules]),
		excluded:   rulesOf(m["excludeResourceRules"]),
		equivalent: m["matchPolicy"] != "Exact",
	}
}

// labels is a label selector, of everything if there is none. A malformed one,
// which validation does not let pass, is of nothing.
func labels(m map[string]any, name string) selector.Labels {
	s, ok := m[name].(map[string]any)
	if !ok {
		s = map[string]any{}
	}
	parsed, err := selector.FromMap(s).Selector()
	if err != nil {
		return selector.Nothing()
	}
	return parsed
}

func rulesOf(list any) (all []rule) {
	for m := range object.Each(list) {
		all = append(all, rule{
			operations: object.Strings(m, "operations"),
			groups:     object.Strings(m, "apiGroups"), versions: object.Strings(m, "apiVersions"), resources: object.Strings(m, "resources"),
			scope: object.String(m, "scope"), names: object.Strings(m, "resourceNames"),
		})
	}
	return all
}

// matches reports whether the criteria are met, and as which version of its
// resource a request meets them. Criteria without rules are met by requests to
// any resource.
func (c *criteria) matches(r *Attributes, cluster resource.Reader) (target, bool) {
	if !c.inNamespace(r, cluster) || !c.hasLabels(r) {
		return target{}, false
	}
	if _, excluded := c.rule(c.excluded, r); excluded {
		return target{}, false
	}
	if len(c.rules) == 0 {
		return r.target(), true
	}
	return c.rule(c.rules, r)
}

// rule finds the first rule that is for a request; one for the version that the
// request is made in comes before one for another version.
func (c *criteria) rule(rules []rule, r *Attributes) (target, bool) {
	for i := range rules {
		if rules[i].matches(r, r.Type) {
			return r.target(), true
		}
	}
	if !c.equivalent {
		return target{}, false
	}
	equivalents := r.equivalents()
	for i := range rules {
		for _, t := range equivalents {
			if rules[i].matches(r, t.Type) {
				return t, true
			}
		}
	}
	return target{}, false
}

// inNamespace holds the labels of a request's namespace against the selector.
// What is in no namespace is never left out.
func (c *criteria) inNamespace(r *Attributes, cluster resource.Reader) bool {
	if c.namespaces.Empty() || r.Namespace == "" && !r.isNamespace() {
		return true
	}
	namespace := r.Object
	if !r.isNamespace() || r.Subresource != "" || namespace == nil {
		namespace = cluster.Get(namespaceKind, "", r.Namespace)
	}
	return c.namespaces.Matches(labelsOf(namespace))
}

// hasLabels holds the labels of the objects against the selector: those of one
// of them will do.
func (c *criteria) hasLabels(r *Attributes) bool {
	if c.objects.Empty() {
		return true
	}
	fits := func(obj map[string]any) bool { return obj != nil && c.objects.Matches(labelsOf(obj)) }
	return fits(r.Object) || fits(r.Old)
}

func labelsOf(obj map[string]any) selector.Map {
	all := object.Map(obj, "metadata", "labels")
	out := make(selector.Map, len(all))
	for name, v := range all {
		out[name], _ = v.(string)
	}
	return out
}

// matches reports whether the rule is for a request, as one to a version of its
// resource.
func (u *rule) matches(r *Attributes, t *resource.Type) bool {
	return u.inScope(r) && oneOf(u.operations, string(r.Operation)) && oneOf(u.groups, t.Group) && oneOf(u.versions, t.Version) &&
		u.hasResource(t.Name, r.Subresource) && (len(u.names) == 0 || slices.Contains(u.names, r.Name))
}

func oneOf(list []string, s string) bool {
	return slices.Contains(list, "*") || slices.Contains(list, s)
}

func (u *rule) inScope(r *Attributes) bool {
	namespaced := r.Namespace != "" && !r.isNamespace()
	switch u.scope {
	case "Namespaced":
		return namespaced
	case "Cluster":
		return !namespaced
	}
	return true
}

// hasResource looks for a resource, "pods", or a subresource, "pods/status". One
// is not among the other's: "pods/*" has both.
func (u *rule) hasResource(resource, subresource string) bool {
	return slices.ContainsFunc(u.resources, func(entry string) bool {
		res, sub, _ := strings.Cut(entry, "/")
		return (res == "*" || res == resource) && (sub == "*" || sub == subresource)
	})
}
