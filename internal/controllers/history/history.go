// Package history has the revisions that DaemonSets and StatefulSets keep of their Pod
// templates, as ControllerRevisions.
package history

import (
	"cmp"
	"slices"

	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/selector"
)

// A History reads and writes ControllerRevisions.
type History struct {
	client    *controller.Client
	revisions *controller.Informer
}

// New returns a History that writes with a client.
func New(e *controller.Env, client *controller.Client) *History {
	return &History{client: client, revisions: e.OwnedInformer(controller.ControllerRevisions)}
}

// List returns the revisions of an owner, oldest first. It adopts those that match the
// selector and have no owner.
func (h *History) List(owner *controller.Object, labels selector.Labels) ([]*controller.Object, error) {
	claim := controller.Claim{Client: h.client, Owner: owner, Resource: controller.ControllerRevisions, Selector: labels}
	revisions, err := claim.Objects(controller.Candidates(h.revisions, owner))
	slices.SortStableFunc(revisions, func(a, b *controller.Object) int {
		return cmp.Or(
			cmp.Compare(Number(a), Number(b)),
			cmp.Compare(a.View().String("metadata", "creationTimestamp"), b.View().String("metadata", "creationTimestamp")),
			cmp.Compare(a.Name, b.Name),
		)
	})
	return revisions, err
}

// Number returns the number of a revision.
func Number(revision *controller.Object) int64 {
	return controller.IntOr(revision.View(), 0, "revision")
}

// Data returns what a revision of the template of owner contains.
func Data(owner object.View) map[string]any {
	template := owner.At("spec", "template").ShallowCopy()
	template["$patch"] = "replace"
	return map[string]any{"spec": map[string]any{"template": template}}
}

// Template returns the Pod template of a revision.
func Template(revision *controller.Object) object.View {
	template := revision.View().At("data", "spec", "template").ShallowCopy()
	delete(template, "$patch")
	return object.ViewOf(template)
}

// Equal reports whether a revision contains data.
func Equal(revision *controller.Object, data map[string]any) bool {
	return object.Equal(revision.View().At("data").ShallowCopy(), data) // the data may be a RawJSON
}

// maxPrefix is the maximum length of the name of the owner in that of a revision.
const maxPrefix = 223

// Create creates a revision with a number and a label with its hash. collisions is the
// collision count of the owner; it rises if the name is taken.
func (h *History) Create(owner *controller.Object, data map[string]any, number int64, hashLabel string, collisions *int64) (*controller.Object, error) {
	for {
		hash := controller.Hash(data, *collisions)
		labels := owner.View().At("spec", "template", "metadata", "labels").ShallowCopy()
		labels[hashLabel] = hash
		meta := map[string]any{
			"name": owner.Name[:min(len(owner.Name), maxPrefix)] + "-" + hash, "namespace": owner.Namespace,
			"labels": labels, "ownerReferences": []any{controller.ControllerRef(owner)},
		}
		if annotations := owner.View().At("metadata", "annotations"); annotations.IsObject() {
			meta["annotations"] = annotations.Copy()
		}
		created, err := h.client.Create(controller.ControllerRevisions, owner.Namespace, map[string]any{
			"metadata": meta, "data": object.Copy(data), "revision": number,
		})
		if !controller.IsAlreadyExists(err) {
			return created, err
		}
		existing, err := h.client.Get(controller.ControllerRevisions, owner.Namespace, object.String(meta, "name"))
		if err != nil {
			return nil, err
		}
		if Equal(existing, data) {
			return existing, nil
		}
		*collisions++
	}
}

// SetNumber gives a revision a number.
func (h *History) SetNumber(revision *controller.Object, number int64) (*controller.Object, error) {
	if Number(revision) == number {
		return revision, nil
	}
	obj := revision.Copy()
	obj["revision"] = number
	return h.client.Update(controller.ControllerRevisions, "", obj)
}

// Truncate deletes the oldest revisions that no Pod uses, until limit of those remain.
// revisions are sorted; live has the names of those that are in use.
func (h *History) Truncate(revisions []*controller.Object, live map[string]bool, limit int64) error {
	var unused []*controller.Object
	for _, r := range revisions {
		if !live[r.Name] {
			unused = append(unused, r)
		}
	}
	for len(unused) > int(limit) && limit >= 0 {
		err := h.client.Delete(controller.ControllerRevisions, unused[0].Namespace, unused[0].Name, controller.DeleteOptions{})
		if err != nil && !controller.IsNotFound(err) {
			return err
		}
		unused = unused[1:]
	}
	return nil
}
