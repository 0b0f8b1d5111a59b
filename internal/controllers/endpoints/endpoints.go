package endpoints

import (
	"encoding/json"

	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/object"
)

type endpointsController struct {
	watched
	client    *controller.Client
	endpoints *controller.Informer
}

// Start starts the endpoints-controller.
func Start(e *controller.Env) {
	c := &endpointsController{client: e.Client("endpoint-controller")}
	c.watch(e, c.sync)
	c.endpoints = e.Informer(controller.Endpoints, func(old, new *controller.Object) {
		if new == nil {
			c.queue.Add(old.Key())
		}
	})
}

// sync writes the Endpoints of a Service.
func (c *endpointsController) sync(k controller.Key) error {
	service, old := c.services.Get(k.Namespace, k.Name), c.endpoints.Get(k.Namespace, k.Name)
	if service == nil {
		delete(c.triggers, k)
		if old == nil {
			return nil
		}
		err := c.client.Delete(controller.Endpoints, k.Namespace, k.Name, controller.DeleteOptions{})
		if controller.IsNotFound(err) {
			return nil
		}
		return err
	}
	if !manages(service.View()) {
		return nil
	}
	s := service.View()
	publish := s.Bool("spec", "publishNotReadyAddresses")
	pods := c.selected(service, publish)
	trigger := c.trigger(service, pods)
	subsets := c.subsets(service, pods, publish)
	labels := map[string]any{}
	for name, value := range service.Labels {
		labels[name] = value
	}
	delete(labels, headlessLabel)
	if headless(s) {
		labels[headlessLabel] = ""
	}
	labels["endpoints.kubernetes.io/managed-by"] = "endpoint-controller"
	new := map[string]any{"metadata": map[string]any{"name": k.Name, "namespace": k.Namespace}}
	if old != nil {
		has := old.View().At("subsets")
		if (has.IsNil() && subsets == nil || has.EqualTo(subsets)) && old.View().At("metadata", "labels").EqualTo(labels) {
			return nil
		}
		new = old.Copy()
	}
	new["subsets"] = subsets
	object.Set(new, labels, "metadata", "labels")
	annotations := object.Map(new, "metadata", "annotations")
	if annotations == nil {
		annotations = map[string]any{}
	}
	delete(annotations, triggerAnnotation)
	if trigger != "" {
		annotations[triggerAnnotation] = trigger
	}
	object.Set(new, annotations, "metadata", "annotations")
	if old != nil {
		_, err := c.client.Update(controller.Endpoints, "", new)
		return err
	}
	_, err := c.client.Create(controller.Endpoints, k.Namespace, new)
	if controller.IsTerminatingNamespace(err) {
		return nil
	}
	return err
}

// subsets returns the subsets of Endpoints: ports with the same addresses are in one.
func (c *endpointsController) subsets(service *controller.Object, pods []*controller.Object, publish bool) []any {
	s := service.View()
	type addresses struct{ ready, notReady []any }
	var order []string
	ofPort := map[string]*addresses{}
	portOf := map[string]any{}
	for _, p := range pods {
		pod := p.View()
		ip := address(pod, families(s)[0])
		if ip == "" {
			continue
		}
		a := map[string]any{"ip": ip, "targetRef": targetRef(p)}
		if node := pod.String("spec", "nodeName"); node != "" {
			a["nodeName"] = node
		}
		if name := hostname(service, pod); name != "" {
			a["hostname"] = name
		}
		list := ports(s, pod)
		if s.Len("spec", "ports") == 0 && headless(s) {
			list = []any{nil}
		}
		for _, port := range list {
			if m, ok := port.(map[string]any); ok && m["name"] == "" {
				delete(m, "name")
			}
			id, _ := json.Marshal(port)
			at := ofPort[string(id)]
			if at == nil {
				at = &addresses{}
				ofPort[string(id)], portOf[string(id)] = at, port
				order = append(order, string(id))
			}
			if publish || controller.PodReady(pod) {
				at.ready = append(at.ready, a)
			} else {
				at.notReady = append(at.notReady, a)
			}
		}
	}
	var out []any
	byAddresses := map[string]map[string]any{}
	for _, id := range order {
		at := ofPort[id]
		same, _ := json.Marshal([]any{at.ready, at.notReady})
		subset := byAddresses[string(same)]
		if subset == nil {
			subset = map[string]any{}
			if at.ready != nil {
				subset["addresses"] = at.ready
			}
			if at.notReady != nil {
				subset["notReadyAddresses"] = at.notReady
			}
			byAddresses[string(same)] = subset
			out = append(out, subset)
		}
		if port := portOf[id]; port != nil {
			list, _ := subset["ports"].([]any)
			subset["ports"] = append(list, port)
		}
	}
	return out
}
