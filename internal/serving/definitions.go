package serving

import (
	"context"
	"iter"
	"maps"
	"strings"

	"github.com/kubefake/kubefake/internal/crd"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/sortedset"
	"github.com/kubefake/kubefake/internal/storage"
)

// A Definition is a stored CustomResourceDefinition and the types made of it. It is
// immutable; forks share it.
type Definition struct {
	Stored *storage.Object
	Object object.View
	*crd.Definition

	managers *managerCache // of the types
}

// NewDefinition returns the Definition of a stored object, which t decodes, by the rules of a
// release. old is what is served of it, or nil: if its types remain, so do their field managers.
// ctx ends with the server.
func NewDefinition(ctx context.Context, p *release.Release, t *resource.Type, stored *storage.Object, old *Definition, options crd.Options) *Definition {
	d := &Definition{Stored: stored, Object: stored.Decoded(t).View()}
	var before *crd.Definition
	if old != nil {
		before = old.Definition
	}
	options.Rules = crd.RulesOf(p)
	d.Definition = crd.New(d.Object, before, options)
	if d.Definition == before {
		d.managers = old.managers
	} else {
		d.managers = newManagerCache(ctx, p)
	}
	return d
}

// Definitions is the set of definitions that are served. It is immutable, and a
// change takes time in the order of the logarithm of their number.
type Definitions struct {
	all sortedset.Set[namedDefinition]

	Names    *crd.Names // accepted ones
	Versions *crd.ServedVersions

	// Unsettled are the definitions whose status may change without a write to
	// them: it is not complete, another definition has the names, or custom resources
	// are to be deleted.
	Unsettled map[string]*Definition

	// Webhooks are the definitions whose conversion calls webhooks.
	Webhooks map[string]*Definition
}

type namedDefinition struct {
	name string
	*Definition
}

func newDefinitions() Definitions {
	return Definitions{
		all:      sortedset.New(func(a, b namedDefinition) bool { return a.name < b.name }),
		Names:    crd.NewNames(),
		Versions: crd.NewServedVersions(),
	}
}

// All iterates over the definitions by their names, in order.
func (d *Definitions) All() iter.Seq2[string, *Definition] {
	return func(yield func(string, *Definition) bool) {
		for named := range d.all.All() {
			if !yield(named.name, named.Definition) {
				return
			}
		}
	}
}

// Get returns a definition by name, nil if there is none.
func (d *Definitions) Get(name string) *Definition {
	found, _ := d.all.Get(namedDefinition{name: name})
	return found.Definition
}

// Of returns the definition of a type, nil if there is none.
func (d *Definitions) Of(t *resource.Type) *Definition { return d.Get(strings.Trim(t.Prefix, "/")) }

// With returns the set with another state of a definition; nil removes it.
func (d *Definitions) With(name string, replacement *Definition) Definitions {
	var before, after object.View
	if old := d.Get(name); old != nil {
		before = old.Object
	}
	out := Definitions{Unsettled: d.Unsettled, Webhooks: d.Webhooks}
	if replacement == nil {
		out.all = d.all.With([]namedDefinition{{name: name}}, nil)
	} else {
		after = replacement.Object
		out.all = d.all.With(nil, []namedDefinition{{name, replacement}})
	}
	out.Names = d.Names.Replace(before, after)
	out.Versions = d.Versions.Replace(before, after)
	out.Unsettled = withEntry(d.Unsettled, name, replacement, replacement != nil)
	out.Webhooks = withEntry(d.Webhooks, name, replacement, after.String("spec", "conversion", "strategy") == "Webhook")
	return out
}

// Settled returns the set with a definition that is no longer unsettled.
func (d *Definitions) Settled(name string) Definitions {
	out := *d
	out.Unsettled = withEntry(d.Unsettled, name, nil, false)
	return out
}

// withEntry returns m with an entry, or without it if present is false. It does not
// change m.
func withEntry(m map[string]*Definition, name string, d *Definition, present bool) map[string]*Definition {
	if _, ok := m[name]; !ok && !present {
		return m
	}
	out := make(map[string]*Definition, len(m)+1)
	maps.Copy(out, m)
	delete(out, name)
	if present {
		out[name] = d
	}
	return out
}
