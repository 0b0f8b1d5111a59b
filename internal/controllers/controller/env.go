package controller

import (
	"cmp"
	"crypto"
	"crypto/x509"
	"slices"
	"time"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/authn/serviceaccount"
	"github.com/kubefake/kubefake/internal/controllers/lifecycle"
	"github.com/kubefake/kubefake/internal/ids"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/schema"
)

// An Env is what one controller has of its Runtime. A controller asks it for
// informers, queues and clients when it starts.
type Env struct {
	*Runtime
	Name string // of the controller, as --controllers has it
}

// Informer returns the informer of a resource, which all controllers share. If
// handlers are given, they are called for each change in the order of revisions: old
// is nil for a new object, and new for a deleted one. The objects that exist at the
// start are new. It panics for a resource that no release serves.
func (e *Env) Informer(res Resource, handlers ...func(old, new *Object)) *Informer {
	s := &e.Runtime.informers
	for _, i := range s.named {
		if i.resource == res {
			i.handlers = append(i.handlers, handlers...)
			return i
		}
	}
	t := e.typeOf(res)
	i := newInformer(e.Runtime, res, t)
	i.handlers = handlers
	s.named = append(s.named, i)
	return i
}

// OwnedInformer returns Informer with an index ByController: of the UID of the owner
// that is the controller of an object, or, for an object without one, of "orphans/"
// and its namespace.
func (e *Env) OwnedInformer(res Resource, handlers ...func(old, new *Object)) *Informer {
	i := e.Informer(res, handlers...)
	i.Index(ByController, func(o *Object) []string {
		if ref := o.View().ControllerOf(); !ref.IsNil() {
			return []string{ref.String("uid")}
		}
		return []string{Orphans(o.Namespace)}
	})
	return i
}

// Orphans returns the value of the index ByController for the objects of a namespace
// that have no controller.
func Orphans(namespace string) string { return "orphans/" + namespace }

// PodsByNode returns Informer of Pods with an index ByNode: of the name of the Node that a
// Pod is bound to.
func (e *Env) PodsByNode(handlers ...func(old, new *Object)) *Informer {
	i := e.Informer(Pods, handlers...)
	i.Index(ByNode, func(o *Object) []string {
		if name := o.View().String("spec", "nodeName"); name != "" {
			return []string{name}
		}
		return nil
	})
	return i
}

// PodsByClaim returns Informer of Pods with an index ByClaim: of the keys of the claims
// that the volumes of a Pod name.
func (e *Env) PodsByClaim(handlers ...func(old, new *Object)) *Informer {
	i := e.Informer(Pods, handlers...)
	i.Index(ByClaim, func(pod *Object) (keys []string) {
		for _, k := range PodClaims(pod) {
			keys = append(keys, k.String())
		}
		return keys
	})
	return i
}

// EachChange calls handle for each change of each stored resource, custom ones too,
// in the order of revisions. Objects are in their storage versions.
func (e *Env) EachChange(handle func(old, new *Object)) {
	s := &e.Runtime.informers
	s.handlers = append(s.handlers, handle)
}

// InformerOf returns the informer of a stored type, which is not an informer of
// Env.Informer: its objects are in the storage version. It returns nil if no controller
// asks for EachChange.
func (e *Env) InformerOf(t *resource.Type) *Informer {
	for _, i := range e.Runtime.informers.byPrefix[t.Prefix] {
		if i.resource == "" {
			return i
		}
	}
	return nil
}

// Types returns the types that the server serves now.
func (e *Env) Types() *resource.Types {
	served, _ := e.server.types()
	return served
}

// Builtin reports whether t is a type of the release, not one of a definition.
func (e *Env) Builtin(t *resource.Type) bool {
	_, builtin := e.server.types()
	return builtin.Has(t)
}

// PreferredTypes returns the types that the server serves now, each resource of a group
// in its preferred version, in the order of groups, versions and names.
func (e *Env) PreferredTypes() []*resource.Type {
	type groupResource struct{ group, name string }
	seen := map[groupResource]bool{}
	var out []*resource.Type
	for t := range e.Types().All() { // the preferred version comes first
		if k := (groupResource{t.Group, t.Name}); !seen[k] {
			seen[k] = true
			out = append(out, t)
		}
	}
	slices.SortFunc(out, func(a, b *resource.Type) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Version, b.Version), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// Release returns the release of the server, which the controllers are of too.
func (e *Env) Release() *release.Release { return e.release }

// Schema returns the schema of the objects of a type, with metadata; nil if it has none.
func (e *Env) Schema(t *resource.Type) *schema.Schema { return t.Codec.ManagedKind(e.release).Schema }

// RootCA returns the CA certificate of the server in PEM, "" without TLS.
func (e *Env) RootCA() string { return e.rootCA }

// Sign issues a certificate of a public key in PEM, signed by the CA of the cluster. The
// template has all but the serial number.
func (e *Env) Sign(template *x509.Certificate, public crypto.PublicKey) ([]byte, error) {
	return e.sign(template, public)
}

// SignToken returns the token of a Secret of the type kubernetes.io/service-account-token.
func (e *Env) SignToken(t serviceaccount.SecretToken) (string, error) {
	return e.keys.SignLegacy(t)
}

// Runs reports whether a controller, by its name as --controllers has it, is one of the
// Runtime.
func (e *Env) Runs(name string) bool { return slices.Contains(e.names, name) }

// Lifecycle returns what Pods and Nodes do by themselves. Others may change it.
func (e *Env) Lifecycle() *lifecycle.Set { return e.lifecycle }

// Check calls f each time the Runtime looks for work, so that f can queue what has
// changed outside of the store. f must be cheap.
func (e *Env) Check(f func()) { e.checks = append(e.checks, f) }

// Version returns the version of Kubernetes and the platform, such as
// "v1.36.3 (linux/amd64)".
func (e *Env) Version() string { return e.version }

// IDs returns the source of random numbers, which a seed determines.
func (e *Env) IDs() *ids.Source { return e.server.ids() }

// Queue returns a new queue of the controller. sync is called with each key. If it
// fails, the key comes back after a back-off.
func (e *Env) Queue(sync func(Key) error, options ...QueueOptions) *Queue {
	q := &Queue{
		runtime: e.Runtime, controller: e.Name, sync: sync, minBackoff: minBackoff, maxBackoff: maxBackoff,
		queued: map[Key]struct{}{}, delayed: map[Key]*delayedKey{}, failures: map[Key]int{},
	}
	for _, o := range options {
		q.maxRetries = o.MaxRetries
		if o.MinBackoff > 0 {
			q.minBackoff = o.MinBackoff
		}
		if o.MaxBackoff > 0 {
			q.maxBackoff = o.MaxBackoff
		}
	}
	return q
}

// Every calls f each time d has passed on the clock, the first time at the start.
func (e *Env) Every(d time.Duration, f func() error) {
	var q *Queue
	q = e.Queue(func(k Key) error {
		q.AddAfter(k, d)
		return f()
	})
	q.Add(Key{})
}

// Client returns a client of the user system:serviceaccount:kube-system:ACCOUNT: the
// user that kube-controller-manager is for the controller that has this account.
func (e *Env) Client(account string) *Client {
	name := authn.ServiceAccountName(controllerNamespace, account)
	return &Client{
		runtime: e.Runtime,
		user:    &authn.User{Name: name, Groups: append(authn.ServiceAccountGroups(controllerNamespace), authn.AuthenticatedGroup)},
		agent:   "kube-controller-manager/" + e.version + "/" + name,
	}
}

// ClientAs returns a client of a user with a user agent. Authorization does not
// limit nodes: kube-apiserver authorizes them by other rules than roles.
func (e *Env) ClientAs(user *authn.User, program string) *Client {
	return &Client{runtime: e.Runtime, user: user, agent: program + "/" + e.version, unlimited: slices.Contains(user.Groups, authn.NodesGroup)}
}

// controllerNamespace is the namespace of the service accounts of controllers.
const controllerNamespace = "kube-system"

// typeOf returns the type of a resource. It panics if there is none.
func (r *Runtime) typeOf(res Resource) *resource.Type {
	t := r.lookup(res)
	if t == nil {
		panic("controller: the server does not serve " + string(res))
	}
	return t
}

// lookup returns the type of a resource, nil if the server does not serve it.
func (r *Runtime) lookup(res Resource) *resource.Type {
	gv, name := res.split()
	return r.server.lookup(gv, name)
}

// Serves reports whether the server serves a resource.
func (e *Env) Serves(res Resource) bool {
	return e.lookup(res) != nil
}
