package aggregator

import (
	"errors"
	"fmt"
	"net"
	"strconv"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
)

// An endpoint is where a Service is called.
type endpoint struct {
	host    string // of the URL
	address string // to connect to
}

// mapped returns the address of a Service in Config.Services, "" if it has none there.
func (a *Aggregator) mapped(s *spec) string { return a.config.Services[s.namespace+"/"+s.name] }

// resolve returns the endpoint of a Service.
//
// Differs from kube-apiserver: addresses of Services of APIServices: kube-apiserver connects
// to the cluster IP, or with --enable-aggregator-routing to an endpoint. Here there is no
// cluster network: the server connects to the address of WithWebhookService, or else to an
// endpoint. A Service with such an address needs neither a Service object nor endpoints.
// Request: GET below the group version of an APIService with a service.
func (a *Aggregator) resolve(s *spec) (endpoint, error) {
	address := a.mapped(s)
	obj := a.newest("", "services", s.namespace, s.name)
	if obj == nil {
		if address == "" {
			return endpoint{}, fmt.Errorf("service %q not found", s.name)
		}
		return endpoint{join(s.name+"."+s.namespace+".svc", s.port), address}, nil
	}
	if object.String(obj, "spec", "type") == "ExternalName" {
		host := join(object.String(obj, "spec", "externalName"), s.port)
		if address == "" {
			address = host
		}
		return endpoint{host, address}, nil
	}
	ip := object.String(obj, "spec", "clusterIP")
	if ip == "None" && address == "" {
		return endpoint{}, errors.New(`cannot route to service with ClusterIP "None"`)
	}
	if address != "" {
		return endpoint{join(ip, s.port), address}, nil
	}
	portName, ok := portName(obj, s.port)
	if !ok {
		return endpoint{}, fmt.Errorf("no service port %d found for service %q", s.port, s.name)
	}
	for _, slice := range a.endpointSlices(s) {
		port, address := portNumber(slice, portName), readyAddress(slice)
		if port != 0 && address != "" {
			return endpoint{join(ip, s.port), join(address, port)}, nil
		}
	}
	return endpoint{}, fmt.Errorf("no endpoints available for service %q", s.name)
}

func join(host string, port int64) string {
	return net.JoinHostPort(host, strconv.FormatInt(port, 10))
}

// newest returns an object of the version v1 of a group, nil if there is none.
func (a *Aggregator) newest(group, resources, namespace, name string) map[string]any {
	t := a.lookup(group, resources)
	if t == nil {
		return nil
	}
	o := a.config.Cluster.Store().Newest(t.Key(namespace, name))
	if o == nil {
		return nil
	}
	return o.Decode(t)
}

func (a *Aggregator) lookup(group, resources string) *resource.Type {
	return a.config.Cluster.Surface().Builtin().Lookup(group, "v1", resources)
}

// endpointSlices returns the EndpointSlices of a Service.
func (a *Aggregator) endpointSlices(s *spec) (out []map[string]any) {
	t := a.lookup("discovery.k8s.io", "endpointslices")
	if t == nil {
		return nil
	}
	for o := range a.config.Cluster.Store().All(t.Key(s.namespace, "")) {
		if o.Labels["kubernetes.io/service-name"] == s.name {
			out = append(out, o.Decode(t))
		}
	}
	return out
}

// portName returns the name of a port of a Service.
func portName(service map[string]any, number int64) (name string, ok bool) {
	for p := range object.Each(object.Value(service, "spec", "ports")) {
		if n, _ := object.Int(p, "port"); n == number {
			return object.String(p, "name"), true
		}
	}
	return "", false
}

// portNumber returns the number of a port of an EndpointSlice, 0 if it does not have the port.
func portNumber(slice map[string]any, name string) int64 {
	for p := range object.Each(slice["ports"]) {
		if object.String(p, "name") == name {
			n, _ := object.Int(p, "port")
			return n
		}
	}
	return 0
}

// readyAddress returns the address of the first endpoint that is ready, "" if none is.
func readyAddress(slice map[string]any) string {
	for e := range object.Each(slice["endpoints"]) {
		if ready, ok := object.Value(e, "conditions", "ready").(bool); ok && !ready {
			continue
		}
		if addresses := object.Strings(e, "addresses"); len(addresses) > 0 {
			return addresses[0]
		}
	}
	return ""
}
