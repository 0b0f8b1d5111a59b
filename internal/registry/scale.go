package registry

import (
	"fmt"
	"math"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/internal/validation"
)

// The scale subresource shows an object as a Scale, whatever its type, and takes
// the number of replicas from one.
//
// See https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/horizontal-pod-autoscaler-v1/.

// viewOrNil is view for an object that may be missing: nil.
func (op *operation) viewOrNil(current *storage.Decoded) object.View {
	if current == nil {
		return object.View{}
	}
	return op.view(current)
}

// view returns what the request's path shows of an object: the object, or its
// Scale.
func (op *operation) view(current *storage.Decoded) object.View {
	if !op.isScale() {
		return current.View()
	}
	scale := newScale(op.Type, op.sub, current.View())
	if spec := object.Map(scale, "spec"); op.Type.Scale.CustomPath != "" && spec["replicas"] == nil {
		spec["replicas"] = int64(noReplicas)
	}
	managed, err := op.Surface.ManagersOf(op.Type).Scale.ToSubresource(current.View().At("metadata", "managedFields").SharedItems())
	if err == nil && len(managed) > 0 {
		object.Set(scale, managed, "metadata", "managedFields")
	}
	normal, _, err := op.Type.Scale.Codec.Normalize(scale, false)
	if err != nil {
		panic("registry: a Scale does not decode: " + err.Error()) // unreachable: newScale made it
	}
	return object.ViewOf(normal)
}

// viewJSON returns the document that a JSON Patch of the request is applied to.
func (op *operation) viewJSON(current *storage.Decoded) []byte {
	if op.isScale() {
		return op.Type.Scale.Codec.Append(nil, op.view(current).SharedMembers())
	}
	return op.Type.Codec.PatchDocument(current.Stored.JSON(), current.View().SharedMembers())
}

// mergeView turns what the request's path takes into the object to store: a Scale into
// the current object with its replicas.
func (op *operation) mergeView(c *candidate, current *storage.Decoded) error {
	if !op.isScale() {
		return nil
	}
	scale := c.object
	replicas, _ := object.Int(scale, "spec", "replicas")
	if err := op.checkScale(object.Map(scale, "metadata"), replicas, current); err != nil {
		return err
	}
	edit := current.Object().Edit()
	if version := object.String(scale, "metadata", "resourceVersion"); version != "" {
		edit.Set(version, "metadata", "resourceVersion")
	}
	for i, name := range op.Type.Scale.Spec[:len(op.Type.Scale.Spec)-1] { // what is not null is an object
		if parent := current.View().At(op.Type.Scale.Spec[:i]...); parent.Has(name) && parent.IsNil(name) {
			return status.Unclassified(fmt.Sprintf("value cannot be set because .%s is not a map[string]interface{}", strings.Join(op.Type.Scale.Spec[:i+1], ".")))
		}
	}
	edit.Set(replicas, op.Type.Scale.Spec...)
	managed, err := op.Surface.ManagersOf(op.Type).Scale.ToParent(current.View().At("metadata", "managedFields").SharedItems(), object.List(scale, "metadata", "managedFields"))
	if err != nil {
		return err
	}
	edit.Delete("metadata", "managedFields")
	if len(managed) > 0 {
		edit.Set(managed, "metadata", "managedFields")
	}
	c.object, c.unpruned = edit.Map(), op.Type.WithoutUnknown != nil
	return nil
}

// noReplicas is the number of replicas that a write sees in the Scale of a custom
// resource that has none.
const noReplicas = math.MinInt32

// scaleResource names the scale subresource in errors.
func (r *Request) scaleResource() status.GroupResource {
	return status.GroupResource{Group: r.Type.Group, Resource: r.Type.Name + "/scale"}
}

// scaleError returns the error of reading a Scale in a release. err is that of reading the
// object.
func (r *Request) scaleError(err error, in *release.Release) error {
	if in.Has(behavior.ScaleReadErrors) || r.Type.Scale == nil || r.Type.Scale.CustomPath != "" || r.Type.Name == "statefulsets" {
		return err
	}
	missing := r.scaleResource()
	if r.Type.Group == "" {
		missing.Group = "autoscaling"
	}
	return status.NotFound(missing, r.Name)
}

// checkScale fails for a Scale that the object cannot have. meta and replicas are those
// of the Scale.
func (op *operation) checkScale(meta map[string]any, replicas int64, current *storage.Decoded) error {
	if path := op.Type.Scale.CustomPath; path != "" {
		if replicas == noReplicas {
			return status.BadRequest(fmt.Sprintf("the spec replicas field %q cannot be empty", path))
		}
		return nil
	}
	errs := validation.ObjectMeta(meta, true, validation.SubdomainName, metadataPath)
	errs = append(errs, op.validateFinalizerNames(meta)...)
	for _, e := range errs {
		if !strings.HasPrefix(e.Field, "metadata.managedFields") {
			e.Until(behavior.ScaleMetadata) // the rest of the metadata is dropped
		}
	}
	errs = append(errs, validation.NonNegative(replicas, validation.NewPath("spec", "replicas"))...)
	if errs = op.inWordsOfRelease(errs); len(errs) > 0 {
		return status.Invalid(status.GroupKind{Group: op.sub.Kind.Group, Kind: op.sub.Kind.Kind}, op.Name, errs)
	}
	if is, uid := current.Stored.UID, object.String(meta, "uid"); uid != "" && uid != is {
		return status.Conflict(op.scaleResource(), op.Name, status.PreconditionText("UID", uid, is))
	}
	return nil
}

// Scale returns the Scale of an object of type t that is read. It fails for an object
// without the number of replicas where t requires one.
func Scale(t *resource.Type, obj object.View) (map[string]any, error) {
	if err := checkScaleFields(t, obj); err != nil {
		return nil, err
	}
	if path := t.Scale.CustomPath; path != "" {
		if _, ok := obj.Int(t.Scale.Spec...); !ok {
			return nil, status.Internal(fmt.Sprintf("the spec replicas field %q does not exist", path))
		}
	}
	return newScale(t, t.Subresource("scale"), obj), nil
}

// WrittenScale returns the Scale of an object of type t that was written.
func WrittenScale(t *resource.Type, obj object.View) (map[string]any, error) {
	if err := checkScaleFields(t, obj); err != nil {
		return nil, status.BadRequest(err.Error())
	}
	return newScale(t, t.Subresource("scale"), obj), nil
}

func checkScaleFields(t *resource.Type, obj object.View) error {
	if t.Scale.CheckFields == nil {
		return nil
	}
	if err := t.Scale.CheckFields(obj); err != nil {
		return status.Unclassified(err.Error())
	}
	return nil
}

// newScale returns the Scale of an object.
func newScale(t *resource.Type, sub *resource.Subresource, obj object.View) map[string]any {
	meta := map[string]any{}
	for _, name := range []string{"name", "namespace", "uid", "resourceVersion", "creationTimestamp"} {
		object.Keep(meta, obj.At("metadata"), name)
	}
	scale := map[string]any{
		"kind": sub.Kind.Kind, "apiVersion": sub.Kind.GroupVersion.String(), "metadata": meta,
		"spec": map[string]any{}, "status": map[string]any{},
	}
	if n, ok := obj.Int(t.Scale.Spec...); ok {
		object.Set(scale, int64(int32(n)), "spec", "replicas") // the fields of a Scale have 32 bits
	}
	if n, ok := obj.Int(t.Scale.Status...); ok {
		object.Set(scale, int64(int32(n)), "status", "replicas")
	}
	if text := t.Scale.Selector(obj); text != "" {
		object.Set(scale, text, "status", "selector")
	}
	return scale
}
