// Package endpoints has the endpoints-controller and the endpointslice-controller: the
// addresses of the Pods that Services select.
package endpoints

import (
	"net/netip"
	"reflect"
	"time"

	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/selector"
)

const (
	triggerAnnotation = "endpoints.kubernetes.io/last-change-trigger-time"
	headlessLabel     = "service.kubernetes.io/headless"
)

// watched is what both controllers have: Services and their Pods.
type watched struct {
	services *controller.Informer
	pods     *controller.Informer
	queue    *controller.Queue // of Services
	triggers map[controller.Key]map[string]time.Time
}

func (w *watched) watch(e *controller.Env, sync func(controller.Key) error) {
	w.triggers = map[controller.Key]map[string]time.Time{}
	w.queue = e.Queue(sync, controller.QueueOptions{MaxRetries: 15, MinBackoff: time.Second})
	w.services = e.Informer(controller.Services, func(old, service *controller.Object) {
		if service == nil {
			service = old
		}
		w.queue.Add(service.Key())
	})
	w.pods = e.Informer(controller.Pods, w.podChanged)
}

// podChanged queues the Services that select a Pod, or did.
func (w *watched) podChanged(old, pod *controller.Object) {
	if old != nil && pod != nil && !endpointChanged(old, pod) {
		return
	}
	namespace := ""
	if pod != nil {
		namespace = pod.Namespace
	} else {
		namespace = old.Namespace
	}
	for _, s := range w.services.List(namespace, selector.Labels{}) {
		want := object.Map(s.Generic(), "spec", "selector")
		if selects(want, old) || selects(want, pod) {
			w.queue.Add(s.Key())
		}
	}
}

// endpointChanged reports whether a change of a Pod can change endpoints.
func endpointChanged(old, pod *controller.Object) bool {
	a, b := old.Generic(), pod.Generic()
	return old.Terminating != pod.Terminating || controller.PodReady(a) != controller.PodReady(b) ||
		controller.PodEnded(a) != controller.PodEnded(b) || !reflect.DeepEqual(old.Labels, pod.Labels) ||
		!object.Equal(object.Value(a, "status", "podIPs"), object.Value(b, "status", "podIPs")) ||
		object.String(a, "spec", "nodeName") != object.String(b, "spec", "nodeName")
}

// selects reports whether the selector of a Service selects a Pod. An empty one selects
// none.
func selects(want map[string]any, pod *controller.Object) bool {
	if len(want) == 0 || pod == nil {
		return false
	}
	for name, value := range want {
		if has, ok := pod.Labels[name]; !ok || has != value {
			return false
		}
	}
	return true
}

// selected returns the Pods of a Service that can be endpoints, by name.
func (w *watched) selected(service *controller.Object, terminating bool) (out []*controller.Object) {
	want := object.Map(service.Generic(), "spec", "selector")
	for _, p := range w.pods.List(service.Namespace, selector.Labels{}) {
		if selects(want, p) && !controller.PodEnded(p.Generic()) && len(object.List(p.Generic(), "status", "podIPs")) > 0 && (terminating || !p.Terminating) {
			out = append(out, p)
		}
	}
	return out
}

// manages reports whether the controllers make endpoints for a Service.
func manages(service map[string]any) bool {
	return object.String(service, "spec", "type") != "ExternalName" && len(object.Map(service, "spec", "selector")) > 0
}

func headless(service map[string]any) bool {
	return object.String(service, "spec", "clusterIP") == "None"
}

// trigger returns the earliest time of what has changed since the last call, "" if
// nothing has: the creation of the Service, and the Ready conditions of its Pods.
func (w *watched) trigger(service *controller.Object, pods []*controller.Object) string {
	before := w.triggers[service.Key()]
	after := map[string]time.Time{"": controller.Time(service.Generic(), "metadata", "creationTimestamp")}
	for _, p := range pods {
		after[p.Name] = controller.Time(controller.Condition(p.Generic(), "Ready"), "lastTransitionTime")
	}
	w.triggers[service.Key()] = after
	var first time.Time
	for name, at := range after {
		if at.After(before[name]) && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	if first.IsZero() {
		return ""
	}
	return clock.Timestamp(first)
}

// address returns the address of a Pod in a family, "" if it has none.
func address(pod map[string]any, ipv6 bool) string {
	for e := range object.Each(object.Value(pod, "status", "podIPs")) {
		if ip, err := netip.ParseAddr(object.String(e, "ip")); err == nil && ip.Is6() == ipv6 {
			return ip.String()
		}
	}
	return ""
}

// families returns whether each family of the addresses of a Service is IPv6.
func families(service map[string]any) (out []bool) {
	for _, f := range object.Strings(service, "spec", "ipFamilies") {
		out = append(out, f == "IPv6")
	}
	if out == nil {
		ip, err := netip.ParseAddr(object.String(service, "spec", "clusterIP"))
		if err != nil {
			return []bool{false, true}
		}
		out = []bool{ip.Is6()}
	}
	return out
}

// ports returns the ports of a Service on a Pod, as endpoints have them. A named port
// that the Pod does not have is omitted.
func ports(service, pod map[string]any) []any {
	out := []any{}
	for p := range object.Each(object.Value(service, "spec", "ports")) {
		protocol := object.String(p, "protocol")
		if protocol == "" {
			protocol = "TCP"
		}
		n, ok := targetPort(p, protocol, pod)
		if !ok {
			continue
		}
		port := map[string]any{"name": object.String(p, "name"), "port": n, "protocol": protocol}
		if app := object.String(p, "appProtocol"); app != "" {
			port["appProtocol"] = app
		}
		out = append(out, port)
	}
	return out
}

func targetPort(p map[string]any, protocol string, pod map[string]any) (int64, bool) {
	switch target := p["targetPort"].(type) {
	case int64:
		return target, true
	case string:
		for _, list := range []string{"containers", "initContainers"} {
			for c := range object.Each(object.Value(pod, "spec", list)) {
				if list == "initContainers" && object.String(c, "restartPolicy") != "Always" {
					continue
				}
				for cp := range object.Each(c["ports"]) {
					has := object.String(cp, "protocol")
					if object.String(cp, "name") == target && (has == protocol || has == "" && protocol == "TCP") {
						return object.Int(cp, "containerPort")
					}
				}
			}
		}
		return 0, false
	}
	return object.Int(p, "port")
}

// hostname returns the hostname of an endpoint, "" if it has none.
func hostname(service *controller.Object, pod map[string]any) string {
	if object.String(pod, "spec", "subdomain") != service.Name {
		return ""
	}
	return object.String(pod, "spec", "hostname")
}

func targetRef(pod *controller.Object) map[string]any {
	return map[string]any{"kind": "Pod", "namespace": pod.Namespace, "name": pod.Name, "uid": pod.UID}
}
