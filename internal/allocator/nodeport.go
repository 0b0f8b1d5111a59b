package allocator

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/kubefake/kubefake/internal/kinds/core/services"
	"github.com/kubefake/kubefake/internal/resource"
)

// A PortRange is a range of ports, from First to Last.
type PortRange struct{ First, Last int }

var defaultNodePorts = PortRange{30000, 32767}

// Check returns an error for a range that is empty or has what is no port.
func (r PortRange) Check() error {
	if r != (PortRange{}) && (r.First < 1 || r.Last > 65535 || r.First > r.Last) {
		return fmt.Errorf("%d-%d is not a range of node ports", r.First, r.Last)
	}
	return nil
}

// dynamic returns the first of the ports that are allocated first. Those below are left for
// clients that choose one.
//
// See https://kubernetes.io/docs/concepts/services-networking/service/#avoid-nodeport-collisions.
func (r PortRange) dynamic() int {
	const least, most, share = 16, 128, 32
	size := r.Last - r.First + 1
	if size <= least {
		return r.First
	}
	return r.First + min(max(least, size/share), most)
}

// check returns the error of kube-apiserver for a port outside of the range.
func (r PortRange) check(port int64) error {
	if port < int64(r.First) || port > int64(r.Last) {
		return fmt.Errorf("provided port is not in the valid range. The range of valid ports is %d-%d", r.First, r.Last)
	}
	return nil
}

var errPortAllocated = errors.New("provided port is already allocated")

// Port implements [resource.Pool].
func (p *pool) Port(port int64) (int64, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	used := p.usedPorts()
	if p.dryRun {
		return p.dryRunPort(port, used)
	}
	reserve := func(port int64) bool {
		return !used[port] && p.reserve(p.reservation, fmt.Sprint("port ", port))
	}
	if port != 0 {
		if err := p.NodePorts.check(port); err != nil {
			return 0, err
		}
		if !reserve(port) {
			return 0, errPortAllocated
		}
		return port, nil
	}
	ports, dynamic := p.NodePorts, p.NodePorts.dynamic()
	for _, span := range []PortRange{{dynamic, ports.Last}, {ports.First, dynamic - 1}} {
		n := int64(span.Last - span.First + 1)
		if n == 0 {
			continue
		}
		start := int64(p.Random(uint64(n)))
		for i := range n {
			if port := int64(span.First) + (start+i)%n; reserve(port) {
				return port, nil
			}
		}
	}
	return 0, resource.ErrFull
}

// firstDryRunPort is the first of the ports that dry runs show in place of a free one, whatever the range is.
const firstDryRunPort = 32769

// dryRunPort returns the port that a dry run shows: the requested one, even if it
// is outside of the range, or one that no Service has.
func (p *pool) dryRunPort(port int64, used map[int64]bool) (int64, error) {
	if port == 0 {
		port = firstDryRunPort
		if len(p.dryRunPorts) > 0 {
			port = slices.Max(p.dryRunPorts) + 1
		}
	} else if used[port] || slices.Contains(p.dryRunPorts, port) {
		return 0, errPortAllocated
	}
	p.dryRunPorts = append(p.dryRunPorts, port)
	return port, nil
}

// usedPorts returns the node ports of all Services.
func (p *pool) usedPorts() map[int64]bool {
	used := map[int64]bool{}
	var json []byte
	for o := range p.Store.All(p.Services.Prefix) {
		json = o.AppendJSON(json[:0])
		if bytes.Contains(json, []byte(`odePort":`)) { // nodePort or healthCheckNodePort
			for _, port := range services.NodePorts(o.Decode(p.Services)) {
				used[port] = true
			}
		}
	}
	return used
}
