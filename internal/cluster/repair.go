package cluster

import (
	"slices"
	"sync"
	"time"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/flowcontrol"
	"github.com/kubefake/kubefake/internal/journal"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/registry"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/mvcc"
)

// The server creates some of its own objects again after somebody deleted them:
// the Service kubernetes with its address and endpoints, the ServiceCIDR
// kubernetes, and the system namespaces. It restores its own FlowSchemas and
// PriorityLevelConfigurations after somebody wrote any.

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

// repairDeleted schedules a repair if a transaction has deleted an object that the server creates
// again.
func (c *Cluster) repairDeleted(events []mvcc.Event[*storage.Object]) {
	for i := range events {
		if e := &events[i]; e.Type == mvcc.Delete && seedsOf(c.api().Release).repaired[e.Item.Key] {
			c.repairs.schedule(c.Clock(), repairInterval, c.repair)
		}
	}
}

// scheduleFlowRepair schedules a repair of FlowSchemas and PriorityLevelConfigurations.
func (c *Cluster) scheduleFlowRepair() {
	c.flowRepairs.schedule(c.Clock(), flowRepairInterval, c.repairFlows)
}

// copyRepairs schedules the repairs in a fork that its parent has scheduled.
func (c *Cluster) copyRepairs(parent *Cluster) {
	if parent.repairs.scheduled() {
		c.repairs.schedule(c.Clock(), repairInterval, c.repair)
	}
	if parent.flowRepairs.scheduled() {
		c.scheduleFlowRepair()
	}
}

// repair creates the objects that are missing.
func (c *Cluster) repair() {
	seeds, values := seedsOf(c.api().Release), c.seedValues()
	for _, seed := range seeds.own {
		key := seed.typ.Key(seed.Namespace, seed.Name)
		if seeds.repaired[key] && c.Store().Newest(key) == nil {
			c.CreateAgain(c.Surface(), seed.typ, key, seed.draft(values, nil))
		}
	}
}

// repairFlows restores the server's own FlowSchemas and PriorityLevelConfigurations.
func (c *Cluster) repairFlows() {
	if err := c.reconcileSeeds(c.api(), flowcontrol.Group); err != nil {
		c.Journal().RecordNote(journal.Note{Kind: journal.State, Text: "a FlowSchema or PriorityLevelConfiguration is not repaired: " + err.Error(), Resource: "flowschemas." + flowcontrol.Group})
	}
}

// upgradeServiceCIDR adds the second of two configured ranges to the ServiceCIDR kubernetes of
// a loaded state that has only the first.
func (c *Cluster) upgradeServiceCIDR() {
	t, ranges := c.api().Allocator.ServiceCIDRs, c.api().Allocator.Ranges
	if t == nil || len(ranges) != 2 {
		return
	}
	stored := c.Store().Newest(t.Key("", "kubernetes"))
	if stored == nil {
		return
	}
	if cidrs := stored.Decoded(t).View().Strings("spec", "cidrs"); !slices.Equal(cidrs, []string{ranges[0].String()}) {
		return
	}
	r := registry.Request{Type: t, Name: "kubernetes", User: authn.Administrator(), UserAgent: registry.ServerAgent, SkipWebhooks: true}
	err := c.Change(c.Context(), r, registry.OwnChange{Update: func(edit *object.Edit) error {
		edit.Set([]any{ranges[0].String(), ranges[1].String()}, "spec", "cidrs")
		return nil
	}})
	if err != nil {
		c.Journal().RecordNote(journal.Note{Kind: journal.State, Text: "the ServiceCIDR kubernetes is not upgraded: " + err.Error(), Resource: "servicecidrs.networking.k8s.io"})
	}
}
