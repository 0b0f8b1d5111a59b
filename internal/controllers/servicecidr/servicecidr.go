// Package servicecidr has the service-cidr-controller: a ServiceCIDR is not removed while
// Services have addresses that no other ServiceCIDR contains.
//
// See https://kubernetes.io/docs/tasks/network/extend-service-ip-ranges/.
package servicecidr

import (
	"net/netip"
	"slices"
	"time"

	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/selector"
)

const (
	finalizer = "networking.k8s.io/service-cidr-finalizer"
	manager   = "service-cidr-controller"

	// gracePeriod is the time from the deletion until the finalizer is removed, in which
	// the allocators of kube-apiservers learn of it.
	gracePeriod = 10 * time.Second

	maxRetries = 15
)

type protection struct {
	env       *controller.Env
	client    *controller.Client
	events    *controller.Recorder
	cidrs     *controller.Informer
	addresses *controller.Informer
	queue     *controller.Queue
}

// Start starts the controller.
func Start(e *controller.Env) {
	if !e.Serves(controller.ServiceCIDRs) {
		return
	}
	c := &protection{env: e, client: e.Client("service-cidrs-controller")}
	c.events = e.Recorder(c.client, manager)
	c.queue = e.Queue(c.sync, controller.QueueOptions{MaxRetries: maxRetries})
	c.cidrs = e.Informer(controller.ServiceCIDRs, func(old, cidr *controller.Object) {
		if cidr == nil {
			return
		}
		c.queue.Add(cidr.Key())
		if old == nil {
			for _, prefix := range prefixes(cidr) {
				c.enqueue(func(other netip.Prefix) bool { return other.Overlaps(prefix) })
			}
		}
	})
	c.addresses = e.Informer(controller.IPAddresses, func(old, address *controller.Object) {
		switch {
		case old == nil:
			c.enqueueContaining(address)
		case address == nil:
			c.enqueueContaining(old)
		}
	})
}

func (c *protection) enqueueContaining(address *controller.Object) {
	if ip, err := netip.ParseAddr(address.Name); err == nil && ofService(address) {
		c.enqueue(func(prefix netip.Prefix) bool { return contains(prefix, ip) })
	}
}

// enqueue queues the ServiceCIDRs that have such a prefix.
func (c *protection) enqueue(has func(netip.Prefix) bool) {
	for _, cidr := range c.with(has) {
		c.queue.Add(cidr.Key())
	}
}

// with returns the ServiceCIDRs that have such a prefix, once for each one.
func (c *protection) with(has func(netip.Prefix) bool) (found []*controller.Object) {
	for _, cidr := range c.cidrs.List("", selector.Labels{}) {
		for _, prefix := range prefixes(cidr) {
			if has(prefix) {
				found = append(found, cidr)
			}
		}
	}
	return found
}

func prefixes(cidr *controller.Object) (out []netip.Prefix) {
	for _, text := range cidr.View().Strings("spec", "cidrs") {
		if p, err := netip.ParsePrefix(text); err == nil {
			out = append(out, p)
		}
	}
	return out
}

// ofService reports whether an address was allocated for a Service.
func ofService(address *controller.Object) bool {
	return address.Labels["ipaddress.kubernetes.io/managed-by"] == "ipallocator.k8s.io"
}

// contains reports whether a prefix has an address that Services can get: neither that of
// the network nor, of IPv4, the last one.
func contains(prefix netip.Prefix, ip netip.Addr) bool {
	if !prefix.Contains(ip) || prefix.Masked().Addr() == ip {
		return false
	}
	return !ip.Is4() || prefix.Contains(ip.Next())
}

func (c *protection) sync(k controller.Key) error {
	cidr := c.cidrs.Get("", k.Name)
	switch {
	case cidr == nil:
		return nil
	case !cidr.Terminating:
		if err := c.patchFinalizers(cidr, false, map[string]any{"finalizers": []string{finalizer}}); err != nil {
			return err
		}
		err := c.setReady(cidr, "True", "", "Kubernetes Service CIDR is ready")
		if err != nil {
			c.events.Event(cidr, controller.Warning, "KubernetesServiceCIDRError", "The ServiceCIDR Status can not be set to Ready=True")
		}
		return err
	case !c.unused(cidr):
		return c.setReady(cidr, "False", "Terminating",
			"There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR")
	}
	deleted := controller.Time(cidr.View(), "metadata", "deletionTimestamp")
	if left := gracePeriod - c.env.Now().Sub(deleted); left > 0 {
		c.queue.AddAfter(k, left)
		return nil
	}
	return c.patchFinalizers(cidr, true, map[string]any{"$deleteFromPrimitiveList/finalizers": []string{finalizer}})
}

// unused reports whether no address needs a ServiceCIDR: another one contains it, or each
// of its addresses.
func (c *protection) unused(cidr *controller.Object) bool {
	alone := func(found []*controller.Object) bool {
		return len(found) == 1 && found[0].Name == cidr.Name
	}
	own, contained := prefixes(cidr), true
	for _, prefix := range own {
		parents := c.with(func(p netip.Prefix) bool { return p.Overlaps(prefix) && p.Bits() <= prefix.Bits() })
		contained = contained && len(parents) > 0 && !alone(parents)
	}
	if contained {
		return true
	}
	return !slices.ContainsFunc(c.addresses.List("", selector.Labels{}), func(address *controller.Object) bool {
		ip, err := netip.ParseAddr(address.Name)
		sameFamily := slices.ContainsFunc(own, func(p netip.Prefix) bool { return p.Addr().Is4() == ip.Is4() })
		return err == nil && ofService(address) && sameFamily && alone(c.with(func(p netip.Prefix) bool { return contains(p, ip) }))
	})
}

// patchFinalizers patches the metadata of a ServiceCIDR if the presence of the finalizer is
// has.
func (c *protection) patchFinalizers(cidr *controller.Object, has bool, meta map[string]any) error {
	if slices.Contains(cidr.Finalizers(), finalizer) != has {
		return nil
	}
	_, err := c.client.StrategicPatch(controller.ServiceCIDRs, "", cidr.Name, "", map[string]any{"metadata": meta})
	if controller.IsNotFound(err) {
		return nil
	}
	return err
}

// setReady sets the condition Ready, unless the ServiceCIDR has it.
func (c *protection) setReady(cidr *controller.Object, status, reason, message string) error {
	old := controller.Condition(cidr.View(), "Ready")
	if old.String("status") == status && old.String("reason") == reason && old.String("message") == message {
		return nil
	}
	_, err := c.client.Apply(controller.ServiceCIDRs, "status", manager, map[string]any{
		"metadata": map[string]any{"name": cidr.Name},
		"status": map[string]any{"conditions": []any{map[string]any{
			"type": "Ready", "status": status, "reason": reason, "message": message, "lastTransitionTime": clock.Timestamp(c.env.Now()),
		}}},
	})
	return err
}
