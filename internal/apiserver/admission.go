package apiserver

import (
	"sync"

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
// asked, resource quotas are not charged, and no level of pod security is
// enforced.
func (r *request) admit(step judge, obj, old map[string]any) error {
	if step == nil {
		return nil
	}
	err := step(&resource.Write{Object: obj, Old: old, Cluster: cluster{r}})
	if err == nil {
		return nil
	}
	name := r.Name
	for _, member := range []string{"name", "generateName"} {
		if name == "" {
			name = object.String(obj, "metadata", member)
		}
	}
	return status.Forbidden(r.groupResource(), name, err.Error())
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
