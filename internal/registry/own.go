package registry

import (
	"context"

	"github.com/kubefake/kubefake/internal/allocator"
	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/kinds/core/services"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/serving"
	"github.com/kubefake/kubefake/internal/storage"
)

// What the server writes by itself, beside requests of itself.

// Server is the user that kube-apiserver is for itself.
var Server = &authn.User{Name: authn.APIServerUser, Groups: []string{authn.MastersGroup}}

// ServerAgent is the user agent of kube-apiserver's requests to itself.
const ServerAgent = "kube-apiserver"

// An OwnChange is how the server itself changes an object.
type OwnChange struct {
	// Of is the only state of the object that may be changed: the change fails with ErrConflict if
	// it is not the newest any more. It has the version of the request. Nil is any state.
	Of *storage.Object

	// UID, unless "", is the UID of the only object that may be changed.
	UID string

	// Update changes the object, or what the subresource shows of it. It is called again after a
	// conflict.
	Update func(edit *object.Edit) error
}

// Change changes an object. It fails if there is none.
func (g *Registry) Change(ctx context.Context, r Request, c OwnChange) error {
	op := g.write(ctx, "update", r, Body{}, &WriteOptions{})
	made := change{uid: c.UID, update: func(current *storage.Decoded) (*candidate, error) {
		if current == nil {
			return nil, NotFound(r.Type.Name + " " + r.Name)
		}
		edit := current.Object().Edit()
		if err := c.Update(edit); err != nil {
			return nil, err
		}
		return &candidate{object: op.withManagedFields(edit.Map(), current)}, nil
	}}
	var err error
	if c.Of != nil {
		_, err = op.changeOnce(made, c.Of, op.decoded(c.Of))
	} else {
		_, err = op.change(made)
	}
	return err
}

// NewObject returns an object that the server itself creates, with defaults, managed fields, uid and
// creation time. It is not stored.
func (g *Registry) NewObject(s *serving.Surface, t *resource.Type, obj map[string]any) *storage.Object {
	op := g.internal("create", Request{Type: t, Surface: s, UserAgent: ServerAgent})
	setDefaults(t, obj, object.View{})
	obj = op.fieldManagers().Update(object.View{}, obj, op.fieldOptions())
	meta := object.Meta(obj)
	meta["uid"], meta["creationTimestamp"] = g.ids.UID(), g.now()
	return storage.New(t, obj, nil)
}

// CreateAgain stores an object of the server that is missing at key, with a new UID, unless it is a
// Service whose address another Service has in the meantime.
func (g *Registry) CreateAgain(s *serving.Surface, t *resource.Type, key string, draft *storage.Object) {
	obj := object.Copy(draft.Decode(t))
	object.Meta(obj)["uid"] = g.ids.UID()
	draft = storage.New(t, obj, nil)
	op := g.internal("create", Request{Type: t, Surface: s, UserAgent: ServerAgent})
	var reservation allocator.Reservation
	defer reservation.Release()
	if t.Allocate != nil && !op.api().Allocator.ReserveIPs(&reservation, services.ClusterIPs(obj)) {
		return
	}
	effects := op.api().Allocator.SideEffects(t, nil, draft)
	err := op.commit(func(tx storage.Txn) error {
		if _, ok := tx.Get(key); !ok {
			effects.Allocate(tx)
			tx.Put(key, draft.At(tx.Revision()))
		}
		return nil
	})
	if err != nil {
		panic("registry: repair: " + err.Error()) // unreachable: no step of it fails
	}
}

// AddIPAddresses creates the IPAddresses of Services that a release without IPAddresses has
// created.
func (g *Registry) AddIPAddresses(s *serving.Surface) error {
	t := s.Builtin().Lookup("", "v1", "services")
	op := g.internal("create", Request{Type: t, Surface: s, UserAgent: ServerAgent})
	for o := range g.store.All(t.Prefix) {
		if !op.api().Allocator.LacksIPAddress(o) {
			continue
		}
		effects := op.api().Allocator.SideEffects(t, nil, o)
		err := op.commit(func(tx storage.Txn) error {
			effects.Allocate(tx)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
