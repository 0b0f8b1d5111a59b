package registry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kubefake/kubefake/internal/admission"
	"github.com/kubefake/kubefake/internal/admission/dynamic"
	"github.com/kubefake/kubefake/internal/admission/plugin"
	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/authz"
	"github.com/kubefake/kubefake/internal/cel/library"
	"github.com/kubefake/kubefake/internal/fieldmanager"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/internal/usage"
	"github.com/kubefake/kubefake/internal/webhook"
	"github.com/kubefake/kubefake/internal/wire"
)

// admissionAttributes returns an operation on an object as admission sees it. obj
// is nil in a deletion, old in a creation. name is that of the object if the request has none.
func (op *operation) admissionAttributes(operation admission.Operation, name string, obj map[string]any, old object.View, options func() map[string]any, dryRun bool) *admission.Attributes {
	a := &admission.Attributes{
		Operation: operation, Type: op.Type, Codec: op.bodyCodec(), Subresource: op.Subresource,
		Namespace: op.Namespace, Name: cmp.Or(op.Name, name), Object: obj, Old: old, Options: options, DryRun: dryRun, User: op.User,
		Reader: reader{op}, Access: reader{op}, Counts: &op.counts,
	}
	if a.Namespace == "" && op.Type.Group == "" && op.Type.Name == "namespaces" {
		a.Namespace = a.Name
	}
	return a
}

// writeAttributes returns a write of a candidate that replaces old by obj. old is nothing in a
// creation.
func (op *operation) writeAttributes(c *candidate, obj map[string]any, old object.View) *admission.Attributes {
	operation, kind := admission.Update, "UpdateOptions"
	if old.IsNil() {
		operation, kind = admission.Create, "CreateOptions"
	}
	return op.admissionAttributes(operation, c.nameBeforeAdmission, obj, old, func() map[string]any { return op.options.object(kind) }, op.dryRun())
}

// mutate lets plugins, policies and webhooks change a candidate, which replaces old. old
// is nothing in a creation. Both are in the kind of the subresource.
func (op *operation) mutate(c *candidate, old object.View) error {
	if err := op.admitMutating(c, old); err != nil {
		return err
	}
	op.dedupOwnerReferences(c.meta(), " after mutating admission happens")
	return nil
}

// admitMutating is mutate before duplicate owner references are dropped.
func (op *operation) admitMutating(c *candidate, old object.View) error {
	c.nameBeforeAdmission = object.String(c.object, "metadata", "name")
	configured := op.webhooksAndPolicies()
	plugins := op.chain()
	if configured == nil && !plugins.Handles(op.Type) {
		return nil
	}
	a := op.writeAttributes(c, c.object, old)
	err := configured.Mutate(op.ctx, a, admissionEnv{reader{op}}, plugins.Mutate)
	op.report(a)
	if err != nil {
		return err
	}
	if meta, ok := a.Object["metadata"]; ok && meta == nil && old.IsNil() {
		return status.Internal("system metadata was not initialized")
	}
	if c.replaced = !object.Same(a.Object, c.object); c.replaced {
		op.repairManagedFields(object.Meta(a.Object), c.meta())
		c.object, c.stored = object.ShallowCopy(a.Object), nil
	}
	return nil
}

// repairManagedFields replaces managed fields that policies or webhooks have changed
// and that do not parse by those before.
func (op *operation) repairManagedFields(meta, before map[string]any) {
	if err := fieldmanager.Validate(object.List(meta, "managedFields")); err != nil {
		op.warn(fmt.Sprintf(".metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: %v", err))
		object.Keep(meta, object.ViewOf(before), "managedFields")
	}
}

// validate lets plugins, policies and webhooks check a candidate, which replaces old by obj, and
// then charges the quotas of the namespace. old is nothing in a creation. Both are in
// the kind of the subresource.
func (op *operation) validate(c *candidate, obj map[string]any, old object.View) error {
	a := op.writeAttributes(c, obj, old)
	if a.Name == "" {
		a.Name = object.String(obj, "metadata", "name") // a generated one
	}
	if op.Needs != nil {
		op.needOwners(a)
	}
	err := op.chain().Validate(a)
	if err == nil {
		err = op.webhooksAndPolicies().Validate(op.ctx, a, admissionEnv{reader{op}})
	}
	op.report(a)
	if err != nil {
		return err
	}
	return op.chargeQuotas(a)
}

// chain returns the plugins that the operation runs. The server's own writes have the
// default ones, so that no plugin refuses them.
func (op *operation) chain() *plugin.Chain {
	if op.SkipWebhooks {
		return plugin.Default(op.api().Release.Minor())
	}
	return op.api().Plugins
}

// admitDelete lets plugins, policies and webhooks check a deletion.
func (op *operation) admitDelete(old *storage.Object, o *DeleteOptions) error {
	configured := op.webhooksAndPolicies()
	if configured == nil && !op.chain().HandlesOperation(admission.Delete) || o.admitted {
		return nil
	}
	return op.admit(configured, op.admissionAttributes(admission.Delete, "", nil, old.Decoded(op.Type).View(), o.object, o.dryRun()))
}

// AdmitConnect lets plugins, policies and webhooks check a connection to a subresource.
// options is the object of the connection, in the kind of the subresource.
func (g *Registry) AdmitConnect(ctx context.Context, r Request, options map[string]any) error {
	op := g.operation(ctx, "connect", r)
	configured := op.webhooksAndPolicies()
	_, ok := wire.ForKind(op.sub.Kind.Group, op.sub.Kind.Version, op.sub.Kind.Kind)
	if configured == nil && !op.api().Plugins.HandlesOperation(admission.Connect) || !ok {
		return nil
	}
	codec := resource.BuiltinCodecIn(op.api().Release.Minor(), op.sub.Kind)
	normal, _, err := codec.Normalize(options, false)
	if err != nil {
		return status.BadRequest(err.Error())
	}
	a := op.admissionAttributes(admission.Connect, "", normal, object.View{}, nil, false)
	a.Codec, a.Name = codec, op.Name
	return op.admit(configured, a)
}

// admit lets plugins, policies and webhooks check a deletion or a connection.
func (op *operation) admit(configured *dynamic.Snapshot, a *admission.Attributes) error {
	env := admissionEnv{reader{op}}
	err := configured.Mutate(op.ctx, a, env, op.chain().CheckOperation)
	if err == nil {
		err = configured.Validate(op.ctx, a, env)
	}
	op.report(a)
	return err
}

// report passes on what admission has added for the client and the audit log.
func (op *operation) report(a *admission.Attributes) {
	op.warn(a.Warnings...)
	if op.Annotate == nil {
		return
	}
	for _, annotation := range a.Annotations {
		op.Annotate(annotation)
	}
}

// webhooksAndPolicies returns the webhooks and policies to call, nil if there are
// none.
func (op *operation) webhooksAndPolicies() *dynamic.Snapshot {
	if op.SkipWebhooks {
		return nil
	}
	return op.api().Policies()
}

// admissionEnv is what webhooks and policies need of the API server.
type admissionEnv struct{ reader }

var _ dynamic.Server = admissionEnv{}

// Types implements [admission.Access].
func (r reader) Types() *resource.Types { return r.op.Surface.Types }

// Type implements [dynamic.Server].
func (r reader) Type(kind resource.Kind) *resource.Type {
	if t := r.op.Surface.ForKind(kind); t != nil && !t.Virtual() {
		return t
	}
	return nil
}

// Authorizer implements [dynamic.Server].
func (e admissionEnv) Authorizer() library.Authorizer { return celAuthorizer{e.op} }

// Call implements [dynamic.Server].
func (e admissionEnv) Call(ctx context.Context, plugin string, config map[string]any, timeout time.Duration, review []byte) ([]byte, error) {
	return e.op.webhooks.Post(ctx, config, e.op.api().Plugins.Credentials(plugin), timeout, review)
}

// UID implements [dynamic.Server].
func (e admissionEnv) UID() string { return e.op.ids.UID() }

// Merge implements [dynamic.Server].
func (e admissionEnv) Merge(t *resource.Type, live, applied map[string]any) (map[string]any, error) {
	op := e.op
	if op.isScale() {
		return nil, fmt.Errorf("error applying patch: failed to convert patch object to typed object: no corresponding type for %s, Kind=%s", op.sub.Kind.GroupVersion, op.sub.Kind.Kind)
	}
	managers, c := op.Surface.ManagersOf(t).Objects, op.bodyCodec()
	if c.Kind().Kind != t.Kind {
		managers = fieldmanager.New(c.ManagedKind(op.api().Release))
	}
	merged, err := managers.Merge(live, applied)
	if err != nil {
		return nil, fmt.Errorf("error applying patch: %w", err)
	}
	if c.Wire() == nil { // kube-apiserver does not decode custom resources here
		return merged, nil
	}
	return c.NormalizeApplied(merged)
}

var _ admission.Access = reader{}

// Authorize implements [admission.Access].
func (r reader) Authorize(at authz.Attributes) authz.Decision {
	d := r.op.authorizer.Authorize(r.op.ctx, r.op.User, &at)
	if d.Allowed {
		r.need(at)
	}
	return d
}

// need notes what the request needed for admission, unless that is a permission for everything.
func (r reader) need(at authz.Attributes) {
	if r.op.Needs == nil || at.Group == "*" {
		return
	}
	if at.Name == "*" {
		at.Name = ""
	}
	if at.Namespace == "*" {
		at.Namespace = ""
	}
	r.op.Needs.Need(at, usage.Admission, nil)
}

// Now implements [admission.Access].
func (r reader) Now() time.Time { return r.op.clock.Now() }

// GenerateName implements [admission.Access].
func (r reader) GenerateName(prefix string) string { return r.op.ids.Name(prefix) }

// Wait implements [admission.Access].
func (r reader) Wait(d time.Duration) bool { return r.op.wait(d) }

// Webhooks implements [admission.Access].
func (r reader) Webhooks() *webhook.Client { return r.op.webhooks }

// Context implements [admission.Access].
func (r reader) Context() context.Context { return r.op.ctx }

// Release implements [admission.Access].
func (r reader) Release() *release.Release { return r.op.api().Release }

// admitNamespace creates the namespace of a creation if it does not exist and the plugin
// NamespaceAutoProvision is enabled, and rejects it in a namespace that is missing or being
// deleted. name is the name of the object in the error.
func (op *operation) admitNamespace(name string) error {
	if err := op.provisionNamespace(name); err != nil {
		return err
	}
	return op.checkNamespace(name, true)
}

// provisionNamespace creates the namespace of a creation if it does not exist: the plugin
// NamespaceAutoProvision.
func (op *operation) provisionNamespace(name string) error {
	if !op.api().Plugins.ProvisionsNamespaces() || !op.Type.Namespaced || op.dryRun() {
		return nil
	}
	t := op.Surface.Lookup("", "v1", "namespaces")
	if op.store.Newest(t.Key("", op.Namespace)) != nil {
		return nil
	}
	r := Request{Type: t, User: Server, UserAgent: ServerAgent, Surface: op.Surface}
	body := Body{Object: map[string]any{"kind": t.Kind, "apiVersion": "v1", "metadata": map[string]any{"name": op.Namespace}}}
	_, err := op.Create(op.ctx, r, body, &WriteOptions{})
	var st *status.Status
	switch {
	case !errors.As(err, &st):
		return err
	case st.Reason == status.ReasonAlreadyExists:
		return nil
	}
	return status.Forbidden(op.groupResource(), name, st.Message)
}

// A celAuthorizer answers the authorization checks of expressions for the user of
// a request.
type celAuthorizer struct{ op *operation }

// Authorize implements [library.Authorizer].
func (a celAuthorizer) Authorize(access library.AuthorizerAttributes) (allowed bool, reason string, err error) {
	user := a.op.User
	if account := access.ServiceAccount; account.Name != "" {
		user = authn.ServiceAccount(account.Namespace, account.Name, "")
	}
	version := ""
	if access.Path == "" {
		version = authz.AnyVersion
	}
	d := a.op.authorizer.Authorize(a.op.ctx, user, &authz.Attributes{
		Verb: access.Verb, IsResource: access.Path == "", Path: access.Path,
		Group: access.Group, Version: version, Resource: access.Resource, Subresource: access.Subresource, Namespace: access.Namespace, Name: access.Name,
		FieldSelector: authz.Selector{Raw: access.FieldSelector}, LabelSelector: authz.Selector{Raw: access.LabelSelector},
	})
	return d.Allowed, d.Reason, d.Err
}

// A reader reads the newest state for admission.
type reader struct{ op *operation }

// Get implements [resource.Reader].
func (r reader) Get(kind resource.Kind, namespace, name string) object.View {
	t := r.op.Surface.ForKind(kind)
	if t == nil || t.Virtual() {
		return object.View{}
	}
	o := r.op.store.Newest(t.Key(namespace, name))
	if o == nil {
		return object.View{}
	}
	return r.decode(t, o)
}

// decode returns a stored object in t's version, or nothing if its conversion fails.
func (r reader) decode(t *resource.Type, o *storage.Object) object.View {
	shown, err := o.In(r.op.ctx, t)
	if err != nil {
		return object.View{}
	}
	return shown.Decoded(t).View()
}

// List implements [resource.Reader].
func (r reader) List(kind resource.Kind, namespace string) (all []object.View) {
	t := r.op.Surface.ForKind(kind)
	if t == nil || t.Virtual() {
		return nil
	}
	objects := r.op.store.Objects(t.KeyPrefix(namespace))
	if len(objects) == 0 {
		return nil
	}
	all = make([]object.View, 0, len(objects))
	for _, o := range objects {
		if obj := r.decode(t, o); !obj.IsNil() {
			all = append(all, obj)
		}
	}
	return all
}
