package allocator

import (
	"net/netip"
	"slices"

	"github.com/kubefake/kubefake/internal/kinds/core/services"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/storage"
)

// SideEffects are the writes that the write of a Service needs in its
// transaction. The zero value has none.
type SideEffects struct {
	deleted []string // keys
	created []created
}

// A created object and its key.
type created struct {
	key    string
	object *storage.Object
}

// SideEffects returns the side effects of a write of an object of type t. The
// write of a Service creates and deletes the IPAddresses of its cluster IPs, and
// its deletion deletes its Endpoints, if a has their type. old is nil for a creation, next for a
// deletion.
//
// Differs from kube-apiserver: IPAddresses of Services: kube-apiserver creates and deletes them by
// requests of its own, which webhooks and policies see. Here they are written with the Service. Request:
// POST of a Service with a webhook for ipaddresses.
func (a *Allocator) SideEffects(t *resource.Type, old, next *storage.Object) (e SideEffects) {
	if t.Allocate == nil || a.IPAddresses == nil {
		return e
	}
	before, after := clusterIPs(t, old), clusterIPs(t, next)
	for _, ip := range after {
		if !slices.Contains(before, ip) {
			o := a.newIPAddress(ip, next)
			e.created = append(e.created, created{a.IPAddresses.Key("", o.Name), o})
		}
	}
	for _, ip := range before {
		if !slices.Contains(after, ip) {
			e.deleted = append(e.deleted, a.IPAddresses.Key("", parseIP(ip).String()))
		}
	}
	if next == nil && a.Endpoints != nil {
		e.deleted = append(e.deleted, a.Endpoints.Key(old.Namespace, old.Name))
	}
	return e
}

// LacksIPAddress reports whether a cluster IP of a stored Service has no IPAddress.
func (a *Allocator) LacksIPAddress(service *storage.Object) bool {
	return a.IPAddresses != nil && slices.ContainsFunc(clusterIPs(a.Services, service), func(ip string) bool {
		return a.Store.Newest(a.IPAddresses.Key("", parseIP(ip).String())) == nil
	})
}

func clusterIPs(t *resource.Type, o *storage.Object) []string {
	if o == nil {
		return nil
	}
	return services.ClusterIPs(o.Decode(t))
}

// Allocate makes the writes that precede that of the Service. It creates nothing that exists.
func (e SideEffects) Allocate(tx storage.Txn) {
	for _, c := range e.created {
		if _, ok := tx.Get(c.key); !ok {
			tx.Put(c.key, c.object.At(tx.Revision()))
		}
	}
}

// Release makes the writes that follow that of the Service.
func (e SideEffects) Release(tx storage.Txn) {
	for _, key := range e.deleted {
		tx.Delete(key)
	}
}

// newIPAddress returns the IPAddress that allocates an address to a Service.
func (a *Allocator) newIPAddress(ip string, service *storage.Object) *storage.Object {
	addr := parseIP(ip)
	return a.NewObject(a.IPAddresses, map[string]any{
		"metadata": map[string]any{
			"name": addr.String(),
			"labels": map[string]any{
				"ipaddress.kubernetes.io/ip-family":  familyOf(netip.PrefixFrom(addr, 0)),
				"ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io",
			},
		},
		"spec": ipAddressSpec(service.Namespace, service.Name),
	})
}

// ipAddressSpec returns the spec of the IPAddress of a Service.
func ipAddressSpec(namespace, name string) map[string]any {
	return map[string]any{"parentRef": map[string]any{"resource": "services", "namespace": namespace, "name": name}}
}
