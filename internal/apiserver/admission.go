package apiserver

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/kubefake/kubefake/internal/admission"
	"github.com/kubefake/kubefake/internal/admission/plugin/resourcequota"
	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/authz"
	"github.com/kubefake/kubefake/internal/cel"
	"github.com/kubefake/kubefake/internal/fieldmanager"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/internal/wire"
)

// admissionAttributes describe an operation on an object to admission. obj is nil in a
// deletion, old in a creation.
func (r *request) admissionAttributes(operation admission.Operation, obj, old, options map[string]any, dryRun bool) *admission.Attributes {
	codec := r.bodyCodec()
	a := &admission.Attributes{
		Operation: operation, Type: r.typ, Kind: codec.Kind(), Codec: codec, Subresource: r.Subresource,
		Namespace: r.Namespace, Name: r.Name, Object: obj, Old: old, Options: options, DryRun: dryRun, User: r.user,
		Reader: reader{r},
	}
	if a.Name == "" {
		a.Name = object.String(obj, "metadata", "name")
	}
	if a.Namespace == "" && r.Group == "" && r.Resource == "namespaces" {
		a.Namespace = a.Name
	}
	return a
}

// writeAttributes describe a write of obj over old, which is nil on a creation.
func (r *request) writeAttributes(obj, old map[string]any, o *writeOptions) *admission.Attributes {
	operation, kind := admission.Update, "UpdateOptions"
	if old == nil {
		operation, kind = admission.Create, "CreateOptions"
	}
	return r.admissionAttributes(operation, obj, old, o.object(kind), o.dryRun())
}

// mutate has plugins, policies and webhooks change obj, which a write makes of
// old: nil on a creation. Both are as the request's path shows them.
func (r *request) mutate(obj, old map[string]any, o *writeOptions) error {
	configured := r.configured()
	if configured == nil && !r.server.plugins.Handles(r.typ) {
		return nil
	}
	a := r.writeAttributes(obj, old, o)
	err := configured.Mutate(r.ctx(), a, admissionEnv{reader{r}}, r.server.plugins.Mutate)
	r.warn(a.Warnings...)
	if err != nil {
		return err
	}
	if !object.Same(a.Object, obj) {
		r.mend(object.Meta(a.Object), object.Meta(obj))
		clear(obj)
		maps.Copy(obj, a.Object)
	}
	return nil
}

// mend puts right what policies and webhooks can have made of metadata: managed
// fields that cannot be read give way to those before, and no owner is there
// twice.
func (r *request) mend(meta, before map[string]any) {
	if err := fieldmanager.Validate(object.List(meta, "managedFields")); err != nil {
		r.warn(fmt.Sprintf(".metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: %v", err))
		object.Keep(meta, before, "managedFields")
	}
	r.dedupOwners(meta, " after mutating admission happens")
}

// validate has plugins, policies and webhooks check what a write makes of old,
// which is nil on a creation, and then the quotas of the namespace. Both objects
// are as the request's path shows them.
func (r *request) validate(obj, old map[string]any, o *writeOptions) error {
	configured, quotas := r.configured(), r.quotas()
	if configured == nil && quotas == nil && !r.server.plugins.Handles(r.typ) {
		return nil
	}
	a := r.writeAttributes(obj, old, o)
	err := r.server.plugins.Validate(a)
	if err == nil {
		err = configured.Validate(r.ctx(), a, admissionEnv{reader{r}})
	}
	r.warn(a.Warnings...)
	if err != nil {
		return err
	}
	return r.chargeQuotas(a, quotas)
}

// admitDeletion has policies and webhooks judge a deletion.
func (r *request) admitDeletion(old *storage.Object, o *deleteOptions) error {
	configured := r.configured()
	if configured == nil || o.admitted {
		return nil
	}
	a := r.admissionAttributes(admission.Delete, nil, old.Decode(r.typ), o.object(), o.dryRun())
	return r.admit(configured, a)
}

// admit has policies and webhooks check an operation that no plugin handles.
func (r *request) admit(configured *admission.Snapshot, a *admission.Attributes) error {
	env := admissionEnv{reader{r}}
	err := configured.Mutate(r.ctx(), a, env, func(*admission.Attributes) error { return nil })
	if err == nil {
		err = configured.Validate(r.ctx(), a, env)
	}
	r.warn(a.Warnings...)
	return err
}

// admitConnection has policies and webhooks judge a connection, whose object are
// its options.
func (r *request) admitConnection() error {
	configured := r.configured()
	_, ok := wire.ForKind(r.sub.Kind.Group, r.sub.Kind.Version, r.sub.Kind.Kind)
	if configured == nil || r.Subresource == "log" || !ok {
		return nil
	}
	codec := resource.BuiltinCodec(r.sub.Kind)
	options, _, err := codec.Normalize(r.connectOptions(), false)
	if err != nil {
		return status.BadRequest(err.Error())
	}
	a := r.admissionAttributes(admission.Connect, options, nil, nil, false)
	a.Kind, a.Codec, a.Name = r.sub.Kind, codec, r.Name
	return r.admit(configured, a)
}

// connectOptions are the options of a connection that the query gives.
func (r *request) connectOptions() map[string]any {
	q := r.query()
	obj := map[string]any{"kind": r.sub.Kind.Kind, "apiVersion": r.sub.Kind.GroupVersion.String()}
	for _, name := range []string{"stdin", "stdout", "stderr", "tty"} {
		if b := boolOf(q, name); b != nil {
			obj[name] = *b
		}
	}
	if q.Has("container") {
		obj["container"] = q.Get("container")
	}
	if len(q["command"]) > 0 {
		obj["command"] = object.Texts(q["command"])
	}
	var ports []any
	for _, text := range q["ports"] {
		if n, err := strconv.ParseInt(text, 10, 32); err == nil {
			ports = append(ports, n)
		}
	}
	if len(ports) > 0 {
		obj["ports"] = ports
	}
	if path := r.Rest; path != "" {
		obj["path"] = "/" + strings.TrimPrefix(path, "/")
	}
	return obj
}

// configured are the policies and webhooks that judge the request; nil if there
// are none. What the server does on its own behalf they do not judge.
func (r *request) configured() *admission.Snapshot {
	if r.http == nil {
		return nil
	}
	return r.server.admission.Load()
}

// configure compiles the policies and webhooks that are in the store now.
func (s *Server) configure() {
	s.configuring.Lock()
	defer s.configuring.Unlock()
	var all []admission.Configuration
	for _, t := range s.surface.registry.Types() {
		if t.Group == admission.Group && t.GroupVersion == t.Stored && !t.Virtual() {
			for o := range s.store.All(t.Prefix) {
				all = append(all, admission.Configuration{ID: o, Object: o.Decode(t)})
			}
		}
	}
	s.admission.Store(admission.New(all, s.admission.Load()))
}

// admissionEnv is the server as policies and webhooks see it.
type admissionEnv struct{ reader }

var _ admission.Server = admissionEnv{}

// Type implements [admission.Server], as the methods below do.
func (e admissionEnv) Type(kind resource.Kind) *resource.Type {
	if t := e.r.registry.ForKind(kind); t != nil && !t.Virtual() {
		return t
	}
	return nil
}

func (e admissionEnv) Authorizer() cel.Authorizer { return celAuthorizer{e.r} }

func (e admissionEnv) Call(ctx context.Context, config map[string]any, timeout time.Duration, review []byte) ([]byte, error) {
	return e.r.server.webhooks().Post(ctx, config, timeout, review)
}

func (e admissionEnv) UID() string { return e.r.server.ids.uid() }

func (e admissionEnv) Merge(t *resource.Type, live, applied map[string]any) (map[string]any, error) {
	if e.r.isScale() {
		return nil, fmt.Errorf("failed to convert patch object to typed object: no corresponding type for %s, Kind=%s", e.r.sub.Kind.GroupVersion, e.r.sub.Kind.Kind)
	}
	tracked := e.r.surface.ownershipOf(t).objects
	if codec := e.r.bodyCodec(); codec.Kind().Kind != t.Kind {
		tracked = fieldmanager.New(codec.ManagedKind(e.r.surface.release))
	}
	return tracked.Merge(live, applied)
}

// A celAuthorizer answers expressions for the user of a request.
type celAuthorizer struct{ r *request }

// Authorize implements [cel.Authorizer].
func (a celAuthorizer) Authorize(access cel.Access) (allowed bool, reason string, err error) {
	user := a.r.user
	if account := access.ServiceAccount; account.Name != "" {
		user = &authn.User{Name: authn.ServiceAccountName(account.Namespace, account.Name), Groups: authn.ServiceAccountGroups(account.Namespace)}
	}
	d := a.r.server.authorizer.Authorize(user, &authz.Attributes{
		Verb: access.Verb, IsResource: access.Path == "", Path: access.Path,
		Group: access.Group, Resource: access.Resource, Subresource: access.Subresource, Namespace: access.Namespace, Name: access.Name,
	})
	return d.Allowed, d.Reason, nil
}

// writing is a write of the request's as its type's own rules see it.
func (r *request) writing(obj, old map[string]any) *resource.Write {
	return &resource.Write{Object: obj, Old: old, Subresource: r.Subresource, Reader: reader{r}}
}

// quotas returns the ResourceQuotas of the request's namespace; nil if there are
// none.
func (r *request) quotas() (all []*storage.Object) {
	if r.Namespace == "" {
		return nil
	}
	if t := r.registry.ForKind(resourcequota.Kind); t != nil {
		for o := range r.server.store.All(t.KeyPrefix(r.Namespace)) {
			all = append(all, o)
		}
	}
	return all
}

// chargeQuotas adds what a write uses to the quotas of its namespace, or refuses
// the write. A dry run changes no quota. The quotas keep what is added if the
// write fails later: their controller computes it anew.
func (r *request) chargeQuotas(a *admission.Attributes, quotas []*storage.Object) error {
	if len(quotas) == 0 || !r.server.plugins.HandlesQuota(a) {
		return nil
	}
	t := r.registry.ForKind(resourcequota.Kind)
	for len(quotas) > 0 {
		decoded := make([]map[string]any, len(quotas))
		for i, o := range quotas {
			decoded[i] = r.server.decoded.get(t, o)
		}
		used, err := r.server.plugins.EvaluateQuota(a, decoded)
		if err != nil || a.DryRun {
			return err
		}
		if quotas, err = r.use(t, quotas, decoded, used); err != nil {
			return err
		}
	}
	return nil
}

// use writes what is used of quotas to their status. It returns those, as they
// are now, that another write has changed meanwhile.
func (r *request) use(t *resource.Type, quotas []*storage.Object, decoded, used []map[string]any) (changed []*storage.Object, err error) {
	accountant := r.server.internalRequest(t, "update")
	accountant.Namespace, accountant.Subresource = r.Namespace, "status"
	for i, old := range quotas {
		if used[i] == nil {
			continue
		}
		obj := object.Copy(decoded[i])
		object.Set(obj, used[i], "status", "used")
		obj = accountant.owned(obj, &version{old, decoded[i]}, &writeOptions{})
		_, err := accountant.redraft(old, obj, false)
		switch {
		case errors.Is(err, errLost):
			if o := r.server.store.Newest(t.Key(old.Namespace, old.Name)); o != nil {
				changed = append(changed, o)
			}
		case err != nil:
			return nil, err
		}
	}
	return changed, nil
}

// A reader reads the newest state of the server.
type reader struct{ r *request }

func (c reader) Get(kind resource.Kind, namespace, name string) map[string]any {
	t := c.r.registry.ForKind(kind)
	if t == nil || t.Virtual() {
		return nil
	}
	o := c.r.server.store.Newest(t.Key(namespace, name))
	if o == nil {
		return nil
	}
	return c.decode(t, o)
}

// decode returns a stored object in generic form, in t's version; nil if it does
// not convert.
func (c reader) decode(t *resource.Type, o *storage.Object) map[string]any {
	if t.Versions == nil {
		return c.r.server.decoded.get(t, o)
	}
	shown, err := o.In(c.r.ctx(), t)
	if err != nil {
		return nil
	}
	return shown.Decode(t)
}

func (c reader) List(kind resource.Kind, namespace string) (all []map[string]any) {
	t := c.r.registry.ForKind(kind)
	if t == nil || t.Virtual() {
		return nil
	}
	for o := range c.r.server.store.All(t.KeyPrefix(namespace)) {
		if obj := c.decode(t, o); obj != nil {
			all = append(all, obj)
		}
	}
	return all
}

// A decodedCache has stored objects in generic form, the few that admission
// reads again and again: classes, limits.
type decodedCache struct {
	mu      sync.Mutex
	objects map[*storage.Object]map[string]any
}

// maxDecoded bounds a decodedCache; a full one starts over.
const maxDecoded = 256

// get returns o in generic form, which is shared.
func (c *decodedCache) get(t *resource.Type, o *storage.Object) map[string]any {
	c.mu.Lock()
	defer c.mu.Unlock()
	obj, ok := c.objects[o]
	if !ok {
		obj = o.Decode(t)
		if c.objects == nil || len(c.objects) >= maxDecoded {
			c.objects = map[*storage.Object]map[string]any{}
		}
		c.objects[o] = obj
	}
	return obj
}
