package controller

import (
	"maps"

	"github.com/kubefake/kubefake/internal/selector"
)

// Owners finds the owners of dependents, such as the ReplicaSet of a Pod.
type Owners struct {
	Informer *Informer // of the owners
	// Selector returns what an owner selects. The default is the label selector in
	// spec.selector.
	Selector func(owner *Object) (selector.Labels, error)
}

// Of returns the owner that is the controller of a dependent, nil if it has no
// controller or one of another kind.
func (s *Owners) Of(dependent *Object) *Object {
	ref := dependent.View().ControllerOf()
	if ref.IsNil() || ref.String("kind") != s.Informer.typ.Kind {
		return nil
	}
	owner := s.Informer.Get(dependent.Namespace, ref.String("name"))
	if owner == nil || owner.UID != ref.String("uid") {
		return nil
	}
	return owner
}

// Selecting returns the owners in the namespace of a dependent that select it by its
// labels. An empty selector selects nothing here.
func (s *Owners) Selecting(dependent *Object) (owners []*Object) {
	if len(dependent.Labels) == 0 {
		return nil
	}
	for _, owner := range s.Informer.List(dependent.Namespace, selector.Labels{}) {
		labels, err := s.selector(owner)
		if err == nil && !labels.Empty() && labels.Matches(selector.Map(dependent.Labels)) {
			owners = append(owners, owner)
		}
	}
	return owners
}

func (s *Owners) selector(owner *Object) (selector.Labels, error) {
	if s.Selector != nil {
		return s.Selector(owner)
	}
	return LabelSelector(owner.View(), "spec", "selector")
}

// Affected returns the owners that a change of a dependent concerns: the controllers
// before and after it, or, for one without a controller that is new or has other labels
// or owners, those that select it.
func (s *Owners) Affected(old, dependent *Object) (owners []*Object) {
	add := func(owner *Object) {
		if owner != nil && (len(owners) == 0 || owners[0] != owner) {
			owners = append(owners, owner)
		}
	}
	if dependent == nil {
		add(s.Of(old))
		return owners
	}
	was, is := "", controllerUID(dependent)
	if old != nil {
		was = controllerUID(old)
		if was != is {
			add(s.Of(old))
		}
	}
	if is != "" {
		add(s.Of(dependent))
		return owners
	}
	if !dependent.Terminating && (old == nil || was != is || !maps.Equal(old.Labels, dependent.Labels)) {
		owners = append(owners, s.Selecting(dependent)...)
	}
	return owners
}

func controllerUID(o *Object) string {
	return o.View().ControllerOf().String("uid")
}

// Candidates returns what an owner may claim of an informer that has the index
// ByController: its dependents, and the objects of its namespace without a controller.
func Candidates(i *Informer, owner *Object) []*Object {
	return append(i.By(ByController, owner.UID), i.By(ByController, Orphans(owner.Namespace))...)
}
