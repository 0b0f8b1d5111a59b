// Package resourceclaim has the resourceclaim-controller: it creates the ResourceClaims of
// Pods from templates, reserves allocated ones for Pods that have a Node, and releases
// those of Pods that have ended.
//
// See https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/.
package resourceclaim

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/kinds/core/pods"
	"github.com/kubefake/kubefake/internal/object"
)

const (
	manager    = "ResourceClaimController"
	annotation = "resource.kubernetes.io/pod-claim-name"
	finalizer  = "resource.kubernetes.io/delete-protection"

	maxReserved = 256

	// A claim that is deleted is not created again before this time has passed since its
	// creation: kube-controller-manager caches the claims that it creates.
	remembered = time.Hour

	byClaim    = "resourceclaim" // Pods by the ResourceClaims that they use
	byTemplate = "resourceclaimtemplate"
)

type claims struct {
	client    *controller.Client
	events    *controller.Recorder
	pods      *controller.Informer
	claims    *controller.Informer
	templates *controller.Informer

	podQueue   *controller.Queue
	claimQueue *controller.Queue

	env  *controller.Env
	made map[string]map[string]creation // by the UIDs of Pods and the names of entries
}

// A creation is that of a claim.
type creation struct {
	name string
	at   time.Time
}

// Start starts the controller.
func Start(e *controller.Env) {
	if !e.Serves(controller.ResourceClaims) {
		return
	}
	c := &claims{client: e.Client("resource-claim-controller"), env: e, made: map[string]map[string]creation{}}
	c.events = e.Recorder(c.client, "resource_claim")
	c.podQueue = e.Queue(c.syncPod)
	c.claimQueue = e.Queue(c.syncClaim)
	c.pods = e.Informer(controller.Pods, c.podChanged)
	c.pods.Index(byClaim, func(pod *controller.Object) (keys []string) {
		for entry := range entries(pod) {
			if name, _ := pods.ResourceClaimName(pod.View(), entry); name != "" {
				keys = append(keys, controller.Key{Namespace: pod.Namespace, Name: name}.String())
			}
		}
		return keys
	})
	c.pods.Index(byTemplate, func(pod *controller.Object) (keys []string) {
		for entry := range entries(pod) {
			if name := entry.String("resourceClaimTemplateName"); name != "" {
				keys = append(keys, controller.Key{Namespace: pod.Namespace, Name: name}.String())
			}
		}
		return keys
	})
	c.claims = e.OwnedInformer(controller.ResourceClaims, func(old, claim *controller.Object) {
		if claim != nil {
			c.claimQueue.Add(claim.Key())
			old = claim
		}
		c.enqueue(byClaim, old)
	})
	c.templates = e.Informer(controller.ResourceClaimTemplates, func(_, template *controller.Object) {
		if template != nil {
			c.enqueue(byTemplate, template)
		}
	})
}

// enqueue queues the Pods that an index has for an object.
func (c *claims) enqueue(index string, o *controller.Object) {
	for _, pod := range c.pods.By(index, o.Key().String()) {
		c.podQueue.Add(pod.Key())
	}
}

// entries yields spec.resourceClaims of a Pod.
func entries(pod *controller.Object) iter.Seq[object.View] {
	return pod.View().At("spec", "resourceClaims").Objects()
}

func (c *claims) podChanged(old, pod *controller.Object) {
	if pod != nil {
		c.podQueue.Add(pod.Key())
	}
	if pod == nil || isDone(pod) {
		if pod == nil {
			pod = old
			delete(c.made, pod.UID)
		}
		for entry := range entries(pod) {
			if name, _ := pods.ResourceClaimName(pod.View(), entry); name != "" {
				c.claimQueue.Add(controller.Key{Namespace: pod.Namespace, Name: name})
			}
		}
		if name := pod.View().String("status", "extendedResourceClaimStatus", "resourceClaimName"); name != "" {
			c.claimQueue.Add(controller.Key{Namespace: pod.Namespace, Name: name})
		}
	}
}

// isDone reports whether a Pod never runs again: it has ended, or it is being deleted and
// has no Node.
func isDone(pod *controller.Object) bool {
	return controller.PodEnded(pod.View()) || pod.Terminating && pod.View().String("spec", "nodeName") == ""
}

// syncPod creates the claims of a Pod, and reserves them once it has a Node.
func (c *claims) syncPod(k controller.Key) error {
	pod := c.pods.Get(k.Namespace, k.Name)
	if pod == nil || pod.Terminating {
		return nil
	}
	created := map[string]string{} // names of claims by those of entries
	for entry := range entries(pod) {
		if err := c.ensure(pod, entry, created); err != nil {
			c.events.Event(pod, controller.Warning, "FailedResourceClaimCreation", "PodResourceClaim %s: %v", entry.String("name"), err)
			return fmt.Errorf("pod %s, PodResourceClaim %s: %w", k, entry.String("name"), err)
		}
	}
	if len(created) > 0 {
		// Before 1.37, the real controller takes the others away and finds them again, without end.
		for status := range pod.View().At("status", "resourceClaimStatuses").Objects() {
			entry, claim := status.String("name"), status.String("resourceClaimName")
			if claim != "" && created[entry] == "" {
				created[entry] = claim
			}
		}
		var statuses []any
		for _, entry := range slices.Sorted(maps.Keys(created)) {
			statuses = append(statuses, map[string]any{"name": entry, "resourceClaimName": created[entry]})
		}
		_, err := c.client.Apply(controller.Pods, "status", manager, map[string]any{
			"metadata": map[string]any{"name": pod.Name, "namespace": pod.Namespace}, "status": map[string]any{"resourceClaimStatuses": statuses},
		})
		if err != nil {
			return fmt.Errorf("update pod %s ResourceClaimStatuses: %w", k, err)
		}
	}
	if pod.View().String("spec", "nodeName") == "" {
		return nil // the scheduler reserves
	}
	for entry := range entries(pod) {
		name, known := pods.ResourceClaimName(pod.View(), entry)
		if !known {
			return nil // the status that was written queues the Pod
		}
		claim := c.claims.Get(pod.Namespace, name)
		if name == "" {
			continue
		}
		if claim == nil {
			return nil
		}
		if !owned(pod, claim, entry) {
			return nil
		}
		if err := c.reserve(pod, claim); err != nil {
			return err
		}
	}
	return nil
}

// owned reports whether the claim of an entry may be used by the Pod: a claim of a template
// belongs to one Pod.
func owned(pod, claim *controller.Object, entry object.View) bool {
	return entry.String("resourceClaimTemplateName") == "" || claim.View().ControlledBy(pod.UID)
}

// ensure creates the claim of an entry from its template, unless it exists.
func (c *claims) ensure(pod *controller.Object, entry object.View, created map[string]string) error {
	template := entry.String("resourceClaimTemplateName")
	name, known := pods.ResourceClaimName(pod.View(), entry)
	if template == "" || known && name == "" {
		return nil
	}
	if c.claims.Get(pod.Namespace, name) != nil {
		return nil // if it is another Pod's, this one waits until it is deleted
	}
	entryName := entry.String("name")
	for _, claim := range c.claims.By(controller.ByController, pod.UID) {
		if claim.View().String("metadata", "annotations", annotation) == entryName {
			created[entryName] = claim.Name
			return nil
		}
	}
	if m, ok := c.made[pod.UID][entryName]; ok && c.env.Now().Before(m.at.Add(remembered)) {
		created[entryName] = m.name
		return nil
	}
	t := c.templates.Get(pod.Namespace, template)
	if t == nil {
		return fmt.Errorf("resource claim template %q: resourceclaimtemplate.resource.k8s.io %q not found", template, template)
	}
	meta := map[string]any{"generateName": namePrefix(pod.Name, entryName), "ownerReferences": []any{map[string]any{
		"apiVersion": "v1", "kind": "Pod", "name": pod.Name, "uid": pod.UID, "controller": true,
	}}}
	annotations := t.View().At("spec", "metadata", "annotations").ShallowCopy()
	annotations[annotation] = entryName
	meta["annotations"] = annotations
	object.Keep(meta, t.View().At("spec", "metadata"), "labels")
	claim, err := c.client.Create(controller.ResourceClaims, pod.Namespace, object.Copy(map[string]any{
		"metadata": meta, "spec": t.View().At("spec", "spec").Shared(),
	}))
	if err != nil {
		return fmt.Errorf("create ResourceClaim : %w", err) // the real message has the name too, which is empty
	}
	if c.made[pod.UID] == nil {
		c.made[pod.UID] = map[string]creation{}
	}
	c.made[pod.UID][entryName] = creation{claim.Name, c.env.Now()}
	created[entryName] = claim.Name
	return nil
}

// namePrefix returns the generateName of the claim of a Pod. A long one has as much of both
// names as fits.
func namePrefix(pod, entry string) string {
	const longest = 57
	name := pod + "-" + entry + "-"
	if n := len(name); n > longest {
		name = pod[:len(pod)*longest/n]
		return name + "-" + entry[:len(entry)*longest/n]
	}
	return name
}

// reserve reserves an allocated claim for a Pod.
func (c *claims) reserve(pod, claim *controller.Object) error {
	reserved, has := claim.View().At("status", "reservedFor"), false
	for ref := range reserved.Objects() {
		has = has || ref.String("uid") == pod.UID
	}
	if claim.View().IsNil("status", "allocation") || has || reserved.Len() >= maxReserved {
		return nil
	}
	changed := claim.Copy()
	object.Set(changed, append(object.List(changed, "status", "reservedFor"), map[string]any{"resource": "pods", "name": pod.Name, "uid": pod.UID}), "status", "reservedFor")
	if _, err := c.client.UpdateStatus(controller.ResourceClaims, changed); err != nil {
		return fmt.Errorf("reserve claim %s: %w", claim.Key(), err)
	}
	return nil
}
