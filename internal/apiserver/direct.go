package apiserver

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/route"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/internal/validation"
	"github.com/kubefake/kubefake/mvcc"
)

// ErrNotFound is returned for objects and resources that are not there.
var ErrNotFound = errors.New("not found")

// internalRequest is one that no client made.
func (s *Server) internalRequest(t *resource.Type, verb string) *request {
	now := s.served.Load()
	return &request{
		Route:  route.Route{IsResource: true, Verb: verb, Group: t.Group, Version: t.Version, Resource: t.Name},
		server: s, surface: now, registry: now.registry, user: authn.Administrator(), typ: t,
	}
}

// kindOf is the kind that an object given as JSON says it is of.
func kindOf(body []byte) (resource.Kind, error) {
	var head struct{ APIVersion, Kind string }
	if err := json.Unmarshal(body, &head); err != nil {
		return resource.Kind{}, err
	}
	gv, err := resource.ParseGroupVersion(head.APIVersion)
	return resource.Kind{GroupVersion: gv, Kind: head.Kind}, err
}

// Put stores an object, given as JSON, as it is: in place of one of its name,
// if there is one. What the server owns and the object lacks is filled in. The
// object as stored is returned.
func (s *Server) Put(body []byte) (map[string]any, error) {
	kind, err := kindOf(body)
	if err != nil {
		return nil, err
	}
	t := s.Registry().ForKind(kind)
	if t == nil || t.Virtual() || t.Stored != t.GroupVersion && t.Versions == nil {
		return nil, fmt.Errorf("%w: no resource is stored as kind %q of %q", ErrNotFound, kind.Kind, kind.GroupVersion)
	}
	obj, _, err := t.Codec.Decode(body, false)
	if err != nil {
		return nil, err
	}
	r := s.internalRequest(t, "put")
	meta := object.Meta(completed(t, obj))
	r.Namespace = object.String(meta, "namespace")
	if t.Namespaced && r.Namespace == "" {
		r.Namespace = "default"
		meta["namespace"] = r.Namespace
	}
	if err := r.admitNamespace(object.String(meta, "name"), false); err != nil {
		return nil, err
	}
	s.complete(t, meta)
	errs := validation.ObjectMeta(meta, t.Namespaced, t.Strategy.Name, metadataPath)
	if t.Defines { // nothing could be served of one that is invalid
		t.Prepare(obj, nil)
		errs = append(errs, t.Validate(obj, nil)...)
	}
	if len(errs) > 0 {
		return nil, status.Invalid(r.groupKind(), object.String(meta, "name"), errs)
	}
	draft, err := storage.Draft(r.ctx(), t, obj)
	if err != nil {
		return nil, err
	}
	var stored *storage.Object
	key := t.Key(draft.Namespace, draft.Name)
	effects := r.server.allocator.SideEffects(t, s.store.Newest(key), draft)
	err = r.commit(func(tx *mvcc.Txn[*storage.Object]) error {
		stored = draft.At(tx.Revision())
		tx.Put(key, stored)
		effects.Apply(tx)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if stored, err = stored.In(r.ctx(), t); err != nil {
		return nil, err
	}
	return stored.Decode(t), nil
}

// CheckServed fails if nothing is served of a definition: where its names are
// another one's.
func (s *Server) CheckServed(definition string) error {
	d := s.served.Load().definitions[definition]
	if d == nil {
		return fmt.Errorf("%w: definition %s", ErrNotFound, definition)
	}
	if c := object.Condition(d.object, "NamesAccepted", "False"); c != nil {
		return fmt.Errorf("%s is not served: %s", definition, object.String(c, "message"))
	}
	return nil
}

// complete fills in what the server owns of metadata and what is not there.
func (s *Server) complete(t *resource.Type, meta map[string]any) {
	if object.String(meta, "uid") == "" {
		meta["uid"] = s.ids.uid()
	}
	if object.String(meta, "creationTimestamp") == "" {
		meta["creationTimestamp"] = timestamp(s.clock.Now())
	}
	if _, ok := object.Int(meta, "generation"); !ok && t.Generation != nil {
		meta["generation"] = int64(1)
	}
}

// Remove deletes an object at once, whatever holds it. It returns ErrNotFound
// if there is none.
func (s *Server) Remove(t *resource.Type, namespace, name string) error {
	r, key := s.internalRequest(t, "remove"), t.Key(namespace, name)
	missing := fmt.Errorf("%w: %s %s", ErrNotFound, t.Name, name)
	old := s.store.Newest(key)
	if old == nil {
		return missing
	}
	effects := r.server.allocator.SideEffects(t, old, nil)
	err := r.commit(func(tx *mvcc.Txn[*storage.Object]) error {
		if !tx.Delete(key) {
			return missing
		}
		effects.Apply(tx)
		return nil
	})
	if err == nil {
		s.keepUp(key)
	}
	return err
}
