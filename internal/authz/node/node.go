// Package node has the mode Node: it allows kubelets what they need for their nodes and
// the pods on them.
//
// See https://kubernetes.io/docs/reference/access-authn-authz/node/.
package node

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/authz"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
)

// A Mode is the mode Node. It has an opinion on the requests of kubelets only: users of the
// group system:nodes whose names begin with system:node:.
//
// kube-apiserver keeps a graph of the objects that belong to a node, which a request finds
// some milliseconds old. A Mode reads the newest objects in each request, so that writes
// cost nothing.
type Mode struct {
	Types   *resource.Types // with the types that relations go over
	Store   authz.Store
	Release *release.Release
}

var _ authz.Mode = (*Mode)(nil)

// Rules implements [authz.Mode].
func (m *Mode) Rules(u *authn.User, _ string) ([]authz.Rule, []error) {
	if _, ok := u.Node(); ok {
		return nil, []error{authz.NoRulesError{Mode: "node"}}
	}
	return nil, nil
}

// Authorize implements [authz.Mode].
func (m *Mode) Authorize(_ context.Context, u *authn.User, at *authz.Attributes) authz.Decision {
	node, ok := u.Node()
	switch {
	case !ok:
		return authz.Decision{}
	case node == "":
		return because(fmt.Sprintf("unknown node for user %q", u.Name))
	}
	if at.IsResource {
		if authorize := rules[status.GroupResource{Group: at.Group, Resource: at.Resource}]; authorize != nil {
			if d, decided := authorize(&request{Mode: m, Attributes: at, node: node}); decided {
				return d
			}
		}
	}
	for _, rule := range m.staticRules() {
		if rule.Permits(at) {
			return allow
		}
	}
	return authz.Decision{}
}

var allow = authz.Decision{Allowed: true}

// because returns the decision of no opinion with a reason.
func because(reason string) authz.Decision { return authz.Decision{Reason: reason} }

// staticRules returns the rules for what is the same for all nodes: those that a fresh
// cluster has in the ClusterRole system:node.
func (m *Mode) staticRules() []authz.Rule {
	all := bootstrapRules(m.Release)
	if m.Release.Enabled("ClusterTrustBundle") {
		all = append(slices.Clip(all), authz.Rule{Verbs: readVerbs, APIGroups: []string{"certificates.k8s.io"}, Resources: []string{"clustertrustbundles"}})
	}
	return all
}

var parsedRules sync.Map // of []authz.Rule, by minor release

// bootstrapRules returns the rules of the ClusterRole system:node of a fresh cluster.
func bootstrapRules(r *release.Release) []authz.Rule {
	if all, ok := parsedRules.Load(r.Minor()); ok {
		return all.([]authz.Rule)
	}
	var all []authz.Rule
	for o := range r.BootstrapObjects() {
		if o.Resource == "clusterroles" && o.Name == "system:node" {
			all, _ = authz.ParseRules([]byte(o.JSON)) // a test reads all objects
		}
	}
	parsedRules.Store(r.Minor(), all)
	return all
}

// A request is one of a kubelet.
type request struct {
	*Mode
	*authz.Attributes
	node string
}

// A rule decides about requests for a resource. decided is false if the static rules
// decide.
type rule func(r *request) (d authz.Decision, decided bool)

// rules are the rules of resources of which nodes have some only.
var rules = map[status.GroupResource]rule{
	{Resource: "secrets"}:                always((*request).readNamespaced),
	{Resource: "configmaps"}:             always((*request).readNamespaced),
	{Resource: "persistentvolumeclaims"}: always((*request).claim),
	{Resource: "persistentvolumes"}:      always((*request).get),
	{Resource: "serviceaccounts"}:        always((*request).serviceAccount),
	{Resource: "nodes"}:                  withSelectors((*request).nodeObject),
	{Resource: "pods"}:                   withSelectors((*request).pod),

	{Group: "resource.k8s.io", Resource: "resourceclaims"}:             always((*request).get),
	{Group: "resource.k8s.io", Resource: "resourceslices"}:             always((*request).resourceSlice),
	{Group: "storage.k8s.io", Resource: "volumeattachments"}:           always((*request).get),
	{Group: "storage.k8s.io", Resource: "csinodes"}:                    always((*request).csiNode),
	{Group: "coordination.k8s.io", Resource: "leases"}:                 always((*request).lease),
	{Group: "certificates.k8s.io", Resource: "podcertificaterequests"}: always((*request).podCertificateRequest),
}

func always(decide func(*request) authz.Decision) rule {
	return func(r *request) (authz.Decision, bool) { return decide(r), true }
}

// withSelectors returns a rule that decides if requests for a list are restricted by
// their selectors.
func withSelectors(decide func(*request) authz.Decision) rule {
	return func(r *request) (authz.Decision, bool) {
		if !r.Release.Enabled("AuthorizeNodeWithSelectors") {
			return authz.Decision{}, false
		}
		return decide(r), true
	}
}

var (
	readVerbs = []string{"get", "list", "watch"}
	ownVerbs  = []string{"get", "create", "update", "patch", "delete"}
)

// is reports whether the verb is one of some.
func (r *request) is(verbs ...string) bool { return slices.Contains(verbs, r.Verb) }

// related allows a request for an object that is related to the node.
func (r *request) related() authz.Decision {
	if r.Name == "" {
		return because("No Object name found")
	}
	return r.reachable()
}

// reachable is related for a request that has a name.
func (r *request) reachable() authz.Decision {
	if !r.reaches(status.GroupResource{Group: r.Group, Resource: r.Resource}, r.Namespace, r.Name) {
		return because(fmt.Sprintf("no relationship found between node '%s' and this object", r.node))
	}
	return allow
}

// get allows to get a related object.
func (r *request) get() authz.Decision {
	switch {
	case r.Verb != "get":
		return because("can only get individual resources of this type")
	case r.Subresource != "":
		return because("cannot get subresource")
	}
	return r.related()
}

// readNamespaced allows to read a related object.
func (r *request) readNamespaced() authz.Decision {
	switch {
	case !r.is(readVerbs...):
		return because("can only read resources of this type")
	case r.Subresource != "":
		return because("cannot read subresource")
	case r.Namespace == "":
		return because("can only read namespaced object of this type")
	}
	return r.related()
}

// claim allows to get a related PersistentVolumeClaim and to change its status.
func (r *request) claim() authz.Decision {
	switch {
	case r.Subresource != "status":
		return r.get()
	case !r.is("update", "patch"):
		return because("can only get/update/patch this type")
	}
	return r.related()
}

// serviceAccount allows to get the ServiceAccounts of pods on the node, and to request
// tokens for them.
func (r *request) serviceAccount() authz.Decision {
	if r.Verb == "get" && r.Subresource == "" && r.Release.Has(behavior.KubeletsReadServiceAccounts) {
		if !r.Release.Enabled("KubeletServiceAccountTokenForCredentialProviders") && !r.Release.Enabled("PodCertificateRequest") {
			return because("not allowed to get service accounts")
		}
		return r.readNamespaced()
	}
	switch {
	case r.Verb != "create" || r.Name == "":
		return because("can only create tokens for individual service accounts")
	case r.Subresource != "token":
		return because("can only create token subresource of serviceaccount")
	}
	return r.reachable()
}

// nodeObject allows to read and write the Node. The plugin NodeRestriction restricts writes
// to the own Node.
func (r *request) nodeObject() authz.Decision {
	switch {
	case r.Subresource == "" && r.is("create", "update", "patch"), r.Subresource == "status" && r.is("update", "patch"):
		return allow
	case r.Subresource != "" || !r.is(readVerbs...):
		return authz.Decision{}
	case r.Name == "":
		return because(fmt.Sprintf("node '%s' cannot read all nodes, only its own Node object", r.node))
	case r.Name != r.node:
		return because(fmt.Sprintf("node '%s' cannot read '%s', only its own Node object", r.node, r.Name))
	}
	return allow
}

// pod allows to read the pods on the node, and to write mirror pods and statuses. The
// plugin NodeRestriction restricts writes to the pods on the node.
func (r *request) pod() authz.Decision {
	switch {
	case r.Subresource == "" && r.Verb == "get":
		return r.get()
	case r.Subresource == "" && r.is("list", "watch"):
		return r.selected("can only list/watch pods with spec.nodeName field selector")
	case r.Subresource == "" && r.is("create", "delete"),
		r.Subresource == "status" && r.is("update", "patch"),
		r.Subresource == "eviction" && r.Verb == "create":
		return allow
	}
	return authz.Decision{}
}

// selected allows to list what a field selector restricts to the node, and of pods one that
// is related to the node.
func (r *request) selected(refusal string) authz.Decision {
	if r.Release.Enabled("AuthorizeWithSelectors") {
		for _, f := range r.FieldSelector.Fields() {
			if f.Key == nodeField && f.Operator == "In" && slices.Equal(f.Values, []string{r.node}) {
				return allow
			}
		}
	}
	if r.Resource == "pods" && r.Name != "" {
		return r.related()
	}
	return because(refusal)
}

// lease allows to read and write the Lease of the node. The plugin NodeRestriction restricts
// creations.
func (r *request) lease() authz.Decision {
	switch {
	case !r.is(ownVerbs...):
		return because("can only get, create, update, patch, or delete a node lease")
	case r.Namespace != leaseNamespace:
		return because(fmt.Sprintf("can only access leases in the %q system namespace", leaseNamespace))
	case r.Verb != "create" && r.Name != r.node:
		return because("can only access node lease with the same name as the requesting node")
	}
	return allow
}

const leaseNamespace = "kube-node-lease"

// csiNode allows to read and write the CSINode of the node. The plugin NodeRestriction
// restricts creations.
func (r *request) csiNode() authz.Decision {
	switch {
	case !r.is(ownVerbs...):
		return because("can only get, create, update, patch, or delete a CSINode")
	case r.Subresource != "":
		return because("cannot authorize CSINode subresources")
	case r.Verb != "create" && r.Name != r.node:
		return because("can only access CSINode with the same name as the requesting node")
	}
	return allow
}

// resourceSlice allows to read and write the ResourceSlices of the node. The plugin
// NodeRestriction restricts creations and deletions.
func (r *request) resourceSlice() authz.Decision {
	switch {
	case r.Subresource != "":
		return because("cannot authorize ResourceSlice subresources")
	case r.Verb == "create":
		return allow
	case r.is("get", "update", "patch", "delete"):
		return r.related()
	case !r.is("watch", "list", "deletecollection"):
		return because("only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update, patch, delete, deletecollection")
	case !r.Release.Enabled("AuthorizeNodeWithSelectors"):
		return allow
	}
	return r.selected("can only list/watch/deletecollection resourceslices with nodeName field selector")
}

// podCertificateRequest allows to read the requests of the node and to create some, which
// the plugin NodeRestriction restricts.
func (r *request) podCertificateRequest() authz.Decision {
	switch {
	case !r.Release.Enabled("PodCertificateRequest") || !r.Release.Enabled("AuthorizeNodeWithSelectors"):
		return authz.Decision{}
	case r.Subresource != "":
		return because("nodes may not access the status subresource of PodCertificateRequests")
	case r.Verb == "create":
		return allow
	case r.Verb == "get":
		return r.related()
	case r.is("list", "watch"):
		return r.selected("can only list/watch podcertificaterequests with nodeName field selector")
	}
	return because(fmt.Sprintf("nodes may not %s podcertificaterequests", r.Verb))
}
