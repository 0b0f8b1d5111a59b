package authz

import (
	"fmt"
	"slices"
	"strings"
)

// all stands in a rule for every verb, group, resource or path.
const all = "*"

// Attributes are what a request asks to do.
type Attributes struct {
	Verb string

	// IsResource tells that the request is about a resource; then Path means
	// nothing, else the rest does not.
	IsResource                   bool
	Path                         string
	Group, Resource, Subresource string
	Namespace, Name              string // "" for all of them
}

// String says what is asked for, as a refusal does.
func (a Attributes) String() string {
	if !a.IsResource {
		return fmt.Sprintf("%s path %q", a.Verb, a.Path)
	}
	where := "at the cluster scope"
	if a.Namespace != "" {
		where = fmt.Sprintf("in the namespace %q", a.Namespace)
	}
	return fmt.Sprintf("%s resource %q in API group %q %s", a.Verb, a.resource(), a.Group, where)
}

// resource is the resource with its subresource, as rules name it.
func (a Attributes) resource() string {
	if a.Subresource == "" {
		return a.Resource
	}
	return a.Resource + "/" + a.Subresource
}

// A Rule permits verbs, either on resources of API groups or on paths that are
// of no resource.
type Rule struct {
	Verbs           []string `json:"verbs"`
	APIGroups       []string `json:"apiGroups"`
	Resources       []string `json:"resources"`
	ResourceNames   []string `json:"resourceNames"` // empty for all names
	NonResourceURLs []string `json:"nonResourceURLs"`
}

// Permits reports whether the rule permits what is asked for.
func (r *Rule) Permits(a *Attributes) bool {
	if !matches(r.Verbs, a.Verb) {
		return false
	}
	if !a.IsResource {
		return slices.ContainsFunc(r.NonResourceURLs, func(url string) bool { return matchesPath(url, a.Path) })
	}
	return matches(r.APIGroups, a.Group) && r.hasResource(a) &&
		(len(r.ResourceNames) == 0 || slices.Contains(r.ResourceNames, a.Name))
}

// hasResource reports whether the rule is about the resource: by its name, as
// all of them, or as a subresource of all.
func (r *Rule) hasResource(a *Attributes) bool {
	for _, resource := range r.Resources {
		if resource == all || a.Subresource == "" && resource == a.Resource {
			return true
		}
		if a.Subresource == "" {
			continue
		}
		parent, sub, _ := strings.Cut(resource, "/")
		if sub == a.Subresource && (parent == all || parent == a.Resource) {
			return true
		}
	}
	return false
}

// matches reports whether the names have the one, or stand for all.
func matches(names []string, name string) bool {
	return slices.Contains(names, name) || slices.Contains(names, all)
}

// matchesPath reports whether a path is the one of a rule, which stands for all
// that begin with it if it ends in a star.
func matchesPath(rule, path string) bool {
	return rule == path || strings.HasSuffix(rule, all) && strings.HasPrefix(path, strings.TrimRight(rule, all))
}

// Uncovered are the smallest parts of rules that none of the rules held
// permits as a whole; nil if they permit everything.
func Uncovered(held, rules []Rule) []Rule {
	var out []Rule
	for _, rule := range rules {
		for _, part := range rule.parts() {
			if !slices.ContainsFunc(held, func(h Rule) bool { return h.covers(&part) }) {
				out = append(out, part)
			}
		}
	}
	return out
}

// parts are the rule's permissions one by one: each of one verb, and of one
// resource and at most one name, or one path.
func (r *Rule) parts() []Rule {
	var out []Rule
	for _, group := range r.APIGroups {
		for _, resource := range r.Resources {
			for _, verb := range r.Verbs {
				part := Rule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: []string{verb}}
				if len(r.ResourceNames) == 0 {
					out = append(out, part)
				}
				for _, name := range r.ResourceNames {
					part.ResourceNames = []string{name}
					out = append(out, part)
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

// covers reports whether the rule permits all that a part does.
func (r *Rule) covers(part *Rule) bool {
	if !matches(r.Verbs, part.Verbs[0]) {
		return false
	}
	if len(part.NonResourceURLs) > 0 {
		return slices.ContainsFunc(r.NonResourceURLs, func(url string) bool { return matchesPath(url, part.NonResourceURLs[0]) })
	}
	return matches(r.APIGroups, part.APIGroups[0]) && r.coversResource(part.Resources[0]) && r.coversNames(part.ResourceNames)
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

// joined puts parts that differ by their verbs alone together.
func joined(parts []Rule) []Rule {
	var out []Rule
	at := map[string]int{} // where in out the part of the same resource is
	for _, part := range parts {
		if len(part.NonResourceURLs) > 0 {
			out = append(out, part)
			continue
		}
		key := fmt.Sprintf("%q", [][]string{part.APIGroups, part.Resources, part.ResourceNames})
		if i, ok := at[key]; ok {
			out[i].Verbs = append(slices.Clip(out[i].Verbs), part.Verbs...)
			continue
		}
		at[key] = len(out)
		out = append(out, part)
	}
	return out
}

// String is the rule as messages show it: its members that are not empty.
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
