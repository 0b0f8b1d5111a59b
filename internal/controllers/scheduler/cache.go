package scheduler

import (
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/kinds/core/pods"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/quantity"
)

// A cache has the Nodes with the Pods that are assigned to them, or soon will be.
type cache struct {
	nodes    map[string]*node
	sorted   []*node // the Nodes that exist, by name; nil if it must be made again
	assigned map[controller.Key]*pod
	amounts  map[string]*big.Rat // of quantities

	antiAffine int // assigned Pods with required anti-affinity
}

func newCache() *cache {
	return &cache{nodes: map[string]*node{}, assigned: map[controller.Key]*pod{}, amounts: map[string]*big.Rat{}}
}

// A node is a Node with its Pods. A Pod may be assigned to a Node that does not exist.
type node struct {
	name        string
	object      *controller.Object // nil if the Node does not exist
	allocatable amounts
	requested   amounts
	pods        map[controller.Key]*pod
	ports       map[hostPort]int
	nominated   map[controller.Key]*pod // pending Pods that preempted others on it
}

// view returns a view of the Node.
func (n *node) view() object.View { return n.object.View() }

// A pod is what the scheduler needs of a Pod.
type pod struct {
	object   *controller.Object
	node     string // that it is assigned to
	priority int64
	requests amounts
	ports    []hostPort

	affinity, antiAffinity []term // the required ones
}

func (p *pod) key() controller.Key { return p.object.Key() }
func (p *pod) view() object.View   { return p.object.View() }

// amounts are quantities of resources: thousandths of cpu, units of others. They do not
// exceed math.MaxInt64.
type amounts map[string]int64

func (a amounts) add(b amounts, sign int64) {
	for name, n := range b {
		a[name] += sign * n
	}
}

// A hostPort is a port of a Node that a Pod uses.
type hostPort struct {
	ip, protocol string
	port         int64
}

// conflicts reports whether two Pods cannot have both ports.
func (p hostPort) conflicts(q hostPort) bool {
	const any = "0.0.0.0"
	return p.port == q.port && p.protocol == q.protocol && (p.ip == q.ip || p.ip == any || q.ip == any)
}

// all returns the Nodes that exist, sorted by name.
func (c *cache) all() []*node {
	if c.sorted == nil {
		for _, n := range c.nodes {
			if n.object != nil {
				c.sorted = append(c.sorted, n)
			}
		}
		slices.SortFunc(c.sorted, func(a, b *node) int { return strings.Compare(a.name, b.name) })
	}
	return c.sorted
}

// node returns the node of a name.
func (c *cache) node(name string) *node {
	n := c.nodes[name]
	if n == nil {
		n = &node{name: name, requested: amounts{}, pods: map[controller.Key]*pod{}, ports: map[hostPort]int{}, nominated: map[controller.Key]*pod{}}
		c.nodes[name] = n
	}
	return n
}

// setNode stores a Node, nil for one that does not exist.
func (c *cache) setNode(name string, o *controller.Object) {
	n := c.node(name)
	n.object = o
	c.sorted = nil
	if o != nil {
		n.allocatable = c.list(o.View().At("status", "allocatable"))
		return
	}
	c.forget(n)
}

// forget removes a node that does not exist and that no Pod is assigned to.
func (c *cache) forget(n *node) {
	if n.object == nil && len(n.pods) == 0 && len(n.nominated) == 0 {
		delete(c.nodes, n.name)
	}
}

// assign puts a Pod on a Node, in place of another version of it.
func (c *cache) assign(p *pod, name string) {
	c.unassign(p.key())
	p.node = name
	c.assigned[p.key()] = p
	c.node(name).add(p)
	if len(p.antiAffinity) > 0 {
		c.antiAffine++
	}
}

// unassign takes a Pod from its Node.
func (c *cache) unassign(k controller.Key) {
	p := c.assigned[k]
	if p == nil {
		return
	}
	delete(c.assigned, k)
	n := c.node(p.node)
	n.remove(p)
	if len(p.antiAffinity) > 0 {
		c.antiAffine--
	}
	c.forget(n)
}

func (n *node) add(p *pod) {
	n.pods[p.key()] = p
	n.requested.add(p.requests, 1)
	for _, port := range p.ports {
		n.ports[port]++
	}
}

func (n *node) remove(p *pod) {
	delete(n.pods, p.key())
	n.requested.add(p.requests, -1)
	for _, port := range p.ports {
		if n.ports[port]--; n.ports[port] == 0 {
			delete(n.ports, port)
		}
	}
}

// sortedPods returns the Pods of a node by their keys.
func (n *node) sortedPods() []*pod {
	out := make([]*pod, 0, len(n.pods))
	for _, p := range n.pods {
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b *pod) int { return strings.Compare(a.key().String(), b.key().String()) })
	return out
}

// read returns a Pod as the scheduler needs it.
func (c *cache) read(o *controller.Object) *pod {
	obj := o.View()
	spec := obj.At("spec")
	priority, _ := spec.Int("priority")
	p := &pod{object: o, priority: priority, requests: c.requests(spec), ports: hostPorts(spec), node: spec.String("nodeName")}
	if affinity := spec.At("affinity"); !affinity.IsNil() {
		p.affinity = terms(o.Namespace, affinity.At("podAffinity", "requiredDuringSchedulingIgnoredDuringExecution"))
		p.antiAffinity = terms(o.Namespace, affinity.At("podAntiAffinity", "requiredDuringSchedulingIgnoredDuringExecution"))
	}
	return p
}

// requests returns what a Pod requests in all.
func (c *cache) requests(spec object.View) amounts {
	out := c.list(object.ViewOf(pods.TotalResources(spec, "requests")))
	out.add(c.list(spec.At("overhead")), 1)
	return out
}

// list returns the amounts of a resource list.
func (c *cache) list(list object.View) amounts {
	out := amounts{}
	for name, v := range list.Fields() {
		if q := v.String(); q != "" {
			out[name] = c.amount(name, q)
		}
	}
	return out
}

// amount returns a quantity of a resource, rounded up.
func (c *cache) amount(name, q string) int64 {
	exact := c.amounts[q]
	if exact == nil {
		exact = new(big.Rat).SetFrac(quantity.Nanos(q), quantity.Billion)
		if len(c.amounts) >= maxAmounts {
			clear(c.amounts)
		}
		c.amounts[q] = exact
	}
	num, den := exact.Num(), exact.Denom()
	if name == "cpu" {
		num = new(big.Int).Mul(num, big.NewInt(1000))
	}
	n, rest := new(big.Int).QuoRem(num, den, new(big.Int))
	if rest.Sign() > 0 {
		n.Add(n, big.NewInt(1))
	}
	if !n.IsInt64() {
		return math.MaxInt64 / 2
	}
	return min(n.Int64(), math.MaxInt64/2)
}

// maxAmounts bounds the number of quantities whose amounts are kept.
const maxAmounts = 4096

// hostPorts returns the ports of a Node that a Pod uses.
func hostPorts(spec object.View) (ports []hostPort) {
	for _, list := range []string{"containers", "initContainers"} {
		for container := range spec.At(list).Objects() {
			if list == "initContainers" && container.String("restartPolicy") != "Always" {
				continue
			}
			for port := range container.At("ports").Objects() {
				n, _ := port.Int("hostPort")
				if n == 0 {
					continue
				}
				p := hostPort{port.String("hostIP"), port.String("protocol"), n}
				if p.ip == "" {
					p.ip = "0.0.0.0"
				}
				if p.protocol == "" {
					p.protocol = "TCP"
				}
				ports = append(ports, p)
			}
		}
	}
	return ports
}
