package allocator

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/netip"
	"slices"

	"github.com/kubefake/kubefake/internal/kinds/core/services"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/internal/validation"
)

// defaultRanges are the ranges of cluster IPs of a server without configured ones.
var defaultRanges = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/24")}

// Ranges returns the configured ranges of cluster IPs, or 10.0.0.0/24 if there are none. The slice must
// not be changed.
func Ranges(configured []netip.Prefix) []netip.Prefix {
	if len(configured) == 0 {
		return defaultRanges
	}
	return configured
}

// minHostBits is the minimal number of host bits in the first range. It has room
// for eight addresses, one of them that of the Service kubernetes.
const minHostBits = 3

var (
	errIPAllocated  = errors.New("provided IP is already allocated")
	errOtherNetwork = errors.New("the provided network does not match the current range")
	errNotReady     = errors.New("allocator not ready")
)

// CheckRanges fails if a server cannot have these ranges of cluster IPs.
func CheckRanges(ranges []netip.Prefix) error {
	if len(ranges) > 2 {
		return errors.New("more than two ranges of service addresses")
	}
	for i, r := range ranges {
		if !r.IsValid() {
			return errors.New("a range of service addresses is not valid")
		}
		if i > 0 && familyOf(r) == familyOf(ranges[0]) {
			return errors.New("two ranges of service addresses of one IP family")
		}
		if i == 0 && r.Addr().BitLen()-r.Bits() < minHostBits {
			return errors.New("the first range of service addresses has fewer than eight addresses")
		}
	}
	return nil
}

func familyOf(p netip.Prefix) string {
	if p.Addr().Is4() {
		return "IPv4"
	}
	return "IPv6"
}

func parseIP(ip string) netip.Addr { return validation.ParseIP(ip).Unmap() }

// An ipRange is a range of cluster IPs at the moment.
type ipRange struct {
	netip.Prefix
	ready bool // addresses can be allocated
}

// ranges returns the ranges of a family: those of the ServiceCIDRs, in the order
// of their names, each once. Without ServiceCIDRs it is the configured range.
//
// See https://kubernetes.io/docs/concepts/services-networking/service/#service-ip-address-ranges.
func (a *Allocator) ranges(family string) []ipRange {
	var out []ipRange
	add := func(n netip.Prefix, ready bool) {
		if familyOf(n) != family {
			return
		}
		i := slices.IndexFunc(out, func(r ipRange) bool { return r.Prefix == n })
		if i < 0 {
			i, out = len(out), append(out, ipRange{Prefix: n})
		}
		out[i].ready = out[i].ready || ready
	}
	if a.ServiceCIDRs == nil {
		for _, n := range a.Ranges {
			add(n, true)
		}
		return out
	}
	for o := range a.Store.All(a.ServiceCIDRs.Prefix) {
		c, err := storage.Parse(o, parseServiceCIDR)
		if err != nil {
			continue // it was stored without validation
		}
		for _, n := range c.networks {
			add(n, c.ready && !o.Terminating)
		}
	}
	return out
}

// A serviceCIDR is the networks of a ServiceCIDR, and its condition Ready.
type serviceCIDR struct {
	networks []netip.Prefix
	ready    bool // also without the condition
}

func parseServiceCIDR(body []byte) (*serviceCIDR, error) {
	var c struct {
		Spec   struct{ CIDRs []netip.Prefix }
		Status struct {
			Conditions []struct{ Type, Status string }
		}
	}
	if err := json.Unmarshal(body, &c); err != nil {
		return nil, err
	}
	out := &serviceCIDR{networks: c.Spec.CIDRs, ready: true}
	for _, condition := range c.Status.Conditions {
		if condition.Type == "Ready" {
			out.ready = condition.Status == "True"
		}
	}
	return out, nil
}

// IP implements [resource.Pool].
func (p *pool) IP(family, ip string) (string, error) {
	ranges := p.ranges(family)
	if p.dryRun {
		return dryRunIP(ranges, ip)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if ip == "" {
		return p.anyIPLocked(ranges)
	}
	addr := parseIP(ip)
	switch {
	case !slices.ContainsFunc(ranges, func(r ipRange) bool { return r.ready && addresses(r.Prefix).contains(addr) }):
		return "", errOtherNetwork
	case !p.reserveIPLocked(addr):
		return "", errIPAllocated
	}
	return ip, p.validateIPAddress(addr)
}

// anyIPLocked reserves a free address of one of the ranges.
func (p *pool) anyIPLocked(ranges []ipRange) (string, error) {
	if n := uint64(len(ranges)); n > 1 {
		i := p.Random(n)
		ranges = slices.Concat(ranges[i:], ranges[:i])
	}
	for _, r := range ranges {
		if !r.ready {
			continue
		}
		for addr := range addresses(r.Prefix).candidates(p.Random) {
			if p.reserveIPLocked(addr) {
				return addr.String(), p.validateIPAddress(addr)
			}
		}
	}
	return "", resource.ErrFull
}

// dryRunIP returns the address that a dry run shows: the requested one if it is
// in a range, else the network address of the first range.
func dryRunIP(ranges []ipRange, ip string) (string, error) {
	addr := parseIP(ip)
	i := slices.IndexFunc(ranges, func(r ipRange) bool { return addresses(r.Prefix).contains(addr) })
	if i < 0 {
		i = 0
	}
	switch {
	case len(ranges) == 0 || !ranges[i].ready:
		return "", errNotReady
	case ip == "":
		return ranges[i].Masked().Addr().String(), nil
	case !addresses(ranges[i].Prefix).contains(addr):
		return "", fmt.Errorf("the provided IP (%s) is not in the valid range. The range of valid IPs is %s", addr, ranges[i].Prefix)
	}
	return ip, nil
}

// validateIPAddress validates the IPAddress that allocates addr to the Service.
// It fails if the name of the Service, which is not validated yet, is invalid.
func (p *pool) validateIPAddress(addr netip.Addr) error {
	t := p.IPAddresses
	if t == nil {
		return nil
	}
	obj := map[string]any{"spec": ipAddressSpec(p.namespace, p.name)}
	if errs := t.Validate(obj, object.View{}); len(errs) > 0 {
		return status.Invalid(status.GroupKind{Group: t.Group, Kind: t.Kind}, addr.String(), errs)
	}
	return nil
}

// reserveIPLocked reserves an address. It returns false if a Service has the
// address, or another write has reserved it.
func (p *pool) reserveIPLocked(addr netip.Addr) bool {
	return !p.allocated(addr) && p.reserve(p.reservation, addr.String())
}

// allocated reports whether a Service has the address.
func (p *pool) allocated(addr netip.Addr) bool {
	if p.IPAddresses != nil {
		return p.Store.Newest(p.IPAddresses.Key("", addr.String())) != nil
	}
	if p.serviceIPs == nil {
		p.serviceIPs = map[netip.Addr]bool{}
		for o := range p.Store.All(p.Services.Prefix) {
			for _, ip := range services.ClusterIPs(o.Decode(p.Services)) {
				p.serviceIPs[parseIP(ip)] = true
			}
		}
	}
	return p.serviceIPs[addr]
}

// addresses are the addresses of a range that Services can have: all but the
// network address and, in IPv4, the broadcast address.
type addresses netip.Prefix

func (a addresses) contains(addr netip.Addr) bool {
	prefix := netip.Prefix(a)
	if !prefix.Contains(addr) || addr == prefix.Masked().Addr() {
		return false
	}
	return !addr.Is4() || prefix.Contains(addr.Next())
}

// maxBits bounds the addresses that are allocated from a large range.
const maxBits = 16

// size returns the number of candidates.
func (a addresses) size() uint64 {
	prefix := netip.Prefix(a)
	size := uint64(1) << min(prefix.Addr().BitLen()-prefix.Bits(), maxBits)
	if size <= 2 {
		return size - 1
	}
	if prefix.Addr().Is4() {
		return size - 2
	}
	return size - 1
}

// candidates returns the addresses in the order of allocation. It starts at a
// random address. The first addresses of the range come last, so that clients can
// choose among them.
func (a addresses) candidates(random func(n uint64) uint64) func(yield func(netip.Addr) bool) {
	const minStatic, maxStatic, share = 16, 256, 16
	size := a.size()
	static := uint64(0)
	if size > minStatic {
		static = min(max(minStatic, (size+2)/share), maxStatic)
	}
	at := func(i uint64) netip.Addr {
		base := new(big.Int).SetBytes(netip.Prefix(a).Masked().Addr().AsSlice())
		b := base.Add(base, new(big.Int).SetUint64(i+1)).FillBytes(make([]byte, netip.Prefix(a).Addr().BitLen()/8))
		addr, _ := netip.AddrFromSlice(b)
		return addr
	}
	return func(yield func(netip.Addr) bool) {
		for _, span := range [][2]uint64{{static, size}, {0, static}} {
			n := span[1] - span[0]
			if n == 0 {
				continue
			}
			start := random(n)
			for i := range n {
				if !yield(at(span[0] + (start+i)%n)) {
					return
				}
			}
		}
	}
}
