package apiserver

import (
	"errors"
	"sync"

	"github.com/kubefake/kubefake/internal/kinds"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/storage"
)

// A judge is a step of admission: of mutating or of validating plugins.
type judge func(w *resource.Write) error

// admit has a step of admission judge what a write makes of old, which is nil on
// a creation. A nil step lets everything pass.
//
// Differs from kube-apiserver: admission webhooks and policies are kept and not
// asked.
func (r *request) admit(step judge, obj, old map[string]any) error {
	if step == nil {
		return nil
	}
	w := r.writing(obj, old)
	err := step(w)
	r.warn(w.Warnings...)
	return r.refusal(obj, err)
}

// writing is a write of the request's as admission sees it.
func (r *request) writing(obj, old map[string]any) *resource.Write {
	return &resource.Write{Object: obj, Old: old, Subresource: r.Subresource, Cluster: cluster{r}}
}

// refusal is the answer to a write of obj that a step of admission refuses with
// an error; nil for none.
func (r *request) refusal(obj map[string]any, err error) error {
	if err == nil {
		return nil
	}
	name := r.Name
	for _, member := range []string{"name", "generateName"} {
		if name == "" {
			name = object.String(obj, "metadata", member)
		}
	}
	var invalid *resource.Invalid
	if errors.As(err, &invalid) {
		return status.Invalid(r.groupKind(), name, invalid.Errors)
	}
	return status.Forbidden(r.groupResource(), name, err.Error())
}

// chargeQuotas charges a write to the quotas of its namespace, or refuses it. A
// dry run is charged to none. What is charged stays charged if the write comes to
// nothing: a quota's controller counts anew. A quota without a status, which its
// controller writes first in a cluster, limits nothing.
func (r *request) chargeQuotas(obj, old map[string]any, dryRun bool) error {
	if r.Namespace == "" {
		return nil
	}
	t := r.registry.ForKind(kinds.ResourceQuotaKind)
	if t == nil {
		return nil
	}
	var quotas []*storage.Object
	for o := range r.server.store.All(t.KeyPrefix(r.Namespace)) {
		quotas = append(quotas, o)
	}
	w := r.writing(obj, old)
	if len(quotas) == 0 || !kinds.IsCharged(r.typ, w) {
		return nil
	}
	for len(quotas) > 0 {
		decoded := make([]map[string]any, len(quotas))
		for i, o := range quotas {
			decoded[i] = r.server.decoded.get(t, o)
		}
		used, err := kinds.Charge(r.typ, w, decoded)
		if err != nil || dryRun {
			return r.refusal(obj, err)
		}
		if quotas, err = r.use(t, quotas, decoded, used); err != nil {
			return err
		}
	}
	return nil
}

// use writes what is used of quotas to their status. It returns those, as they
// are now, that another write has changed meanwhile.
func (r *request) use(t *resource.Type, quotas []*storage.Object, decoded, used []map[string]any) (changed []*storage.Object, err error) {
	accountant := r.server.internalRequest(t, "update")
	accountant.Namespace, accountant.Subresource = r.Namespace, "status"
	for i, old := range quotas {
		if used[i] == nil {
			continue
		}
		obj := object.Copy(decoded[i])
		object.Set(obj, used[i], "status", "used")
		obj = accountant.owned(obj, &version{old, decoded[i]}, &writeOptions{})
		_, err := accountant.redraft(old, obj, false)
		switch {
		case errors.Is(err, errLost):
			if o := r.server.store.Newest(t.Key(old.Namespace, old.Name)); o != nil {
				changed = append(changed, o)
			}
		case err != nil:
			return nil, err
		}
	}
	return changed, nil
}

// A cluster is the server's state as admission sees it.
type cluster struct{ r *request }

func (c cluster) Get(kind resource.Kind, namespace, name string) map[string]any {
	t := c.r.registry.ForKind(kind)
	if t == nil {
		return nil
	}
	o := c.r.server.store.Newest(t.Key(namespace, name))
	if o == nil {
		return nil
	}
	return c.r.server.decoded.get(t, o)
}

func (c cluster) List(kind resource.Kind, namespace string) (all []map[string]any) {
	t := c.r.registry.ForKind(kind)
	if t == nil {
		return nil
	}
	for o := range c.r.server.store.All(t.KeyPrefix(namespace)) {
		all = append(all, c.r.server.decoded.get(t, o))
	}
	return all
}

// A decodedCache has stored objects in generic form, the few that admission
// reads again and again: classes, limits.
type decodedCache struct {
	mu      sync.Mutex
	objects map[*storage.Object]map[string]any
}

// maxDecoded bounds a decodedCache; a full one starts over.
const maxDecoded = 256

// get returns o in generic form, which is shared.
func (c *decodedCache) get(t *resource.Type, o *storage.Object) map[string]any {
	c.mu.Lock()
	defer c.mu.Unlock()
	obj, ok := c.objects[o]
	if !ok {
		obj = o.Decode(t)
		if c.objects == nil || len(c.objects) >= maxDecoded {
			c.objects = map[*storage.Object]map[string]any{}
		}
		c.objects[o] = obj
	}
	return obj
}
