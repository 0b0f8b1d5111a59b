package controller

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/authz"
	"github.com/kubefake/kubefake/internal/fault"
	"github.com/kubefake/kubefake/internal/journal"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/patch"
	"github.com/kubefake/kubefake/internal/registry"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/route"
	"github.com/kubefake/kubefake/internal/selector"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/storage"
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

func (o *DeleteOptions) options() *registry.DeleteOptions {
	out := &registry.DeleteOptions{GracePeriodSeconds: o.GracePeriod}
	if o.UID != "" {
		out.UID = &o.UID
	}
	if o.ResourceVersion != "" {
		out.Version = &o.ResourceVersion
	}
	if o.Propagation != "" {
		out.PropagationPolicy = &o.Propagation
	}
	return out
}

// Get reads the newest version of an object from the store, not from a cache.
func (c *Client) Get(res Resource, namespace, name string) (*Object, error) {
	r, err := c.request("get", res, namespace, name, "")
	if err != nil {
		return nil, err
	}
	result, err := c.do(r, func(ctx context.Context) (registry.Result, error) {
		stored, _, err := c.runtime.registry.Get(ctx, r.Request, "")
		return registry.Result{Object: stored}, err
	})
	return c.object(r, result, err)
}

// Scale reads the scale subresource of an object from the store, in generic form. It
// fails with NotFound if there is none.
func (c *Client) Scale(res Resource, namespace, name string) (map[string]any, error) {
	r, err := c.request("get", res, namespace, name, "scale")
	if err != nil {
		return nil, err
	}
	if r.Type.Subresource("scale") == nil {
		return nil, status.NoResource()
	}
	result, err := c.do(r, func(ctx context.Context) (registry.Result, error) {
		stored, _, err := c.runtime.registry.Get(ctx, r.Request, "")
		return registry.Result{Object: stored}, err
	})
	if err != nil {
		return nil, err
	}
	return registry.Scale(r.Type, result.Object.Decode(r.Type))
}

// List reads the newest versions of the objects of a namespace, or of all if it is
// "", from the store.
func (c *Client) List(res Resource, namespace string, labels selector.Labels) ([]*Object, error) {
	r, err := c.request("list", res, namespace, "", "")
	if err != nil {
		return nil, err
	}
	var out []*Object
	_, err = c.do(r, func(ctx context.Context) (registry.Result, error) {
		selection, err := r.Select(registry.Selector{Labels: labels})
		if err != nil {
			return registry.Result{}, err
		}
		page, err := c.runtime.registry.List(ctx, r.Type, storage.Query{Selection: selection})
		if err != nil {
			return registry.Result{}, err
		}
		for stored := range page.Items {
			out = append(out, &Object{Object: stored, Type: r.Type})
		}
		return registry.Result{}, nil
	})
	return out, err
}

// Create creates obj, which belongs to the registry from the call on. Its kind and
// apiVersion are those of the resource.
func (c *Client) Create(res Resource, namespace string, obj map[string]any) (*Object, error) {
	r, err := c.request("create", res, namespace, "", "")
	if err != nil {
		return nil, err
	}
	setKind(obj, r.Type.GroupVersion, r.Type.Kind)
	result, err := c.do(r, func(ctx context.Context) (registry.Result, error) {
		return c.runtime.registry.Create(ctx, r.Request, registry.Body{Object: obj}, &registry.WriteOptions{})
	})
	return c.object(r, result, err)
}

// CreateFor creates a subresource of an object, such as a binding, an eviction or a
// token. It returns the answer, in generic form, if there is one.
func (c *Client) CreateFor(res Resource, namespace, name, subresource string, obj map[string]any) (map[string]any, error) {
	r, err := c.request("create", res, namespace, name, subresource)
	if err != nil {
		return nil, err
	}
	if sub := r.Type.Subresource(subresource); sub != nil {
		setKind(obj, sub.Kind.GroupVersion, sub.Kind.Kind)
	}
	result, err := c.do(r, func(ctx context.Context) (registry.Result, error) {
		return c.runtime.registry.Create(ctx, r.Request, registry.Body{Object: obj}, &registry.WriteOptions{})
	})
	if err != nil || result.Answer == nil {
		return nil, err
	}
	return result.Answer.Object, nil
}

// Update replaces an object, or the part of it that a subresource shows, by obj,
// which belongs to the registry from the call on. It fails with a conflict if obj has
// a resourceVersion that is not the newest.
func (c *Client) Update(res Resource, subresource string, obj map[string]any) (*Object, error) {
	meta := object.Meta(obj)
	r, err := c.request("update", res, object.String(meta, "namespace"), object.String(meta, "name"), subresource)
	if err != nil {
		return nil, err
	}
	result, err := c.do(r, func(ctx context.Context) (registry.Result, error) {
		return c.runtime.registry.Update(ctx, r.Request, registry.Body{Object: obj}, &registry.WriteOptions{})
	})
	return c.object(r, result, err)
}

// UpdateStatus is Update of the status subresource.
func (c *Client) UpdateStatus(res Resource, obj map[string]any) (*Object, error) {
	return c.Update(res, "status", obj)
}

// WriteStatus replaces the status of an object. After a failure it is repeated with the
// newest version, as often as retries says.
func (c *Client) WriteStatus(o *Object, status map[string]any, retries int) (*Object, error) {
	for ; ; retries-- {
		obj := object.ShallowCopy(o.Generic())
		delete(obj, "status")
		obj = object.Copy(obj)
		obj["status"] = object.Copy(status)
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
	result, err := c.do(r, func(ctx context.Context) (registry.Result, error) {
		return c.runtime.registry.Patch(ctx, r.Request, registry.Patch{Type: typ, Data: data}, &registry.WriteOptions{})
	})
	return c.object(r, result, err)
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
	_, err = c.do(r, func(ctx context.Context) (registry.Result, error) {
		return c.runtime.registry.Delete(ctx, r.Request, o.options())
	})
	return err
}

// DeleteCollection deletes the objects of a namespace, or begins their deletion.
func (c *Client) DeleteCollection(res Resource, namespace string, o DeleteOptions) error {
	r, err := c.request("deletecollection", res, namespace, "", "")
	if err != nil {
		return err
	}
	_, err = c.do(r, func(ctx context.Context) (registry.Result, error) {
		_, rev, err := c.runtime.registry.DeleteCollection(ctx, r.Request, storage.Query{Selection: storage.Selection{Namespace: namespace}}, o.options())
		return registry.Result{Revision: rev}, err
	})
	return err
}

// A request is a request of a Client with its route.
type request struct {
	registry.Request
	verb string
}

// request returns a request. It fails with NotFound, as kube-apiserver does, for a
// resource that the server does not serve: that of a definition that is gone.
func (c *Client) request(verb string, res Resource, namespace, name, subresource string) (*request, error) {
	t := c.runtime.lookup(res)
	if t == nil {
		return nil, status.NoResource()
	}
	return &request{
		registry.Request{
			Type: t, Subresource: subresource, Namespace: namespace, Name: name,
			User: c.user, UserAgent: c.agent,
		},
		verb,
	}, nil
}

// attributes returns the attributes that authorize the request.
func (r *request) attributes() authz.Attributes {
	return authz.Attributes{
		Verb: r.verb, IsResource: true,
		Group: r.Type.Group, Resource: r.Type.Name, Subresource: r.Subresource, Namespace: r.Namespace, Name: r.Name,
	}
}

// path returns the path of the URL that an HTTP client uses.
func (r *request) path() string {
	var b strings.Builder
	if r.Type.Group == "" {
		b.WriteString("/api/")
	} else {
		b.WriteString("/apis/")
	}
	b.WriteString(r.Type.GroupVersion.String())
	if r.Type.Namespaced && r.Namespace != "" {
		b.WriteString("/namespaces/")
		b.WriteString(r.Namespace)
	}
	for _, part := range []string{r.Type.Name, r.Name, r.Subresource} {
		if part != "" {
			b.WriteByte('/')
			b.WriteString(part)
		}
	}
	return b.String()
}

// methods are the HTTP methods of the verbs.
var methods = map[string]string{
	"get": http.MethodGet, "list": http.MethodGet, "create": http.MethodPost, "update": http.MethodPut,
	"patch": http.MethodPatch, "delete": http.MethodDelete, "deletecollection": http.MethodDelete,
}

// do authorizes a request, makes it through the faults, and records it.
func (c *Client) do(r *request, f func(ctx context.Context) (registry.Result, error)) (result registry.Result, err error) {
	g := c.runtime.registry
	entry := journal.Request{Time: c.runtime.Now(), Method: methods[r.verb], URI: r.path(), User: c.user.Name, UserAgent: c.agent}
	came := g.Journal().Order()
	defer func() {
		entry.Code, entry.Message = outcome(r.verb, err)
		entry.Revision = int64(result.Revision)
		entry.Duration = c.runtime.Now().Sub(entry.Time)
		g.Journal().RecordRequest(entry, came)
	}()
	if !c.unlimited {
		if err := g.Authorizer().Check(c.user, r.attributes()); err != nil {
			return result, err
		}
	}
	call := func() error {
		result, err = f(c.runtime.ctx)
		return err
	}
	if !c.runtime.faults.Active() {
		return result, call()
	}
	c.runtime.calling.Store(true)
	defer c.runtime.calling.Store(false)
	err = c.runtime.faults.Call(c.runtime.ctx, c.describe(r, entry.URI), call)
	return result, err
}

// describe returns the request as faults match it.
func (c *Client) describe(r *request, path string) *fault.Request {
	at := r.attributes()
	return &fault.Request{
		HTTP: (&http.Request{Method: methods[r.verb], URL: &url.URL{Path: path}, Header: http.Header{"User-Agent": {c.agent}}}).WithContext(c.runtime.ctx),
		Route: route.Route{
			Path: path, Verb: r.verb, IsResource: true, Group: at.Group, Version: r.Type.Version,
			Namespace: at.Namespace, Resource: at.Resource, Name: at.Name, Subresource: at.Subresource,
		},
	}
}

// outcome returns the status code and the message of a response.
func outcome(verb string, err error) (code int, message string) {
	var st *status.Status
	switch {
	case err == nil && verb == "create":
		return http.StatusCreated, ""
	case err == nil:
		return http.StatusOK, ""
	case errors.As(err, &st):
		return st.Code, st.Message
	}
	return 0, err.Error()
}

// object returns the stored object of a result.
func (c *Client) object(r *request, result registry.Result, err error) (*Object, error) {
	if err != nil || result.Object == nil {
		return nil, err
	}
	return &Object{Object: result.Object, Type: r.Type}, nil
}

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
	setKind(obj, r.Type.GroupVersion, r.Type.Kind)
	data, err := json.Marshal(obj)
	if err != nil {
		return nil, err
	}
	o := &registry.WriteOptions{Force: true}
	o.FieldManager = manager
	result, err := c.do(r, func(ctx context.Context) (registry.Result, error) {
		return c.runtime.registry.Patch(ctx, r.Request, registry.Patch{Type: patch.ApplyType, Data: data}, o)
	})
	return c.object(r, result, err)
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
