package apiserver

import (
	"sync"
	"time"

	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/kinds"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/mvcc"
)

// Of its own objects a server puts back those that somebody has deleted: the
// Service kubernetes with its address and endpoints, the ServiceCIDR kubernetes,
// and the namespaces of the system.

// upkeepInterval is how long that takes. The controllers of kube-apiserver look
// each ten seconds, for namespaces each minute.
const upkeepInterval = 10 * time.Second

// upkeep is when objects are put back.
type upkeep struct {
	mu     sync.Mutex   // guards the fields below
	timer  *clock.Timer // nil while none is missing
	closed bool
}

// keepUp has the object at a key, which is gone, put back if it is one that the
// server keeps.
func (s *Server) keepUp(key string) {
	if !s.surface.seeds.kept[key] {
		return
	}
	s.upkeep.mu.Lock()
	defer s.upkeep.mu.Unlock()
	s.awaitUpkeepLocked()
}

func (s *Server) awaitUpkeepLocked() {
	if u := &s.upkeep; u.timer == nil && !u.closed {
		u.timer = s.clock.AfterFunc(upkeepInterval, s.putBack)
	}
}

// keepUpAs has a fork put back what its parent would.
func (s *Server) keepUpAs(parent *Server) {
	parent.upkeep.mu.Lock()
	missing := parent.upkeep.timer != nil
	parent.upkeep.mu.Unlock()
	if missing {
		s.upkeep.mu.Lock()
		defer s.upkeep.mu.Unlock()
		s.awaitUpkeepLocked()
	}
}

func (u *upkeep) close() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.closed = true
	if u.timer != nil {
		u.timer.Stop()
	}
}

// putBack makes what is missing.
func (s *Server) putBack() {
	s.upkeep.mu.Lock()
	s.upkeep.timer = nil
	s.upkeep.mu.Unlock()
	seeds, values := s.surface.seeds, s.seedValues()
	for _, seed := range seeds.own {
		key := seed.typ.Key(seed.Namespace, seed.Name)
		if seeds.kept[key] && s.store.Newest(key) == nil {
			s.replant(seed.typ, key, seed.draft(values))
		}
	}
}

// replant stores a seed that is missing, unless it is a service whose address
// another one has got meanwhile.
func (s *Server) replant(t *resource.Type, key string, draft *storage.Object) {
	r := s.internalRequest(t, "create")
	defer r.release()
	if t.Allocate != nil && !s.allocator.ReserveIPs(&r.reservation, kinds.ClusterIPs(draft.Decode(t))) {
		return
	}
	effects := r.server.allocator.SideEffects(t, nil, draft)
	err := r.commit(func(tx *mvcc.Txn[*storage.Object]) error {
		if _, ok := tx.Get(key); !ok {
			tx.Put(key, draft.At(tx.Revision()))
			effects.Apply(tx)
		}
		return nil
	})
	if err != nil {
		panic("apiserver: upkeep: " + err.Error()) // unreachable: nothing in it fails
	}
}
