package controller

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/patch"
	"github.com/kubefake/kubefake/internal/registry"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/selector"
	"github.com/kubefake/kubefake/internal/status"
)

// A Client reads and writes as one user. Its requests are authorized, admitted, hit
// by faults and recorded in the story as those of an HTTP client are. Errors are of
// type *status.Status where kube-apiserver answers with one.
type Client struct {
	runtime   *Runtime
	user      *authn.User
	agent     string
	unlimited bool // RBAC does not limit it
}

// DeleteOptions are the options of a deletion.
type DeleteOptions struct {
	// UID is a precondition, unless it is "".
	UID string
	// ResourceVersion is a precondition, unless it is "".
	ResourceVersion string
	// Propagation is Orphan, Background or Foreground; "" is the default of the
	// resource.
	Propagation string
	// GracePeriod is the grace period in seconds; nil is that of the object.
	GracePeriod *int64
}

// Get reads the newest version of an object from the store, not from a cache.
func (c *Client) Get(res Resource, namespace, name string) (*Object, error) {
	r, err := c.request("get", res, namespace, name, "")
	if err != nil {
		return nil, err
	}
	return c.do(r).object()
}

// Scale reads the scale subresource of an object from the store, in generic form. It
// fails with NotFound if there is none.
func (c *Client) Scale(res Resource, namespace, name string) (map[string]any, error) {
	r, err := c.request("get", res, namespace, name, "scale")
	if err != nil {
		return nil, err
	}
	if r.typ.Subresource("scale") == nil {
		return nil, status.NoResource()
	}
	o, err := c.do(r).object()
	if err != nil {
		return nil, err
	}
	return registry.Scale(o.Type, o.View())
}

// List reads the newest versions of the objects of a namespace, or of all if it is
// "", from the store.
func (c *Client) List(res Resource, namespace string, labels selector.Labels) ([]*Object, error) {
	r, err := c.request("list", res, namespace, "", "")
	if err != nil {
		return nil, err
	}
	r.labels = labels
	resp := c.do(r)
	return resp.objects, resp.err
}

// Create creates obj, and sets its kind and apiVersion to those of the resource.
func (c *Client) Create(res Resource, namespace string, obj map[string]any) (*Object, error) {
	r, err := c.request("create", res, namespace, "", "")
	if err != nil {
		return nil, err
	}
	setKind(obj, r.typ.GroupVersion, r.typ.Kind)
	r.body = obj
	return c.do(r).object()
}

// CreateFor creates a subresource of an object, such as a binding, an eviction or a
// token. It returns the answer, in generic form, if there is one.
func (c *Client) CreateFor(res Resource, namespace, name, subresource string, obj map[string]any) (map[string]any, error) {
	r, err := c.request("create", res, namespace, name, subresource)
	if err != nil {
		return nil, err
	}
	if sub := r.typ.Subresource(subresource); sub != nil {
		setKind(obj, sub.Kind.GroupVersion, sub.Kind.Kind)
	}
	r.body = obj
	resp := c.do(r)
	return resp.answer, resp.err
}

// Update replaces an object, or the part of it that a subresource shows, by obj, which may
// share memory with objects of informers. It fails with a conflict if obj has a
// resourceVersion that is not the newest.
func (c *Client) Update(res Resource, subresource string, obj map[string]any) (*Object, error) {
	meta := object.Meta(obj)
	r, err := c.request("update", res, object.String(meta, "namespace"), object.String(meta, "name"), subresource)
	if err != nil {
		return nil, err
	}
	r.body = obj
	return c.do(r).object()
}

// UpdateStatus is Update of the status subresource.
func (c *Client) UpdateStatus(res Resource, obj map[string]any) (*Object, error) {
	// kube-apiserver takes no managed fields from a status. To decode them takes long.
	obj = object.ShallowCopy(obj)
	meta := object.ShallowCopy(object.Meta(obj))
	delete(meta, "managedFields")
	obj["metadata"] = meta
	return c.Update(res, "status", obj)
}

// WriteStatus replaces the status of an object. After a failure it is repeated with the
// newest version, as often as retries says.
func (c *Client) WriteStatus(o *Object, status map[string]any, retries int) (*Object, error) {
	for ; ; retries-- {
		obj := o.View().ShallowCopy()
		obj["status"] = status
		updated, err := c.UpdateStatus(o.Resource(), obj)
		if err == nil || retries <= 0 {
			return updated, err
		}
		if o, err = c.Get(o.Resource(), o.Namespace, o.Name); err != nil {
			return nil, err
		}
	}
}

// Patch changes an object, or the part of it that a subresource shows. typ is one of
// the constants of package patch.
func (c *Client) Patch(res Resource, namespace, name, subresource, typ string, data []byte) (*Object, error) {
	r, err := c.request("patch", res, namespace, name, subresource)
	if err != nil {
		return nil, err
	}
	r.patch, r.patchType = data, typ
	return c.do(r).object()
}

// StrategicPatch is Patch with a strategic merge patch.
func (c *Client) StrategicPatch(res Resource, namespace, name, subresource string, change map[string]any) (*Object, error) {
	return c.patchObject(res, namespace, name, subresource, patch.StrategicType, change)
}

// MergePatch is Patch with a JSON merge patch.
func (c *Client) MergePatch(res Resource, namespace, name, subresource string, change map[string]any) (*Object, error) {
	return c.patchObject(res, namespace, name, subresource, patch.MergeType, change)
}

func (c *Client) patchObject(res Resource, namespace, name, subresource, typ string, change map[string]any) (*Object, error) {
	data, err := json.Marshal(change)
	if err != nil {
		return nil, err
	}
	return c.Patch(res, namespace, name, subresource, typ, data)
}

// PatchPodStatus changes the status of a Pod by a strategic merge patch. It fails with a
// conflict if the Pod is another one of its name.
func (c *Client) PatchPodStatus(pod *Object, status map[string]any) error {
	_, err := c.StrategicPatch(Pods, pod.Namespace, pod.Name, "status", map[string]any{"metadata": map[string]any{"uid": pod.UID}, "status": status})
	return err
}

// Delete deletes an object, or begins its deletion.
func (c *Client) Delete(res Resource, namespace, name string, o DeleteOptions) error {
	r, err := c.request("delete", res, namespace, name, "")
	if err != nil {
		return err
	}
	r.deletion = o
	return c.do(r).err
}

// DeleteCollection deletes the objects of a namespace, or begins their deletion.
func (c *Client) DeleteCollection(res Resource, namespace string, o DeleteOptions) error {
	r, err := c.request("deletecollection", res, namespace, "", "")
	if err != nil {
		return err
	}
	r.deletion = o
	return c.do(r).err
}

// request returns a request. It fails with NotFound, as kube-apiserver does, for a
// resource that the server does not serve: that of a definition that is gone.
func (c *Client) request(verb string, res Resource, namespace, name, subresource string) (*request, error) {
	t := c.runtime.lookup(res)
	if t == nil {
		return nil, status.NoResource()
	}
	return &request{typ: t, verb: verb, namespace: namespace, name: name, subresource: subresource}, nil
}

func (c *Client) do(r *request) response { return c.runtime.server.do(c, r) }

// setKind sets the kind and the apiVersion of obj.
func setKind(obj map[string]any, gv resource.GroupVersion, kind string) {
	obj["apiVersion"], obj["kind"] = gv.String(), kind
}

// IsNotFound reports an object that does not exist.
func IsNotFound(err error) bool { return hasReason(err, status.ReasonNotFound) }

// IsAlreadyExists reports an object whose name is taken.
func IsAlreadyExists(err error) bool { return hasReason(err, status.ReasonAlreadyExists) }

// IsConflict reports a write to an object that has changed, or that a precondition
// does not fit.
func IsConflict(err error) bool { return hasReason(err, status.ReasonConflict) }

// IsInvalid reports an object that does not pass validation.
func IsInvalid(err error) bool { return hasReason(err, status.ReasonInvalid) }

// IsTerminatingNamespace reports a creation in a namespace that is being deleted.
func IsTerminatingNamespace(err error) bool {
	var st *status.Status
	if !errors.As(err, &st) || st.Details == nil {
		return false
	}
	for _, c := range st.Details.Causes {
		if c.Reason == status.CauseNamespaceTerminating {
			return true
		}
	}
	return false
}

func hasReason(err error, reason string) bool {
	var st *status.Status
	return errors.As(err, &st) && st.Reason == reason
}

// Apply applies obj, or the part of it that a subresource shows, by server-side apply, as a
// field manager that takes over the fields of others.
func (c *Client) Apply(res Resource, subresource, manager string, obj map[string]any) (*Object, error) {
	meta := object.Meta(obj)
	r, err := c.request("patch", res, object.String(meta, "namespace"), object.String(meta, "name"), subresource)
	if err != nil {
		return nil, err
	}
	setKind(obj, r.typ.GroupVersion, r.typ.Kind)
	data, err := json.Marshal(obj)
	if err != nil {
		return nil, err
	}
	r.patch, r.patchType, r.manager = data, patch.ApplyType, manager
	return c.do(r).object()
}

// AddFinalizer adds a finalizer to an object of an informer by an update, which fails
// with a conflict if the object is not the newest version.
func (c *Client) AddFinalizer(o *Object, finalizer string) error {
	return c.setFinalizers(o, append(slices.Clone(o.Finalizers()), finalizer))
}

// RemoveFinalizer is AddFinalizer for the removal of a finalizer.
func (c *Client) RemoveFinalizer(o *Object, finalizer string) error {
	return c.setFinalizers(o, slices.DeleteFunc(slices.Clone(o.Finalizers()), func(f string) bool { return f == finalizer }))
}

func (c *Client) setFinalizers(o *Object, finalizers []string) error {
	obj := o.Copy()
	meta := object.Meta(obj)
	delete(meta, "finalizers")
	if len(finalizers) > 0 {
		meta["finalizers"] = object.FromStrings(finalizers)
	}
	_, err := c.Update(o.Resource(), "", obj)
	return err
}
