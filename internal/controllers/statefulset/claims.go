package statefulset

import (
	"errors"
	"fmt"

	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/object"
)

// claimName returns the name of the claim of a template for an ordinal.
func (r *run) claimName(template object.View, ordinal int64) string {
	return fmt.Sprintf("%s-%s-%d", template.String("metadata", "name"), r.object.Name, ordinal)
}

// setStorage gives a Pod a volume for each claim template.
func (r *run) setStorage(obj map[string]any, ordinal int64) {
	var volumes []any
	claimed := map[string]bool{}
	for t := range r.spec.At("volumeClaimTemplates").Objects() {
		name := t.String("metadata", "name")
		claimed[name] = true
		volumes = append(volumes, map[string]any{
			"name": name, "persistentVolumeClaim": map[string]any{"claimName": r.claimName(t, ordinal)},
		})
	}
	if volumes == nil {
		return
	}
	spec := object.EnsureMap(obj, "spec")
	for v := range object.Each(spec["volumes"]) {
		if !claimed[object.String(v, "name")] {
			volumes = append(volumes, v)
		}
	}
	spec["volumes"] = volumes
}

// hasStorage reports whether a Pod has the volumes of the claim templates.
func (r *run) hasStorage(p *replica) bool {
	for t := range r.spec.At("volumeClaimTemplates").Objects() {
		found := false
		for v := range p.obj.At("spec", "volumes").Objects() {
			if v.At("name").Equal(t.At("metadata", "name")) {
				found = v.String("persistentVolumeClaim", "claimName") == r.claimName(t, p.ordinal)
			}
		}
		if !found {
			return false
		}
	}
	return true
}

// createClaims creates the claims of a Pod that do not exist.
func (r *run) createClaims(p *replica) error {
	var failures []error
	for t := range r.spec.At("volumeClaimTemplates").Objects() {
		name := r.claimName(t, p.ordinal)
		if claim := r.claims.Get(r.object.Namespace, name); claim != nil {
			if claim.Terminating {
				failures = append(failures, fmt.Errorf("pvc %s is being deleted", name))
			}
			continue
		}
		claim := t.CopyObject()
		meta := object.Meta(claim)
		meta["name"], meta["namespace"] = name, r.object.Namespace
		for k, v := range r.spec.At("selector", "matchLabels").Fields() {
			object.EnsureMap(meta, "labels")[k] = v.Shared()
		}
		_, err := r.client.Create(controller.PersistentVolumeClaims, r.object.Namespace, claim)
		if err != nil {
			failures = append(failures, fmt.Errorf("failed to create PVC %s: %w", name, err))
		}
		switch {
		case err == nil:
			r.recorder.Event(r.object, controller.Normal, "SuccessfulCreate", "Create Claim %s Pod %s in StatefulSet %s success", name, p.name, r.object.Name)
		case !controller.IsAlreadyExists(err):
			r.recorder.Event(r.object, controller.Warning, "FailedCreate", "Create Claim %s for Pod %s in StatefulSet %s failed error: %v", name, p.name, r.object.Name, err)
		}
	}
	return errors.Join(failures...)
}

// eachClaim calls f for the claims of a Pod that exist.
func (r *run) eachClaim(p *replica, f func(claim *controller.Object) error) error {
	for t := range r.spec.At("volumeClaimTemplates").Objects() {
		if claim := r.claims.Get(r.object.Namespace, r.claimName(t, p.ordinal)); claim != nil {
			if err := f(claim); err != nil {
				return err
			}
		}
	}
	return nil
}

// claimsAreStale reports whether a claim of a Pod belongs to an earlier Pod of its name,
// and goes with it.
func (r *run) claimsAreStale(p *replica) (stale bool) {
	if r.spec.String("persistentVolumeClaimRetentionPolicy", "whenScaled") != "Delete" {
		return false
	}
	_ = r.eachClaim(p, func(claim *controller.Object) error {
		for _, ref := range claim.Owners() {
			stale = stale || ref.APIVersion == "v1" && ref.Kind == "Pod" && ref.Name == p.name
		}
		return nil
	})
	return stale
}

// claimsRetained reports whether the owners of the claims of a Pod are those that the
// retention policy asks for.
func (r *run) claimsRetained(p *replica) bool {
	return r.eachClaim(p, func(claim *controller.Object) error {
		if _, changed := r.claimOwners(claim, p); changed {
			return errChanged
		}
		return nil
	}) == nil
}

var errChanged = errors.New("the owners of a claim have changed")

// retainClaims gives the claims of a Pod the owners that the retention policy asks for:
// they go with the set, or with the Pod if that is scaled down.
func (r *run) retainClaims(p *replica) error {
	return r.eachClaim(p, func(claim *controller.Object) error {
		owners, changed := r.claimOwners(claim, p)
		if !changed {
			return nil
		}
		obj := claim.Copy()
		if len(owners) == 0 {
			delete(object.Meta(obj), "ownerReferences")
		} else {
			object.Meta(obj)["ownerReferences"] = owners
		}
		if _, err := r.client.Update(controller.PersistentVolumeClaims, "", obj); err != nil {
			return fmt.Errorf("could not update claim %s for delete policy ownerRefs: %w", claim.Name, err)
		}
		return nil
	})
}

// claimOwners returns what the owner references of a claim are to be, and whether they
// differ from those that it has.
func (r *run) claimOwners(claim *controller.Object, p *replica) (want []any, changed bool) {
	policy := r.spec.At("persistentVolumeClaimRetentionPolicy")
	whenDeleted, whenScaled := policy.String("whenDeleted") == "Delete", policy.String("whenScaled") == "Delete"
	down := p.ordinal < r.first || p.ordinal >= r.first+r.count
	refs := claim.View().At("metadata", "ownerReferences")
	foreign := false
	for ref := range refs.Objects() {
		kind, uid := r.ownerKind(ref, p), ref.String("uid")
		switch {
		case kind == "StatefulSet" && uid != r.object.UID || kind == "Pod" && (p.object == nil || uid != p.object.UID):
			return nil, false // an earlier object of the name: the garbage collector deletes the claim
		case kind == "":
			foreign = foreign || ref.Bool("controller")
			want = append(want, ref.Shared())
		}
	}
	foreign = foreign && (whenDeleted || whenScaled)
	if foreign && len(want) != refs.Len() {
		r.recorder.Event(r.object, controller.Warning, "ConflictingController",
			"PersistentVolumeClaim %s has a conflicting OwnerReference that acts as a manging controller, the retention policy is ignored for this claim", claim.Name)
	}
	switch {
	case foreign:
	case whenScaled && down:
		if p.object != nil {
			want = append(want, any(controller.ControllerRef(p.object)))
		}
	case whenDeleted:
		want = append(want, any(controller.ControllerRef(r.object)))
	}
	same := len(want) == refs.Len()
	for _, ref := range want {
		same = same && contains(refs, ref)
	}
	return want, !same
}

func contains(list object.View, v any) bool {
	for _, item := range list.Items() {
		if item.EqualTo(v) {
			return true
		}
	}
	return false
}

// ownerKind returns whether an owner reference names the set or the Pod: StatefulSet,
// Pod or "".
func (r *run) ownerKind(ref object.View, p *replica) string {
	switch kind, version, name := ref.String("kind"), ref.String("apiVersion"), ref.String("name"); {
	case kind == "StatefulSet" && version == "apps/v1" && name == r.object.Name:
		return kind
	case kind == "Pod" && version == "v1" && name == p.name:
		return kind
	}
	return ""
}
