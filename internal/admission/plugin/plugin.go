// Package plugin assembles the compiled-in admission plugins.
package plugin

import (
	"sync"

	"github.com/kubefake/kubefake/internal/admission"
	"github.com/kubefake/kubefake/internal/admission/plugin/defaultingressclass"
	"github.com/kubefake/kubefake/internal/admission/plugin/defaultstorageclass"
	"github.com/kubefake/kubefake/internal/admission/plugin/defaulttolerationseconds"
	"github.com/kubefake/kubefake/internal/admission/plugin/limitranger"
	"github.com/kubefake/kubefake/internal/admission/plugin/namespacelifecycle"
	"github.com/kubefake/kubefake/internal/admission/plugin/persistentvolumeclaimresize"
	"github.com/kubefake/kubefake/internal/admission/plugin/podsecurity"
	"github.com/kubefake/kubefake/internal/admission/plugin/podtopologylabels"
	"github.com/kubefake/kubefake/internal/admission/plugin/priority"
	"github.com/kubefake/kubefake/internal/admission/plugin/resourcequota"
	"github.com/kubefake/kubefake/internal/admission/plugin/runtimeclass"
	"github.com/kubefake/kubefake/internal/admission/plugin/storageobjectinuseprotection"
	"github.com/kubefake/kubefake/internal/admission/plugin/taintnodesbycondition"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
)

// All returns every plugin, in the order in which kube-apiserver runs them.
func All() []admission.Plugin {
	return []admission.Plugin{
		namespacelifecycle.Plugin{},
		limitranger.Plugin{},
		taintnodesbycondition.Plugin{},
		podsecurity.Plugin{},
		priority.Plugin{},
		defaulttolerationseconds.Plugin{},
		defaultstorageclass.Plugin{},
		storageobjectinuseprotection.Plugin{},
		persistentvolumeclaimresize.Plugin{},
		runtimeclass.Plugin{},
		defaultingressclass.Plugin{},
		podtopologylabels.Plugin{},
		// kube-apiserver runs policies and webhooks here: package dynamic.
		resourcequota.Plugin{},
	}
}

// A Chain runs the enabled plugins in order. It is immutable.
//
// NamespaceLifecycle and ResourceQuota have methods of their own, because they
// need more than an object: the first runs before the others and before a
// deletion, the second runs after policies and webhooks.
type Chain struct {
	steps              map[status.GroupResource]*steps
	namespaceLifecycle bool // enabled
	resourceQuota      bool // enabled
}

// steps are the plugins that handle a resource.
type steps struct {
	mutators   []admission.Mutator
	validators []admission.Validator
}

// New returns the chain of the plugins whose names are enabled.
func New(enabled func(name string) bool) *Chain {
	c := &Chain{
		steps:              map[status.GroupResource]*steps{},
		namespaceLifecycle: enabled(namespacelifecycle.Plugin{}.Name()),
		resourceQuota:      enabled(resourcequota.Plugin{}.Name()),
	}
	for _, p := range All() {
		if enabled(p.Name()) {
			c.add(p)
		}
	}
	return c
}

func (c *Chain) add(p admission.Plugin) {
	for _, r := range p.Resources() {
		s := c.steps[r]
		if s == nil {
			s = &steps{}
			c.steps[r] = s
		}
		if m, ok := p.(admission.Mutator); ok {
			s.mutators = append(s.mutators, m)
		}
		if v, ok := p.(admission.Validator); ok {
			s.validators = append(s.validators, v)
		}
	}
}

// Default returns the chain of all plugins, which kube-apiserver enables by
// default. The chain is shared.
func Default() *Chain { return defaultChain() }

var defaultChain = sync.OnceValue(func() *Chain { return New(func(string) bool { return true }) })

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
	return c.steps[status.GroupResource{Group: t.Group, Resource: t.Name}] != nil
}

// Mutate lets the plugins change a.Object. A refusal is a *status.Status.
func (c *Chain) Mutate(a *admission.Attributes) error {
	s := c.steps[a.GroupResource()]
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
	s := c.steps[a.GroupResource()]
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

// HandlesQuota reports whether ResourceQuota is enabled and the request can
// change the use of a quota.
func (c *Chain) HandlesQuota(a *admission.Attributes) bool {
	return c.resourceQuota && resourcequota.Plugin{}.Handles(a)
}

// EvaluateQuota returns status.used of each of the ResourceQuotas in the
// namespace after a request that HandlesQuota; nil for a quota whose use does not
// change. A refusal is a *status.Status.
func (c *Chain) EvaluateQuota(a *admission.Attributes, quotas []map[string]any) (used []map[string]any, err error) {
	used, err = resourcequota.Plugin{}.Evaluate(a, quotas)
	if err != nil {
		return nil, a.Forbidden(err)
	}
	return used, nil
}
