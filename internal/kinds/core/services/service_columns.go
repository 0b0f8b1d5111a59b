package services

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/table"
)

// serviceCells returns the cells of a Service.
func serviceCells(r table.Row) []any {
	clusterIP := table.None
	if ips := object.Strings(r.Obj, "spec", "clusterIPs"); len(ips) > 0 {
		clusterIP = ips[0]
	}
	var ports []string
	for _, p := range r.Objects("spec", "ports") {
		text := strconv.FormatInt(table.Int(p, "port"), 10)
		if node := table.Int(p, "nodePort"); node > 0 {
			text += ":" + strconv.FormatInt(node, 10)
		}
		ports = append(ports, text+"/"+object.String(p, "protocol"))
	}
	return []any{
		r.Name(), r.String("spec", "type"), clusterIP, externalIP(r), cmp.Or(strings.Join(ports, ","), table.None), r.Age(),
		r.Labels("spec", "selector"),
	}
}

// externalIP returns the addresses at which a service is reached from outside
// the cluster.
func externalIP(r table.Row) string {
	external := object.Strings(r.Obj, "spec", "externalIPs")
	switch r.String("spec", "type") {
	case "ClusterIP", "NodePort":
		return cmp.Or(strings.Join(external, ","), table.None)
	case "LoadBalancer":
		return cmp.Or(strings.Join(append(LoadBalancerAddresses(r), external...), ","), "<pending>")
	case "ExternalName":
		return r.String("spec", "externalName")
	}
	return table.Unknown
}

// LoadBalancerAddresses returns the sorted addresses of the load balancer of a
// Service or an Ingress.
func LoadBalancerAddresses(r table.Row) []string {
	found := map[string]bool{}
	for _, i := range r.Objects("status", "loadBalancer", "ingress") {
		if at := cmp.Or(object.String(i, "ip"), object.String(i, "hostname")); at != "" {
			found[at] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}
