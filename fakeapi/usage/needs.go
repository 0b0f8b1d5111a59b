package usage

import (
	"maps"
	"slices"
	"strings"
)

// A need is a permission that requests need, for the names of objects or, without any, for all.
// Namespace is "" for a permission in all namespaces.
type need struct {
	Permission
	names   []string
	of      []*Request
	instead *Permission
}

// resource returns the resource as rules have it: "pods/status".
func (p *Permission) resource() string {
	if p.Subresource == "" {
		return p.Resource
	}
	return p.Resource + "/" + p.Subresource
}

// needs returns what the requests need, sorted.
func (u *Usage) needs() []need {
	found := u.finds()
	merged := map[Permission]*need{}
	for i := range u.Requests {
		r := &u.Requests[i]
		if isGrantedToAll(r) {
			continue
		}
		p := r.Permission
		if p.Namespace == ManyNamespaces || p.Resource == "namespaces" || found.variableNamespace(p.Namespace) {
			p.Namespace = ""
		}
		n := merged[p]
		if n == nil {
			n = &need{Permission: p, names: []string{}, instead: r.Instead}
			merged[p] = n
		}
		n.of = append(n.of, r)
		if r.Instead == nil {
			n.instead = nil
		}
		switch {
		case n.names == nil: // all names
		case r.Unnamed || r.MoreNames || found.variableNames(r):
			n.names = nil
		default:
			n.names = sortedSet(append(n.names, r.Names...))
			if len(n.names) > MaxNames {
				n.names = nil
			}
		}
	}
	return u.widened(merged)
}

// widened removes needs in a namespace that those for all namespaces have too.
func (u *Usage) widened(merged map[Permission]*need) []need {
	for p, n := range merged {
		everywhere := p
		everywhere.Namespace = ""
		if all := merged[everywhere]; p.Namespace != "" && all != nil && (all.names == nil || len(n.names) > 0 && isSubset(n.names, all.names)) {
			all.of = append(all.of, n.of...)
			delete(merged, p)
		}
	}
	out := make([]need, 0, len(merged))
	for _, n := range merged {
		out = append(out, *n)
	}
	slices.SortFunc(out, func(a, b need) int { return a.Permission.compare(b.Permission) })
	return out
}

func isSubset(a, b []string) bool {
	return !slices.ContainsFunc(a, func(s string) bool { return !slices.Contains(b, s) })
}

// compare orders permissions by scope, group, resource, path and verb.
func (p Permission) compare(o Permission) int {
	return slices.Compare(
		[]string{p.Namespace, p.Path, p.Group, p.Resource, p.Subresource, p.Verb},
		[]string{o.Namespace, o.Path, o.Group, o.Resource, o.Subresource, o.Verb})
}

// publicPaths are those that the ClusterRoles system:discovery, system:public-info-viewer and
// system:monitoring grant to authenticated users; publicResources is what system:basic-user does.
var (
	publicPaths     = []string{"/api", "/apis", "/healthz", "/livez", "/openapi", "/readyz", "/version"}
	publicResources = []string{"selfsubjectaccessreviews.authorization.k8s.io", "selfsubjectrulesreviews.authorization.k8s.io", "selfsubjectreviews.authentication.k8s.io"}
)

// isGrantedToAll reports whether the default roles grant the request to every authenticated user.
func isGrantedToAll(r *Request) bool {
	if r.Path == "" {
		return r.Verb == "create" && slices.Contains(publicResources, groupResource(r.Group, r.Resource))
	}
	return r.Verb == "get" && slices.ContainsFunc(publicPaths, func(p string) bool {
		return r.Path == p || p != "/healthz" && p != "/livez" && p != "/readyz" && strings.HasPrefix(r.Path, p+"/")
	})
}

// A scope is a resource in a namespace, or in all of them for "".
type scope struct{ resource, namespace string }

// finds are the objects that clients find by unnamed lists and watches.
type finds struct {
	listed     map[scope]bool
	names      map[string]bool
	namespaces map[string]bool
}

// finds returns what the clients of all requests find. A client that is several user agents, as a
// controller and its election of a leader are, finds for all of them.
func (u *Usage) finds() finds {
	f := finds{listed: map[scope]bool{}, names: map[string]bool{}, namespaces: map[string]bool{}}
	for i := range u.Requests {
		if r := &u.Requests[i]; r.Unnamed && (r.Verb == "list" || r.Verb == "watch") && r.Reason == "" && r.Subresource == "" {
			f.listed[scope{groupResource(r.Group, r.Resource), r.Namespace}] = true
		}
	}
	add := func(resource, namespace, name string) {
		everywhere := f.listed[scope{resource, ""}]
		if !everywhere && !f.listed[scope{resource, namespace}] {
			return
		}
		f.names[name] = true
		if everywhere && namespace != "" && resource != "namespaces" {
			f.namespaces[namespace] = true
		}
	}
	for i := range u.Objects {
		o := &u.Objects[i]
		add(o.resource(), o.Namespace, o.Name)
	}
	for i := range u.Requests {
		for _, name := range u.Requests[i].Names {
			add(groupResource(u.Requests[i].Group, u.Requests[i].Resource), u.Requests[i].Namespace, name)
		}
	}
	return f
}

// variableNamespace reports whether the namespace is one of objects that the client finds.
func (f *finds) variableNamespace(namespace string) bool { return f.namespaces[namespace] }

// variableNames reports whether the client finds a name of the request, or makes one of a name that
// it finds.
func (f *finds) variableNames(r *Request) bool {
	of := groupResource(r.Group, r.Resource)
	if r.Reason != Grants && (f.listed[scope{of, ""}] || f.listed[scope{of, r.Namespace}]) {
		return true
	}
	return slices.ContainsFunc(r.Names, f.isMade)
}

// isMade reports whether a name has a name that the client finds as a part, between dashes and
// dots.
func (f *finds) isMade(name string) bool {
	parts := strings.FieldsFunc(name, func(c rune) bool { return c == '-' || c == '.' || c == ':' })
	starts := []int{}
	at := 0
	for _, p := range parts {
		at += strings.Index(name[at:], p)
		starts = append(starts, at)
		at += len(p)
	}
	for i, start := range starts {
		for j := i; j < len(parts); j++ {
			if f.names[name[start:starts[j]+len(parts[j])]] {
				return true
			}
		}
	}
	return false
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
