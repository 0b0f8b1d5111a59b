package usage

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/authz"
)

// A Comparison says how what clients ask differs from what roles grant.
type Comparison struct {
	// Missing was asked and is not granted.
	Missing []Missing `json:"missing,omitempty"`
	// Unused is granted and was never asked.
	Unused []Unused `json:"unused,omitempty"`
}

// Missing is a permission that no role grants.
type Missing struct {
	// Permission has no namespace if it is needed in all.
	Permission
	// Names are those of the objects; empty for all objects.
	Names []string `json:"names,omitempty"`
	// Granted is what part of it a role grants: "in a namespace only", "for tls only"; "" for none.
	Granted string `json:"granted,omitempty"`
	// Reasons say why other requests need it; empty if there are requests for it.
	Reasons []Reason `json:"reasons,omitempty"`
	Count   int64    `json:"count"`
	Example string   `json:"example,omitempty"`
	// Marker is the kubebuilder marker that grants it.
	Marker string `json:"marker"`
}

// Unused are permissions of a role for a resource, or for a path.
type Unused struct {
	File string `json:"file,omitempty"`
	Kind string `json:"kind"`
	Role string `json:"role"`
	// Rule has one group and one resource, or one path.
	Rule Rule `json:"rule"`
	// Asked is what was asked of a rule with a wildcard: "get pods"; empty for nothing.
	Asked []string `json:"asked,omitempty"`
}

// Compare compares what the clients have asked with roles.
//
// A ClusterRole grants everywhere, and a Role in every namespace, because tests and deployments use
// other ones, but not across them.
func (u *Usage) Compare(roles []Role) Comparison {
	needs := u.needs()
	granted := grantsOf(roles)
	var out Comparison
	for i := range needs {
		if n := &needs[i]; !n.granted(granted) {
			out.Missing = append(out.Missing, n.missing(granted))
		}
	}
	for i := range roles {
		for j := range roles[i].Rules {
			out.Unused = append(out.Unused, unused(&roles[i], roles[i].Rules[j].authz(), needs)...)
		}
	}
	return out
}

// A grant is a rule of a role.
type grant struct {
	rule       authz.Rule
	namespaced bool
}

func grantsOf(roles []Role) (out []grant) {
	for i := range roles {
		for _, r := range roles[i].Rules {
			out = append(out, grant{r.authz(), roles[i].Namespace != ""})
		}
	}
	return out
}

func (r Rule) authz() authz.Rule {
	return authz.Rule{Verbs: r.Verbs, APIGroups: r.APIGroups, Resources: r.Resources, ResourceNames: r.ResourceNames, NonResourceURLs: r.NonResourceURLs}
}

// singles returns the permission as rules, one for each name.
func (p *Permission) singles(names []string) []authz.Rule {
	if p.Path != "" {
		return []authz.Rule{{Verbs: []string{p.Verb}, NonResourceURLs: []string{p.Path}}}
	}
	single := authz.Rule{Verbs: []string{p.Verb}, APIGroups: []string{p.Group}, Resources: []string{p.resource()}}
	if len(names) == 0 {
		return []authz.Rule{single}
	}
	out := make([]authz.Rule, len(names))
	for i, name := range names {
		out[i] = single
		out[i].ResourceNames = []string{name}
	}
	return out
}

// granted reports whether rules grant all of the need.
func (n *need) granted(by []grant) bool {
	if n.instead != nil && permits(by, n.instead.Namespace != "", n.instead.singles(nil)) {
		return true
	}
	return permits(by, n.Namespace != "", n.singles(n.names))
}

// permits reports whether rules grant all of singles, in a namespace or in all.
func permits(by []grant, inNamespace bool, singles []authz.Rule) bool {
	return !slices.ContainsFunc(singles, func(single authz.Rule) bool {
		return !slices.ContainsFunc(by, func(g grant) bool { return (inNamespace || !g.namespaced) && g.rule.Covers(&single) })
	})
}

func (n *need) missing(granted []grant) Missing {
	out := Missing{Permission: n.Permission, Names: n.names, Reasons: n.reasons()}
	for _, r := range n.of {
		out.Count += r.Count
		if out.Example == "" {
			out.Example = r.Example
		}
	}
	out.Granted = n.part(granted)
	rule := n.singles(nil)[0]
	out.Marker = Markers([]Role{{Namespace: n.Namespace, Rules: []Rule{{
		APIGroups: rule.APIGroups, Resources: rule.Resources, NonResourceURLs: rule.NonResourceURLs, ResourceNames: n.names, Verbs: rule.Verbs,
	}}}})[0]
	return out
}

// reasons returns why requests need it; nil if there are requests for it itself.
func (n *need) reasons() (out []Reason) {
	for _, r := range n.of {
		if r.Reason == "" {
			return nil
		}
		out = append(out, r.Reason)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// part returns which part of the need is granted, in words; "" for none.
func (n *need) part(granted []grant) string {
	if n.Namespace == "" && permits(granted, true, n.singles(n.names)) {
		return "in a namespace only"
	}
	var names []string
	for _, g := range granted {
		for _, name := range g.rule.ResourceNames {
			if single := n.singles([]string{name})[0]; g.rule.Covers(&single) {
				names = append(names, name)
			}
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "for " + strings.Join(sortedSet(names), ", ") + " only"
}

// unused returns what no need uses of a rule, one for each resource and path.
func unused(role *Role, rule authz.Rule, needs []need) (out []Unused) {
	add := func(single authz.Rule, asked []string) {
		last := len(out) - 1
		if last >= 0 && len(asked) == 0 && len(out[last].Asked) == 0 && slices.Equal(out[last].Rule.APIGroups, single.APIGroups) &&
			slices.Equal(out[last].Rule.Resources, single.Resources) && slices.Equal(out[last].Rule.NonResourceURLs, single.NonResourceURLs) {
			out[last].Rule.Verbs = append(slices.Clip(out[last].Rule.Verbs), single.Verbs...)
			return
		}
		out = append(out, Unused{File: role.File, Kind: role.Kind(), Role: role.Name, Asked: asked, Rule: Rule{
			APIGroups: single.APIGroups, Resources: single.Resources, NonResourceURLs: single.NonResourceURLs, ResourceNames: rule.ResourceNames, Verbs: single.Verbs,
		}})
	}
	names := rule.ResourceNames
	rule.ResourceNames = nil // one name that is used is enough
	for _, single := range rule.Split() {
		var asked []string
		for i := range needs {
			asked = append(asked, needs[i].uses(single, names)...)
		}
		if len(asked) == 0 || isWild(&single) {
			add(single, sortedSet(asked))
		}
	}
	return out
}

// uses returns what of a single permission, with names, the need uses.
func (n *need) uses(single authz.Rule, names []string) []string {
	if n.instead != nil && single.Covers(&n.instead.singles(nil)[0]) {
		return []string{n.instead.String()}
	}
	if !single.Covers(&n.singles(nil)[0]) || len(names) > 0 && !n.touches(names) {
		return nil
	}
	return []string{n.String()}
}

// touches reports whether requests were for one of the objects with the names.
func (n *need) touches(names []string) bool {
	return slices.ContainsFunc(n.of, func(r *Request) bool {
		return slices.ContainsFunc(r.Names, func(name string) bool { return slices.Contains(names, name) })
	})
}

// isWild reports whether a single permission has a wildcard that stands for several.
func isWild(single *authz.Rule) bool {
	const all = "*"
	return slices.Contains(single.Verbs, all) || slices.Contains(single.APIGroups, all) ||
		slices.ContainsFunc(single.Resources, func(r string) bool { return r == all || strings.HasPrefix(r, all+"/") })
}

// String returns the permission in words: "get pods/status", "list deployments.apps".
func (p *Permission) String() string {
	if p.Path != "" {
		return p.Verb + " " + p.Path
	}
	return p.Verb + " " + groupResource(p.Group, p.resource())
}

// Text returns the comparison as lines, "" if there is no difference.
func (c *Comparison) Text() string {
	var b strings.Builder
	if len(c.Missing) > 0 {
		b.WriteString("asked and not granted:\n")
		for i := range c.Missing {
			fmt.Fprintf(&b, "  %s\n    %s\n", c.Missing[i].String(), c.Missing[i].Marker)
		}
	}
	if len(c.Unused) > 0 {
		b.WriteString("granted and never asked:\n")
		for i := range c.Unused {
			fmt.Fprintf(&b, "  %s\n", c.Unused[i].String())
		}
	}
	return b.String()
}

// String returns the permission on one line, with the requests that need it.
func (m *Missing) String() string {
	line := m.Permission.String()
	if len(m.Names) > 0 {
		line += " " + strings.Join(m.Names, ", ")
	}
	switch {
	case m.Namespace != "":
		line += " in " + m.Namespace
	case m.Path == "":
		line += " in all namespaces or of the cluster"
	}
	line += ": " + plural(m.Count, "request")
	for _, r := range m.Reasons {
		line += ", for " + reasonTexts[r]
	}
	if m.Example != "" {
		line += ", as in " + m.Example
	}
	if m.Granted != "" {
		line += "; granted " + m.Granted
	}
	return line
}

var reasonTexts = map[Reason]string{
	Creates:         "what it creates",
	OwnerReferences: "owner references, with the plugin OwnerReferencesPermissionEnforcement",
	Grants:          "a role that grants it",
	Impersonates:    "an impersonation",
	Admission:       "an admission plugin",
	InitialEvents:   "a watch with sendInitialEvents, which becomes a list on servers without it",
}

// String returns what is unused on one line, with its role.
func (u *Unused) String() string {
	what := strings.Join(u.Rule.NonResourceURLs, ", ")
	if len(u.Rule.Resources) > 0 {
		what = groupResource(u.Rule.APIGroups[0], u.Rule.Resources[0])
	}
	line := fmt.Sprintf("%s %s: %s %s", u.Kind, u.Role, strings.Join(u.Rule.Verbs, ", "), what)
	if len(u.Rule.ResourceNames) > 0 {
		line += " " + strings.Join(u.Rule.ResourceNames, ", ")
	}
	if u.File != "" {
		line = u.File + ": " + line
	}
	if len(u.Asked) > 0 {
		line += "; asked: " + strings.Join(u.Asked, ", ")
	}
	return line
}
