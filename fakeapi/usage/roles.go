package usage

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
)

// A Role is a Role or a ClusterRole.
type Role struct {
	Name string
	// Namespace is that of a Role. ClusterRoles have none.
	Namespace string
	Rules     []Rule
	// File is where the role was read, "" for one of [Usage.Roles].
	File string
}

// Kind returns "Role" or "ClusterRole".
func (r *Role) Kind() string {
	if r.Namespace != "" {
		return "Role"
	}
	return "ClusterRole"
}

// A Rule is a rule of a role, with the fields of the API.
type Rule struct {
	APIGroups       []string `json:"apiGroups,omitempty"`
	NonResourceURLs []string `json:"nonResourceURLs,omitempty"`
	ResourceNames   []string `json:"resourceNames,omitempty"`
	Resources       []string `json:"resources,omitempty"`
	Verbs           []string `json:"verbs"`
}

// Roles returns the smallest roles with which the clients can make all requests: a ClusterRole, and
// a Role for each constant namespace. Rules have the names of objects where all are constant. What
// the default roles grant to every user, such as discovery, is left out.
//
// Rules that differ in their resources only are one, and verbs, resources and names are sorted, as
// controller-gen writes them.
func (u *Usage) Roles(name string) []Role {
	grants := map[string]map[ruleKey]*ruleValue{} // by namespace
	for _, n := range u.needs() {
		rules := grants[n.Namespace]
		if rules == nil {
			rules = map[ruleKey]*ruleValue{}
			grants[n.Namespace] = rules
		}
		k := ruleKey{n.Group, n.resource(), n.Path, strings.Join(n.names, ",")}
		if rules[k] == nil {
			rules[k] = &ruleValue{names: n.names}
		}
		rules[k].verbs = append(rules[k].verbs, n.Verb)
	}
	var out []Role
	for _, namespace := range sortedKeys(grants) {
		out = append(out, Role{Name: name, Namespace: namespace, Rules: rulesOf(grants[namespace])})
	}
	return out
}

// A ruleKey identifies the permissions that one rule has.
type ruleKey struct{ group, resource, path, names string }

type ruleValue struct{ names, verbs []string }

// rulesOf merges permissions with the same verbs and names.
func rulesOf(of map[ruleKey]*ruleValue) []Rule {
	merged := map[string]*Rule{}
	for k, v := range of {
		verbs := sortedSet(v.verbs)
		id := fmt.Sprintf("%q %q %q %t", k.group, k.names, verbs, k.path != "")
		r := merged[id]
		if r == nil {
			r = &Rule{ResourceNames: v.names, Verbs: verbs}
			if k.path == "" {
				r.APIGroups = []string{k.group}
			}
			merged[id] = r
		}
		if k.path != "" {
			r.NonResourceURLs = append(r.NonResourceURLs, k.path)
		} else {
			r.Resources = append(r.Resources, k.resource)
		}
	}
	var out []Rule
	for _, r := range merged {
		slices.Sort(r.Resources)
		slices.Sort(r.NonResourceURLs)
		out = append(out, *r)
	}
	slices.SortFunc(out, func(a, b Rule) int {
		return cmp.Or(
			slices.Compare(a.NonResourceURLs, b.NonResourceURLs), slices.Compare(a.APIGroups, b.APIGroups),
			slices.Compare(a.Resources, b.Resources), slices.Compare(a.ResourceNames, b.ResourceNames), slices.Compare(a.Verbs, b.Verbs),
		)
	})
	return out
}

func sortedSet(list []string) []string {
	list = slices.Clone(list)
	slices.Sort(list)
	return slices.Compact(list)
}

// WriteRoles writes roles as YAML documents.
func WriteRoles(w io.Writer, roles []Role) error {
	var b strings.Builder
	for i := range roles {
		r := &roles[i]
		if i > 0 {
			b.WriteString("---\n")
		}
		fmt.Fprintf(&b, "apiVersion: rbac.authorization.k8s.io/v1\nkind: %s\nmetadata:\n  name: %s\n", r.Kind(), quote(r.Name))
		if r.Namespace != "" {
			fmt.Fprintf(&b, "  namespace: %s\n", quote(r.Namespace))
		}
		b.WriteString("rules:\n")
		for j := range r.Rules {
			r.Rules[j].write(&b)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// write writes the rule as an element of a list in YAML.
func (r *Rule) write(b *strings.Builder) {
	indent := "- "
	for _, member := range []struct {
		name   string
		values []string
	}{
		{"apiGroups", r.APIGroups}, {"nonResourceURLs", r.NonResourceURLs}, {"resourceNames", r.ResourceNames},
		{"resources", r.Resources}, {"verbs", r.Verbs},
	} {
		if len(member.values) == 0 {
			continue
		}
		fmt.Fprintf(b, "%s%s:\n", indent, member.name)
		indent = "  "
		for _, v := range member.values {
			fmt.Fprintf(b, "  - %s\n", quote(v))
		}
	}
}

// quote returns a string as YAML: plain if it is surely a plain string.
func quote(s string) string {
	plain := s != "" && !slices.Contains([]string{"true", "false", "null", "yes", "no", "on", "off", "y", "n"}, strings.ToLower(s))
	letter := false
	for _, c := range s {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z':
			letter = true
		case '0' <= c && c <= '9', c == '-', c == '.', c == '/', c == '_':
		default:
			plain = false
		}
	}
	if plain && letter && s[0] != '-' && s[0] != '.' && (s[0] < '0' || s[0] > '9') {
		return s
	}
	if plain || !strings.ContainsFunc(s, func(c rune) bool { return c < ' ' || c == '"' || c == '\\' || c > '~' }) {
		return `"` + s + `"`
	}
	return fmt.Sprintf("%q", s)
}

// Markers returns the markers from which controller-gen generates the roles, one for each rule.
func Markers(roles []Role) []string {
	var out []string
	for i := range roles {
		for _, rule := range roles[i].Rules {
			marker := "// +kubebuilder:rbac:"
			if len(rule.NonResourceURLs) > 0 {
				marker += "urls=" + strings.Join(rule.NonResourceURLs, ";")
			} else {
				groups := strings.Join(rule.APIGroups, ";")
				if groups == "" {
					groups = `""`
				}
				marker += "groups=" + groups
				if ns := roles[i].Namespace; ns != "" {
					marker += ",namespace=" + ns
				}
				marker += ",resources=" + strings.Join(rule.Resources, ";")
				if len(rule.ResourceNames) > 0 {
					marker += ",resourceNames=" + strings.Join(rule.ResourceNames, ";")
				}
			}
			out = append(out, marker+",verbs="+strings.Join(rule.Verbs, ";"))
		}
	}
	return out
}
