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
func (r *request) isScale() bool { return r.subresource == "scale" && r.typ.Scale != nil }

// shown is what a patch is applied to.
func (r *request) shown(old *version) []byte {
	if r.isScale() {
		return r.scaleJSON(old.object)
	}
	return old.stored.JSON()
}

// placed turns the object of a body into the one to store: itself, or the old
// one with what a Scale says.
func (r *request) placed(body map[string]any, old *version) (map[string]any, error) {
	if !r.isScale() {
		return body, nil
	}
	replicas, _ := object.Int(body, "spec", "replicas")
	if errs := validation.NonNegative(replicas, validation.NewPath("spec", "replicas")); len(errs) > 0 {
		kind := status.GroupKind{Group: r.sub.Kind.Group, Kind: r.sub.Kind.Kind}
		return nil, status.Invalid(kind, r.name, errs)
	}
	obj := object.Copy(old.object)
	object.Keep(object.Meta(obj), object.Meta(body), "resourceVersion")
	object.Set(obj, replicas, r.typ.Scale.Spec...)
	return obj, nil
}

// scaleJSON is an object as a Scale.
func (r *request) scaleJSON(obj map[string]any) []byte {
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
	return r.typ.Scale.Codec.Append(nil, scale)
}
