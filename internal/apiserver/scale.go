package apiserver

import (
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/validation"
)

// The scale subresource shows an object as a Scale, whatever its type, and
// takes the number of replicas from one.
//
// See https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/horizontal-pod-autoscaler-v1/.

// isScale reports whether bodies and answers are Scales.
func (r *request) isScale() bool { return r.Subresource == "scale" && r.typ.Scale != nil }

// shown is what the request's path shows of an object: itself, or its Scale.
func (r *request) shown(old *version) map[string]any {
	if !r.isScale() {
		return old.object
	}
	scale := r.scaleOf(old.object)
	managed, err := r.surface.ownershipOf(r.typ).scale.ToSubresource(object.List(old.object, "metadata", "managedFields"))
	if err == nil && len(managed) > 0 {
		object.Set(scale, managed, "metadata", "managedFields")
	}
	normal, _, err := r.typ.Scale.Codec.Normalize(scale, false)
	if err != nil {
		panic("apiserver: a Scale does not decode: " + err.Error()) // unreachable: scaleOf made it
	}
	return normal
}

// shownJSON returns the document that a JSON Patch of the request is applied to.
func (r *request) shownJSON(old *version) []byte {
	if r.isScale() {
		return r.typ.Scale.Codec.Append(nil, r.shown(old))
	}
	return r.typ.Codec.PatchDocument(old.stored.JSON(), old.object)
}

// owned is what a request other than an apply has made of an object, its
// manager the owner of what it changed.
func (r *request) owned(obj map[string]any, old *version, o *writeOptions) map[string]any {
	var live map[string]any
	if old != nil {
		live = r.shown(old)
	}
	return r.tracked().Update(live, obj, r.fieldOptions(o))
}

// placed turns what the request's path takes into the object to store: itself,
// or the old one with what a Scale says.
func (r *request) placed(body map[string]any, old *version) (map[string]any, error) {
	if !r.isScale() {
		return body, nil
	}
	replicas, _ := object.Int(body, "spec", "replicas")
	if errs := validation.NonNegative(replicas, validation.NewPath("spec", "replicas")); len(errs) > 0 && !r.typ.Scale.Checked {
		kind := status.GroupKind{Group: r.sub.Kind.Group, Kind: r.sub.Kind.Kind}
		return nil, status.Invalid(kind, r.Name, errs)
	}
	obj := object.Copy(old.object)
	meta := object.Meta(obj)
	if version := object.String(body, "metadata", "resourceVersion"); version != "" {
		meta["resourceVersion"] = version
	}
	object.Set(obj, replicas, r.typ.Scale.Spec...)
	managed, err := r.surface.ownershipOf(r.typ).scale.ToParent(object.List(meta, "managedFields"), object.List(body, "metadata", "managedFields"))
	if err != nil {
		return nil, err
	}
	delete(meta, "managedFields")
	if len(managed) > 0 {
		meta["managedFields"] = managed
	}
	return obj, nil
}

// checkScale refuses to show a Scale of an object that lacks what there has to
// be.
func (r *request) checkScale(obj map[string]any) error {
	if missing := r.typ.Scale.Missing; missing != "" {
		if _, ok := object.Int(obj, r.typ.Scale.Spec...); !ok {
			return status.Internal(missing)
		}
	}
	return nil
}

// scaleJSON is an object as a Scale, encoded.
func (r *request) scaleJSON(obj map[string]any) []byte {
	return r.typ.Scale.Codec.Append(nil, r.scaleOf(obj))
}

// scaleOf is an object as a Scale.
func (r *request) scaleOf(obj map[string]any) map[string]any {
	meta := map[string]any{}
	for _, name := range []string{"name", "namespace", "uid", "resourceVersion", "creationTimestamp"} {
		object.Keep(meta, object.Meta(obj), name)
	}
	scale := map[string]any{
		"kind": r.sub.Kind.Kind, "apiVersion": r.sub.Kind.GroupVersion.String(), "metadata": meta,
		"spec": map[string]any{}, "status": map[string]any{},
	}
	if n, ok := object.Int(obj, r.typ.Scale.Spec...); ok {
		object.Set(scale, n, "spec", "replicas")
	}
	if n, ok := object.Int(obj, r.typ.Scale.Status...); ok {
		object.Set(scale, n, "status", "replicas")
	}
	if text := r.typ.Scale.Selector(obj); text != "" {
		object.Set(scale, text, "status", "selector")
	}
	return scale
}
