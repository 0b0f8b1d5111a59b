package authz

import (
	"encoding/json"
	"iter"
	"slices"
	"strconv"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/resource"
)

// A RoleRef refers to the role of a binding.
type RoleRef struct {
	APIGroup string `json:"apiGroup"`
	Kind     string `json:"kind"` // Role or ClusterRole
	Name     string `json:"name"`
}

// checkKey fails for a reference of a binding in the namespace to a role that cannot be stored: one with
// another name than roles have, or a Role for a ClusterRoleBinding.
func (r RoleRef) checkKey(namespace string) error {
	switch {
	case r.Kind == "Role" && namespace == "":
		return resource.NamespaceRequired()
	case r.Kind == "Role" || r.Kind == "ClusterRole":
		return resource.CheckName(r.Name)
	}
	return nil
}

// A Subject is a user, a group or a service account of a binding.
type Subject struct {
	Kind      string `json:"kind"` // User, Group or ServiceAccount
	Name      string `json:"name"`
	Namespace string `json:"namespace"` // of a service account; "" for the binding's
}

// A Binding grants the rules of a role to its subjects. It is a ClusterRoleBinding
// if it has no namespace. Bindings are shared: do not change one.
type Binding struct {
	Metadata struct{ Name, Namespace string } `json:"metadata"`
	Subjects []Subject                        `json:"subjects"`
	RoleRef  RoleRef                          `json:"roleRef"`
}

// parseBinding decodes a RoleBinding or ClusterRoleBinding.
func parseBinding(body []byte) (*Binding, error) {
	b := &Binding{}
	return b, json.Unmarshal(body, b)
}

// subjectOf returns the first subject that is the user or one of the user's
// groups, nil if there is none.
func (b *Binding) subjectOf(u *authn.User) *Subject {
	for i := range b.Subjects {
		s := &b.Subjects[i]
		switch s.Kind {
		case "User":
			if s.Name == u.Name {
				return s
			}
		case "Group":
			if u.InGroup(s.Name) {
				return s
			}
		case "ServiceAccount":
			if ns := b.namespaceOf(s); ns != "" {
				if name, ok := authn.CutServiceAccount(u.Name, ns); ok && name == s.Name {
					return s
				}
			}
		}
	}
	return nil
}

// Bindings are the bindings of a namespace or of the cluster, by subject. They do not change.
type Bindings struct {
	all     []*Binding // in the order of their names
	ofUser  map[string][]int
	ofGroup map[string][]int
}

// NewBindings returns bindings that are sorted by name.
func NewBindings(sorted iter.Seq[*Binding]) *Bindings {
	bs := &Bindings{ofUser: map[string][]int{}, ofGroup: map[string][]int{}}
	for b := range sorted {
		for i := range b.Subjects {
			switch s := &b.Subjects[i]; s.Kind {
			case "User":
				bs.ofUser[s.Name] = append(bs.ofUser[s.Name], len(bs.all))
			case "Group":
				bs.ofGroup[s.Name] = append(bs.ofGroup[s.Name], len(bs.all))
			case "ServiceAccount":
				name := authn.ServiceAccountName(b.namespaceOf(s), s.Name)
				bs.ofUser[name] = append(bs.ofUser[name], len(bs.all))
			}
		}
		bs.all = append(bs.all, b)
	}
	return bs
}

// of returns the bindings that apply to a user, in the order of their names, each with its subject.
func (bs *Bindings) of(u *authn.User) iter.Seq2[*Binding, *Subject] {
	return func(yield func(*Binding, *Subject) bool) {
		var few [16]int
		found := append(few[:0], bs.ofUser[u.Name]...)
		for _, group := range u.Groups {
			found = append(found, bs.ofGroup[group]...)
		}
		slices.Sort(found)
		for _, i := range slices.Compact(found) {
			b := bs.all[i]
			if s := b.subjectOf(u); s != nil && !yield(b, s) {
				return
			}
		}
	}
}

// namespaceOf returns the namespace of a service account.
func (b *Binding) namespaceOf(s *Subject) string {
	if s.Namespace != "" {
		return s.Namespace
	}
	return b.Metadata.Namespace
}

// reason returns the reason of a decision that the binding allows for a subject.
func (b *Binding) reason(s *Subject) string {
	kind, name := "ClusterRoleBinding", b.Metadata.Name
	if b.Metadata.Namespace != "" {
		kind, name = "RoleBinding", name+"/"+b.Metadata.Namespace
	}
	subject := s.Name
	if s.Kind == "ServiceAccount" {
		subject += "/" + b.namespaceOf(s)
	}
	return "RBAC: allowed by " + kind + " " + strconv.Quote(name) + " of " + b.RoleRef.Kind + " " + strconv.Quote(b.RoleRef.Name) + " to " + s.Kind + " " + strconv.Quote(subject)
}
