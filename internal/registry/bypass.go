package registry

import (
	"encoding/json"
	"fmt"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/internal/validation"
	"github.com/kubefake/kubefake/mvcc"
)

// Put and Remove write past the API: without admission, finalizers, preparation
// and, for all but definitions, validation beyond metadata. Fixtures and recorded
// histories use them.

// Put stores an object, given as JSON, as it is, in place of one of its name if
// there is one. It fills in what the server owns and the object lacks, and
// returns the object as stored. A definition with the uid of the one it replaces
// keeps its status. It fails with ErrNotFound for a kind that is not
// stored, and with a *status.Status for invalid metadata.
func (g *Registry) Put(body []byte) (map[string]any, error) {
	kind, err := kindOf(body)
	if err != nil {
		return nil, err
	}
	t := g.follower.Surface().ForKind(kind)
	if t == nil || t.Virtual() || t.Stored != t.GroupVersion && t.Versions == nil {
		return nil, fmt.Errorf("%w: no resource is stored as kind %q of %q", ErrNotFound, kind.Kind, kind.GroupVersion)
	}
	obj, _, err := t.Codec.Decode(body, false)
	if err != nil {
		return nil, err
	}
	setDefaults(t, obj, object.View{})
	meta := object.Meta(obj)
	if t.Namespaced && object.String(meta, "namespace") == "" {
		meta["namespace"] = DefaultNamespace
	}
	op := g.internal("store", Request{Type: t, Namespace: object.String(meta, "namespace")})
	if err := op.checkNamespace(object.String(meta, "name"), false); err != nil {
		return nil, err
	}
	op.setSystemFields(obj)
	errs := validation.ObjectMeta(meta, t.Namespaced, t.Strategy.Name, metadataPath)
	if t.DefinesAPI { // an invalid definition cannot be served
		var old object.View
		if stored := op.sameObject(meta); stored != nil {
			old = object.ViewOf(stored.Decode(t))
		}
		t.Prepare(obj, old)
		errs = t.ValidateAll(op.ctx, obj, object.View{}, errs)
	}
	if errs = op.inWordsOfRelease(errs); len(errs) > 0 {
		return nil, status.Invalid(op.groupKind(), object.String(meta, "name"), errs)
	}
	stored, err := op.put(obj)
	if err != nil {
		return nil, err
	}
	return stored.Decode(t), nil
}

// sameObject returns the stored object with the name and the uid in meta, nil if there
// is none.
func (op *operation) sameObject(meta map[string]any) *storage.Object {
	stored := op.store.Newest(op.Type.Key(object.String(meta, "namespace"), object.String(meta, "name")))
	if stored == nil || stored.UID != object.String(meta, "uid") {
		return nil
	}
	return stored
}

// DefaultNamespace is the namespace of objects that name none.
const DefaultNamespace = "default"

// put stores an object, whatever was there.
func (op *operation) put(obj map[string]any) (*storage.Object, error) {
	meta := object.Meta(obj)
	key := op.Type.Key(object.String(meta, "namespace"), object.String(meta, "name"))
	old := op.store.Newest(key)
	draft, err := storage.Draft(op.ctx, op.Type, obj, object.View{}, old)
	if err != nil {
		return nil, err
	}
	var stored *storage.Object
	effects := op.api().Allocator.SideEffects(op.Type, old, draft)
	err = op.commit(func(tx storage.Txn) error {
		effects.Allocate(tx)
		stored = draft.At(tx.Revision())
		tx.Put(key, stored)
		effects.Release(tx)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return stored.In(op.ctx, op.Type)
}

// setSystemFields sets the fields that the server owns and that are not set.
func (op *operation) setSystemFields(obj map[string]any) {
	meta := object.Meta(obj)
	switch uid := object.String(meta, "uid"); {
	case uid == "":
		meta["uid"] = op.ids.UID()
	case op.sameObject(meta) == nil:
		op.ids.Diverge(uid) // a server with the same seed may have generated it
	}
	if object.String(meta, "creationTimestamp") == "" {
		meta["creationTimestamp"] = op.now()
	}
	if _, ok := object.Int(meta, "generation"); !ok && op.Type.Generation != nil {
		meta["generation"] = int64(1)
	}
	if op.Type.SetSystemFields != nil {
		op.Type.SetSystemFields(obj)
	}
}

// kindOf returns the kind of an object given as JSON.
func kindOf(body []byte) (resource.Kind, error) {
	var head struct{ APIVersion, Kind string }
	if err := json.Unmarshal(body, &head); err != nil {
		return resource.Kind{}, err
	}
	gv, err := resource.ParseGroupVersion(head.APIVersion)
	return resource.Kind{GroupVersion: gv, Kind: head.Kind}, err
}

// Remove deletes an object at once, whatever its finalizers. A resource is named
// as by resource.Types.Find. It fails with ErrNotFound if there is none.
func (g *Registry) Remove(resource, namespace, name string) error {
	t, err := g.TypeByName(resource)
	if err != nil {
		return err
	}
	return g.RemoveNow(t, namespace, name)
}

// RemoveObject deletes the object of the kind, namespace and name in body, as
// Remove does.
func (g *Registry) RemoveObject(body []byte) error {
	kind, err := kindOf(body)
	if err != nil {
		return err
	}
	t := g.follower.Surface().ForKind(kind)
	if t == nil || t.Virtual() {
		return fmt.Errorf("%w: kind %q of %q", ErrNotFound, kind.Kind, kind.GroupVersion)
	}
	var of map[string]any
	if err := json.Unmarshal(body, &of); err != nil {
		return err
	}
	namespace := object.String(of, "metadata", "namespace")
	if t.Namespaced && namespace == "" {
		namespace = DefaultNamespace
	}
	return g.RemoveNow(t, namespace, object.String(of, "metadata", "name"))
}

// RemoveNow is Remove for an object of a type.
func (g *Registry) RemoveNow(t *resource.Type, namespace, name string) error {
	op, key := g.internal("remove", Request{Type: t, Namespace: namespace, Name: name}), t.Key(namespace, name)
	missing := NotFound(t.Name + " " + name)
	old := g.store.Newest(key)
	if old == nil {
		return missing
	}
	effects := op.api().Allocator.SideEffects(t, old, nil)
	return op.commit(func(tx storage.Txn) error {
		if !tx.Delete(key) {
			return missing
		}
		effects.Release(tx)
		return nil
	})
}

// ReadAt returns the objects of a resource at a revision, 0 being the newest, in
// generic form: one object if name is not "", all of a namespace otherwise, and
// of all namespaces if namespace is "" too. Fails with ErrNotFound,
// mvcc.ErrCompacted and mvcc.ErrFutureRevision.
func (g *Registry) ReadAt(revision mvcc.Revision, resource, namespace, name string) ([]map[string]any, error) {
	t, err := g.TypeByName(resource)
	if err != nil {
		return nil, err
	}
	view, err := g.store.View(revision)
	if err != nil {
		return nil, err
	}
	var stored []*storage.Object
	if name != "" {
		item, ok := view.Get(t.Key(namespace, name))
		if !ok {
			return nil, NotFound(t.Name + " " + name)
		}
		stored = append(stored, item.Value)
	} else {
		prefix := t.KeyPrefix(namespace)
		for item := range view.Range(prefix, mvcc.PrefixEnd(prefix)) {
			stored = append(stored, item.Value)
		}
	}
	if stored, err = storage.In(g.lifetime, t, stored); err != nil {
		return nil, err
	}
	out := make([]map[string]any, len(stored))
	for i, o := range stored {
		out[i] = o.Decode(t)
	}
	return out, nil
}
