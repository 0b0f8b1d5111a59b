package kinds

import (
	"slices"

	"github.com/kubefake/kubefake/internal/kinds/kind"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/validation"
)

// Types returns the types of a release ready to be served: with their codecs,
// strategies and places in the store.
func Types(served []*resource.Type) []*resource.Type {
	isServed := make(map[kind.VersionedResource]bool, len(served))
	for _, p := range served {
		isServed[kind.VersionedResource{GroupVersion: p.GroupVersion, Name: p.Name}] = true
	}
	out := make([]*resource.Type, len(served))
	for i, p := range served {
		t := *p
		t.Codec = resource.BuiltinCodec(resource.Kind{GroupVersion: t.GroupVersion, Kind: t.Kind})
		if t.Group == "events.k8s.io" {
			t.Stored = resource.GroupVersion{Version: "v1"} // the only resource kept in another group
		}
		if !isServed[kind.VersionedResource{GroupVersion: t.Stored, Name: t.Name}] {
			t.Stored = t.GroupVersion
		}
		t.Prefix = "/" + qualified(t.Stored.Group, t.Name) + "/"
		if t.Allows("list") && t.Allows("create") {
			t.Strategy = strategyOf(&t)
		}
		out[i] = &t
	}
	link(out)
	return out
}

// qualified is a resource with its group: "deployments.apps", "pods".
func qualified(group, name string) string {
	if group == "" {
		return name
	}
	return name + "." + group
}

// anyFinalizerGroups take unqualified finalizers in all their resources.
var anyFinalizerGroups = []string{
	"admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io", "coordination.k8s.io", "node.k8s.io",
}

func strategyOf(t *resource.Type) *resource.Strategy {
	r, ok := rules[qualified(t.Stored.Group, t.Name)]
	if !ok {
		r = kind.Strategy{Strategy: resource.Strategy{UnconditionalUpdate: true}}
	}
	s := r.Strategy
	if s.Name == nil {
		s.Name = validation.SubdomainName
	}
	s.AnyFinalizer = r.UnqualifiedFinalizers || slices.Contains(anyFinalizerGroups, t.Stored.Group)
	if len(r.GenerationFields) > 0 {
		s.Generation, s.GenerationFirst = r.GenerationChanged(), r.GenerationRule == kind.GenerationBeforePrepare
	}
	if r.UnknownFieldFor != nil {
		s.UnknownField = r.UnknownFieldFor(t)
	}
	s.Prepare = r.PrepareObject(t)
	if t.Subresource("status") != nil {
		s.Reset = append([]string{"status"}, r.Reset...)
		s.StatusReset = slices.Concat([]string{"spec"}, r.StatusMetadata.Reset(), r.StatusReset)
	}
	if sub := t.Subresource("scale"); sub != nil && s.Scale == nil {
		s.Scale = &resource.Scale{
			Spec:     []string{"spec", "replicas"},
			Status:   []string{"status", "replicas"},
			Selector: kind.SelectorText,
			Codec:    resource.BuiltinCodec(sub.Kind),
		}
	}
	if s.PrepareStatus == nil {
		s.PrepareStatus = r.StatusMetadata.Prepare
	}
	return &s
}
