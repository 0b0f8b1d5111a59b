// Package resourcequota has the resourcequota-controller: it calculates what the
// objects of a namespace use of its ResourceQuotas. Admission charges what is created;
// the controller begins with a new quota, returns what is deleted, and corrects what was
// charged for a creation that failed.
//
// See https://kubernetes.io/docs/concepts/policy/resource-quotas/.
package resourcequota

import (
	"iter"
	"slices"
	"time"

	"github.com/kubefake/kubefake/internal/admission/plugin/resourcequota"
	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/quantity"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/selector"
)

// resync is the time after which a quota is calculated again.
const resync = 5 * time.Minute

type quotas struct {
	env    *controller.Env
	client *controller.Client
	quotas *controller.Informer
	queue  *controller.Queue
}

// Start starts the controller.
func Start(e *controller.Env) {
	c := &quotas{env: e, client: e.Client("resourcequota-controller")}
	c.queue = e.Queue(c.sync)
	c.quotas = e.Informer(controller.ResourceQuotas, func(old, quota *controller.Object) {
		if quota != nil && (old == nil || !sameList(hardOf(old), hardOf(quota))) {
			c.queue.Add(quota.Key())
		}
	})
	e.EachChange(c.changed)
}

func hardOf(quota *controller.Object) object.View {
	return quota.View().At("spec", "hard")
}

// sameList reports whether two lists have the same quantities.
func sameList(a, b object.View) bool {
	if a.Len() != b.Len() {
		return false
	}
	for name, v := range a.Fields() {
		w, ok := b.At(name).Shared().(string)
		if q := v.String(); !ok || quantity.Compare(q, w) != 0 {
			return false
		}
	}
	return true
}

// changed queues the quotas of the namespace of an object that is gone, or that uses
// something else than before.
func (c *quotas) changed(old, o *controller.Object) {
	if old == nil || old.Namespace == "" {
		return
	}
	all := c.quotas.List(old.Namespace, selector.Labels{})
	if len(all) == 0 || o != nil && resourcequota.SameUsage(o.Type, old.View(), o.View()) {
		return
	}
	for _, quota := range all {
		for name := range quota.View().At("status", "hard").Fields() {
			if resourcequota.Computes(old.Type, name) {
				c.queue.Add(quota.Key())
				break
			}
		}
	}
}

// sync writes the status of a quota, if it is not what the objects use.
func (c *quotas) sync(k controller.Key) error {
	quota := c.quotas.Get(k.Namespace, k.Name)
	if quota == nil {
		return nil
	}
	c.queue.AddAfter(k, resync)
	hard, status := hardOf(quota), quota.View().At("status")
	calculated := resourcequota.Used(quota.View(), c.types(), func(t *resource.Type) iter.Seq[object.View] { return c.objects(t, k.Namespace) })
	used := map[string]any{}
	for name := range hard.Fields() {
		if q, ok := calculated[name]; ok {
			used[name] = q
		} else if q := status.At("used", name); !q.IsNil() {
			used[name] = q.Shared()
		}
	}
	if oldHard, old := status.At("hard"), status.At("used"); oldHard.IsObject() && old.IsObject() && sameList(hard, oldHard) && sameList(object.ViewOf(used), old) {
		return nil
	}
	_, err := c.client.WriteStatus(quota, map[string]any{"hard": hard.CopyObject(), "used": used}, 0)
	return err
}

// types returns the types of which objects are stored, each resource once.
func (c *quotas) types() iter.Seq[*resource.Type] {
	return func(yield func(*resource.Type) bool) {
		seen := map[string]bool{}
		for _, t := range c.env.PreferredTypes() {
			if c.env.InformerOf(t) != nil && !seen[t.Prefix] {
				seen[t.Prefix] = true
				if !yield(t) {
					return
				}
			}
		}
	}
}

// objects returns the objects of a type in a namespace.
func (c *quotas) objects(t *resource.Type, namespace string) iter.Seq[object.View] {
	return func(yield func(object.View) bool) {
		for o := range slices.Values(c.env.InformerOf(t).List(namespace, selector.Labels{})) {
			if !yield(o.View()) {
				return
			}
		}
	}
}
