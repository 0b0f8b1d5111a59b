package apiserver

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"

	"github.com/kubefake/kubefake/internal/kinds"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/internal/validation"
	"github.com/kubefake/kubefake/mvcc"
)

// What services have been given is read from the store: an address is taken
// while there is an IPAddress of its name, a node port while a service has it.
// So a fork and a restored state know it too, and nothing is ever given back.
// Between the choice of an address or a port and the commit that stores it the
// server holds it reserved.

// The node ports, of which those below dynamicPorts are given out last, so that
// clients may choose among them.
const (
	minNodePort  = 30000
	maxNodePort  = 32767
	dynamicPorts = minNodePort + 86
)

var (
	errPortTaken = errors.New("provided port is already allocated")
	errPortRange = fmt.Errorf("provided port is not in the valid range. The range of valid ports is %d-%d", minNodePort, maxNodePort)
)

// reservations are the addresses and ports that writes under way are going to take.
type reservations struct {
	mu   sync.Mutex // held while something free is looked for
	held map[string]bool
}

// A pool gives out addresses and ports to one write.
type pool struct {
	r      *request
	holder string // the name of the object that gets them
	dryRun bool
	ports  []int64             // taken from it
	ips    map[netip.Addr]bool // that services have, where no IPAddress tells; nil if not read yet
}

// allocate gives obj what its type has of addresses and ports. It holds them
// until the request is done.
func (r *request) allocate(obj, old map[string]any, dryRun bool) error {
	if r.typ.Allocate == nil {
		return nil
	}
	name := object.String(obj, "metadata", "name")
	err := r.typ.Allocate(obj, old, &pool{r: r, holder: name, dryRun: dryRun})
	var invalid *resource.Invalid
	var failure resource.Failure
	switch {
	case err == nil:
		return nil
	case errors.As(err, &invalid):
		return status.Invalid(r.groupKind(), name, invalid.Errors)
	case errors.As(err, &failure):
		return status.Unclassified(err.Error())
	}
	return status.Internal(err.Error())
}

// hold reserves a name for the request, and reports whether no other has. The
// caller holds the mutex of reservations.
func (r *request) hold(name string) bool {
	c := &r.server.reserved
	if c.held[name] {
		return false
	}
	if c.held == nil {
		c.held = map[string]bool{}
	}
	c.held[name] = true
	r.reserves = append(r.reserves, name)
	return true
}

// letGo ends the request's reservations: what it took is in the store by now.
func (r *request) letGo() {
	if len(r.reserves) == 0 {
		return
	}
	c := &r.server.reserved
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, name := range r.reserves {
		delete(c.held, name)
	}
	r.reserves = nil
}

func (p *pool) Port(port int64) (int64, error) {
	c := &p.r.server.reserved
	c.mu.Lock()
	defer c.mu.Unlock()
	used := p.usedPorts()
	if p.dryRun {
		return p.guessPort(port, used)
	}
	free := func(port int64) bool { return !used[port] && p.r.hold(fmt.Sprint("port ", port)) }
	if port != 0 {
		switch {
		case port < minNodePort || port > maxNodePort:
			return 0, errPortRange
		case !free(port):
			return 0, errPortTaken
		}
		return port, nil
	}
	for _, span := range [][2]int64{{dynamicPorts, maxNodePort}, {minNodePort, dynamicPorts - 1}} {
		n := span[1] - span[0] + 1
		start := int64(p.r.server.ids.below(uint64(n)))
		for i := range n {
			if port := span[0] + (start+i)%n; free(port) {
				return port, nil
			}
		}
	}
	return 0, resource.ErrFull
}

// guessPort is the port that a dry run answers: the one that is asked for, in
// the range or not, else a number above the range.
func (p *pool) guessPort(port int64, used map[int64]bool) (int64, error) {
	if port == 0 {
		port = maxNodePort + 2
		if len(p.ports) > 0 {
			port = slices.Max(p.ports) + 1
		}
	} else if used[port] || slices.Contains(p.ports, port) {
		return 0, errPortTaken
	}
	p.ports = append(p.ports, port)
	return port, nil
}

// usedPorts are the ports that services have.
func (p *pool) usedPorts() map[int64]bool {
	used := map[int64]bool{}
	t := p.r.typ
	for o := range p.r.server.store.All(t.Prefix) {
		if bytes.Contains(o.JSON(), []byte(`odePort":`)) {
			for _, port := range kinds.NodePorts(o.Decode(t)) {
				used[port] = true
			}
		}
	}
	return used
}

// A follower stores in the transaction of a write what follows from it.
type follower func(tx *mvcc.Txn[*storage.Object])

// following is what follows from a change of an object of type t; either version
// may be nil. A service's addresses come and go with it, its Endpoints go.
func (r *request) following(t *resource.Type, old, next *storage.Object) follower {
	ips := r.addressType()
	if t.Allocate == nil || ips == nil {
		return nil
	}
	held := func(o *storage.Object) []string {
		if o == nil {
			return nil
		}
		return kinds.ClusterIPs(o.Decode(t))
	}
	before, after := held(old), held(next)
	var drafts []*storage.Object
	var gone []string
	for _, ip := range after {
		if !slices.Contains(before, ip) {
			drafts = append(drafts, r.address(ips, ip, next))
		}
	}
	for _, ip := range before {
		if !slices.Contains(after, ip) {
			gone = append(gone, ips.Key("", validation.ParseIP(ip).Unmap().String()))
		}
	}
	if endpoints := r.registry.Lookup("", "v1", "endpoints"); next == nil && endpoints != nil {
		gone = append(gone, endpoints.Key(old.Namespace, old.Name))
	}
	return func(tx *mvcc.Txn[*storage.Object]) {
		for _, key := range gone {
			if _, ok := tx.Get(key); ok {
				tx.Delete(key)
			}
		}
		for _, draft := range drafts {
			if key := ips.Key("", draft.Name); !has(tx, key) {
				tx.Put(key, draft.At(tx.Revision()))
			}
		}
	}
}

func has(tx *mvcc.Txn[*storage.Object], key string) bool {
	_, ok := tx.Get(key)
	return ok
}

// follow runs a follower, if there is one.
func (f follower) follow(tx *mvcc.Txn[*storage.Object]) {
	if f != nil {
		f(tx)
	}
}

// address is the IPAddress by which a service holds an address.
func (r *request) address(t *resource.Type, ip string, service *storage.Object) *storage.Object {
	addr := validation.ParseIP(ip).Unmap()
	obj := map[string]any{
		"metadata": map[string]any{
			"name": addr.String(),
			"labels": map[string]any{
				"ipaddress.kubernetes.io/ip-family":  familyOf(netip.PrefixFrom(addr, 0)),
				"ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io",
			},
		},
		"spec": addressSpec(service.Namespace, service.Name),
	}
	own := r.server.internalRequest(t, "create")
	obj = own.tracked().Update(nil, completed(t, obj), own.fieldOptions(&writeOptions{}))
	meta := object.Meta(obj)
	meta["uid"], meta["creationTimestamp"] = r.server.ids.uid(), r.now()
	return storage.New(t, obj)
}
