package registry

import (
	"context"
	"fmt"
	"slices"

	"github.com/kubefake/kubefake/internal/admission"
	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/authz"
	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/serving"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/internal/usage"
	"github.com/kubefake/kubefake/internal/validation"
	"github.com/kubefake/kubefake/mvcc"
)

// A Request names a resource, or one object of it, and the user who asks. It is
// a plain value: package server fills it from a URL, callers in Go fill it
// directly. Type and User are required.
type Request struct {
	Type *resource.Type

	// Subresource is "status", "scale" or the like, "" for the object itself.
	Subresource string

	// Namespace is "" for cluster-scoped types, and in lists for all namespaces.
	// A request for a Namespace may carry the name of the Namespace here, as its
	// URL does.
	Namespace string

	// Name is "" in creates and for collections.
	Name string

	User *authn.User

	// UserAgent names the field manager of a write whose options name none.
	UserAgent string

	// Surface is what the API server that was asked serves. Type is of it. Nil is that of the
	// first API server.
	Surface *serving.Surface

	// Store has the watch caches that Get reads; nil has those of the first API server.
	Store *storage.Store

	// Warnings receives the warnings for the client. A nil one drops them.
	Warnings Warnings

	// Annotate is called with the annotations for the audit log. Nil is not called.
	Annotate func(admission.Annotation)

	// Decoded is called with the object of a body, with its defaults, before the write.
	// It must not change or keep the object. Nil is not called.
	Decoded func(obj map[string]any, c resource.Codec)

	// Needs receives the permissions that the request needs beside its own. A nil one drops them.
	Needs Needs

	// SkipWebhooks leaves out webhooks and admission policies. kube-apiserver's
	// own controllers and allocators write without them.
	SkipWebhooks bool

	// Follows says that the write follows from another one. None follows from it: see [Follower].
	Follows bool
}

// Needs receives the permissions that a call needs, and what would do instead, nil for nothing.
type Needs interface {
	Need(at authz.Attributes, reason usage.Reason, instead *authz.Attributes)
}

// Warnings receives the warnings of a call, in order and with repetitions.
type Warnings interface {
	Warn(text string)
}

// WriteOptions are the query parameters of a write.
type WriteOptions struct {
	validation.WriteOptions
	// Force lets an apply take over fields that other managers own. Other
	// writes ignore it.
	Force bool
}

// strict reports whether unknown and duplicate fields are reported.
func (o *WriteOptions) strict() bool { return o.FieldValidation != "Ignore" }

// dryRun reports whether the write is answered and not made.
func (o *WriteOptions) dryRun() bool { return slices.Contains(o.DryRun, "All") }

// object returns the options as admission sees them: in the given kind, whatever
// the request's own was.
func (o *WriteOptions) object(kind string) map[string]any {
	obj := map[string]any{"kind": kind, "apiVersion": "meta.k8s.io/v1"}
	for name, v := range map[string]string{"fieldManager": o.FieldManager, "fieldValidation": o.FieldValidation} {
		if v != "" {
			obj[name] = v
		}
	}
	if len(o.DryRun) > 0 {
		obj["dryRun"] = object.FromStrings(o.DryRun)
	}
	return obj
}

// A Result is the outcome of a write. At most one of Object and Answer is set;
// with neither the write succeeded without an object to show.
type Result struct {
	// Object is the object as stored, or as a dry run would have stored it. A
	// deleted object is in its last form.
	Object *storage.Object

	// Answer is an object that is made for the answer and not stored, such as a
	// TokenRequest or a SubjectAccessReview.
	Answer *Answer

	// Created reports that the write made a new object, Deleted that it removed
	// one. A deletion that waits for finalizers or a grace period is not Deleted.
	Created, Deleted bool

	// StatusIgnored reports that a write to the object itself would have changed its
	// status, which only the subresource changes. A PUT without a resourceVersion is not
	// taken for one: it may have been made from an older object.
	StatusIgnored bool

	// Revision is that of the last commit, 0 if nothing was stored. It is set
	// beside an error, too.
	Revision mvcc.Revision
}

// An Answer is an object in generic form and its codec.
type Answer struct {
	Object map[string]any
	Codec  resource.Codec
	Type   string // the name of its Go type, as [resource.Type.InternalType] returns it
}

// An operation is one call of the registry while it runs. What its steps find out about the object
// that it writes is in a [candidate].
type operation struct {
	*Registry
	Request
	ctx    context.Context
	verb   string                // for authorization and the journal
	sub    *resource.Subresource // nil for the object itself
	target writeTarget

	options *WriteOptions // nil for deletions and connections
	body    requestBody
	applies bool // the body is an applied configuration

	managers *serving.Managers // of Type; nil before managersOfType
	revision mvcc.Revision     // of the last commit; 0 before
}

// operation begins a call. The Surface is read once: a call sees the same types
// to its end.
func (g *Registry) operation(ctx context.Context, verb string, r Request) *operation {
	if r.Surface == nil {
		r.Surface = g.follower.Surface()
	}
	op := &operation{Registry: g, Request: r, ctx: ctx, verb: verb}
	if r.Subresource != "" {
		op.sub = r.Type.Subresource(r.Subresource)
		op.target = targetOf(r.Type, r.Subresource)
	}
	return op
}

// write begins a call that writes a body.
func (g *Registry) write(ctx context.Context, verb string, r Request, body Body, o *WriteOptions) *operation {
	op := g.operation(ctx, verb, r)
	op.body, op.options = requestBody{Body: body}, o
	return op
}

// dryRun reports whether the write of a body is answered and not made.
func (op *operation) dryRun() bool { return op.options.dryRun() }

// api returns the API that the request is made to.
func (op *operation) api() *serving.API { return op.Surface.API() }

// internal begins a write that no client asked for: by the server on its own
// account, or by a test in Go. It does not call webhooks and policies. The user is
// an administrator unless r names one.
func (g *Registry) internal(verb string, r Request) *operation {
	if r.User == nil {
		r.User = authn.Administrator()
	}
	r.SkipWebhooks = true
	return g.write(g.lifetime, verb, r, Body{}, &WriteOptions{})
}

// internal begins a write that the operation causes.
func (op *operation) internal(verb string, r Request) *operation {
	r.Surface = op.Surface
	return op.Registry.internal(verb, r)
}

// ended returns the error of the context if the request has ended: its client is
// gone, its time is up, or the server is closed. The server's own writes do not end.
func (op *operation) ended() error {
	if op.ctx == op.lifetime {
		return nil
	}
	return op.ctx.Err()
}

// result returns the Result of a call that stored o, or that failed.
func (op *operation) result(o *storage.Object, err error) (Result, error) {
	return Result{Object: o, Revision: op.revision}, err
}

// annotate adds an annotation for the audit log.
func (op *operation) annotate(key, value string) {
	if op.Annotate != nil {
		op.Annotate(admission.Annotation{Key: key, Value: value})
	}
}

func (op *operation) warn(texts ...string) {
	if op.Warnings == nil {
		return
	}
	for _, text := range validation.Warnings(op.api().Release, texts) {
		op.Warnings.Warn(text)
	}
}

// A writeTarget is the part of an object that a write may change.
type writeTarget int

const (
	targetObject      writeTarget = iota // everything but what has a subresource of its own
	targetStatus                         // the status subresource
	targetFinalizers                     // a Namespace's finalize subresource
	targetScale                          // the scale subresource
	targetPart                           // another subresource in the SubresourceStrategies of the type
	targetUnsupported                    // a subresource that objects are not written through
)

// targetOf returns the target of writes to a subresource.
func targetOf(t *resource.Type, subresource string) writeTarget {
	if t.Virtual() {
		return targetUnsupported
	}
	_, isPart := t.SubresourceStrategies[subresource]
	switch {
	case subresource == "status":
		return targetStatus
	case isPart:
		return targetPart
	case subresource == "scale" && t.Scale != nil:
		return targetScale
	case subresource == "finalize" && t.Name == "namespaces" && t.Group == "":
		return targetFinalizers
	}
	return targetUnsupported
}

// notImplemented is the error for a subresource that the server does not serve.
func (r *Request) notImplemented(verb string) error {
	return status.NotImplemented(fmt.Sprintf("%s %s/%s", verb, r.groupResource(), r.Subresource))
}

func (op *operation) isScale() bool { return op.target == targetScale }

// isAction reports whether the body is an order to the server, such as a
// Binding, and not a part of the object.
func (op *operation) isAction() bool { return op.sub != nil && op.verb == "create" }

// bodyCodec returns the codec of the request's body.
func (op *operation) bodyCodec() resource.Codec {
	switch {
	case op.isScale():
		return op.Type.Scale.Codec
	case op.isAction():
		return resource.BuiltinCodecIn(op.api().Release.Minor(), op.sub.Kind)
	}
	return op.Type.Codec
}

func (r *Request) groupResource() status.GroupResource {
	return status.GroupResource{Group: r.Type.Group, Resource: r.Type.Name}
}

// groupKind returns the kind of the objects in the group that they are stored
// in, as kube-apiserver names it in validation errors.
func (op *operation) groupKind() status.GroupKind {
	return status.GroupKind{Group: op.Type.Stored.Group, Kind: op.Type.Kind}
}

// groupKindOf is groupKind for the validation errors of an object.
func (op *operation) groupKindOf(obj map[string]any) status.GroupKind {
	gv, err := resource.ParseGroupVersion(object.String(obj, "apiVersion"))
	if err != nil || !op.isForeign(obj) {
		return op.groupKind()
	}
	return status.GroupKind{Group: gv.Group, Kind: object.String(obj, "kind")}
}

// isForeign reports whether an object is of another kind or version than the type, which its
// validation rejects.
func (op *operation) isForeign(obj map[string]any) bool {
	t := op.Type
	return op.validatesType() && (object.String(obj, "kind") != t.Kind || object.String(obj, "apiVersion") != t.GroupVersion.String())
}

// validatesType reports whether the body is an object whose validation checks its kind.
func (op *operation) validatesType() bool {
	return !op.Type.Virtual() && op.Type.ValidatesType && !op.isScale()
}

// objectNamespace returns the namespace of the object: "" for a cluster-scoped
// type, whatever the request says.
func (r *Request) objectNamespace() string {
	if !r.Type.Namespaced {
		return ""
	}
	return r.Namespace
}

// key returns the store's key of the object.
func (r *Request) key() string { return r.Type.Key(r.objectNamespace(), r.Name) }

// now returns the time in the form that metadata has it.
func (g *Registry) now() string { return clock.Timestamp(g.clock.Now()) }
