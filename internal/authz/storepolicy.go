package authz

import (
	"fmt"
	"iter"

	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/storage"
)

// rbacGroup is the API group of roles and bindings.
const rbacGroup = "rbac.authorization.k8s.io"

// A StorePolicy is the Policy of the roles and bindings in a store. It reads
// their present state in each call.
type StorePolicy struct {
	Types *resource.Types // with the types of Group
	Store Store
	Cache *storage.ParseCache
}

// A Store reads the present state of a server.
type Store interface {
	// Newest returns the object at a key, nil if it does not exist.
	Newest(key string) *storage.Object
	// All returns the objects whose keys begin with prefix, in the order of the
	// keys.
	All(prefix string) iter.Seq[*storage.Object]
}

var (
	_ Policy = (*StorePolicy)(nil)
	_ Store  = (*storage.Store)(nil)
)

// Bindings implements [Policy].
func (p *StorePolicy) Bindings(namespace string) iter.Seq[*Binding] {
	name := "clusterrolebindings"
	if namespace != "" {
		name = "rolebindings"
	}
	t := p.Types.Lookup(rbacGroup, "v1", name)
	return func(yield func(*Binding) bool) {
		if t == nil {
			return
		}
		for o := range p.Store.All(t.KeyPrefix(namespace)) {
			binding, err := storage.Parse(p.Cache, o, parseBinding)
			if err == nil && !yield(binding) {
				return
			}
		}
	}
}

// Rules implements [Policy].
func (p *StorePolicy) Rules(ref RoleRef, namespace string) ([]Rule, error) {
	var t *resource.Type
	switch ref.Kind {
	case "ClusterRole":
		t, namespace = p.Types.Lookup(rbacGroup, "v1", "clusterroles"), ""
	case "Role":
		t = p.Types.Lookup(rbacGroup, "v1", "roles")
	default:
		return nil, fmt.Errorf("unsupported role reference kind: %q", ref.Kind)
	}
	if t == nil {
		return nil, &MissingRoleError{Kind: ref.Kind, Name: ref.Name}
	}
	o := p.Store.Newest(t.Key(namespace, ref.Name))
	if o == nil {
		return nil, &MissingRoleError{Kind: ref.Kind, Name: ref.Name}
	}
	return storage.Parse(p.Cache, o, ParseRules)
}
