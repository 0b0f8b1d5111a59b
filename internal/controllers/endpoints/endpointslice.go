package endpoints

import (
	"encoding/json"

	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/object"
)

const (
	serviceLabel   = "kubernetes.io/service-name"
	managedByLabel = "endpointslice.kubernetes.io/managed-by"
	managedBy      = "endpointslice-controller.k8s.io"

	// maxEndpoints is how many endpoints a slice has.
	maxEndpoints = 100

	byService = "service"
)

type sliceController struct {
	watched
	client *controller.Client
	slices *controller.Informer
	nodes  *controller.Informer
}

// StartSlices starts the endpointslice-controller.
func StartSlices(e *controller.Env) {
	c := &sliceController{client: e.Client("endpointslice-controller")}
	c.watch(e, c.sync)
	c.nodes = e.Informer(controller.Nodes)
	c.slices = e.Informer(controller.EndpointSlices, func(old, new *controller.Object) {
		if new == nil {
			new = old
		}
		if new.Labels[managedByLabel] == managedBy {
			c.queue.Add(controller.Key{Namespace: new.Namespace, Name: new.Labels[serviceLabel]})
		}
	})
	c.slices.Index(byService, func(o *controller.Object) []string {
		if o.Labels[managedByLabel] != managedBy {
			return nil
		}
		return []string{o.Namespace + "/" + o.Labels[serviceLabel]}
	})
}

// A group is the endpoints of one address type with the same ports.
type group struct {
	ports     []any
	endpoints []any
}

// sync writes the EndpointSlices of a Service. The garbage collector deletes those of a
// Service that is gone.
func (c *sliceController) sync(k controller.Key) error {
	service := c.services.Get(k.Namespace, k.Name)
	if service == nil {
		delete(c.triggers, k)
		return nil
	}
	if !manages(service.View()) || service.Terminating {
		return nil
	}
	pods := c.selected(service, true)
	trigger := c.trigger(service, pods)
	existing := map[string][]*controller.Object{}
	for _, s := range c.slices.By(byService, k.String()) {
		typ := s.View().String("addressType")
		existing[typ] = append(existing[typ], s)
	}
	var failed error
	for _, ipv6 := range families(service.View()) {
		typ := "IPv4"
		if ipv6 {
			typ = "IPv6"
		}
		if err := c.reconcile(service, typ, c.groups(service, pods, ipv6), existing[typ], trigger); err != nil {
			failed = err
		}
		delete(existing, typ)
	}
	for _, typ := range []string{"IPv4", "IPv6"} {
		for _, s := range existing[typ] {
			if err := c.delete(s); err != nil {
				failed = err
			}
		}
	}
	return failed
}

// groups returns the endpoints of a Service in a family, grouped by their ports.
func (c *sliceController) groups(service *controller.Object, pods []*controller.Object, ipv6 bool) (out []*group) {
	s := service.View()
	byPorts := map[string]*group{}
	for _, p := range pods {
		pod := p.View()
		ip := address(pod, ipv6)
		if ip == "" {
			continue
		}
		serving := controller.PodReady(pod)
		e := map[string]any{
			"addresses": []any{ip}, "targetRef": targetRef(p),
			"conditions": map[string]any{
				"ready":   s.Bool("spec", "publishNotReadyAddresses") || serving && !p.Terminating,
				"serving": serving, "terminating": p.Terminating,
			},
		}
		if name := pod.String("spec", "nodeName"); name != "" {
			e["nodeName"] = name
			if node := c.nodes.Get("", name); node != nil && node.Labels["topology.kubernetes.io/zone"] != "" {
				e["zone"] = node.Labels["topology.kubernetes.io/zone"]
			}
		}
		if name := hostname(service, pod); name != "" {
			e["hostname"] = name
		}
		list := ports(s, pod)
		id, _ := json.Marshal(list)
		g := byPorts[string(id)]
		if g == nil {
			g = &group{ports: list}
			byPorts[string(id)] = g
			out = append(out, g)
		}
		g.endpoints = append(g.endpoints, e)
	}
	return out
}

// reconcile makes the slices of an address type match the groups. Endpoints
// stay in their slices.
func (c *sliceController) reconcile(service *controller.Object, typ string, groups []*group, existing []*controller.Object, trigger string) error {
	if len(groups) == 0 {
		groups = []*group{{ports: []any{}}} // an empty slice says that there are no endpoints
	}
	var failed error
	note := func(err error) {
		if err != nil && !controller.IsTerminatingNamespace(err) {
			failed = err
		}
	}
	kept := map[*controller.Object]bool{}
	for _, g := range groups {
		left := map[string]any{} // by the UIDs of the Pods
		for _, e := range g.endpoints {
			left[podUID(object.ViewOf(e))] = e
		}
		var matching []*controller.Object
		lists := map[*controller.Object][]any{}
		for _, s := range existing {
			if !sameList(s.View().At("ports"), g.ports) {
				continue
			}
			list := []any{}
			for _, e := range s.View().At("endpoints").Items() {
				if now, ok := left[podUID(e)]; ok {
					delete(left, podUID(e))
					list = append(list, now)
				}
			}
			matching = append(matching, s)
			lists[s] = list
		}
		var rest []any
		for _, e := range g.endpoints {
			if _, ok := left[podUID(object.ViewOf(e))]; ok {
				rest = append(rest, e)
			}
		}
		for i, s := range matching {
			n := min(maxEndpoints-len(lists[s]), len(rest))
			list := append(lists[s], rest[:n]...)
			rest = rest[n:]
			if len(list) == 0 && (len(g.endpoints) > 0 || i > 0) {
				continue // deleted below
			}
			kept[s] = true
			note(c.update(service, s, list, trigger))
		}
		for len(rest) > 0 || len(g.endpoints) == 0 && len(matching) == 0 {
			n := min(maxEndpoints, len(rest))
			note(c.create(service, typ, g.ports, rest[:n:n], trigger))
			rest = rest[n:]
			if n == 0 {
				break
			}
		}
	}
	for _, s := range existing {
		if !kept[s] {
			note(c.delete(s))
		}
	}
	return failed
}

func podUID(endpoint object.View) string { return endpoint.String("targetRef", "uid") }

func sameList(a object.View, b []any) bool { return a.Len() == 0 && len(b) == 0 || a.EqualTo(b) }

// labels returns the labels of the slices of a Service.
func labels(service *controller.Object) map[string]any {
	out := map[string]any{}
	for name, value := range service.Labels {
		out[name] = value
	}
	delete(out, headlessLabel)
	if headless(service.View()) {
		out[headlessLabel] = ""
	}
	out[serviceLabel], out[managedByLabel] = service.Name, managedBy
	return out
}

func (c *sliceController) create(service *controller.Object, typ string, ports, endpoints []any, trigger string) error {
	if endpoints == nil {
		endpoints = []any{}
	}
	meta := map[string]any{
		"generateName": service.Name + "-", "namespace": service.Namespace, "labels": labels(service),
		"ownerReferences": []any{controller.ControllerRef(service)},
	}
	if trigger != "" {
		meta["annotations"] = map[string]any{triggerAnnotation: trigger}
	}
	_, err := c.client.Create(controller.EndpointSlices, service.Namespace, map[string]any{
		"metadata": meta, "addressType": typ, "ports": ports, "endpoints": endpoints,
	})
	return err
}

func (c *sliceController) update(service, s *controller.Object, endpoints []any, trigger string) error {
	want := labels(service)
	if sameList(s.View().At("endpoints"), endpoints) && s.View().At("metadata", "labels").EqualTo(want) {
		return nil
	}
	new := s.Copy()
	new["endpoints"] = endpoints
	object.Set(new, want, "metadata", "labels")
	if trigger != "" {
		object.Set(new, trigger, "metadata", "annotations", triggerAnnotation)
	} else {
		delete(object.Map(new, "metadata", "annotations"), triggerAnnotation)
	}
	_, err := c.client.Update(controller.EndpointSlices, "", new)
	return err
}

func (c *sliceController) delete(s *controller.Object) error {
	err := c.client.Delete(controller.EndpointSlices, s.Namespace, s.Name, controller.DeleteOptions{UID: s.UID})
	if controller.IsNotFound(err) {
		return nil
	}
	return err
}
