// Package endpointslicemirroring has the endpointslice-mirroring-controller: it writes
// EndpointSlices for the Endpoints of Services without a selector.
//
// See https://kubernetes.io/docs/concepts/services-networking/service/#services-without-selectors.
package endpointslicemirroring

import (
	"encoding/json"
	"net/netip"
	"slices"
	"time"

	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/object"
)

const (
	serviceLabel   = "kubernetes.io/service-name"
	managedByLabel = "endpointslice.kubernetes.io/managed-by"
	managedBy      = "endpointslicemirroring-controller.k8s.io"
	skipLabel      = "endpointslice.kubernetes.io/skip-mirror"
	leader         = "control-plane.alpha.kubernetes.io/leader"

	// maxEndpoints is how many addresses of a subset are mirrored.
	maxEndpoints = 1000

	byService = "endpointslice-mirroring"
)

// notMirrored are annotations that slices do not have from their Endpoints.
var notMirrored = []string{"endpoints.kubernetes.io/last-change-trigger-time", "kubectl.kubernetes.io/last-applied-configuration"}

type mirror struct {
	client    *controller.Client
	events    *controller.Recorder
	endpoints *controller.Informer
	services  *controller.Informer
	slices    *controller.Informer
	queue     *controller.Queue // of Endpoints
}

// Start starts the controller.
func Start(e *controller.Env) {
	c := &mirror{client: e.Client("endpointslicemirroring-controller")}
	c.events = e.Recorder(c.client, "endpoint-slice-mirroring-controller")
	c.queue = e.Queue(c.sync, controller.QueueOptions{MaxRetries: 15, MinBackoff: time.Second, MaxBackoff: 100 * time.Second})
	c.endpoints = e.Informer(controller.Endpoints, func(old, o *controller.Object) {
		for _, version := range []*controller.Object{o, old} {
			if version != nil && mirrored(version) {
				c.queue.Add(version.Key())
			}
		}
	})
	c.services = e.Informer(controller.Services, func(old, service *controller.Object) {
		if old != nil && service != nil && hasSelector(old) == hasSelector(service) {
			return
		}
		if service == nil {
			service = old
		}
		if old != nil || !hasSelector(service) {
			c.queue.Add(service.Key())
		}
	})
	c.slices = e.Informer(controller.EndpointSlices, func(old, s *controller.Object) {
		for _, version := range []*controller.Object{s, old} {
			if version != nil && version.Labels[managedByLabel] == managedBy && version.Labels[serviceLabel] != "" {
				c.queue.Add(controller.Key{Namespace: version.Namespace, Name: version.Labels[serviceLabel]})
			}
		}
	})
	c.slices.Index(byService, func(s *controller.Object) []string {
		if s.Labels[managedByLabel] != managedBy {
			return nil
		}
		return []string{controller.Key{Namespace: s.Namespace, Name: s.Labels[serviceLabel]}.String()}
	})
}

// mirrored reports whether Endpoints are to be mirrored, if their Service has no selector.
func mirrored(endpoints *controller.Object) bool {
	return endpoints.Labels[skipLabel] != "true" && endpoints.View().IsNil("metadata", "annotations", leader)
}

func hasSelector(service *controller.Object) bool {
	return !service.View().IsNil("spec", "selector")
}

// sync writes the slices of Endpoints, or deletes them.
func (c *mirror) sync(k controller.Key) error {
	existing := c.slices.By(byService, k.String())
	endpoints, service := c.endpoints.Get(k.Namespace, k.Name), c.services.Get(k.Namespace, k.Name)
	if endpoints == nil || !mirrored(endpoints) || service == nil || hasSelector(service) {
		return c.delete(existing)
	}
	return c.reconcile(endpoints, existing)
}

func (c *mirror) delete(list []*controller.Object) (failed error) {
	for _, s := range list {
		if err := c.client.Delete(controller.EndpointSlices, s.Namespace, s.Name, controller.DeleteOptions{}); err != nil && !controller.IsNotFound(err) {
			failed = err
		}
	}
	return failed
}

// A group is what one slice has: the endpoints of an address type with the same ports.
type group struct {
	typ       string
	ports     object.View
	endpoints []any
}

// key identifies the group of a slice.
func key(typ string, ports object.View) string {
	b, _ := json.Marshal(ports.Shared())
	if ports.Len() == 0 {
		b = nil
	}
	return typ + string(b)
}

// groups returns the groups of the subsets of Endpoints, and reports addresses that are
// left out.
func (c *mirror) groups(endpoints *controller.Object) (out []*group) {
	byKey := map[string]*group{}
	invalid, skipped := 0, 0
	for subset := range endpoints.View().At("subsets").Objects() {
		ports, added := slicePorts(subset), 0
		for _, list := range []struct {
			field string
			ready bool
		}{{"addresses", true}, {"notReadyAddresses", false}} {
			for address := range subset.At(list.field).Objects() {
				ip, err := netip.ParseAddr(address.String("ip"))
				switch {
				case added >= maxEndpoints:
					skipped++
					continue
				case err != nil:
					invalid++
					skipped++
					continue
				}
				added++
				typ := "IPv4"
				if ip.Is6() && !ip.Is4In6() {
					typ = "IPv6"
				}
				g := byKey[key(typ, ports)]
				if g == nil {
					g = &group{typ: typ, ports: ports}
					byKey[key(typ, ports)] = g
					out = append(out, g)
				}
				g.add(endpoint(address, ip.Unmap().String(), list.ready))
			}
		}
	}
	if invalid > 0 {
		c.events.Event(endpoints, controller.Warning, "InvalidIPAddress", "Skipped %d invalid IP addresses when mirroring to EndpointSlices", invalid)
	}
	if skipped > invalid {
		c.events.Event(endpoints, controller.Warning, "TooManyAddressesToMirror",
			"A max of %d addresses can be mirrored to EndpointSlices per Endpoints subset. %d addresses were skipped", maxEndpoints, skipped)
	}
	return out
}

func (g *group) add(e map[string]any) {
	if !slices.ContainsFunc(g.endpoints, func(other any) bool { return object.Equal(other, e) }) {
		g.endpoints = append(g.endpoints, e)
	}
}

// endpoint returns the endpoint of an address.
func endpoint(address object.View, ip string, ready bool) map[string]any {
	e := map[string]any{"addresses": []any{ip}, "conditions": map[string]any{"ready": ready}}
	for _, field := range []string{"nodeName", "targetRef"} {
		object.Keep(e, address, field)
	}
	if name := address.String("hostname"); name != "" {
		e["hostname"] = name
	}
	return object.Copy(e)
}

// slicePorts returns the ports of a subset as slices have them.
func slicePorts(subset object.View) object.View {
	out := []any{}
	for p := range subset.At("ports").Objects() {
		port := p.CopyObject()
		port["name"] = p.String("name")
		out = append(out, port)
	}
	return object.ViewOf(out)
}

// reconcile makes the slices match the Endpoints: one for each group. A slice
// that is not needed any more is used for a new group.
func (c *mirror) reconcile(endpoints *controller.Object, existing []*controller.Object) error {
	byKey := map[string][]*controller.Object{}
	for _, s := range existing {
		k := key(s.View().String("addressType"), s.View().At("ports"))
		byKey[k] = append(byKey[k], s)
	}
	var create []*group
	kept := map[*controller.Object]bool{}
	var failed error
	note := func(err error) {
		if err != nil && !controller.IsTerminatingNamespace(err) {
			failed = err
		}
	}
	for _, g := range c.groups(endpoints) {
		list := byKey[key(g.typ, g.ports)]
		if len(list) == 0 {
			create = append(create, g)
			continue
		}
		kept[list[0]] = true
		note(c.update(endpoints, list[0], g))
	}
	unused := slices.DeleteFunc(slices.Clone(existing), func(s *controller.Object) bool { return kept[s] })
	for _, g := range create {
		i := slices.IndexFunc(unused, func(s *controller.Object) bool { return s.View().String("addressType") == g.typ })
		if i >= 0 {
			note(c.update(endpoints, unused[i], g))
			unused = slices.Delete(unused, i, i+1)
			continue
		}
		if !endpoints.Terminating {
			s := newSlice(endpoints, g)
			object.Meta(s)["generateName"] = endpoints.Name + "-"
			_, err := c.client.Create(controller.EndpointSlices, endpoints.Namespace, s)
			note(err)
		}
	}
	note(c.delete(unused))
	return failed
}

// update writes a slice, if it changes.
func (c *mirror) update(endpoints, s *controller.Object, g *group) error {
	want := newSlice(endpoints, g)
	is := s.View()
	changed := key(g.typ, g.ports) != key(g.typ, is.At("ports")) || !is.At("endpoints").EqualTo(want["endpoints"])
	for _, field := range []string{"labels", "annotations", "ownerReferences"} {
		changed = changed || !is.At("metadata", field).EqualTo(object.Value(want, "metadata", field))
	}
	if !changed {
		return nil
	}
	object.Meta(want)["name"] = s.Name
	_, err := c.client.Update(controller.EndpointSlices, "", want)
	return err
}

// newSlice returns a slice without a name.
func newSlice(endpoints *controller.Object, g *group) map[string]any {
	labels := map[string]any{}
	for name, value := range endpoints.Labels {
		labels[name] = value
	}
	labels[serviceLabel], labels[managedByLabel] = endpoints.Name, managedBy
	meta := map[string]any{"namespace": endpoints.Namespace, "labels": labels, "ownerReferences": []any{controller.ControllerRef(endpoints)}}
	annotations := endpoints.View().At("metadata", "annotations").ShallowCopy()
	for _, name := range notMirrored {
		delete(annotations, name)
	}
	if len(annotations) > 0 {
		meta["annotations"] = annotations
	}
	list := g.endpoints
	if len(list) > maxEndpoints {
		list = list[:maxEndpoints]
	}
	return object.Copy(map[string]any{
		"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "metadata": meta, "addressType": g.typ, "ports": g.ports.Shared(), "endpoints": list,
	})
}
