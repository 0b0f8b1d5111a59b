package apiserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/netip"
	"slices"

	"github.com/kubefake/kubefake/internal/kinds"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/internal/validation"
)

// defaultServiceRange is where cluster IPs are from, if nothing else is said.
var defaultServiceRange = netip.MustParsePrefix("10.0.0.0/24")

// leastHostBits are those that tell apart the eight addresses that the first
// range has at least, one of them for the Service kubernetes.
const leastHostBits = 3

var (
	errIPTaken      = errors.New("provided IP is already allocated")
	errOtherNetwork = errors.New("the provided network does not match the current range")
	errNotReady     = errors.New("allocator not ready")
)

// CheckServiceRanges fails for ranges that a server cannot have.
func CheckServiceRanges(ranges []netip.Prefix) error {
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
		if i == 0 && r.Addr().BitLen()-r.Bits() < leastHostBits {
			return errors.New("the first range of service addresses has less than eight of them")
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

// configuredRanges are where cluster IPs are from at first, at most one range of
// a family. The families of services are theirs.
func (s *Server) configuredRanges() []netip.Prefix {
	if len(s.config.ServiceRanges) > 0 {
		return s.config.ServiceRanges
	}
	return []netip.Prefix{defaultServiceRange}
}

// A serviceRange is where cluster IPs are from now.
type serviceRange struct {
	netip.Prefix
	ready bool // to give out addresses
}

// serviceRanges are the ranges of a family: those of the ServiceCIDRs, in the
// order of their names. Where these are not served, it is the one that is
// configured.
//
// See https://kubernetes.io/docs/concepts/services-networking/service/#service-ip-address-ranges.
func (r *request) serviceRanges(family string) []serviceRange {
	var out []serviceRange
	add := func(n netip.Prefix, ready bool) {
		if familyOf(n) != family {
			return
		}
		i := slices.IndexFunc(out, func(r serviceRange) bool { return r.Prefix == n })
		if i < 0 {
			i, out = len(out), append(out, serviceRange{Prefix: n})
		}
		out[i].ready = out[i].ready || ready
	}
	t := r.registry.Lookup("networking.k8s.io", "v1", "servicecidrs")
	if t == nil {
		for _, n := range r.server.configuredRanges() {
			add(n, true)
		}
		return out
	}
	for o := range r.server.store.All(t.Prefix) {
		c, err := storage.Parse(r.server.surface.parsed, o, parseServiceCIDR)
		if err != nil {
			continue // it was put past the API
		}
		for _, n := range c.networks {
			add(n, c.ready && !o.Terminating)
		}
	}
	return out
}

// A serviceCIDR is what a ServiceCIDR says of cluster IPs.
type serviceCIDR struct {
	networks []netip.Prefix
	ready    bool
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

func (p *pool) Families() []string {
	var families []string
	for _, r := range p.r.server.configuredRanges() {
		families = append(families, familyOf(r))
	}
	return families
}

func (p *pool) IP(family, ip string) (string, error) {
	ranges := p.r.serviceRanges(family)
	if p.dryRun {
		return guessIP(ranges, ip)
	}
	c := &p.r.server.reserved
	c.mu.Lock()
	defer c.mu.Unlock()
	if ip == "" {
		return p.anyIP(ranges)
	}
	addr := validation.ParseIP(ip).Unmap()
	switch {
	case !slices.ContainsFunc(ranges, func(r serviceRange) bool { return r.ready && addresses(r.Prefix).contains(addr) }):
		return "", errOtherNetwork
	case !p.takeIP(addr):
		return "", errIPTaken
	}
	return ip, p.checkHolder(addr)
}

// anyIP takes a free address of one of the ranges, whichever it is.
func (p *pool) anyIP(ranges []serviceRange) (string, error) {
	if n := uint64(len(ranges)); n > 1 {
		i := p.r.server.ids.below(n)
		ranges = slices.Concat(ranges[i:], ranges[:i])
	}
	for _, r := range ranges {
		if !r.ready {
			continue
		}
		for addr := range addresses(r.Prefix).candidates(p.r.server.ids.below) {
			if p.takeIP(addr) {
				return addr.String(), p.checkHolder(addr)
			}
		}
	}
	return "", resource.ErrFull
}

// guessIP is the address that a dry run answers: the one that is asked for if
// one of the ranges has it, else the first one's own.
func guessIP(ranges []serviceRange, ip string) (string, error) {
	addr := validation.ParseIP(ip).Unmap()
	i := slices.IndexFunc(ranges, func(r serviceRange) bool { return addresses(r.Prefix).contains(addr) })
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

// checkHolder judges the IPAddress by which the object is to hold an address: it
// has the object's name, which has not been checked yet.
func (p *pool) checkHolder(addr netip.Addr) error {
	t := p.r.addressType()
	if t == nil {
		return nil
	}
	obj := map[string]any{"spec": addressSpec(p.r.Namespace, p.holder)}
	if errs := t.Validate(obj, nil); len(errs) > 0 {
		return status.Invalid(status.GroupKind{Group: t.Group, Kind: t.Kind}, addr.String(), errs)
	}
	return nil
}

// addressSpec is that of the IPAddress of a service.
func addressSpec(namespace, name string) map[string]any {
	return map[string]any{"parentRef": map[string]any{"resource": "services", "namespace": namespace, "name": name}}
}

// reserveIPs reserves the addresses if all are free, and reports whether they are.
func (r *request) reserveIPs(ips []string) bool {
	c, p := &r.server.reserved, &pool{r: r}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, ip := range ips {
		if !p.takeIP(validation.ParseIP(ip).Unmap()) {
			return false
		}
	}
	return true
}

// takeIP reserves an address if it is free.
func (p *pool) takeIP(addr netip.Addr) bool { return !p.hasIP(addr) && p.r.hold(addr.String()) }

// hasIP reports whether a service has the address: an IPAddress tells, where
// these are served.
func (p *pool) hasIP(addr netip.Addr) bool {
	if t := p.r.addressType(); t != nil {
		return p.r.server.store.Newest(t.Key("", addr.String())) != nil
	}
	if p.ips == nil {
		p.ips = map[netip.Addr]bool{}
		for o := range p.r.server.store.All(p.r.typ.Prefix) {
			for _, ip := range kinds.ClusterIPs(o.Decode(p.r.typ)) {
				p.ips[validation.ParseIP(ip).Unmap()] = true
			}
		}
	}
	return p.ips[addr]
}

// addressType is the type of IPAddress objects; nil if it is not served.
func (r *request) addressType() *resource.Type {
	return r.registry.Lookup("networking.k8s.io", "v1", "ipaddresses")
}

// addresses are those of a range that services can have: all but the first,
// which is the network's, and for IPv4 the last, which is for broadcasts.
type addresses netip.Prefix

func (a addresses) contains(addr netip.Addr) bool {
	prefix := netip.Prefix(a)
	if !prefix.Contains(addr) || addr == prefix.Masked().Addr() {
		return false
	}
	return !addr.Is4() || prefix.Contains(addr.Next())
}

// size is how many addresses of the range are tried; of a large one not all.
func (a addresses) size() uint64 {
	prefix := netip.Prefix(a)
	const most = 16
	bits := min(prefix.Addr().BitLen()-prefix.Bits(), most)
	size := uint64(1) << bits
	if size <= 2 {
		return size - 1
	}
	if prefix.Addr().Is4() {
		return size - 2
	}
	return size - 1
}

// candidates are the addresses in the order in which they are given out: from a
// random one on, those last that are left for clients to choose.
func (a addresses) candidates(below func(n uint64) uint64) func(yield func(netip.Addr) bool) {
	const least, most, share = 16, 256, 16
	size := a.size()
	static := uint64(0)
	if size > least {
		static = min(max(least, (size+2)/share), most)
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
			start := below(n)
			for i := range n {
				if !yield(at(span[0] + (start+i)%n)) {
					return
				}
			}
		}
	}
}
