// Package plugin assembles the compiled-in admission plugins.
package plugin

import (
	"sync"

	"github.com/kubefake/kubefake/internal/admission"
	"github.com/kubefake/kubefake/internal/admission/plugin/defaultingressclass"
	"github.com/kubefake/kubefake/internal/admission/plugin/defaultstorageclass"
	"github.com/kubefake/kubefake/internal/admission/plugin/defaulttolerationseconds"
	"github.com/kubefake/kubefake/internal/admission/plugin/limitranger"
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
		resourcequota.Plugin{},
	}
}

// A Chain runs enabled plugins in order. It is immutable.
type Chain struct {
	steps map[status.GroupResource]*steps
	quota bool // ResourceQuota is enabled
}

// steps are the plugins that handle one resource.
type steps struct {
	mutators   []admission.Mutator
	validators []admission.Validator
}

// New returns the chain of the plugins whose names are enabled.
func New(enabled func(name string) bool) *Chain {
	c := &Chain{steps: map[status.GroupResource]*steps{}}
	for _, p := range All() {
		if !enabled(p.Name()) {
			continue
		}
		if p == admission.Plugin(resourcequota.Plugin{}) {
			c.quota = true
		}
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
	return c
}

// Default returns the chain of all plugins, which are those that kube-apiserver
// enables by default. The chain is shared.
func Default() *Chain { return defaultChain() }

var defaultChain = sync.OnceValue(func() *Chain { return New(func(string) bool { return true }) })

// Handles reports whether a plugin handles the resource of the type. If not,
// Mutate and Validate do nothing.
func (c *Chain) Handles(t *resource.Type) bool {
	return c.steps[groupResource(t)] != nil
}

func groupResource(t *resource.Type) status.GroupResource {
	return status.GroupResource{Group: t.Group, Resource: t.Name}
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

// EvaluateQuota returns status.used of each of the ResourceQuotas in the
// namespace after the request; nil for those whose use does not change. The
// result is nil if the request changes the use of no quota. A refusal is a
// *status.Status.
func (c *Chain) EvaluateQuota(a *admission.Attributes, quotas []map[string]any) (used []map[string]any, err error) {
	used, err = resourcequota.Plugin{}.Evaluate(a, quotas)
	if err != nil {
		return nil, a.Forbidden(err)
	}
	return used, nil
}

// HandlesQuota reports whether ResourceQuota is enabled and the request can
// change the use of a quota.
func (c *Chain) HandlesQuota(a *admission.Attributes) bool {
	return c.quota && resourcequota.Plugin{}.Handles(a)
}
