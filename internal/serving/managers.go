package serving

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/kubefake/kubefake/internal/once"

	"github.com/kubefake/kubefake/internal/fieldmanager"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/resource"
)

// Managers track the managed fields of one type. They are safe for concurrent use.
type Managers struct {
	Objects *fieldmanager.Type

	// Fields and Subresources select what a write can change: to the object, to
	// its status, and to its other subresources by name. A nil Filter selects all.
	Fields       *fieldmanager.Filter
	Subresources map[string]*fieldmanager.Filter

	// Scales and Scale are of the scale subresource, nil without one.
	Scales *fieldmanager.Type
	Scale  *fieldmanager.ScaleHandler

	mu      sync.Mutex                    // guards actions
	actions map[string]*fieldmanager.Type // by the subresources that take one
}

// Action returns the type of the body of an action at a subresource.
func (m *Managers) Action(subresource string, body resource.Codec, p *release.Release) *fieldmanager.Type {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.actions[subresource]
	if t == nil {
		t = fieldmanager.New(body.ManagedKind(p))
		m.actions[subresource] = t
	}
	return t
}

// managerCache makes the Managers of types when they are first needed.
// It is safe for concurrent use.
type managerCache struct {
	ctx     context.Context // of conversions
	release *release.Release
	of      func(t *resource.Type) *Managers
}

func newManagerCache(ctx context.Context, p *release.Release) *managerCache {
	c := &managerCache{ctx: ctx, release: p}
	c.of = once.PerKey(c.make)
	return c
}

func (c *managerCache) make(t *resource.Type) *Managers {
	kind := t.Codec.ManagedKind(c.release)
	kind.PartialKeys = c.partialKeys()
	var convert fieldmanager.ConvertFunc
	if t.Versions != nil {
		convert = c.converter(t)
	}
	kind.Finish = func(live, merged map[string]any) (map[string]any, error) {
		obj, err := normalizeApplied(t.Codec, live, merged)
		if err == nil && !t.Virtual() && t.RoundTrip == nil { // the registry calls RoundTrip
			if t.Versions != nil || object.String(live, "metadata", "uid") == "" {
				live = nil // has the defaults of another version, or none because it is new
			}
			t.SetDefaults(obj, object.ViewOf(live))
		}
		return obj, err
	}
	if !t.Virtual() {
		kind.ToInternal = t.ToInternal
	}
	m := &Managers{Objects: fieldmanager.NewVersioned(kind, convert), actions: map[string]*fieldmanager.Type{}}
	if t.Virtual() {
		return m // writes to virtual types change every field
	}
	m.Fields = resetFilter(t.ResetFields, t.ResetIn)
	m.Subresources = make(map[string]*fieldmanager.Filter, len(t.SubresourceStrategies))
	for name, s := range t.SubresourceStrategies {
		m.Subresources[name] = resetFilter(s.ResetFields, s.ResetIn)
	}
	if sub := t.Subresource("scale"); sub != nil && t.Scale != nil {
		scale := t.Scale.Codec.ManagedKind(c.release)
		scale.PartialKeys = c.partialKeys()
		scale.Finish = func(live, merged map[string]any) (map[string]any, error) {
			return normalizeApplied(t.Scale.Codec, live, merged)
		}
		if t.Scale.CustomPath != "" {
			scale.ApplyError = errScaleVersion
		}
		m.Scales = fieldmanager.New(scale)
		m.Scale = fieldmanager.NewScaleHandler(t.GroupVersion.String(), replicasPaths(t))
	}
	return m
}

// resetFilter returns the filter of what a write cannot change, nil if there is no such field.
func resetFilter(fields, versions []string) *fieldmanager.Filter {
	if len(fields) == 0 {
		return nil
	}
	return fieldmanager.Except(fields...).In(versions)
}

// normalizeApplied puts the result of an apply to live in canonical form.
func normalizeApplied(c resource.Codec, live, merged map[string]any) (map[string]any, error) {
	obj, _, err := resource.NormalizeMembers(c, live, merged, func(changed map[string]any) (map[string]any, []error, error) {
		obj, err := c.NormalizeApplied(changed)
		return obj, nil, err
	})
	return obj, err
}

// partialKeys is [fieldmanager.Kind.PartialKeys] of the release.
func (c *managerCache) partialKeys() bool { return c.release.Has(behavior.PartialKeys) }

// errScaleVersion is kube-apiserver's error of an apply to the Scale of a custom
// resource, whose converter knows only the versions of the resource.
var errScaleVersion = errors.New("request to convert CR to an invalid group/version: autoscaling/v1")

// replicasPaths returns the path of spec.replicas in each version of t, "" for versions without
// the scale subresource.
func replicasPaths(t *resource.Type) map[string]string {
	paths := map[string]string{t.GroupVersion.String(): strings.Join(t.Scale.Spec, ".")}
	for _, v := range t.Versions {
		path := ""
		if v.Scale != nil {
			path = strings.Join(v.Scale.Spec, ".")
		}
		paths[v.GroupVersion.String()] = path
	}
	return paths
}

// converter returns the function that converts objects of t to the versions that
// other managers wrote in.
func (c *managerCache) converter(t *resource.Type) fieldmanager.ConvertFunc {
	return func(obj map[string]any, apiVersion string) (map[string]any, *fieldmanager.Type, error) {
		to := t.In(apiVersion)
		if to == nil && t.UnknownVersion != nil {
			return nil, nil, t.UnknownVersion(apiVersion)
		}
		if to == nil || to.Group != t.Group { // managed fields do not follow a resource to another group
			return nil, nil, fmt.Errorf("%w: %q", fieldmanager.ErrNoVersion, apiVersion)
		}
		objs, err := to.Convert(c.ctx, []map[string]any{object.Copy(obj)})
		if err != nil {
			return nil, nil, err
		}
		return objs[0], c.of(to).Objects, nil
	}
}
