package usage

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// MarshalJSON returns the role as an object of the API rbac.authorization.k8s.io/v1.
func (r Role) MarshalJSON() ([]byte, error) {
	type metadata struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace,omitempty"`
	}
	return json.Marshal(struct {
		APIVersion string   `json:"apiVersion"`
		Kind       string   `json:"kind"`
		Metadata   metadata `json:"metadata"`
		Rules      []Rule   `json:"rules"`
	}{"rbac.authorization.k8s.io/v1", r.Kind(), metadata{r.Name, r.Namespace}, r.Rules})
}

// String returns the rule on one line: "get, list pods, services of the core group for web".
func (r *Rule) String() string {
	line := strings.Join(r.Verbs, ", ")
	if len(r.NonResourceURLs) > 0 {
		return line + " " + strings.Join(r.NonResourceURLs, ", ")
	}
	resources := make([]string, len(r.Resources))
	for i, resource := range r.Resources {
		resources[i] = resource
		if group := strings.Join(r.APIGroups, "|"); group != "" {
			resources[i] = groupResource(group, resource)
		}
	}
	line += " " + strings.Join(resources, ", ")
	if len(r.ResourceNames) > 0 {
		line += " for " + strings.Join(r.ResourceNames, ", ")
	}
	return line
}

// A ClientCount is a client and the number of its requests.
type ClientCount struct {
	User         string `json:"user,omitempty"`
	UserAgent    string `json:"userAgent,omitempty"`
	Impersonator string `json:"impersonator,omitempty"`
	Requests     int64  `json:"requests"`
	// Refused is how many of them were refused with 403.
	Refused int64 `json:"refused,omitempty"`
}

// Clients returns the clients, sorted by user agent and user.
func (u *Usage) Clients() (out []ClientCount) {
	for i := range u.Requests {
		r := &u.Requests[i]
		if r.Reason != "" {
			continue
		}
		at := slices.IndexFunc(out, func(c ClientCount) bool {
			return c.User == r.User && c.UserAgent == r.UserAgent && c.Impersonator == r.Impersonator
		})
		if at < 0 {
			at = len(out)
			out = append(out, ClientCount{User: r.User, UserAgent: r.UserAgent, Impersonator: r.Impersonator})
		}
		out[at].Requests += r.Count
		out[at].Refused += r.Refused
	}
	slices.SortFunc(out, func(a, b ClientCount) int {
		return cmp.Or(strings.Compare(a.UserAgent, b.UserAgent), strings.Compare(a.User, b.User), strings.Compare(a.Impersonator, b.Impersonator))
	})
	return out
}

// Text returns the clients, the rules that they need, and the findings, as lines.
func (u *Usage) Text() string {
	var b strings.Builder
	b.WriteString("clients:\n")
	for _, c := range u.Clients() {
		fmt.Fprintf(&b, "  %s, user %s", c.UserAgent, c.User)
		if c.Impersonator != "" {
			fmt.Fprintf(&b, " impersonated by %s", c.Impersonator)
		}
		fmt.Fprintf(&b, ": %s", plural(c.Requests, "request"))
		if c.Refused > 0 {
			fmt.Fprintf(&b, ", %d refused with 403", c.Refused)
		}
		b.WriteString("\n")
	}
	b.WriteString("needed:\n")
	for _, role := range u.Roles("") {
		at := role.Kind()
		if role.Namespace != "" {
			at += " in " + role.Namespace
		}
		fmt.Fprintf(&b, "  %s:\n", at)
		for i := range role.Rules {
			fmt.Fprintf(&b, "    %s\n", role.Rules[i].String())
		}
	}
	return b.String() + u.FindingsText()
}

func plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
