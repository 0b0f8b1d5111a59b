package apiserver

import (
	"strings"
	"sync/atomic"
	"time"

	"github.com/kubefake/kubefake/internal/bootstrap"
	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/mvcc"
)

// seeds are what every server of a surface starts with, in the form in which it
// is stored. Most are the same but for the time, so servers share them: all that
// start in the same second fork one store.
type seeds struct {
	shared, own []seed
	kept        map[string]bool // the keys of own seeds that are put back
	newest      atomic.Pointer[seeded]
}

// A seed is an object of a fresh cluster, and the type that it is stored in.
type seed struct {
	typ *resource.Type
	bootstrap.Object
}

// A seeded store holds the shared seeds, made at a time.
type seeded struct {
	at    string
	keep  time.Duration
	store *storage.Store
}

// newSeeds are the objects of a fresh cluster whose types are served.
func newSeeds(registry *resource.Registry) *seeds {
	out := &seeds{kept: map[string]bool{}}
	for o := range bootstrap.Objects() {
		t := registry.Lookup(o.Group, o.Version, o.Resource)
		if t == nil || o.Resource == "apiservices" && !tellsServed(registry, o.Name) {
			continue
		}
		if s := (seed{t.Storage(), o}); o.Own() {
			out.own = append(out.own, s)
			if o.Resource != "ipaddresses" {
				out.kept[s.typ.Key(o.Namespace, o.Name)] = true // its address comes with a service
			}
		} else {
			out.shared = append(out.shared, s)
		}
	}
	return out
}

// tellsServed reports whether the APIService of that name is one of a group
// version that is served.
func tellsServed(registry *resource.Registry, name string) bool {
	version, group, _ := strings.Cut(name, ".")
	return registry.Serves(resource.GroupVersion{Group: group, Version: version})
}

// draft is the seed as an object to be stored.
func (s seed) draft(values *bootstrap.Values) *storage.Object {
	o := s.With(values)
	head := storage.Object{Namespace: o.Namespace, Name: o.Name, Labels: o.Labels, Fields: o.Fields}
	return storage.FromJSON(s.typ, head, []byte(o.JSON))
}

// plant stores seeds, each by a write of its own.
func plant(store *storage.Store, seeds []seed, values *bootstrap.Values) error {
	for _, s := range seeds {
		draft := s.draft(values)
		_, err := store.Update(func(tx *mvcc.Txn[*storage.Object]) error {
			tx.Put(s.typ.Key(draft.Namespace, draft.Name), draft.At(tx.Revision()))
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// store returns a store of its own that holds the shared seeds.
func (s *seeds) store(c *clock.Clock, keep time.Duration) (*storage.Store, error) {
	now := timestamp(c.Now())
	have := s.newest.Load()
	if have == nil || have.at != now || have.keep != keep {
		have = &seeded{now, keep, storage.NewStore(c, keep)}
		if err := plant(have.store, s.shared, &bootstrap.Values{Now: now}); err != nil {
			return nil, err
		}
		s.newest.Store(have)
	}
	return have.store.Fork(c), nil
}

// defaultPort is where kube-apiserver listens if nothing else is said.
const defaultPort = 6443

// bootstrap makes the objects of a fresh cluster that are the server's own.
func (s *Server) bootstrap() error {
	return plant(s.store, s.surface.seeds.own, s.seedValues())
}

// seedValues are what differs from server to server in its own seeds.
func (s *Server) seedValues() *bootstrap.Values {
	port := s.config.Port
	if port == 0 {
		port = defaultPort
	}
	return &bootstrap.Values{
		Now:    timestamp(s.clock.Now()),
		UID:    s.ids.uid,
		Ranges: s.allocator.Ranges,
		Port:   port,
	}
}
