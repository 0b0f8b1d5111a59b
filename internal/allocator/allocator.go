package allocator

import (
	"cmp"
	"iter"
	"net/netip"
	"sync"

	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/internal/validation"
)

// Config configures an Allocator. Services, Store, Random and NewObject
// are required.
type Config struct {
	// Ranges are the configured ranges of cluster IPs, at most one of an IP
	// family, the default family first. Without any it is 10.0.0.0/24.
	Ranges []netip.Prefix

	// NodePorts is the range of node ports; the zero value is 30000 to 32767.
	NodePorts PortRange

	// Services, Endpoints, IPAddresses and ServiceCIDRs are the types of these
	// resources. All but Services may be nil: not served, or for Endpoints, not deleted with their
	// Service.
	Services, Endpoints, IPAddresses, ServiceCIDRs *resource.Type

	Store Store

	// Random returns a random number below n.
	Random func(n uint64) uint64

	// NewObject returns obj, of type t, as the server creates it: with defaults,
	// managed fields, uid and creation time.
	NewObject func(t *resource.Type, obj map[string]any) *storage.Object
}

// A Store reads the present state of a server.
type Store interface {
	// Newest returns the object at a key, nil if it does not exist.
	Newest(key string) *storage.Object
	// All returns the objects whose keys begin with prefix, in the order of the
	// keys.
	All(prefix string) iter.Seq[*storage.Object]
}

// An Allocator allocates cluster IPs and node ports of one server. It is safe
// for concurrent use.
type Allocator struct {
	Config
	*reservations
}

// reservations are the items that are reserved. The Allocators of a cluster share them.
type reservations struct {
	mu       sync.Mutex // held from the search of a free item to its reservation
	reserved map[string]bool
}

// New returns an Allocator without reservations.
func New(c Config) *Allocator { return sharing(c, &reservations{}) }

// With returns an Allocator of another configuration that shares the reservations of a.
func (a *Allocator) With(c Config) *Allocator { return sharing(c, a.reservations) }

func sharing(c Config, r *reservations) *Allocator {
	c.Ranges = Ranges(c.Ranges)
	c.NodePorts = cmp.Or(c.NodePorts, defaultNodePorts)
	return &Allocator{c, r}
}

// A Reservation is the cluster IPs and node ports that one write reserves. The
// zero value is empty.
type Reservation struct {
	of    *Allocator
	items []string
}

// Release ends the reservation. Call it after the commit of the write, or when
// the write has failed.
func (r *Reservation) Release() {
	if len(r.items) == 0 {
		return
	}
	r.of.mu.Lock()
	defer r.of.mu.Unlock()
	for _, item := range r.items {
		delete(r.of.reserved, item)
	}
	r.items = nil
}

// reserve adds an item to the reservation. It returns false if the item is
// reserved already. The caller holds a.mu.
func (a *Allocator) reserve(to *Reservation, item string) bool {
	if a.reserved[item] {
		return false
	}
	if a.reserved == nil {
		a.reserved = map[string]bool{}
	}
	a.reserved[item] = true
	to.of = a
	to.items = append(to.items, item)
	return true
}

// Pool returns the pool of a write of a Service. What the pool allocates is added
// to the reservation. With dryRun it reserves nothing, and returns the values
// that kube-apiserver shows in a dry run. released returns the errors that the server's
// release has.
func (a *Allocator) Pool(to *Reservation, namespace, name string, dryRun bool, released func(validation.List) validation.List) resource.Pool {
	return &pool{Allocator: a, reservation: to, namespace: namespace, name: name, dryRun: dryRun, released: released}
}

// ReserveIPs reserves addresses that a Service already has. It stops and returns
// false at the first that is allocated or reserved.
func (a *Allocator) ReserveIPs(to *Reservation, ips []string) bool {
	p := &pool{Allocator: a, reservation: to}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, ip := range ips {
		if !p.reserveIPLocked(parseIP(ip)) {
			return false
		}
	}
	return true
}

// A pool allocates cluster IPs and node ports for one write of a Service.
type pool struct {
	*Allocator
	reservation     *Reservation
	namespace, name string // of the Service
	dryRun          bool
	released        func(validation.List) validation.List

	dryRunPorts []int64             // those that a dry run has shown
	serviceIPs  map[netip.Addr]bool // of all Services, if IPAddresses are not served; nil before they are read
}

// Released implements [resource.Pool].
func (p *pool) Released(errs validation.List) validation.List { return p.released(errs) }

// Families implements [resource.Pool].
func (p *pool) Families() []string {
	var families []string
	for _, r := range p.Ranges {
		families = append(families, familyOf(r))
	}
	return families
}
