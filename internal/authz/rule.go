package authz

import (
	"encoding/json"
	"slices"
	"strings"
)

// all is the wildcard of a rule: every verb, group, resource or path.
const all = "*"

// A Rule permits verbs on resources of API groups, or on paths that are not of a
// resource.
type Rule struct {
	Verbs           []string `json:"verbs"`
	APIGroups       []string `json:"apiGroups"`
	Resources       []string `json:"resources"`
	ResourceNames   []string `json:"resourceNames"` // empty for all names
	NonResourceURLs []string `json:"nonResourceURLs"`
}

// ParseRules returns the rules of a Role or ClusterRole.
func ParseRules(body []byte) ([]Rule, error) {
	var role struct {
		Rules []Rule `json:"rules"`
	}
	err := json.Unmarshal(body, &role)
	return role.Rules, err
}

// Permits reports whether the rule permits at.
func (r *Rule) Permits(at *Attributes) bool {
	if !matches(r.Verbs, at.Verb) {
		return false
	}
	if !at.IsResource {
		return slices.ContainsFunc(r.NonResourceURLs, func(url string) bool { return matchesPath(url, at.Path) })
	}
	return matches(r.APIGroups, at.Group) && r.hasResource(at) &&
		(len(r.ResourceNames) == 0 || slices.Contains(r.ResourceNames, at.Name))
}

// hasResource reports whether Resources has the resource of at: by its name, by
// "*", or as a subresource of "*".
func (r *Rule) hasResource(at *Attributes) bool {
	for _, resource := range r.Resources {
		if resource == all || at.Subresource == "" && resource == at.Resource {
			return true
		}
		if at.Subresource == "" {
			continue
		}
		parent, sub, _ := strings.Cut(resource, "/")
		if sub == at.Subresource && (parent == all || parent == at.Resource) {
			return true
		}
	}
	return false
}

// matches reports whether names has the name or "*".
func matches(names []string, name string) bool {
	return slices.Contains(names, name) || slices.Contains(names, all)
}

// matchesPath reports whether a path matches that of a rule. A rule that ends in
// "*" matches every path with the prefix before it.
func matchesPath(rule, path string) bool {
	return rule == path || strings.HasSuffix(rule, all) && strings.HasPrefix(path, strings.TrimRight(rule, all))
}

// Attributes returns what a single permission, as Split returns it, permits in a namespace.
func (r *Rule) Attributes(namespace string) Attributes {
	at := Attributes{Verb: r.Verbs[0]}
	if len(r.NonResourceURLs) > 0 {
		at.Path = r.NonResourceURLs[0]
		return at
	}
	at.IsResource, at.Group, at.Namespace = true, r.APIGroups[0], namespace
	at.Resource, at.Subresource, _ = strings.Cut(r.Resources[0], "/")
	if len(r.ResourceNames) > 0 {
		at.Name = r.ResourceNames[0]
	}
	return at
}
