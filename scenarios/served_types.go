package scenarios

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/reflector"
	"github.com/kubefake/kubefake/internal/suggest"
)

const (
	namespaces  = "namespaces"
	definitions = "customresourcedefinitions.apiextensions.k8s.io"
)

// isPrerequisite reports whether objects of other types require objects of this
// one.
func isPrerequisite(t *reflector.Type) bool {
	return t.String() == namespaces || t.String() == definitions
}

// findTypes returns the resources with the given names. It accepts the names that
// kubectl accepts.
func findTypes(ctx context.Context, c *reflector.Client, names []string) ([]*reflector.Type, error) {
	served, unavailable, err := c.Types(ctx)
	if err != nil {
		return nil, err
	}
	var out []*reflector.Type
	for _, name := range names {
		i := slices.IndexFunc(served, func(t *reflector.Type) bool { return hasName(t, name) })
		if i < 0 {
			return nil, errors.Join(fmt.Errorf("%w: %s%s", ErrUnknownResource, name, similarTypes(name, served)), unavailable)
		}
		if !slices.Contains(out, served[i]) {
			out = append(out, served[i])
		}
	}
	return out, nil
}

// similarTypes ends the error for a resource that does not exist.
func similarTypes(name string, served []*reflector.Type) string {
	names := make([]suggest.Name, len(served))
	for i, t := range served {
		names[i] = suggest.Name{Name: t.String(), Aliases: []string{t.Name, t.SingularName}}
	}
	return suggest.DidYouMeanAny(name, names)
}

// hasName reports whether name is a plural, singular or short name of the resource,
// optionally followed by a dot and its group.
func hasName(t *reflector.Type, name string) bool {
	name, group, qualified := strings.Cut(strings.ToLower(name), ".")
	if qualified && group != t.Group {
		return false
	}
	return name == t.Name || name == t.SingularName || slices.Contains(t.ShortNames, name)
}

// prerequisites returns the objects of other types that the given ones require:
// their namespaces and the definitions of custom resources.
func prerequisites(ctx context.Context, c *reflector.Client, objects []observation, types []*reflector.Type, namespace string) ([]observation, error) {
	var out []observation
	wanted := map[string]func(o map[string]any) bool{}
	recorded := func(name string) bool {
		return slices.ContainsFunc(types, func(t *reflector.Type) bool { return t.String() == name })
	}
	if !recorded(namespaces) {
		in := map[string]bool{namespace: true}
		for _, o := range objects {
			in[object.String(o.object, "metadata", "namespace")] = true
		}
		wanted[namespaces] = func(o map[string]any) bool { return in[object.String(o, "metadata", "name")] }
	}
	if !recorded(definitions) {
		wanted[definitions] = func(o map[string]any) bool { return recorded(object.String(o, "metadata", "name")) }
	}
	others, err := findTypes(ctx, c, slices.Sorted(maps.Keys(wanted)))
	if err != nil {
		return nil, err
	}
	for _, t := range others {
		f := &reflector.Reflector{Client: c, Type: t, Path: t.Path("")}
		list, err := f.List(ctx)
		if err != nil {
			return nil, err
		}
		for _, o := range list {
			if wanted[t.String()](o) {
				out = append(out, observation{typ: t, object: o})
			}
		}
	}
	return out, nil
}
