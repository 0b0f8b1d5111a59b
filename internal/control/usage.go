package control

import (
	"strings"

	"github.com/kubefake/kubefake/fakeapi/usage"
	"github.com/kubefake/kubefake/internal/authz"
	"github.com/kubefake/kubefake/internal/findings"
	"github.com/kubefake/kubefake/internal/scrub"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/story"
)

// Usage returns what clients have asked since requests are counted, and whether they are. Secrets
// are not in it, unless stories show them.
func (c *Control) Usage() (u *usage.Usage, counting bool) {
	u, s := c.cluster.ClientUsage(), c.scrubber(false)
	for i := range u.Requests {
		r := &u.Requests[i]
		method, uri, _ := strings.Cut(r.Example, " ")
		r.Example, r.UserAgent = method+" "+s.URI(uri), s.Text(r.UserAgent)
	}
	c.addFindings(u, story.New(c.source("", s)), s)
	return u, c.cluster.Usage().On()
}

// addFindings adds the findings in a story to what the clients have asked.
func (c *Control) addFindings(u *usage.Usage, in *story.Story, s *scrub.Scrubber) {
	findings.Add(u, findings.Source{
		Journal: c.cluster.Journal(), Store: c.cluster.Store(), Story: in,
		Type: c.cluster.Surface().Lookup, Hidden: Serves, URI: s.URI,
	})
}

// A Usage is what clients have asked, as the command fakeapi usage reads it.
type Usage struct {
	// Counting reports that requests are counted.
	Counting bool `json:"counting"`
	usage.Usage
}

func (c *Control) startUsage(r *Request, in none) (Usage, error) {
	c.cluster.Usage().Start()
	return c.usage(r, in)
}

func (c *Control) usage(*Request, none) (Usage, error) {
	u, counting := c.Usage()
	return Usage{counting, *u}, nil
}

func (c *Control) stopUsage(r *Request, in none) (Usage, error) {
	c.cluster.Usage().Stop()
	return c.usage(r, in)
}

// A RolesQuery selects a client, and the roles that it has.
type RolesQuery struct {
	// UserAgent is a pattern, such as manager/*. The default is all user agents.
	UserAgent string `json:"userAgent,omitempty"`
	// User is a pattern, such as system:serviceaccount:*. The default is all users.
	User string `json:"user,omitempty"`
	// Name is the name of the roles in the answer.
	Name string `json:"name,omitempty"`
	// Granted are YAML documents with the roles that the client has, and their bindings.
	Granted string `json:"granted,omitempty"`
	// Bound compares with the roles that bindings on the server give User, which is then the name
	// of a user. Bindings to groups do not count. Without Granted and Bound nothing is compared.
	Bound bool `json:"bound,omitempty"`
}

// Roles are what a client needs.
type Roles struct {
	// Roles are YAML documents of the roles that the client needs.
	Roles string `json:"roles"`
	// Markers are the markers of kubebuilder for these roles.
	Markers []string `json:"markers"`
	// Missing was asked and is not granted, Unused is granted and was never asked.
	Missing []usage.Missing `json:"missing"`
	Unused  []usage.Unused  `json:"unused"`
	// Text is the comparison as text, empty without a difference.
	Text string `json:"text"`
}

func (c *Control) roles(_ *Request, in RolesQuery) (out Roles, err error) {
	if !c.cluster.Usage().Started() {
		return out, status.BadRequest("no requests are counted: POST " + Prefix + "usage starts it, and so does fakeapi serve --usage")
	}
	all, _ := c.Usage()
	asked := all.Of(usage.Client{User: in.User, UserAgent: in.UserAgent})
	if in.Name == "" {
		in.Name = "manager-role"
	}
	roles := asked.Roles(in.Name)
	var text strings.Builder
	if err := usage.WriteRoles(&text, roles); err != nil {
		return out, err
	}
	out = Roles{Roles: text.String(), Markers: append([]string{}, usage.Markers(roles)...), Missing: []usage.Missing{}, Unused: []usage.Unused{}}
	if in.Granted == "" && !in.Bound {
		return out, nil
	}
	granted, err := usage.ParseRoles("", []byte(in.Granted))
	if err != nil {
		return out, status.BadRequest("granted: " + err.Error())
	}
	if in.Bound {
		granted = append(granted, c.boundRoles(in.User)...)
	}
	compared := asked.Compare(granted)
	out.Missing, out.Unused = append(out.Missing, compared.Missing...), append(out.Unused, compared.Unused...)
	out.Text = compared.Text()
	return out, nil
}

// boundRoles returns the roles that bindings give a user.
func (c *Control) boundRoles(user string) (out []usage.Role) {
	types := c.cluster.Surface().Types
	var namespaces []string
	for o := range c.cluster.Store().All(types.Lookup("", "v1", "namespaces").Prefix) {
		namespaces = append(namespaces, o.Name)
	}
	policy := &authz.StorePolicy{Types: types, Store: c.cluster.Store()}
	for _, held := range authz.HeldRoles(policy, user, namespaces...) {
		role := usage.Role{Name: held.Name, Namespace: held.Namespace}
		for _, r := range held.Rules {
			role.Rules = append(role.Rules, usage.Rule{
				APIGroups: r.APIGroups, NonResourceURLs: r.NonResourceURLs, ResourceNames: r.ResourceNames, Resources: r.Resources, Verbs: r.Verbs,
			})
		}
		out = append(out, role)
	}
	return out
}
