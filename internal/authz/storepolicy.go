package authz

import (
	"fmt"
	"iter"
	"sync"

	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/mvcc"
)

// rbacGroup is the API group of roles and bindings.
const rbacGroup = "rbac.authorization.k8s.io"

// A StorePolicy is the Policy of the roles and bindings in a store, in their present state. It must
// not be copied.
type StorePolicy struct {
	Types *resource.Types // with the types of Group
	Store Store

	mu     sync.Mutex
	scopes map[string]scope // by namespace, some
}

// A scope has the bindings of a namespace or of the cluster as they were at a mark.
type scope struct {
	mark     mvcc.Mark[*storage.Object]
	bindings *Bindings
}

// maxScopes is the number of scopes whose bindings a StorePolicy keeps at most.
const maxScopes = 64

// A Store reads the present state of a server.
type Store interface {
	// Newest returns the object at a key, nil if it does not exist.
	Newest(key string) *storage.Object
	// All returns the objects whose keys begin with prefix, in the order of the
	// keys.
	All(prefix string) iter.Seq[*storage.Object]
	// Mark is that of an mvcc.Store.
	Mark(prefix string) mvcc.Mark[*storage.Object]
}

var (
	_ Policy = (*StorePolicy)(nil)
	_ Store  = (*storage.Store)(nil)
)

// Bindings implements [Policy].
func (p *StorePolicy) Bindings(namespace string) *Bindings {
	name := "clusterrolebindings"
	if namespace != "" {
		name = "rolebindings"
	}
	t := p.Types.Lookup(rbacGroup, "v1", name)
	if t == nil {
		return &Bindings{}
	}
	prefix := t.KeyPrefix(namespace)
	mark := p.Store.Mark(prefix)
	p.mu.Lock()
	kept, ok := p.scopes[namespace]
	p.mu.Unlock()
	if ok && kept.mark == mark {
		return kept.bindings
	}
	bindings := NewBindings(p.parsed(prefix))
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.scopes == nil || len(p.scopes) >= maxScopes && !ok {
		p.scopes = map[string]scope{}
	}
	p.scopes[namespace] = scope{mark, bindings}
	return bindings
}

// parsed returns the bindings whose keys begin with a prefix.
func (p *StorePolicy) parsed(prefix string) iter.Seq[*Binding] {
	return func(yield func(*Binding) bool) {
		for o := range p.Store.All(prefix) {
			binding, err := storage.Parse(o, parseBinding)
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
	return storage.Parse(o, ParseRules)
}
