package apiserver

import (
	"errors"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/authz"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/mvcc"
)

const rbacGroup = "rbac.authorization.k8s.io"

// readings are what stored objects say: roles and bindings as package authz reads
// them, and ServiceCIDRs. Objects never change, so that whoever finds one in a
// store finds here what it says: there is nothing to keep in line with writes,
// and forks share what was read.
type readings struct {
	parsed sync.Map // of *storage.Object to *authz.Binding, []authz.Rule or *serviceCIDR
	size   atomic.Int64
}

// maxReadings is where readings are forgotten, to be made again.
const maxReadings = 1 << 14

// parse returns what parse makes of an object, from memory if it can.
func parse[T any](g *readings, o *storage.Object, parse func([]byte) (T, error)) (T, error) {
	if v, ok := g.parsed.Load(o); ok {
		return v.(T), nil
	}
	out, err := parse(o.JSON())
	if err != nil {
		return out, err
	}
	if g.size.Add(1) > maxReadings {
		g.parsed.Clear()
		g.size.Store(1)
	}
	g.parsed.Store(o, out)
	return out, nil
}

// A policy is the roles and bindings in the server's store, as they are when
// they are asked for.
type policy struct{ server *Server }

var _ authz.Policy = policy{}

func (p policy) typ(resource string) *resource.Type {
	return p.server.surface.registry.Lookup(rbacGroup, "v1", resource)
}

// Bindings returns those of a namespace, or the cluster's.
func (p policy) Bindings(namespace string) iter.Seq[*authz.Binding] {
	t := p.typ("clusterrolebindings")
	if namespace != "" {
		t = p.typ("rolebindings")
	}
	return func(yield func(*authz.Binding) bool) {
		if t == nil {
			return
		}
		view, err := p.server.store.View(0)
		if err != nil {
			panic("apiserver: no newest view: " + err.Error()) // unreachable: revision 0 always exists
		}
		prefix := t.KeyPrefix(namespace)
		for item := range view.Range(prefix, mvcc.PrefixEnd(prefix)) {
			binding, err := parse(p.server.surface.readings, item.Value, authz.ParseBinding)
			if err == nil && !yield(binding) {
				return
			}
		}
	}
}

// Rules returns the rules of a role.
func (p policy) Rules(ref authz.RoleRef, namespace string) ([]authz.Rule, error) {
	var t *resource.Type
	switch ref.Kind {
	case "ClusterRole":
		t, namespace = p.typ("clusterroles"), ""
	case "Role":
		t = p.typ("roles")
	default:
		return nil, fmt.Errorf("unsupported role reference kind: %q", ref.Kind)
	}
	if t == nil {
		return nil, &authz.MissingRoleError{Kind: ref.Kind, Name: ref.Name}
	}
	o := p.server.store.Newest(t.Key(namespace, ref.Name))
	if o == nil {
		return nil, &authz.MissingRoleError{Kind: ref.Kind, Name: ref.Name}
	}
	return parse(p.server.surface.readings, o, authz.ParseRules)
}

// authorizer decides by roles, or lets everybody do everything.
func (s *Server) authorizer() authz.RBAC {
	if !s.config.Auth.RBAC {
		return authz.RBAC{}
	}
	return authz.RBAC{Policy: policy{s}}
}

// checkGrant refuses a role, or a binding to one, that permits what the user
// may not do: unless the user may escalate roles, or bind this one. old is nil
// if there is none.
//
// See https://kubernetes.io/docs/reference/access-authn-authz/rbac/#privilege-escalation-prevention-and-bootstrapping.
func (r *request) checkGrant(obj, old map[string]any) error {
	if r.Group != rbacGroup || r.sub != nil || !r.server.config.Auth.RBAC || r.user.InGroup(authn.MastersGroup) || changesOwnersOnly(obj, old) {
		return nil
	}
	switch r.Resource {
	case "roles", "clusterroles":
		if r.check(authz.Attributes{IsResource: true, Verb: "escalate", Group: r.Group, Resource: r.Resource, Namespace: r.Namespace, Name: r.Name}) == nil {
			return nil
		}
		rules, err := authz.ParseRules(r.typ.Codec.Append(nil, obj))
		if err != nil {
			return status.BadRequest(err.Error())
		}
		return r.checkRules(obj, rules)
	case "rolebindings", "clusterrolebindings":
		binding, err := authz.ParseBinding(r.typ.Codec.Append(nil, obj))
		if err != nil {
			return status.BadRequest(err.Error())
		}
		return r.checkBinding(obj, binding.RoleRef)
	}
	return nil
}

func (r *request) checkBinding(obj map[string]any, ref authz.RoleRef) error {
	at := authz.Attributes{IsResource: true, Verb: "bind", Group: ref.APIGroup, Namespace: r.Namespace, Name: ref.Name}
	switch ref.Kind {
	case "ClusterRole":
		at.Resource = "clusterroles"
	case "Role":
		at.Resource = "roles"
	}
	if at.Resource != "" && r.check(at) == nil {
		return nil
	}
	rules, err := policy{r.server}.Rules(ref, r.Namespace)
	if err != nil {
		return r.missingRole(err)
	}
	return r.checkRules(obj, rules)
}

// checkRules refuses rules that the user does not hold.
func (r *request) checkRules(obj map[string]any, rules []authz.Rule) error {
	if err := r.server.authorizer().CheckGrant(r.user, r.Namespace, rules, r.missingRole); err != nil {
		return status.Forbidden(r.groupResource(), object.String(obj, "metadata", "name"), err.Error())
	}
	return nil
}

// missingRole names a role that is not there as kube-apiserver does while it
// writes: as if it were of the resource that is written.
func (r *request) missingRole(err error) error {
	var missing *authz.MissingRoleError
	if errors.As(err, &missing) {
		return status.NotFound(r.groupResource(), missing.Name)
	}
	return status.Unclassified(err.Error())
}

// changesOwnersOnly reports whether an object differs from the old one in
// nothing but what garbage collection writes.
func changesOwnersOnly(obj, old map[string]any) bool {
	if old == nil {
		return false
	}
	same := object.Copy(obj)
	meta, oldMeta := object.Meta(same), object.Meta(old)
	for _, name := range []string{"ownerReferences", "finalizers", "managedFields", "selfLink"} {
		object.Keep(meta, oldMeta, name)
	}
	return object.Equal(any(same), any(old))
}
