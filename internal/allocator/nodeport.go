package allocator

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/kubefake/kubefake/internal/kinds/core/services"
	"github.com/kubefake/kubefake/internal/resource"
)

// The range of node ports. Ports below dynamicPorts are allocated last, so that
// clients can choose among them.
//
// See https://kubernetes.io/docs/concepts/services-networking/service/#avoid-nodeport-collisions.
const (
	minNodePort  = 30000
	maxNodePort  = 32767
	dynamicPorts = minNodePort + 86
)

var (
	errPortAllocated = errors.New("provided port is already allocated")
	errPortRange     = fmt.Errorf("provided port is not in the valid range. The range of valid ports is %d-%d", minNodePort, maxNodePort)
)

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
		switch {
		case port < minNodePort || port > maxNodePort:
			return 0, errPortRange
		case !reserve(port):
			return 0, errPortAllocated
		}
		return port, nil
	}
	for _, span := range [][2]int64{{dynamicPorts, maxNodePort}, {minNodePort, dynamicPorts - 1}} {
		n := span[1] - span[0] + 1
		start := int64(p.Random(uint64(n)))
		for i := range n {
			if port := span[0] + (start+i)%n; reserve(port) {
				return port, nil
			}
		}
	}
	return 0, resource.ErrFull
}

// dryRunPort returns the port that a dry run shows: the requested one, even if it
// is outside of the range, or a number above the range.
func (p *pool) dryRunPort(port int64, used map[int64]bool) (int64, error) {
	if port == 0 {
		port = maxNodePort + 2
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
