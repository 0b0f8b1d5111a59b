// Package plugin assembles the compiled-in admission plugins.
package plugin

import (
	"slices"

	"github.com/kubefake/kubefake/internal/admission"
	"github.com/kubefake/kubefake/internal/admission/plugin/alwaysdeny"
	"github.com/kubefake/kubefake/internal/admission/plugin/alwayspullimages"
	"github.com/kubefake/kubefake/internal/admission/plugin/certificateapproval"
	"github.com/kubefake/kubefake/internal/admission/plugin/certificatesigning"
	"github.com/kubefake/kubefake/internal/admission/plugin/certificatesubjectrestriction"
	"github.com/kubefake/kubefake/internal/admission/plugin/clustertrustbundleattest"
	"github.com/kubefake/kubefake/internal/admission/plugin/defaultingressclass"
	"github.com/kubefake/kubefake/internal/admission/plugin/defaultstorageclass"
	"github.com/kubefake/kubefake/internal/admission/plugin/defaulttolerationseconds"
	"github.com/kubefake/kubefake/internal/admission/plugin/denyserviceexternalips"
	"github.com/kubefake/kubefake/internal/admission/plugin/eventratelimit"
	"github.com/kubefake/kubefake/internal/admission/plugin/extendedresourcetoleration"
	"github.com/kubefake/kubefake/internal/admission/plugin/imagepolicywebhook"
	"github.com/kubefake/kubefake/internal/admission/plugin/jobvalidation"
	"github.com/kubefake/kubefake/internal/admission/plugin/limitpodhardantiaffinitytopology"
	"github.com/kubefake/kubefake/internal/admission/plugin/limitranger"
	"github.com/kubefake/kubefake/internal/admission/plugin/namespaceexists"
	"github.com/kubefake/kubefake/internal/admission/plugin/namespacelifecycle"
	"github.com/kubefake/kubefake/internal/admission/plugin/nodedeclaredfeaturevalidator"
	"github.com/kubefake/kubefake/internal/admission/plugin/noderestriction"
	"github.com/kubefake/kubefake/internal/admission/plugin/ownerreferencespermissionenforcement"
	"github.com/kubefake/kubefake/internal/admission/plugin/persistentvolumeclaimresize"
	"github.com/kubefake/kubefake/internal/admission/plugin/podgroupprotection"
	"github.com/kubefake/kubefake/internal/admission/plugin/podgroupworkloadexists"
	"github.com/kubefake/kubefake/internal/admission/plugin/podnodeselector"
	"github.com/kubefake/kubefake/internal/admission/plugin/podresizevalidator"
	"github.com/kubefake/kubefake/internal/admission/plugin/podsecurity"
	"github.com/kubefake/kubefake/internal/admission/plugin/podtolerationrestriction"
	"github.com/kubefake/kubefake/internal/admission/plugin/podtopologylabels"
	"github.com/kubefake/kubefake/internal/admission/plugin/priority"
	"github.com/kubefake/kubefake/internal/admission/plugin/resourcequota"
	"github.com/kubefake/kubefake/internal/admission/plugin/runtimeclass"
	"github.com/kubefake/kubefake/internal/admission/plugin/serviceaccount"
	"github.com/kubefake/kubefake/internal/admission/plugin/storageobjectinuseprotection"
	"github.com/kubefake/kubefake/internal/admission/plugin/taintnodesbycondition"
	"github.com/kubefake/kubefake/internal/kubeconfig"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
)

// All returns every plugin, in the order in which kube-apiserver runs them.
func All() []admission.Plugin {
	return []admission.Plugin{
		namespacelifecycle.Plugin{},
		namespaceexists.Plugin{},
		limitpodhardantiaffinitytopology.Plugin{},
		limitranger.Plugin{},
		serviceaccount.Plugin{},
		noderestriction.Plugin{},
		taintnodesbycondition.Plugin{},
		alwayspullimages.Plugin{},
		&imagepolicywebhook.Plugin{},
		podsecurity.Plugin{},
		podnodeselector.Plugin{},
		priority.Plugin{},
		defaulttolerationseconds.Plugin{},
		podtolerationrestriction.Plugin{},
		&eventratelimit.Plugin{},
		extendedresourcetoleration.Plugin{},
		defaultstorageclass.Plugin{},
		storageobjectinuseprotection.Plugin{},
		podgroupprotection.Plugin{},
		ownerreferencespermissionenforcement.Plugin{},
		persistentvolumeclaimresize.Plugin{},
		runtimeclass.Plugin{},
		certificateapproval.Plugin{},
		certificatesigning.Plugin{},
		clustertrustbundleattest.Plugin{},
		certificatesubjectrestriction.Plugin{},
		defaultingressclass.Plugin{},
		denyserviceexternalips.Plugin{},
		podtopologylabels.Plugin{},
		podgroupworkloadexists.Plugin{},
		nodedeclaredfeaturevalidator.Plugin{},
		jobvalidation.Plugin{},
		podresizevalidator.Plugin{},
		// kube-apiserver runs policies and webhooks here: package dynamic.
		resourcequota.Plugin{},
		alwaysdeny.Plugin{},
	}
}

// A Chain runs the enabled plugins in order. It is immutable, except for what EventRateLimit
// counts and ImagePolicyWebhook caches.
//
// NamespaceLifecycle and ResourceQuota have methods of their own, because they
// need more than an object: the first runs before the others and before a
// deletion, the second runs after policies and webhooks.
type Chain struct {
	enabled    func(name string) bool
	config     configuration
	steps      map[status.GroupResource]*steps
	rest       *steps // of resources that are not in steps; nil for none
	operations map[admission.Operation][]admission.OperationPlugin

	namespaceAutoProvision bool // enabled
	namespaceLifecycle     bool // enabled
	resourceQuota          bool // enabled
}

// steps are the plugins that handle a resource.
type steps struct {
	mutators   []admission.Mutator
	validators []admission.Validator
}

// New returns the chain of the plugins whose names are enabled.
func New(enabled func(name string) bool) *Chain { return newChain(enabled, configuration{}) }

func newChain(enabled func(name string) bool, config configuration) *Chain {
	c := &Chain{
		enabled:    enabled,
		config:     config,
		steps:      map[status.GroupResource]*steps{},
		operations: map[admission.Operation][]admission.OperationPlugin{},

		namespaceAutoProvision: enabled("NamespaceAutoProvision"),
		namespaceLifecycle:     enabled(namespacelifecycle.Plugin{}.Name()),
		resourceQuota:          enabled(resourcequota.Plugin{}.Name()),
	}
	for _, p := range All() {
		if enabled(p.Name()) {
			c.add(c.config.configured(p))
		}
	}
	return c
}

// Fork returns the chain of a fork of the server.
func (c *Chain) Fork() *Chain {
	config := c.config
	if config.eventLimits == nil && config.images == nil {
		return c
	}
	if config.eventLimits != nil {
		config.eventLimits = config.eventLimits.Fork()
	}
	if config.images != nil {
		config.images = config.images.Fork()
	}
	return newChain(c.enabled, config)
}

// add adds the next plugin in order.
func (c *Chain) add(p admission.Plugin) {
	if o, ok := p.(admission.OperationPlugin); ok {
		for _, operation := range o.Operations() {
			c.operations[operation] = append(c.operations[operation], o)
		}
	}
	resources := p.Resources()
	for _, r := range resources {
		if c.steps[r] == nil {
			c.steps[r] = c.rest.clone()
		}
		c.steps[r].add(p)
	}
	if resources == nil && handlesWrites(p) {
		for _, s := range c.steps {
			s.add(p)
		}
		if c.rest == nil {
			c.rest = &steps{}
		}
		c.rest.add(p)
	}
}

// handlesWrites reports whether Mutate or Validate of the chain run the plugin.
func handlesWrites(p admission.Plugin) bool {
	_, mutates := p.(admission.Mutator)
	_, validates := p.(admission.Validator)
	return mutates || validates
}

func (s *steps) clone() *steps {
	if s == nil {
		return &steps{}
	}
	return &steps{slices.Clone(s.mutators), slices.Clone(s.validators)}
}

func (s *steps) add(p admission.Plugin) {
	if m, ok := p.(admission.Mutator); ok {
		s.mutators = append(s.mutators, m)
	}
	if v, ok := p.(admission.Validator); ok {
		s.validators = append(s.validators, v)
	}
}

// of returns the plugins that handle a resource; nil for none.
func (c *Chain) of(r status.GroupResource) *steps {
	if s := c.steps[r]; s != nil {
		return s
	}
	return c.rest
}

// Enabled reports whether a plugin is enabled, by its name.
func (c *Chain) Enabled(name string) bool { return c.enabled(name) }

// ProvisionsNamespaces reports whether NamespaceAutoProvision is enabled: the first
// object in a namespace creates it.
func (c *Chain) ProvisionsNamespaces() bool { return c.namespaceAutoProvision }

// CheckNamespace runs NamespaceLifecycle for a write. A refusal is a
// *status.Status.
func (c *Chain) CheckNamespace(w namespacelifecycle.Write) error {
	if !c.namespaceLifecycle {
		return nil
	}
	return namespacelifecycle.Plugin{}.CheckWrite(w)
}

// CheckDelete runs NamespaceLifecycle for the deletion of an object. A refusal is
// a *status.Status.
func (c *Chain) CheckDelete(r status.GroupResource, name string) error {
	if !c.namespaceLifecycle {
		return nil
	}
	return namespacelifecycle.Plugin{}.CheckDelete(r, name)
}

// Handles reports whether Mutate or Validate run a plugin for the resource of the
// type.
func (c *Chain) Handles(t *resource.Type) bool {
	return c.of(status.GroupResource{Group: t.Group, Resource: t.Name}) != nil
}

// Mutate lets the plugins change a.Object. A refusal is a *status.Status.
func (c *Chain) Mutate(a *admission.Attributes) error {
	s := c.of(a.GroupResource())
	if s == nil {
		return nil
	}
	for _, m := range s.mutators {
		if err := m.Mutate(a); err != nil {
			return a.Forbidden(err)
		}
	}
	return nil
}

// Validate lets the plugins check a.Object. A refusal is a *status.Status.
func (c *Chain) Validate(a *admission.Attributes) error {
	s := c.of(a.GroupResource())
	if s == nil {
		return nil
	}
	for _, v := range s.validators {
		if err := v.Validate(a); err != nil {
			return a.Forbidden(err)
		}
	}
	return nil
}

// HandlesOperation reports whether CheckOperation runs a plugin.
func (c *Chain) HandlesOperation(o admission.Operation) bool { return len(c.operations[o]) > 0 }

// CheckOperation lets the plugins check a deletion or a connection. A refusal is a
// *status.Status.
func (c *Chain) CheckOperation(a *admission.Attributes) error {
	for _, o := range c.operations[a.Operation] {
		if err := o.CheckOperation(a); err != nil {
			return a.Forbidden(err)
		}
	}
	return nil
}

// Credentials returns the credentials for the webhooks of a plugin, nil for none.
func (c *Chain) Credentials(plugin string) *kubeconfig.Users { return c.config.credentials[plugin] }

// Manifests returns the webhooks and the policies in files, as they were at the start.
func (c *Chain) Manifests() []Manifests { return c.config.manifests }

// LimitsByDefault reports whether some resources need a quota.
func (c *Chain) LimitsByDefault() bool { return c.resourceQuota && len(c.config.quota.Limited) > 0 }

// HandlesQuota reports whether ResourceQuota is enabled and the request can
// change the use of a quota.
func (c *Chain) HandlesQuota(a *admission.Attributes) bool {
	return c.resourceQuota && c.config.quota.Handles(a)
}

// EvaluateQuota returns status.used of each of the ResourceQuotas in the
// namespace after a request that HandlesQuota; nil for a quota whose use does not
// change. A refusal is a *status.Status.
func (c *Chain) EvaluateQuota(a *admission.Attributes, quotas []object.View) (used []map[string]any, err error) {
	used, err = c.config.quota.Evaluate(a, quotas)
	if err != nil {
		return nil, a.Forbidden(err)
	}
	return used, nil
}
