package controller

import (
	"fmt"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/selector"
)

// ControllerRef returns the owner reference by which owner is a controller.
func ControllerRef(owner *Object) map[string]any {
	return map[string]any{
		"apiVersion": owner.Type.GroupVersion.String(), "kind": owner.Type.Kind, "name": owner.Name, "uid": owner.UID,
		"controller": true, "blockOwnerDeletion": true,
	}
}

// A Claim adopts and releases dependents by a selector: the
// controller owns what matches it and has no other controller, and nothing else.
type Claim struct {
	Client   *Client
	Owner    *Object
	Resource Resource // of the dependents
	Selector selector.Labels

	// Finalizers are added to what is adopted.
	Finalizers []string

	checked   bool
	forbidden error // why the owner must not adopt
}

// Objects returns the candidates that the owner has after adoption and release. The
// result has the candidates as they were before. Errors do not stop it: they are
// returned beside what was claimed.
func (c *Claim) Objects(candidates []*Object) (claimed []*Object, err error) {
	for _, o := range candidates {
		ok, e := c.claim(o)
		if e != nil {
			err = e
		}
		if ok {
			claimed = append(claimed, o)
		}
	}
	return claimed, err
}

func (c *Claim) claim(o *Object) (bool, error) {
	matches := c.Selector.Matches(selector.Map(o.Labels))
	if ref := o.View().ControllerOf(); !ref.IsNil() {
		switch {
		case ref.String("uid") != c.Owner.UID:
			return false, nil
		case matches:
			return true, nil
		case c.Owner.Terminating:
			return false, nil
		}
		return false, c.release(o)
	}
	if c.Owner.Terminating || o.Terminating || !matches || c.Owner.Namespace != o.Namespace {
		return false, nil
	}
	if err := c.adopt(o); err != nil {
		if IsNotFound(err) {
			return false, nil
		}
		return false, err
	}
	return true, nil
}

// mayAdopt fails if the newest version of the owner is being deleted or is another
// object of its name. It asks once.
func (c *Claim) mayAdopt() error {
	if c.checked {
		return c.forbidden
	}
	c.checked = true
	fresh, err := c.Client.Get(c.Owner.Resource(), c.Owner.Namespace, c.Owner.Name)
	switch {
	case err != nil:
		c.forbidden = err
	case fresh.UID != c.Owner.UID:
		c.forbidden = fmt.Errorf("original %s %s is gone: got uid %s, wanted %s", c.Owner.Type.Kind, c.Owner.Key(), fresh.UID, c.Owner.UID)
	case fresh.Terminating:
		c.forbidden = fmt.Errorf("%s has just been deleted at %s", c.Owner.Key(), fresh.View().String("metadata", "deletionTimestamp"))
	}
	return c.forbidden
}

func (c *Claim) adopt(o *Object) error {
	if err := c.mayAdopt(); err != nil {
		return fmt.Errorf("can't adopt %s %s (%s): %w", o.Type.Kind, o.Key(), o.UID, err)
	}
	meta := map[string]any{"ownerReferences": []any{ControllerRef(c.Owner)}, "uid": o.UID}
	if len(c.Finalizers) > 0 {
		meta["finalizers"] = object.FromStrings(c.Finalizers)
	}
	return c.patch(o, meta)
}

// release removes the owner from the references of an object. An object that is gone,
// or that has changed its owners meanwhile, needs no release.
func (c *Claim) release(o *Object) error {
	err := c.patch(o, map[string]any{
		"ownerReferences": []any{map[string]any{"$patch": "delete", "uid": c.Owner.UID}}, "uid": o.UID,
	})
	if IsNotFound(err) || IsInvalid(err) {
		return nil
	}
	return err
}

func (c *Claim) patch(o *Object, meta map[string]any) error {
	_, err := c.Client.StrategicPatch(c.Resource, o.Namespace, o.Name, "", map[string]any{"metadata": meta})
	return err
}
