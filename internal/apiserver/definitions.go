package apiserver

import (
	"errors"
	"fmt"
	"maps"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/crd"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/mvcc"
)

// What the server serves follows from the definitions in its store: whoever
// writes one settles them before the write returns, so that a client that has
// read its answer finds the resource served.
//
// Differs from kube-apiserver: its controllers take some milliseconds to do
// this, in which the resource is not found yet.

// definitionsType is the type of CustomResourceDefinitions, nil in a profile
// without.
func (s *Server) definitionsType() *resource.Type {
	return s.surface.registry.Lookup("apiextensions.k8s.io", "v1", "customresourcedefinitions")
}

// withoutWebhooks leaves out the definitions whose conversion calls webhooks: a fork
// makes them anew, to call on its own clock and through its own faults.
func withoutWebhooks(definitions map[string]*definition) map[string]*definition {
	out := maps.Clone(definitions)
	maps.DeleteFunc(out, func(_ string, d *definition) bool {
		return object.String(d.object, "spec", "conversion", "strategy") == "Webhook"
	})
	return out
}

// settle completes the definitions in the store and serves what they define. One
// of them may be decoded already.
func (s *Server) settle(decoded *version) {
	t := s.definitionsType()
	if t == nil {
		return
	}
	s.settling.Lock()
	defer s.settling.Unlock()
	for {
		s.refresh(t, decoded)
		for settled := s.settleOne(t); settled != nil; settled = s.settleOne(t) {
			s.refresh(t, settled)
		}
		if !s.clean(t) {
			return
		}
	}
}

// refresh serves the definitions that are in the store now. One of them may be
// decoded already.
func (s *Server) refresh(t *resource.Type, decoded *version) {
	was := s.served.Load()
	view, err := s.store.View(0)
	if err != nil {
		panic("apiserver: no newest view: " + err.Error()) // unreachable: revision 0 always exists
	}
	now := map[string]*definition{}
	changed := false
	for item := range view.Range(t.Prefix, mvcc.PrefixEnd(t.Prefix)) {
		o := item.Value
		old := was.definitions[o.Name]
		if old != nil && old.stored == o {
			now[o.Name] = old
			continue
		}
		d := &definition{stored: o}
		if decoded != nil && decoded.stored == o {
			d.object = decoded.object
			object.Meta(d.object)["resourceVersion"] = storage.FormatVersion(o.Revision)
		} else {
			d.object = o.Decode(t)
		}
		var before *crd.Definition
		if old != nil {
			before = old.Definition
		}
		d.Definition = crd.New(d.object, before, crd.Options{Webhooks: s.webhooks(), UID: s.ids.uid, Since: int64(item.Created)})
		now[o.Name] = d
		changed = changed || d.Definition != before
	}
	if changed || len(now) != len(was.definitions) {
		s.serveDefinitions(now)
		return
	}
	s.served.Store(was.with(now))
}

// settleOne takes one step of completing one definition, and returns what it is
// then; nil if there is none to take.
func (s *Server) settleOne(t *resource.Type) *version {
	definitions := sortedDefinitions(s.served.Load().definitions)
	all := make([]map[string]any, len(definitions))
	for i, d := range definitions {
		all[i] = d.object
	}
	for _, d := range definitions {
		next := crd.Settle(d.object, all, timestamp(s.clock.Now()))
		if next == nil {
			continue
		}
		r := s.settler(t, d.stored.Name, "status")
		settled, err := r.changeFrom(writeStatus, &writeOptions{}, d.stored, &version{d.stored, d.object}, func(old *version) (map[string]any, error) {
			return r.owned(next, old, &writeOptions{}), nil
		})
		switch {
		case err == nil:
			return settled
		case errors.Is(err, errLost):
			return &version{} // another write came between
		}
	}
	return nil
}

// itself is who the server writes as.
var itself = &authn.User{Name: authn.APIServerUser, Groups: []string{authn.MastersGroup}}

// settler is a request by which the server completes definitions.
func (s *Server) settler(t *resource.Type, name, subresource string) *request {
	r := s.internalRequest(t, "update")
	r.Name, r.Subresource, r.settles, r.user = name, subresource, true, itself
	return r
}

// clean removes the instances of definitions that are going, and then the
// definitions. It reports whether it has removed a definition.
func (s *Server) clean(t *resource.Type) bool {
	for _, d := range sortedDefinitions(s.served.Load().definitions) {
		if crd.Ending(d.object) && s.removeInstances(d) {
			s.removeDefinition(t, d)
			return true
		}
	}
	return false
}

// removeInstances deletes what is left of a definition's objects, and reports
// whether nothing is.
func (s *Server) removeInstances(d *definition) bool {
	view, err := s.store.View(0)
	if err != nil {
		panic("apiserver: no newest view: " + err.Error()) // unreachable: revision 0 always exists
	}
	if len(d.Types) == 0 {
		return true // never established, there can be none
	}
	t := d.Types[0].Storage()
	left := false
	for item := range view.Range(d.Prefix, mvcc.PrefixEnd(d.Prefix)) {
		r := s.settler(t, item.Value.Name, "")
		r.Namespace = item.Value.Namespace
		_, gone, err := r.deleteObject(item.Key, &deleteOptions{})
		left = left || err == nil && !gone
	}
	return !left
}

// removeDefinition takes the server's finalizer from a definition, which goes
// unless another one holds it.
func (s *Server) removeDefinition(t *resource.Type, d *definition) {
	r := s.settler(t, d.stored.Name, "status")
	next := crd.Cleaned(d.object, timestamp(s.clock.Now()))
	_, err := r.changeOnce(writeStatus, &writeOptions{}, d.stored, func(old *version) (map[string]any, error) {
		return r.owned(next, old, &writeOptions{}), nil
	})
	if err != nil && !errors.Is(err, errLost) {
		panic(fmt.Sprintf("apiserver: removing the definition %s: %v", d.stored.Name, err))
	}
}
