package nodelifecycle

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/kubefake/kubefake/internal/controllers/controller"
)

// The limits of NoExecute taints, in Nodes of a zone a second.
const (
	evictionRate          = 0.1
	secondaryEvictionRate = 0.01 // in a large zone with many Nodes that are not ready
	largeZone             = 50   // Nodes; smaller zones are not tainted then
	unhealthyShare        = 0.55

	taintRetryDelay = 50 * time.Millisecond
)

type zoneState int

const (
	initial zoneState = iota
	normal
	partiallyDisrupted
	fullyDisrupted
)

// A zone is the Nodes of one topology zone.
type zone struct {
	state   zoneState
	waiting []waitingNode   // for a NoExecute taint, the first one next
	queued  map[string]bool // Nodes that were added to waiting and not forgotten
	limit   limiter
}

type waitingNode struct {
	name string
	at   time.Time // not before
}

// zoneKey returns the key of the zone of a Node.
func zoneKey(node *controller.Object) string {
	region := cmp.Or(node.Labels["topology.kubernetes.io/region"], node.Labels["failure-domain.beta.kubernetes.io/region"])
	name := cmp.Or(node.Labels["topology.kubernetes.io/zone"], node.Labels["failure-domain.beta.kubernetes.io/zone"])
	if region == "" && name == "" {
		return ""
	}
	return region + ":\x00:" + name
}

// zoneOf returns the zone of a Node.
func (c *nodeLifecycle) zoneOf(node *controller.Object) *zone {
	key := zoneKey(node)
	z := c.zones[key]
	if z == nil {
		z = &zone{queued: map[string]bool{}, limit: limiter{rate: evictionRate, tokens: 1}}
		c.zones[key] = z
	}
	return z
}

// add lets a Node wait for a taint, unless it was added before.
func (z *zone) add(node string, now time.Time) {
	if !z.queued[node] {
		z.queued[node] = true
		z.waiting = append(z.waiting, waitingNode{node, now})
	}
}

// forget ends the waiting of a Node.
func (z *zone) forget(node string) {
	delete(z.queued, node)
	z.waiting = slices.DeleteFunc(z.waiting, func(w waitingNode) bool { return w.name == node })
}

// stateOf returns the state of a zone by which of its Nodes are ready.
func stateOf(ready []bool) zoneState {
	bad := 0
	for _, ok := range ready {
		if !ok {
			bad++
		}
	}
	switch {
	case bad == len(ready) && bad > 0:
		return fullyDisrupted
	case bad > 2 && float64(bad)/float64(len(ready)) >= unhealthyShare:
		return partiallyDisrupted
	}
	return normal
}

// followZones sets the limits of the zones by which of their Nodes are ready. If no Node
// of the cluster is ready, all NoExecute taints are removed, and no new ones are added:
// the network of the control plane may be what is broken.
func (c *nodeLifecycle) followZones(ready map[string][]bool, nodes []*controller.Object) {
	all, were := true, true
	for _, list := range ready {
		all = all && stateOf(list) == fullyDisrupted
	}
	for key, z := range c.zones {
		if _, ok := ready[key]; !ok {
			delete(c.zones, key)
		} else if z.state != fullyDisrupted {
			were = false
		}
	}
	switch now := c.env.Now(); {
	case all && were:
	case all:
		for _, node := range nodes {
			c.removeTaints(node)
		}
		for _, z := range c.zones {
			z.state = fullyDisrupted
			z.limit.swap(0, now)
		}
	default:
		if were {
			for _, node := range nodes {
				if h := c.health[node.Name]; h != nil {
					h.seen = now
				}
			}
		}
		for _, key := range slices.Sorted(maps.Keys(c.zones)) {
			z := c.zones[key]
			state := stateOf(ready[key])
			if z.state == state && !were {
				continue
			}
			rate := evictionRate
			if state == partiallyDisrupted {
				rate = 0
				if len(ready[key]) > largeZone {
					rate = secondaryEvictionRate
				}
			}
			z.state = state
			z.limit.swap(rate, now)
			c.taintings.Add(controller.Key{Name: key})
		}
	}
}

// A limiter is a token bucket for one token.
type limiter struct {
	rate   float64 // tokens a second; 0 admits nothing
	tokens float64
	last   time.Time
}

// take takes a token. If there is none it returns when there will be, 0 if never.
func (l *limiter) take(now time.Time) (wait time.Duration, ok bool) {
	if l.rate == 0 {
		return 0, false
	}
	if !l.last.IsZero() {
		l.tokens = min(1, l.tokens+now.Sub(l.last).Seconds()*l.rate)
	}
	l.last = now
	if l.tokens < 1-1e-9 {
		return max(time.Millisecond, time.Duration((1-l.tokens)/l.rate*float64(time.Second))), false
	}
	l.tokens--
	return 0, true
}

// swap changes the rate. A full bucket stays full.
func (l *limiter) swap(rate float64, now time.Time) {
	if l.rate == rate {
		return
	}
	_, full := l.take(now)
	*l = limiter{rate: rate, last: now}
	if full {
		l.tokens = 1
	}
}
