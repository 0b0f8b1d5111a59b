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
	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/authz"
	"github.com/kubefake/kubefake/internal/cel"
	"github.com/kubefake/kubefake/internal/fieldmanager"
	"github.com/kubefake/kubefake/internal/kinds"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/internal/wire"
)

// A judge is a step of admission: of mutating or of validating plugins.
type judge func(w *resource.Write) error

// plugins has those plugins that every server has judge what a write makes of
// old, which is nil on a creation. A nil step lets everything pass.
func (r *request) plugins(step judge, obj, old map[string]any) error {
	if step == nil {
		return nil
	}
	w := r.writing(obj, old)
	err := step(w)
	r.warn(w.Warnings...)
	return r.refusal(obj, err)
}

// attempted is an operation on an object as admission sees it. obj is nil in a
// deletion, old in a creation.
func (r *request) attempted(operation string, obj, old, options map[string]any, dryRun bool) *admission.Request {
	codec := r.bodyCodec()
	a := &admission.Request{
		Operation: operation, Type: r.typ, Kind: codec.Kind(), Codec: codec, Subresource: r.Subresource,
		Namespace: r.Namespace, Name: r.Name, Object: obj, Old: old, Options: options, DryRun: dryRun, User: r.user,
	}
	if a.Name == "" {
		a.Name = object.String(obj, "metadata", "name")
	}
	if a.Namespace == "" && r.Group == "" && r.Resource == "namespaces" {
		a.Namespace = a.Name
	}
	return a
}

// mutate has plugins, policies and webhooks change obj, which a write makes of
// old: nil on a creation. Both are as the request's path shows them.
func (r *request) mutate(mode writeMode, obj, old map[string]any, o *writeOptions) error {
	var step judge
	if mode == writeObject && !r.typ.Virtual() {
		step = r.typ.Mutate
	}
	plugins := func(obj map[string]any) error { return r.plugins(step, obj, old) }
	configured := r.configured()
	if configured == nil {
		return plugins(obj)
	}
	operation, kind := operationOf(old)
	a := r.attempted(operation, obj, old, o.object(kind), o.dryRun())
	if err := configured.Mutate(r.ctx(), a, judged{cluster{r}}, plugins); err != nil {
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

// validate has policies and webhooks judge what a write makes of old, which is
// nil on a creation. Both are as the request's path shows them.
func (r *request) validate(obj, old map[string]any, o *writeOptions) error {
	configured := r.configured()
	if configured == nil {
		return nil
	}
	operation, kind := operationOf(old)
	return configured.Validate(r.ctx(), r.attempted(operation, obj, old, o.object(kind), o.dryRun()), judged{cluster{r}})
}

func operationOf(old map[string]any) (operation, options string) {
	if old == nil {
		return admission.Create, "CreateOptions"
	}
	return admission.Update, "UpdateOptions"
}

// admitDeletion has policies and webhooks judge a deletion.
func (r *request) admitDeletion(old *storage.Object, o *deleteOptions) error {
	configured := r.configured()
	if configured == nil || o.admitted {
		return nil
	}
	a := r.attempted(admission.Delete, nil, old.Decode(r.typ), o.object(), o.dryRun())
	if err := configured.Mutate(r.ctx(), a, judged{cluster{r}}, func(map[string]any) error { return nil }); err != nil {
		return err
	}
	return configured.Validate(r.ctx(), a, judged{cluster{r}})
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
	a := r.attempted(admission.Connect, options, nil, nil, false)
	a.Kind, a.Codec, a.Name = r.sub.Kind, codec, r.Name
	if err := configured.Mutate(r.ctx(), a, judged{cluster{r}}, func(map[string]any) error { return nil }); err != nil {
		return err
	}
	return configured.Validate(r.ctx(), a, judged{cluster{r}})
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

// judged is the server as policies and webhooks see it.
type judged struct{ cluster }

var _ admission.Server = judged{}

// Type implements [admission.Server], as the methods below do.
func (j judged) Type(kind resource.Kind) *resource.Type {
	if t := j.r.registry.ForKind(kind); t != nil && !t.Virtual() {
		return t
	}
	return nil
}

func (j judged) Authorizer() cel.Authorizer { return celAuthorizer{j.r} }

func (j judged) Call(ctx context.Context, config map[string]any, timeout time.Duration, review []byte) ([]byte, error) {
	return j.r.server.webhooks().Post(ctx, config, timeout, review)
}

func (j judged) UID() string { return j.r.server.ids.uid() }

func (j judged) Merge(t *resource.Type, live, applied map[string]any) (map[string]any, error) {
	if j.r.isScale() {
		return nil, fmt.Errorf("failed to convert patch object to typed object: no corresponding type for %s, Kind=%s", j.r.sub.Kind.GroupVersion, j.r.sub.Kind.Kind)
	}
	tracked := j.r.surface.ownershipOf(t).objects
	if codec := j.r.bodyCodec(); codec.Kind().Kind != t.Kind {
		tracked = fieldmanager.New(codec.ManagedKind(j.r.surface.release))
	}
	return tracked.Merge(live, applied)
}

func (j judged) Warn(text string) { j.r.warn(text) }

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

// writing is a write of the request's as admission sees it.
func (r *request) writing(obj, old map[string]any) *resource.Write {
	return &resource.Write{Object: obj, Old: old, Subresource: r.Subresource, Cluster: cluster{r}}
}

// refusal is the answer to a write of obj that a step of admission refuses with
// an error; nil for none.
func (r *request) refusal(obj map[string]any, err error) error {
	if err == nil {
		return nil
	}
	name := r.Name
	for _, member := range []string{"name", "generateName"} {
		if name == "" {
			name = object.String(obj, "metadata", member)
		}
	}
	var invalid *resource.Invalid
	if errors.As(err, &invalid) {
		return status.Invalid(r.groupKind(), name, invalid.Errors)
	}
	return status.Forbidden(r.groupResource(), name, err.Error())
}

// chargeQuotas charges a write to the quotas of its namespace, or refuses it. A
// dry run is charged to none. What is charged stays charged if the write comes to
// nothing: a quota's controller counts anew. A quota without a status, which its
// controller writes first in a cluster, limits nothing.
func (r *request) chargeQuotas(obj, old map[string]any, dryRun bool) error {
	if r.Namespace == "" {
		return nil
	}
	t := r.registry.ForKind(kinds.ResourceQuotaKind)
	if t == nil {
		return nil
	}
	var quotas []*storage.Object
	for o := range r.server.store.All(t.KeyPrefix(r.Namespace)) {
		quotas = append(quotas, o)
	}
	w := r.writing(obj, old)
	if len(quotas) == 0 || !kinds.IsCharged(r.typ, w) {
		return nil
	}
	for len(quotas) > 0 {
		decoded := make([]map[string]any, len(quotas))
		for i, o := range quotas {
			decoded[i] = r.server.decoded.get(t, o)
		}
		used, err := kinds.Charge(r.typ, w, decoded)
		if err != nil || dryRun {
			return r.refusal(obj, err)
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

// A cluster is the server's state as admission sees it.
type cluster struct{ r *request }

func (c cluster) Get(kind resource.Kind, namespace, name string) map[string]any {
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
func (c cluster) decode(t *resource.Type, o *storage.Object) map[string]any {
	if t.Versions == nil {
		return c.r.server.decoded.get(t, o)
	}
	shown, err := o.In(c.r.ctx(), t)
	if err != nil {
		return nil
	}
	return shown.Decode(t)
}

func (c cluster) List(kind resource.Kind, namespace string) (all []map[string]any) {
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
