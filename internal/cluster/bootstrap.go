package cluster

import (
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/kubefake/kubefake/internal/allocator"
	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/once"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/serving"
	"github.com/kubefake/kubefake/internal/storage"
)

// seeds are the objects that every server of a release starts with, in stored
// form. Most differ from server to server in nothing but the time, so servers
// that start in the same second fork one store of them.
type seeds struct {
	shared, own []seed
	repaired    map[string]bool // the keys of own seeds that are created again
	newest      atomic.Pointer[seeded]
}

// A seed is an object of a fresh cluster, and the type that it is stored in.
type seed struct {
	typ *resource.Type
	release.BootstrapObject
}

// A seeded store holds the shared seeds, made at a time.
type seeded struct {
	at    string
	store *storage.Store
}

// sharedSeeds is about how many shared seeds a release has.
const sharedSeeds = 256

// newSeeds returns the objects of a fresh cluster whose types are served.
func newSeeds(p *release.Release, types *resource.Types) *seeds {
	out := &seeds{shared: make([]seed, 0, sharedSeeds), repaired: map[string]bool{}}
	for o := range p.BootstrapObjects() {
		t := types.Lookup(o.Group, o.Version, o.Resource)
		if t == nil || o.Resource == "apiservices" && !describesServed(types, o.Name) {
			continue
		}
		if s := (seed{t.Storage(), o}); o.Unique() {
			out.own = append(out.own, s)
			if o.Resource != "ipaddresses" {
				out.repaired[s.typ.Key(o.Namespace, o.Name)] = true // a Service has its address
			}
		} else {
			out.shared = append(out.shared, s)
		}
	}
	return out
}

// seedsOf returns the seeds of a release, which are made once per process.
var seedsOf = once.PerKey(func(p *release.Release) *seeds { return newSeeds(p, serving.Builtin(p)) })

// describesServed reports whether the group version of the APIService of that name
// is served.
func describesServed(types *resource.Types, name string) bool {
	version, group, _ := strings.Cut(name, ".")
	return types.ServesVersion(resource.GroupVersion{Group: group, Version: version})
}

// draft returns the seed as an object to store. buffer is memory for its JSON.
func (s *seed) draft(values *release.BootstrapValues, buffer []byte) *storage.Object {
	o := s.Expand(values)
	head := &storage.Object{Namespace: o.Namespace, Name: o.Name, Labels: o.Labels, Fields: storage.JoinFields(o.Fields)}
	return storage.FromJSON(s.typ, head, s.AppendJSON(buffer[:0], values))
}

// plant stores seeds, each in a transaction of its own.
func plant(store *storage.Store, seeds []seed, values *release.BootstrapValues) error {
	buffer := make([]byte, 0, 4<<10) // more than most have
	for i := range seeds {
		s := &seeds[i]
		draft := s.draft(values, buffer)
		_, err := store.Update(func(tx storage.Txn) error {
			tx.Put(s.typ.Key(draft.Namespace, draft.Name), draft.At(tx.Revision()))
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// store returns a new store that holds the shared seeds.
func (s *seeds) store(c *clock.Clock, keep storage.Limits) (*storage.Store, error) {
	now := clock.Timestamp(c.Now())
	have := s.newest.Load()
	if have == nil || have.at != now {
		have = &seeded{now, storage.NewStore(c, storage.Limits{})}
		if err := plant(have.store, s.shared, &release.BootstrapValues{Now: now}); err != nil {
			return nil, err
		}
		s.newest.Store(have)
	}
	return have.store.Fork(c, keep), nil
}

// defaultPort is kube-apiserver's default port.
const defaultPort = 6443

// bootstrap creates the objects of a fresh cluster that differ from server to
// server.
func (c *Cluster) bootstrap() error {
	return plant(c.Store(), seedsOf(c.api().Release).own, c.seedValues())
}

// seedValues returns the values in which own seeds differ.
func (c *Cluster) seedValues() *release.BootstrapValues {
	port := c.config.Port
	if port == 0 {
		port = defaultPort
	}
	return &release.BootstrapValues{
		Now:     c.now(),
		UID:     c.IDs().UID,
		Ranges:  c.api().Allocator.Ranges,
		Address: c.config.AdvertiseAddress,
		Port:    port,
	}
}

// checkAddress returns the error of kube-apiserver for an address of another family than that of the
// cluster IPs.
func (c *Config) checkAddress() error {
	primary, address := allocator.Ranges(c.ServiceRanges)[0], c.AdvertiseAddress
	if address.IsValid() && address.Is4() != primary.Addr().Is4() {
		return fmt.Errorf("service IP family %q must match public address family %q", primary, address)
	}
	return nil
}
