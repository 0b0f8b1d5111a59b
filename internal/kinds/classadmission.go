package kinds

import (
	"cmp"
	"errors"
	"slices"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
)

var (
	storageClassKind = resource.Kind{GroupVersion: resource.GroupVersion{Group: "storage.k8s.io", Version: "v1"}, Kind: "StorageClass"}
	ingressClassKind = resource.Kind{GroupVersion: resource.GroupVersion{Group: "networking.k8s.io", Version: "v1"}, Kind: "IngressClass"}
)

// defaultClass is the name of the newest class that an annotation makes the
// default; "" if there is none.
func defaultClass(c resource.Cluster, kind resource.Kind, annotations ...string) string {
	isDefault := func(class map[string]any) bool {
		return slices.ContainsFunc(annotations, func(a string) bool {
			return object.String(class, "metadata", "annotations", a) == "true"
		})
	}
	classes := slices.DeleteFunc(c.List(kind, ""), func(class map[string]any) bool { return !isDefault(class) })
	if len(classes) == 0 {
		return ""
	}
	// Times of one form are in the order of their texts; classes of one time are
	// listed by name.
	newest := slices.MinFunc(classes, func(a, b map[string]any) int {
		return cmp.Compare(object.String(b, "metadata", "creationTimestamp"), object.String(a, "metadata", "creationTimestamp"))
	})
	return object.String(newest, "metadata", "name")
}

// protectClaim keeps a claim until no pod uses it.
var protectClaim = protected("kubernetes.io/pvc-protection")

// mutateClaim is what DefaultStorageClass and StorageObjectInUseProtection make
// of a claim.
//
// See https://kubernetes.io/docs/concepts/storage/storage-classes/#default-storageclass.
func mutateClaim(w *resource.Write) error {
	if w.Old == nil && claimClass(w.Object) == nil {
		if name := defaultClass(w, storageClassKind, "storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"); name != "" {
			child(w.Object, "spec")["storageClassName"] = name
		}
	}
	return protectClaim(w)
}

// claimClass is the class that a claim names, in its spec or the old way; nil if
// it names none.
func claimClass(claim map[string]any) any {
	if name := object.Value(claim, "metadata", "annotations", "volume.beta.kubernetes.io/storage-class"); name != nil {
		return name
	}
	return object.Value(claim, "spec", "storageClassName")
}

// admitClaim is what LimitRanger and PersistentVolumeClaimResize say of a claim.
func admitClaim(w *resource.Write) error {
	if w.Old == nil || object.Value(w.Old, "metadata", "deletionTimestamp") == nil {
		if err := admitClaimByLimits(w); err != nil {
			return err
		}
	}
	if w.Old == nil {
		return nil
	}
	requested := func(claim map[string]any) string {
		return object.String(claim, "spec", "resources", "requests", "storage")
	}
	if compare(requested(w.Object), requested(w.Old)) <= 0 {
		return nil
	}
	if object.String(w.Old, "status", "phase") != "Bound" {
		return errors.New("Only bound persistent volume claims can be expanded")
	}
	name, _ := claimClass(w.Object).(string)
	if name == "" || claimClass(w.Old) != any(name) || !object.Bool(w.Get(storageClassKind, "", name), "allowVolumeExpansion") {
		return errors.New("only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize")
	}
	return nil
}

// mutateIngress gives a new ingress that names no class the default one.
//
// See https://kubernetes.io/docs/concepts/services-networking/ingress/#default-ingress-class.
func mutateIngress(w *resource.Write) error {
	if w.Old != nil || object.Value(w.Object, "spec", "ingressClassName") != nil || object.Value(w.Object, "metadata", "annotations", "kubernetes.io/ingress.class") != nil {
		return nil
	}
	if name := defaultClass(w, ingressClassKind, "ingressclass.kubernetes.io/is-default-class"); name != "" {
		child(w.Object, "spec")["ingressClassName"] = name
	}
	return nil
}
