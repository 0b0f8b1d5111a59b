package registry

import (
	"slices"
	"sync"
	"time"

	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/flowcontrol"
	"github.com/kubefake/kubefake/internal/journal"
	"github.com/kubefake/kubefake/internal/kinds/core/services"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/storage"
)

// The server creates some of its own objects again after somebody deleted them:
// the Service kubernetes with its address and endpoints, the ServiceCIDR
// kubernetes, and the system namespaces. It brings its own FlowSchemas and
// PriorityLevelConfigurations in line after somebody wrote any.

// The delays of that. The controllers of kube-apiserver look every ten seconds, for
// namespaces, FlowSchemas and PriorityLevelConfigurations every minute.
const (
	repairInterval     = 10 * time.Second
	flowRepairInterval = time.Minute
)

// A repairTimer schedules a repair, once at a time.
type repairTimer struct {
	mu     sync.Mutex   // guards the fields below
	timer  *clock.Timer // nil while no repair is scheduled
	closed bool
}

// schedule calls repair after the interval, unless a repair is scheduled already.
func (r *repairTimer) schedule(c *clock.Clock, interval time.Duration, repair func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.timer != nil || r.closed {
		return
	}
	r.timer = c.AfterFunc(interval, func() {
		r.mu.Lock()
		r.timer = nil
		r.mu.Unlock()
		repair()
	})
}

func (r *repairTimer) scheduled() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.timer != nil
}

func (r *repairTimer) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	if r.timer != nil {
		r.timer.Stop()
	}
}

// scheduleRepair schedules a repair if the object at key, which was deleted, is
// one that the server creates again.
func (g *Registry) scheduleRepair(key string) {
	if g.api().seeds.repaired[key] {
		g.repairs.schedule(g.clock, repairInterval, g.repair)
	}
}

// scheduleFlowRepair schedules a repair of FlowSchemas and PriorityLevelConfigurations.
func (g *Registry) scheduleFlowRepair() {
	g.flowRepairs.schedule(g.clock, flowRepairInterval, g.repairFlows)
}

// copyRepairs schedules the repairs in a fork that its parent has scheduled.
func (g *Registry) copyRepairs(parent *Registry) {
	if parent.repairs.scheduled() {
		g.repairs.schedule(g.clock, repairInterval, g.repair)
	}
	if parent.flowRepairs.scheduled() {
		g.scheduleFlowRepair()
	}
}

// repair creates the objects that are missing.
func (g *Registry) repair() {
	seeds, values := g.api().seeds, g.seedValues()
	for _, seed := range seeds.own {
		key := seed.typ.Key(seed.Namespace, seed.Name)
		if seeds.repaired[key] && g.store.Newest(key) == nil {
			g.createAgain(g.Surface(), seed.typ, key, seed.draft(values, nil))
		}
	}
}

// repairFlows brings the server's own FlowSchemas and PriorityLevelConfigurations in line.
func (g *Registry) repairFlows() {
	if err := g.reconcileSeeds(g.api(), flowcontrol.Group); err != nil {
		g.journal.RecordNote(journal.Note{Kind: journal.State, Text: "a FlowSchema or PriorityLevelConfiguration is not repaired: " + err.Error(), Resource: "flowschemas." + flowcontrol.Group})
	}
}

// upgradeServiceCIDR adds the second of two configured ranges to the ServiceCIDR kubernetes of
// a loaded state that has only the first.
func (g *Registry) upgradeServiceCIDR() {
	t, ranges := g.api().allocator.ServiceCIDRs, g.api().allocator.Ranges
	if t == nil || len(ranges) != 2 {
		return
	}
	op, o := g.internal("update", Request{Type: t, Name: "kubernetes", UserAgent: ownUserAgent}), &WriteOptions{}
	stored := g.store.Newest(op.key())
	if stored == nil {
		return
	}
	if cidrs := stored.Decoded(t).Object().Strings("spec", "cidrs"); !slices.Equal(cidrs, []string{ranges[0].String()}) {
		return
	}
	_, err := op.change(change{options: o, update: func(old *storage.Decoded) (map[string]any, error) {
		edit := old.Object().Edit()
		edit.Set([]any{ranges[0].String(), ranges[1].String()}, "spec", "cidrs")
		return op.withManagedFields(edit.Map(), old, o), nil
	}})
	if err != nil {
		g.journal.RecordNote(journal.Note{Kind: journal.State, Text: "the ServiceCIDR kubernetes is not upgraded: " + err.Error(), Resource: "servicecidrs.networking.k8s.io"})
	}
}

// createAgain stores a missing seed with a new UID, unless it is a Service whose address
// another Service has in the meantime.
func (g *Registry) createAgain(surface *Surface, t *resource.Type, key string, draft *storage.Object) {
	obj := object.Copy(draft.Decode(t))
	object.Meta(obj)["uid"] = g.ids.UID()
	draft = storage.New(t, obj, nil)
	op := g.internal("create", Request{Type: t, Surface: surface, UserAgent: ownUserAgent})
	defer op.release()
	if t.Allocate != nil && !op.allocator.ReserveIPs(&op.reservation, services.ClusterIPs(obj)) {
		return
	}
	effects := op.allocator.SideEffects(t, nil, draft)
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
