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
		want := s.View().At("spec", "selector")
		if selects(want, old) || selects(want, pod) {
			w.queue.Add(s.Key())
		}
	}
}

// endpointChanged reports whether a change of a Pod can change endpoints.
func endpointChanged(old, pod *controller.Object) bool {
	a, b := old.View(), pod.View()
	return old.Terminating != pod.Terminating || controller.PodReady(a) != controller.PodReady(b) ||
		controller.PodEnded(a) != controller.PodEnded(b) || !reflect.DeepEqual(old.Labels, pod.Labels) ||
		!a.At("status", "podIPs").Equal(b.At("status", "podIPs")) ||
		a.String("spec", "nodeName") != b.String("spec", "nodeName")
}

// selects reports whether the selector of a Service selects a Pod. An empty one selects
// none.
func selects(want object.View, pod *controller.Object) bool {
	if want.Len() == 0 || pod == nil {
		return false
	}
	for name, value := range want.Fields() {
		if has, ok := pod.Labels[name]; !ok || value.String() != has {
			return false
		}
	}
	return true
}

// selected returns the Pods of a Service that can be endpoints, by name.
func (w *watched) selected(service *controller.Object, terminating bool) (out []*controller.Object) {
	want := service.View().At("spec", "selector")
	for _, p := range w.pods.List(service.Namespace, selector.Labels{}) {
		if selects(want, p) && !controller.PodEnded(p.View()) && p.View().Len("status", "podIPs") > 0 && (terminating || !p.Terminating) {
			out = append(out, p)
		}
	}
	return out
}

// manages reports whether the controllers make endpoints for a Service.
func manages(service object.View) bool {
	return service.String("spec", "type") != "ExternalName" && service.Len("spec", "selector") > 0
}

func headless(service object.View) bool {
	return service.String("spec", "clusterIP") == "None"
}

// trigger returns the earliest time of what has changed since the last call, "" if
// nothing has: the creation of the Service, and the Ready conditions of its Pods.
func (w *watched) trigger(service *controller.Object, pods []*controller.Object) string {
	before := w.triggers[service.Key()]
	after := map[string]time.Time{"": controller.Time(service.View(), "metadata", "creationTimestamp")}
	for _, p := range pods {
		after[p.Name] = controller.Time(controller.Condition(p.View(), "Ready"), "lastTransitionTime")
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
func address(pod object.View, ipv6 bool) string {
	for e := range pod.At("status", "podIPs").Objects() {
		if ip, err := netip.ParseAddr(e.String("ip")); err == nil && ip.Is6() == ipv6 {
			return ip.String()
		}
	}
	return ""
}

// families returns whether each family of the addresses of a Service is IPv6.
func families(service object.View) (out []bool) {
	for _, f := range service.Strings("spec", "ipFamilies") {
		out = append(out, f == "IPv6")
	}
	if out == nil {
		ip, err := netip.ParseAddr(service.String("spec", "clusterIP"))
		if err != nil {
			return []bool{false, true}
		}
		out = []bool{ip.Is6()}
	}
	return out
}

// ports returns the ports of a Service on a Pod, as endpoints have them. A named port
// that the Pod does not have is omitted.
func ports(service, pod object.View) []any {
	out := []any{}
	for p := range service.At("spec", "ports").Objects() {
		protocol := p.String("protocol")
		if protocol == "" {
			protocol = "TCP"
		}
		n, ok := targetPort(p, protocol, pod)
		if !ok {
			continue
		}
		port := map[string]any{"name": p.String("name"), "port": n, "protocol": protocol}
		if app := p.String("appProtocol"); app != "" {
			port["appProtocol"] = app
		}
		out = append(out, port)
	}
	return out
}

func targetPort(p object.View, protocol string, pod object.View) (int64, bool) {
	switch target := p.At("targetPort").Shared().(type) {
	case int64:
		return target, true
	case string:
		for _, list := range []string{"containers", "initContainers"} {
			for c := range pod.At("spec", list).Objects() {
				if list == "initContainers" && c.String("restartPolicy") != "Always" {
					continue
				}
				for cp := range c.At("ports").Objects() {
					has := cp.String("protocol")
					if cp.String("name") == target && (has == protocol || has == "" && protocol == "TCP") {
						return cp.Int("containerPort")
					}
				}
			}
		}
		return 0, false
	}
	return p.Int("port")
}

// hostname returns the hostname of an endpoint, "" if it has none.
func hostname(service *controller.Object, pod object.View) string {
	if pod.String("spec", "subdomain") != service.Name {
		return ""
	}
	return pod.String("spec", "hostname")
}

func targetRef(pod *controller.Object) map[string]any {
	return map[string]any{"kind": "Pod", "namespace": pod.Namespace, "name": pod.Name, "uid": pod.UID}
}
