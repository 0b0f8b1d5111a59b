package server

import (
	"fmt"
	"iter"
	"net/netip"
	"strconv"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/storage"
)

// A proxyTarget is the target in the path of a proxy: "name", "name:port" or
// "scheme:name:port".
type proxyTarget struct{ name, port string }

// proxyTarget parses the name of the path. kind names it in the error.
func (r *request) proxyTarget(kind string) (proxyTarget, error) {
	switch parts := strings.Split(r.Name, ":"); {
	case len(parts) == 1:
		return proxyTarget{parts[0], ""}, nil
	case len(parts) == 2 && parts[0] != "":
		return proxyTarget{parts[0], parts[1]}, nil
	case len(parts) == 3 && (parts[0] == "" || parts[0] == "http" || parts[0] == "https") && parts[1] != "":
		return proxyTarget{parts[1], parts[2]}, nil
	}
	return proxyTarget{}, status.BadRequest(fmt.Sprintf("invalid %s request %q", kind, r.Name))
}

func (r *request) podProxy() error {
	to, err := r.proxyTarget("pod")
	if err != nil {
		return err
	}
	pod, err := r.connectedPod(to.name)
	if err != nil {
		return err
	}
	ip := ""
	for entry := range object.Each(object.Value(pod, "status", "podIPs")) {
		ip = object.String(entry, "ip")
		break
	}
	if addr, err := netip.ParseAddr(ip); err != nil || !addr.IsGlobalUnicast() {
		return status.BadRequest("address not allowed")
	}
	return r.passOn()
}

func (r *request) nodeProxy() error {
	to, err := r.proxyTarget("node")
	if err != nil {
		return err
	}
	return r.connectNode(to.name)
}

// serviceProxy connects to a pod behind a port of a service.
func (r *request) serviceProxy() error {
	to, err := r.proxyTarget("service")
	if err != nil {
		return err
	}
	if number, err := strconv.ParseInt(to.port, 10, 64); err == nil {
		if to.port, err = r.portName(to.name, number); err != nil {
			return err
		}
	}
	find := r.findsEndpoint
	if r.surface.Release().Has(behavior.EndpointSliceProxy) {
		find = r.findsSlicedEndpoint
	}
	if ok, err := find(to); err != nil {
		return err
	} else if !ok {
		return status.Unavailable(fmt.Sprintf("no endpoints available for service %q", r.Name))
	}
	return r.passOn()
}

// findsEndpoint reports whether the Endpoints of a service have a pod behind the port. It
// fails if there are none.
func (r *request) findsEndpoint(to proxyTarget) (bool, error) {
	o, err := r.connected("endpoints", to.name)
	if err != nil {
		return false, err
	}
	endpoints := o.Decode(r.surface.Lookup("", "v1", "endpoints"))
	for subset := range object.Each(endpoints["subsets"]) {
		if r.reaches(subset, to.port) {
			return true, nil
		}
	}
	return false, nil
}

// findsSlicedEndpoint is findsEndpoint with the EndpointSlices of the service, which v1.37
// reads in place of its Endpoints.
func (r *request) findsSlicedEndpoint(to proxyTarget) (bool, error) {
	for slice := range r.endpointSlices(to.name) {
		if r.reachesSlice(slice, to.port) {
			return true, nil
		}
	}
	return false, nil
}

// portName returns the name of the service port with a number.
func (r *request) portName(service string, number int64) (string, error) {
	o, err := r.connected("services", service)
	if err != nil {
		return "", err
	}
	for port := range object.Each(object.Value(o.Decode(r.typ), "spec", "ports")) {
		if port["port"] == number {
			return object.String(port, "name"), nil
		}
	}
	return "", status.Unavailable(fmt.Sprintf("no service port %d found for service %q", number, service))
}

// reaches reports whether a subset has the port and the address of a pod that
// exists.
func (r *request) reaches(subset map[string]any, port string) bool {
	for p := range object.Each(subset["ports"]) {
		if object.String(p, "name") != port {
			continue
		}
		for a := range object.Each(subset["addresses"]) {
			pod := object.String(a, "targetRef", "name")
			if object.String(a, "targetRef", "kind") == "Pod" && r.newest("pods", r.Namespace, pod) != nil {
				return true
			}
		}
	}
	return false
}

// endpointSlices yields the EndpointSlices of a service of the request's namespace.
func (r *request) endpointSlices(service string) iter.Seq[map[string]any] {
	return func(yield func(map[string]any) bool) {
		t := r.surface.Builtin().Lookup("discovery.k8s.io", "v1", "endpointslices")
		if t == nil {
			return
		}
		page, err := r.server.cluster.List(r.ctx(), t, storage.Query{Selection: storage.Selection{
			Namespace: r.Namespace,
			Match:     func(o *storage.Object) bool { return o.Labels["kubernetes.io/service-name"] == service },
		}})
		if err != nil {
			return
		}
		for o := range page.Items {
			if !yield(o.Decode(t)) {
				return
			}
		}
	}
}

// reachesSlice reports whether an EndpointSlice has the port and a ready pod that exists.
func (r *request) reachesSlice(slice map[string]any, port string) bool {
	for p := range object.Each(slice["ports"]) {
		if object.String(p, "name") != port {
			continue
		}
		for e := range object.Each(slice["endpoints"]) {
			pod, unready := object.String(e, "targetRef", "name"), object.Value(e, "conditions", "ready") == false
			if !unready && object.String(e, "targetRef", "kind") == "Pod" && r.newest("pods", r.Namespace, pod) != nil {
				return true
			}
		}
	}
	return false
}
