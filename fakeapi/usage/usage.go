package usage

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/glob"
)

// Format is the version of the JSON encoding of a Usage.
const Format = 1

// A Usage is what clients have asked. The zero value is that of no requests.
type Usage struct {
	Format int `json:"format"`
	// Requests are sorted by client, resource and verb.
	Requests []Request `json:"requests"`
	// Objects are objects of the resources that clients have listed or watched.
	Objects []Object `json:"objects,omitempty"`
	// Findings are sorted by what they cost, the worst first.
	Findings []Finding `json:"findings,omitempty"`
}

// A Request is a number of requests that are equal but for the names of their objects, or a number
// of times that other requests need a permission.
type Request struct {
	User      string `json:"user,omitempty"`
	UserAgent string `json:"userAgent,omitempty"`
	// Impersonator is the user who made the requests as User; "" for User.
	Impersonator string `json:"impersonator,omitempty"`

	Permission
	// Version is the API version of the resource.
	Version string `json:"version,omitempty"`

	// Names are the names of objects, sorted: at most [MaxNames].
	Names []string `json:"names,omitempty"`
	// MoreNames reports that there were more names, and Unnamed that there were requests without.
	MoreNames bool `json:"moreNames,omitempty"`
	Unnamed   bool `json:"unnamed,omitempty"`

	// Reason says why other requests need the permission; "" for requests.
	Reason Reason `json:"reason,omitempty"`
	// Instead is a wider permission that does instead; nil for none.
	Instead *Permission `json:"instead,omitempty"`

	// Count is how many there were, and Refused how many of them were refused with 403.
	Count   int64 `json:"count"`
	Refused int64 `json:"refused,omitempty"`
	// Example is the method and the URI of one of them.
	Example string `json:"example,omitempty"`
}

// A Permission is what a rule of a role permits, apart from names.
type Permission struct {
	Verb        string `json:"verb"`
	Group       string `json:"group,omitempty"`
	Resource    string `json:"resource,omitempty"`
	Subresource string `json:"subresource,omitempty"`
	// Namespace is "" for objects at cluster scope and for those of all namespaces, and
	// [ManyNamespaces] for those of many.
	Namespace string `json:"namespace,omitempty"`
	// Path is set for what is no resource, such as "/metrics".
	Path string `json:"path,omitempty"`
}

// MaxNames is how many names a [Request] has at most.
const MaxNames = 32

// ManyNamespaces stands for more namespaces than a Usage keeps.
const ManyNamespaces = "*"

// A Reason is why a request needs another permission than that for itself.
type Reason string

const (
	// OwnerReferences: an owner reference with blockOwnerDeletion needs the permission to update
	// the finalizers of the owner, and a change of owners that to delete the object. The admission
	// plugin OwnerReferencesPermissionEnforcement checks both; OpenShift has it on.
	OwnerReferences Reason = "ownerReferences"
	// Creates: an apply or an update creates the object.
	Creates Reason = "creates"
	// Grants: who writes a role or a binding must hold what it grants.
	Grants Reason = "grants"
	// Impersonates: the request is made as another user.
	Impersonates Reason = "impersonates"
	// Admission: an admission plugin checks the permission.
	Admission Reason = "admission"
	// InitialEvents: a watch with sendInitialEvents stands for a list. Informers list if the server
	// does not send initial events.
	InitialEvents Reason = "initialEvents"
)

// An Object is an object that a client can find.
type Object struct {
	Group     string `json:"group,omitempty"`
	Resource  string `json:"resource"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// resource returns the resource as in "deployments.apps".
func (o *Object) resource() string { return groupResource(o.Group, o.Resource) }

func groupResource(group, resource string) string {
	if group == "" {
		return resource
	}
	return resource + "." + group
}

// A Client selects requests. The zero value selects all.
type Client struct {
	// User is a pattern, such as system:serviceaccount:*. "" matches all users. With it, requests
	// as the user count, whoever makes them; without it, none that are made as another user.
	User string
	// UserAgent is a pattern, such as manager/*. "" matches all user agents.
	UserAgent string
}

func (c Client) selects(r *Request) bool {
	if c.User == "" {
		if r.Impersonator != "" {
			return false
		}
	} else if !glob.Match(c.User, r.User) {
		return false
	}
	return c.UserAgent == "" || glob.Match(c.UserAgent, r.UserAgent)
}

// Of returns the requests of a client.
func (u *Usage) Of(c Client) *Usage {
	out := &Usage{Format: Format, Objects: u.Objects}
	for i := range u.Requests {
		if c.selects(&u.Requests[i]) {
			out.Requests = append(out.Requests, u.Requests[i])
		}
	}
	for i := range u.Findings {
		if c.hasFinding(&u.Findings[i]) {
			out.Findings = append(out.Findings, u.Findings[i])
		}
	}
	return out
}

// Add adds the requests of another server, or of another time.
func (u *Usage) Add(other *Usage) {
	sum := len(u.Requests) > 0 && len(other.Requests) > 0
	index := make(map[requestKey]int, len(u.Requests))
	for i := range u.Requests {
		index[u.Requests[i].key()] = i
	}
	u.Requests = slices.Clone(u.Requests)
	for _, r := range other.Requests {
		if i, ok := index[r.key()]; ok {
			u.Requests[i].add(&r)
			continue
		}
		index[r.key()] = len(u.Requests)
		u.Requests = append(u.Requests, r)
	}
	u.Objects = append(slices.Clip(u.Objects), other.Objects...)
	u.Findings = slices.Clone(u.Findings)
	for _, f := range other.Findings {
		u.AddFinding(f)
	}
	if sum {
		for i := range u.Findings {
			u.Findings[i].Order = 0
		}
	}
	u.Sort()
}

// A requestKey identifies a Request.
type requestKey struct {
	user, userAgent, impersonator, version string

	permission Permission
	reason     Reason
}

func (r *Request) key() requestKey {
	return requestKey{r.User, r.UserAgent, r.Impersonator, r.Version, r.Permission, r.Reason}
}

func (r *Request) add(other *Request) {
	names := slices.Concat(r.Names, other.Names)
	slices.Sort(names)
	r.Names = slices.Compact(names)
	r.MoreNames = r.MoreNames || other.MoreNames || len(r.Names) > MaxNames
	r.Names = r.Names[:min(len(r.Names), MaxNames)]
	r.Unnamed = r.Unnamed || other.Unnamed
	r.Count += other.Count
	r.Refused += other.Refused
	r.Example = cmp.Or(r.Example, other.Example)
	if r.Instead == nil {
		r.Instead = other.Instead
	}
}

// Sort sorts the requests, the objects and the findings, and removes repeated objects.
func (u *Usage) Sort() {
	u.Format = Format
	slices.SortFunc(u.Requests, func(a, b Request) int {
		return cmp.Or(
			strings.Compare(a.UserAgent, b.UserAgent), strings.Compare(a.User, b.User), strings.Compare(a.Impersonator, b.Impersonator),
			strings.Compare(a.Group, b.Group), strings.Compare(a.Resource, b.Resource), strings.Compare(a.Subresource, b.Subresource),
			strings.Compare(a.Path, b.Path), strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Verb, b.Verb),
			strings.Compare(a.Version, b.Version), strings.Compare(string(a.Reason), string(b.Reason)),
		)
	})
	slices.SortFunc(u.Objects, func(a, b Object) int {
		return cmp.Or(
			strings.Compare(a.Group, b.Group), strings.Compare(a.Resource, b.Resource),
			strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name),
		)
	})
	u.Objects = slices.Compact(u.Objects)
	u.sortFindings()
}

// Read reads usages as [Usage.Write] writes them, one after the other, and adds them up. It fails
// for another format.
func Read(r io.Reader) (*Usage, error) {
	out := &Usage{Format: Format}
	for d := json.NewDecoder(r); ; {
		next := &Usage{}
		switch err := d.Decode(next); {
		case errors.Is(err, io.EOF):
			return out, nil
		case err != nil:
			return nil, err
		case next.Format != Format:
			return nil, fmt.Errorf("the usage has format %d, not %d", next.Format, Format)
		}
		out.Add(next)
	}
}

// Write writes the usage as JSON on one line.
func (u *Usage) Write(w io.Writer) error { return json.NewEncoder(w).Encode(u) }
