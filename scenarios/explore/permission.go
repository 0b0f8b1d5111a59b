package explore

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A Permission is something that the system asked for, in the words of the roles of Kubernetes.
type Permission struct {
	Verb     string `json:"verb"`
	Resource string `json:"resource"` // with its group and its subresource, as in deployments.apps/status
	// Reference reports whether the system asked for it in the reference run. What it did not ask
	// for there is needed only when something goes wrong: tests without faults do not find it.
	Reference bool `json:"reference,omitempty"`
}

func (p Permission) compare(other Permission) int {
	return cmp.Or(cmp.Compare(p.Resource, other.Resource), cmp.Compare(p.Verb, other.Verb))
}

// asked counts what the system asked for in a run.
func (r *Report) asked(o *outcome, reference bool) {
	for _, q := range o.requests {
		if !q.route.IsResource {
			continue // as discovery, which every user may ask for
		}
		resource := q.resource()
		if q.route.Subresource != "" {
			resource += "/" + q.route.Subresource
		}
		r.permission(Permission{q.route.Verb, resource, reference})
	}
}

// permission counts a permission.
func (r *Report) permission(p Permission) {
	i, found := slices.BinarySearchFunc(r.Permissions, p, Permission.compare)
	if !found {
		r.Permissions = slices.Insert(r.Permissions, i, p)
		return
	}
	r.Permissions[i].Reference = r.Permissions[i].Reference || p.Reference
}

// permissionsText returns the permissions on one line, "" if there are none.
func (r *Report) permissionsText() string {
	if len(r.Permissions) == 0 {
		return ""
	}
	var more []string
	for _, p := range r.Permissions {
		if !p.Reference {
			more = append(more, p.Verb+" "+p.Resource)
		}
	}
	line := fmt.Sprintf("permissions: %d in the reference run", len(r.Permissions)-len(more))
	if len(more) > 0 {
		line += "; only with faults: " + strings.Join(more, ", ")
	}
	return line
}
